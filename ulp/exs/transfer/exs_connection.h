/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection: endpoint, EVD, slots of messages, ring, and the protocol of its type. Everything is
 * guarded by the socket's lock, except in exs_connection_new and exs_connection_free.
 */
#ifndef ITAPI_ULP_EXS_TRANSFER_EXS_CONNECTION_H
#define ITAPI_ULP_EXS_TRANSFER_EXS_CONNECTION_H

#include "adapter/exs_adapter.h"
#include "adapter/exs_lead.h"
#include "object/exs_socket.h"
#include "packet/exs_packet_in.h"
#include "packet/exs_packet_out.h"
#include "stream/exs_stream_in.h"
#include "stream/exs_stream_out.h"
#include "wire/exs_flow.h"

#include <itx_api.h>

#define EXS_SLOTS       32u               /* messages that a side may have outstanding */
#define EXS_TX_FIRST    (UINT32_MAX - 10) /* just below the wrap: every longer test passes it */
#define EXS_SLOT_OCTETS 2048u             /* octets of the longest message */
#define EXS_INLINE_MAX  (EXS_SLOT_OCTETS - EXS_HEAD_OCTETS)
#define EXS_CREDIT_DUE  8u
#define EXS_SIGNAL_EACH 8u    /* one in this number of Sends has a completion */
#define EXS_ADVERT_MIN  4096u /* shorter receives take their octets from the ring */
#define EXS_ASK_MIN     16384u
#define EXS_ASK_POLLS   16u                   /* polls in vain before ASK */
#define EXS_BURST       ((uint64_t)512 << 10) /* octets of long sends that leave together */
#define EXS_RING_MAX    ((size_t)1 << 30)
#define EXS_CREDITS_MAX 65535

/* Messages that wait to be sent: bits, in the order of sending. */
#define EXS_DUE_WITHDRAWN 0x01u
#define EXS_DUE_WITHDRAW  0x02u
#define EXS_DUE_RING      0x04u
#define EXS_DUE_CLOSED    0x08u
#define EXS_DUE_FIN       0x10u /* sent after all data */
#define EXS_DUE_CLOSE     0x20u /* the same */

struct exs_connection {
    struct exs_socket *socket;
    struct exs_source source;    /* context of its EVD */
    struct exs_errand over;      /* frees the connection */
    struct exs_errand ask;       /* pushes once no other work is left */
    bool ask_due;                /* the errand is pending */
    bool may_ask;                /* the errand runs: no message waits for further work */
    struct exs_request *element; /* the accept for which it is made; until it is established */
    struct exs_socket *acceptor; /* counted; the socket of that accept */
    /*
     * Reports the outcome to the acceptor; called without a lock. fd: the new descriptor. retry:
     * the element is used for the next request.
     */
    void (*accepted)(struct exs_socket *acceptor, struct exs_request *element, int fd, int error,
                     bool retry);
    it_evd_handle_t evd;
    it_ep_handle_t ep;
    bool live;        /* established and not ended */
    bool established; /* it has been live */
    bool failed;      /* its end has been requested */
    bool got_end;     /* FIN or CLOSE has arrived */
    bool got_close;
    bool sent_close;
    bool got_closed;
    bool cancels;          /* a cancelled receive may not have ended yet */
    bool no_more_sends;    /* shutdown, close */
    bool no_more_receives; /* shutdown */

    unsigned char *slots; /* EXS_SLOTS for receives, then as many for Sends */
    it_lmr_handle_t slots_lmr;
    unsigned char *ring;
    size_t ring_size;
    it_lmr_handle_t ring_lmr; /* null: not registered */
    it_rmr_context_t ring_key;
    struct exs_place peer_ring;

    struct exs_flow flow;
    uint32_t tx_posted;         /* Sends, modulo 2^32 */
    uint32_t tx_done;           /* of these, completed ones */
    uint32_t tx_signal;         /* the last signalled one */
    it_lmr_triplet_t last_send; /* the last Send of this push; not posted yet if last_waits */
    it_dto_flags_t last_flags;
    bool last_waits;
    unsigned due;       /* EXS_DUE_ */
    uint32_t withdrawn; /* the chain that WITHDRAWN names */

    struct exs_requests sends; /* sent ones whose octets are not free yet, then waiting ones */
    struct exs_request *next;  /* the first waiting one */
    uint64_t waiting;          /* octets of all waiting ones; for packets including their heads */
    int sends_open;            /* credits in use */
    int sends_level;           /* sends that the program had open before it got its last events */
    int send_credits;
    int recv_credits;
    unsigned patience; /* polls in vain that are left before ASK */
    void *gate;        /* the context whose next piece goes first */

    /* By the type of the socket: */
    struct exs_stream_out out;
    struct exs_stream_in in;
    struct exs_packet_out packet_out;
    struct exs_packet_in packet_in;
    void *arrays[2]; /* memory of out and in */
};

/* ---- Its life ------------------------------------------------------------------------------- */

/*
 * Creates endpoint and memory, and posts the receives. The leader passes the connection's events to
 * take. The socket is counted. Returns 0 or errno.
 */
int exs_connection_new(struct exs_socket *socket,
                       void (*take)(struct exs_source *source, const it_event_t *events,
                                    size_t count),
                       struct exs_connection **result);

/* Fills in the parameters to send to the peer; the credits are those that the program wants. */
void exs_connection_offer(const struct exs_connection *connection, struct exs_setup *setup);
/*
 * Takes the peer's parameters; each direction gets the smaller number of credits. Returns 0, ENOMEM
 * or EPROTO.
 */
int exs_connection_agree(struct exs_connection *connection, const struct exs_setup *peer);

