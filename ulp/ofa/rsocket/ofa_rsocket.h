/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsockets: streams over RDMA Writes, in rdma-core's wire format for iWARP devices. Each end
 * advertises memory that the other may write to. Each Write is followed by a Send of 4 bytes with
 * the number of bytes written. Another message of 4 bytes returns memory that was read and receives
 * that were posted again (ofa_rs_wire.h).
 *
 * The descriptor of a stream is that of its event channel. Datagram rsockets are UDP sockets, which
 * also carry uiwarp's datagrams.
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

#define RS_CONTROLS 4u    /* control messages that may be on the way */
#define RS_SPANS    2u    /* memory advertised to the peer: the halves of the buffer */
#define RS_LEAST    2048u /* bytes of room that wake a sender */

enum rs_state {
    RS_IDLE,
    RS_BOUND,
    RS_LISTENING,
    RS_CONNECTING,
    RS_ACCEPTING,
    RS_CONNECTED,
    RS_OVER,  /* ended in order */
    RS_FAILED /* .error has the reason */
};

/* The memory in which the peer advertises its own memory: its addresses and keys. */
struct rs_target {
    struct rs_span spans[RS_SPANS];
    struct rs_mapping mappings[];
};

struct rs_map;

/*
 * Receives and requests have a CQ each, on one channel: a thread that waits for data need not wake
 * when the peer acknowledges what was sent.
 */
struct rs_queue {
    struct ibv_cq *cq;
    bool armed;
};

struct rsock {
    int fd;
    int type; /* SOCK_DGRAM: only .fd is used */

    pthread_mutex_t lock;   /* guards all that follows */
    pthread_cond_t changed; /* signaled when the sleeping thread wakes */
    bool sleeping;          /* a thread is in poll for all waiting threads */
    unsigned pollers;       /* threads in rpoll; the last one takes a CQ's event */
    enum rs_state state;
    bool readable; /* neither end has shut down this direction */
    bool writable;
    bool closing;
    int error;
    int flags; /* of rfcntl */
    int option[RS_OPTIONS];

    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    struct ibv_comp_channel *events;
    struct rs_queue receives;
    struct rs_queue requests;
    struct ibv_mr *own_mr;    /* of send_ring and messages */
    struct ibv_mr *target_mr; /* of receive_ring and target */

    unsigned char *send_ring;
    uint32_t send_offset;
    uint32_t send_room;
    uint32_t requests_left; /* in the send queue, without those for control messages */
    uint32_t controls_left;
    uint16_t sent;                 /* messages that need a credit */
    uint16_t sent_limit;           /* credits: value of .sent that may be reached */
    struct rs_span span[RS_SPANS]; /* memory of the peer to write to */
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
    uint16_t credited; /* .received when credits were last given */
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

/* Returns the rsocket; NULL with EBADF: the descriptor is none. */
struct rsock *rs_find(int fd);

/* Creates a stream without a channel, or a datagram socket; not in the table. NULL: no memory. */
struct rsock *rs_new(int type, const int option[RS_OPTIONS]);

/* Enters the rsocket in the table under its descriptor. Returns 0 or errno. */
int rs_enter(struct rsock *rs);

/* Removes the rsocket from the table and frees it with all its objects. */
void rs_delete(struct rsock *rs);

/* ---- Connections ---------------------------------------------------------------------------- */

/*
 * Creates queue pair and buffers, and posts receives. Returns 0 or errno. With the lock, like all
 * functions below.
 */
int rs_create_queue(struct rsock *rs);
void rs_destroy_queue(struct rsock *rs);

void rs_describe(const struct rsock *rs, unsigned char data[RS_HELLO_BYTES]);
/* Takes over the peer's private data. Returns 0, or errno if they are not those of an rsocket. */
int rs_learn(struct rsock *rs, const void *data, size_t length);

/* Events of rdma_cm. */
bool rs_has_events(const struct rsock *rs);
void rs_take_events(struct rsock *rs);

/* ---- Streams -------------------------------------------------------------------------------- */

/* Takes completions and events, and gives credits. */
void rs_progress(struct rsock *rs);

bool rs_can_send(const struct rsock *rs);
bool rs_can_receive(const struct rsock *rs); /* or if no data can come any more */

/* Returns true until the rsocket has been polled for its polling time. *since: 0 at first. */
bool rs_goes_on_polling(const struct rsock *rs, uint64_t *since);

/* Sleeps until done() returns true; nonblocking: returns EAGAIN instead. Returns 0 or errno. */
int rs_await(struct rsock *rs, bool (*done)(const struct rsock *), bool nonblocking);

void rs_fail(struct rsock *rs, int error);

/* Waits until a part can be sent. Returns 0 or errno. */
int rs_await_room(struct rsock *rs, bool nonblocking);

/* Takes a contiguous piece of the send ring, at most `wanted` bytes; sets *length. */
void *rs_take_ring(struct rsock *rs, uint32_t *length, uint64_t wanted);

/*
 * Arms the CQ of the receives, and that of the requests if the caller waits for their completions.
 * Returns true if one was not armed: then it may have completions that raised no event.
 */
bool rs_arm(struct rsock *rs, bool requests);
/* Takes the event of a CQ, if there is one. */
void rs_take_cq_event(struct rsock *rs);

bool rs_nonblocking(const struct rsock *rs, int flags);

/* ---- Posting -------------------------------------------------------------------------------- */

/*
 * A Write of registered or inline memory, and the message that announces it, unless silent. The
 * completion returns the tag. rs_post_write returns 0 or errno.
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

/* Advertises memory that riomap has added to the peer. Returns 0 or errno. */
int rs_send_maps(struct rsock *rs, bool nonblocking);
void rs_release_maps(struct rsock *rs);

#endif /* ITAPI_ULP_OFA_RSOCKET_OFA_RSOCKET_H */
