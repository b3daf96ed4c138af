/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsockets: streams over RDMA Writes, in the wire format of rdma-core for devices of iWARP. Each
 * end says where the other may write; each Write is followed by a Send of 4 bytes that tells how
 * many bytes it has brought. Rooms that are read, and receives that are posted again, are given
 * back by a message of the same form (ofa_rs_wire.h).
 *
 * The number of a stream is the descriptor of its event channel. Datagram rsockets are sockets of
 * UDP, on which uiwarp's datagrams are carried anyway.
 */
#ifndef ITAPI_ULP_OFA_RSOCKET_OFA_RSOCKET_H
#define ITAPI_ULP_OFA_RSOCKET_OFA_RSOCKET_H

#include "rsocket/ofa_rs_options.h"
#include "rsocket/ofa_rs_wire.h"

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RS_CONTROLS 4u    /* messages that may be under way besides those of data */
#define RS_SPANS    2u    /* rooms that the peer may have: the halves of the buffer */
#define RS_LEAST    2048u /* bytes of room for which a sender wakes */

enum rs_state {
    RS_IDLE,
    RS_BOUND,
    RS_LISTENING,
    RS_CONNECTING,
    RS_ACCEPTING,
    RS_CONNECTED,
    RS_OVER,  /* in good order */
    RS_FAILED /* "error" says why */
};

/* What the peer writes into. Its addresses and keys are those of the peer's memory. */
struct rs_target {
    struct rs_span spans[RS_SPANS];
    struct rs_mapping mappings[];
};

struct rs_map;

struct rsock {
    int fd;
    int type; /* SOCK_DGRAM: the descriptor is all there is */

    pthread_mutex_t lock;   /* guards all that follows */
    pthread_cond_t changed; /* the thread that sleeps has woken */
    bool sleeping;          /* a thread is in poll, for all that wait */
    unsigned pollers;       /* threads in rpoll: the CQ's event is the last one's to take */
    bool armed;             /* the CQ */
    enum rs_state state;
    bool readable; /* neither end has ended this direction */
    bool writable;
    bool closing;
    int error;
    int flags; /* of rfcntl */
    int option[RS_OPTIONS];

    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    struct ibv_comp_channel *events;
    struct ibv_cq *cq;
    struct ibv_mr *own_mr;    /* send_ring and messages */
    struct ibv_mr *target_mr; /* receive_ring and target */

    unsigned char *send_ring;
    uint32_t send_offset;
    uint32_t send_room;
    uint32_t requests_left; /* of the send queue, without those for controls */
    uint32_t controls_left;
    uint16_t sent;                 /* messages that need a credit */
    uint16_t sent_limit;           /* the credits, as a number of messages since the beginning */
    struct rs_span span[RS_SPANS]; /* room at the peer */
    unsigned span_used;
    unsigned span_expected;

    uint32_t *messages; /* one for each receive */
    unsigned char *receive_ring;
    uint32_t receive_offset;
    uint32_t ready;   /* bytes to be read */
    uint32_t granted; /* bytes that the peer may still write */
    uint32_t freed;   /* bytes that can be granted again */
    uint32_t grant_offset;
    uint16_t received; /* messages that needed a credit */
    uint16_t credited; /* "received" when credits were given last */
    unsigned peer_span;

    struct rs_target *target;
    uint64_t peer_target;
    uint32_t peer_target_key;
    uint32_t peer_spans;
    uint32_t peer_mappings;
    struct rs_map *maps; /* a list */
    bool maps_pending;
};

/* ---- Table ---------------------------------------------------------------------------------- */

/* NULL: the descriptor is none of an rsocket, and errno is EBADF. */
struct rsock *rs_find(int fd);

/* A stream without a channel, or a datagram socket; in no table. NULL: out of memory. */
struct rsock *rs_new(int type, const int option[RS_OPTIONS]);

/* Under its descriptor. Returns 0 or errno. */
int rs_enter(struct rsock *rs);

/* Out of the table, with all that it has. */
void rs_delete(struct rsock *rs);

/* ---- Connections ---------------------------------------------------------------------------- */

/* Queue pair, buffers and receives. 0 or errno. With the lock, as all that follows. */
int rs_create_queue(struct rsock *rs);
void rs_destroy_queue(struct rsock *rs);

void rs_describe(const struct rsock *rs, unsigned char data[RS_HELLO_BYTES]);
/* 0 or errno: what the peer has sent is none of an rsocket. */
int rs_learn(struct rsock *rs, const void *data, size_t length);

/* Events of rdma_cm. */
bool rs_has_events(const struct rsock *rs);
void rs_take_events(struct rsock *rs);

/* ---- Streams -------------------------------------------------------------------------------- */

/* Takes completions and events, and gives credits. */
void rs_progress(struct rsock *rs);

bool rs_can_send(const struct rsock *rs);
bool rs_can_receive(const struct rsock *rs); /* or knows that nothing comes any more */

/* Sleeps until "done", or says EAGAIN. Returns 0 or errno. */
int rs_await(struct rsock *rs, bool (*done)(const struct rsock *), bool nonblocking);

void rs_fail(struct rsock *rs, int error);

/* Waits until a part can be sent. Returns 0 or errno. */
int rs_await_room(struct rsock *rs, bool nonblocking);

/* A piece of the send ring for a part: as much of what is wanted as lies there in one piece. */
void *rs_take_ring(struct rsock *rs, uint32_t *length, uint64_t wanted);

/* The CQ's event, if there is one. */
void rs_take_cq_event(struct rsock *rs);

bool rs_nonblocking(const struct rsock *rs, int flags);

/* ---- Posting -------------------------------------------------------------------------------- */

/*
 * A Write of own memory (registered, or inline), and a message that tells of it (0: no message).
 * "tag" comes back with the completion. Returns 0 or errno.
 */
struct rs_write {
    const void *from;
    uint32_t length;
    bool is_inline;
    uint64_t to;
    uint32_t key;
    uint32_t tag;
    bool silent; /* without a message */
};
int rs_post_write(struct rsock *rs, const struct rs_write *write);
int rs_post_message(struct rsock *rs, uint32_t message);
int rs_post_receive(struct rsock *rs, uint32_t index);

/* ---- Mapped memory -------------------------------------------------------------------------- */

/* Tells the peer of memory that riomap has added. Returns 0 or errno. */
int rs_send_maps(struct rsock *rs, bool nonblocking);
void rs_release_maps(struct rsock *rs);

#endif /* ITAPI_ULP_OFA_RSOCKET_OFA_RSOCKET_H */