/*
 * Called when the connection has ended or could not be made. Ends all requests with error, or, if
 * it is 0, as at an orderly end.
 */
void exs_connection_end(struct exs_connection *connection, int error);

/* Ends the connection: a DISCONNECT event follows, if it was established. */
void exs_connection_fail(struct exs_connection *connection) __attribute__((cold));

/* Called by the leader once the connection has ended. */
void exs_connection_free(struct exs_connection *connection);

/*
 * Ends the matching receives, each as soon as the peer can no longer use it. Returns their number.
 */
size_t exs_connection_cancel_receives(struct exs_connection *connection,
                                      bool (*match)(const struct exs_request *request,
                                                    const void *key),
                                      const void *key, int error);

/* ---- Its work ------------------------------------------------------------------------------- */

/* A completion. */
void exs_connection_completion(struct exs_connection *connection, const it_event_t *event);

/* Sends whatever can be sent. */
void exs_connection_push(struct exs_connection *connection);

/*
 * Returns true if ASK and its answer NONE may be sent now. They are deferred until no other work is
 * left, because mostly an ADVERT makes them unnecessary.
 */
bool exs_connection_may_ask(struct exs_connection *connection);
/* Pushes when no other work is left. */
void exs_connection_push_later(struct exs_connection *connection);
/*
 * Returns true if messages that are due may wait for the program's next calls. They are then pushed
 * when no other work is left. Returns false if the leader sleeps, or the program wants no delays.
 */
bool exs_connection_waits(struct exs_connection *connection);

/* ---- For the files of this folder ----------------------------------------------------------- */

static inline bool exs_is_stream(const struct exs_connection *connection)
{
    return connection->socket->type == SOCK_STREAM;
}

/* Returns true if there are a free slot here and a receive at the peer. */
bool exs_post_room(const struct exs_connection *connection);
/* Returns where the payload of the next message goes: EXS_INLINE_MAX octets. */
unsigned char *exs_post_payload(const struct exs_connection *connection);
/*
 * Posts the last message, which exs_post has deferred. flag: IT_COALESCE_WR_FLAG if others follow.
 */
void exs_post_last(struct exs_connection *connection, it_dto_flags_t flag);
/* Sends a message with this type and these numbers. */
void exs_post(struct exs_connection *connection, struct exs_message *message);
/*
 * Writes octets of a request to the peer's memory. The message that follows frees them when it
 * completes.
 */
bool exs_post_write(struct exs_connection *connection, struct exs_request *request,
                    const void *octets, size_t count, const struct exs_place *place);
/* Posts the last message of a push, then the receives, which are less urgent. */
void exs_post_all(struct exs_connection *connection);
void exs_post_receive(struct exs_connection *connection, size_t slot);
/* Posts the receives that messages have taken. */
void exs_post_spent(struct exs_connection *connection);

/* Copy octets between memory and the ring; their place is position modulo the ring's size. */
void exs_ring_put(struct exs_connection *connection, uint64_t position, const void *octets,
                  size_t count);
void exs_ring_get(const struct exs_connection *connection, uint64_t position, void *octets,
                  size_t count);
/* Registers the ring; returns false if memory runs out. */
bool exs_ring_register(struct exs_connection *connection);

/* Adds a request in its place. */
void exs_sends_put(struct exs_connection *connection, struct exs_request *request);
/*
 * Returns the first request with octets left to send; NULL if there is none, or if its turn has not
 * come.
 */
struct exs_request *exs_sends_next(struct exs_connection *connection);
/*
 * Returns true if long sends wait for further ones, to share a system call with them. The program
 * is expected to start these, because it has fewer sends open than before.
 */
bool exs_sends_wait(struct exs_connection *connection);
/* Ends the requests whose octets are free. */
void exs_sends_reap(struct exs_connection *connection);

/* Cancels the unsent part of the requests that match, or of all if match is NULL. */
size_t exs_sends_cut(struct exs_connection *connection,
                     bool (*match)(const struct exs_request *request, const void *key),
                     const void *key, int error);

/* A receive has ended. */
void exs_receive_done(struct exs_connection *connection, struct exs_request *request, size_t moved,
                      size_t lost);

/* A receive that was cancelled has ended, with the octets moved. */
void exs_receive_cancelled(struct exs_connection *connection, struct exs_request *request,
                           size_t moved);

/* exs_stream_serve or exs_packet_serve. */
void exs_connection_serve(struct exs_connection *connection);

/* Handle a message by type. Return false for a protocol violation. */
bool exs_stream_message(struct exs_connection *connection, const struct exs_message *message);
bool exs_packet_message(struct exs_connection *connection, const struct exs_message *message);
/* Send ADVERTs and other control messages, then data. */
void exs_stream_push(struct exs_connection *connection);
/* See exs_transfer_send_at_once. */
bool exs_stream_send_at_once(struct exs_connection *connection, const void *octets, size_t length);
void exs_packet_push(struct exs_connection *connection);
/* Take a receive of the program. */
void exs_stream_receive(struct exs_connection *connection, struct exs_request *request);
void exs_packet_receive(struct exs_connection *connection, struct exs_request *request);
/*
 * Complete receives, as far as possible now: with data of the ring, the end of the stream, or a
 * cancellation.
 */
void exs_stream_serve(struct exs_connection *connection);
void exs_packet_serve(struct exs_connection *connection);
/* Drops the packets in the ring. */
void exs_packet_drop(struct exs_connection *connection);

/* Posts receives for, and drops, data that arrives after receives have been shut down. */
void exs_sink_push(struct exs_connection *connection);

#endif /* ITAPI_ULP_EXS_TRANSFER_EXS_CONNECTION_H */
