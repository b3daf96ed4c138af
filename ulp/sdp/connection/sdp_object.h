/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection, and what the files of this folder share. */
#ifndef ITAPI_ULP_SDP_CONNECTION_SDP_OBJECT_H
#define ITAPI_ULP_SDP_CONNECTION_SDP_OBJECT_H

#include "connection/sdp_adapter.h"
#include "connection/sdp_connection.h"
#include "machine/sdp_machine.h"

#include <itx_api.h>

#include <pthread.h>
#include <stdatomic.h>

#define SDP_BUFFERS           32u /* receives */
#define SDP_BUFFERS_MAX       1024u
#define SDP_RECEIVE_SIZE      65552u /* octets of each */
#define SDP_SEND_RING         (512u * 1024u)
#define SDP_HEADS             32u     /* messages that are under way */
#define SDP_HEAD_STRIDE       128u    /* holds a Hello */
#define SDP_ZCOPY_FROM_OCTETS 524288u /* below it two copies cost less than waiting for the peer */
#define SDP_URGENT_MAX        8u      /* urgent octets that wait to leave */
#define SDP_ORPHAN_S          60u /* for which a connection that was closed waits for its peer */
/* Requests of RDMA beside messages. */
#define SDP_RDMA_MAX 8u
/* One of some messages has a completion. */
#define SDP_SIGNAL_EACH 4u

/* Octets of the stream that were received, in a receive that is not posted. */
struct sdp_piece {
    uint32_t slot;
    uint32_t at; /* of the slot: the next octet to be read */
    uint32_t octets;
};

struct sdp_connection {
    /*
     * Guards all that follows but the list's links. Never held during a wait, a call of `changed`,
     * or a call that waits for the IA's thread.
     */
    pthread_mutex_t lock;
    struct sdp_connection *next; /* by sdp_list_lock */
    struct sdp_connection **link;
    struct sdp_over over;

    it_ep_handle_t ep;
    it_evd_handle_t evd;
    it_lmr_handle_t lmr; /* receives, heads, ring */
    unsigned char *memory;
    size_t memory_size;

    struct sdp_machine machine;
    struct sdp_hello own;
    bool active;
    bool live;     /* established */
    bool ended;    /* the transport has ended, or was never there */
    bool detached; /* no program has it: it ends by itself, then goes */
    bool buried;
    int64_t expires; /* detached: seconds of CLOCK_MONOTONIC */
    bool frozen;     /* since a fork: goes on in the process that claims it */
    bool lost;       /* to the other process */
    bool foreign;    /* a parent's, on a device: its objects are not to be touched */
    bool disturbed;  /* calls return */
    bool finish;     /* DisConn behind all that waits */
    bool disconnecting;
    bool failed; /* nothing that comes is looked at any more */
    bool post_failed;
    bool eof;         /* nothing more will be received */
    bool no_sends;    /* shut down, or there is nobody any more */
    bool no_receives; /* shut down by the program */
    int error;        /* SO_ERROR */

    /* Receiving. */
    uint32_t slots;
    size_t stride;
    struct sdp_piece *pieces; /* a ring of `slots` */
    uint32_t piece_first;
    uint32_t piece_count;
    size_t unread;
    uint64_t rx_position; /* of the next octet to be read */
    uint64_t mark;        /* position of the urgent octet; with mark_set */
    bool mark_set;
    bool oob_pending; /* announced, not here */
    bool oob_valid;
    unsigned char oob_octet;
    bool oob_inline;
    size_t low_water;

    /*
     * Sending: a ring of octets. tx_sent and tx_filled count octets of the stream, tx_freed those
     * whose memory may be used again. Messages are numbered from 1 on.
     */
    unsigned char *ring;
    size_t ring_size;
    uint64_t ring_base; /* what stands at its beginning; moves while it is empty */
    size_t send_buffer;
    uint64_t tx_filled;
    uint64_t tx_sent;
    uint64_t tx_freed;
    uint32_t tx_posted;
    uint32_t tx_done;
    uint32_t tx_signal;              /* the last with a completion */
    uint32_t tx_end;                 /* DisConn or AbortConn */
    uint64_t freed_by[SDP_HEADS];    /* tx_freed once this message is done */
    uint64_t urgent[SDP_URGENT_MAX]; /* positions behind urgent octets */
    uint32_t urgent_count;
    bool cork;
    bool more; /* MSG_MORE of the last call */

    /* ZCopy. */
    size_t zcopy_from;   /* octets; 0: never */
    uint32_t zcopy_rest; /* sends that are copied before the next try */
    bool sending_zcopy;
    bool receiving_zcopy;
    bool read_done;  /* the RDMA Read */
    bool large_read; /* the last call to receive was one that ZCopy serves */

    /* Waiting. */
    bool quiet;       /* a call is under way and takes events: the callback does not run */
    bool driver;      /* a thread sleeps on the EVD */
    bool held;        /* no thread may become the driver: the process forks */
    uint32_t waiters; /* on turn */
    _Atomic uint32_t turn;

    /* Telling. */
    struct sdp_notify notify;
    enum sdp_watch watch;
    unsigned shown;
    bool news;
    bool telling;

    struct sdp_counters counters;
};

/* ---- All connections (sdp_list.c) ----------------------------------------------------------- */

/* Outside of all: those who make connections share it, a fork has it alone. */
extern pthread_rwlock_t sdp_start_lock;
extern pthread_mutex_t sdp_list_lock; /* outside of sdp_connection.lock */
extern struct sdp_connection *sdp_list_first;

void sdp_list_add(struct sdp_connection *connection);
/* With sdp_list_lock. */
void sdp_list_remove(struct sdp_connection *connection);
void sdp_init_lock(pthread_mutex_t *lock);

/* While true the IA's thread waits for no lock. */
extern _Atomic bool sdp_forking;

/* ---- Entering and waiting (sdp_wait.c) ------------------------------------------------------ */

/*
 * Takes the lock: 0. EBADF: the connection is another process's; EAGAIN: a signal handler has come
 * upon a call of its own thread. The lock is not held then.
 */
int sdp_enter(struct sdp_connection *connection);
/* Sends what is due, gives the lock back, and tells what has changed. */
void sdp_leave(struct sdp_connection *connection);

/*
 * Until something has happened: then 0, and the caller looks again. EAGAIN: the time is over.
 * EINTR, EBADF (sdp_disturb).
 */
int sdp_wait(struct sdp_connection *connection, const struct timespec *deadline);
/* The same, while another thread works for this one. */
int sdp_wait_turn(struct sdp_connection *connection, const struct timespec *deadline);
void sdp_wake_waiters(struct sdp_connection *connection);
/* What comes from now on is this call's to take, until it leaves. */
void sdp_be_quiet(struct sdp_connection *connection);
/* The callback of its EVD. */
void sdp_callback(it_evd_handle_t evd, void *connection);

/* ---- Work (sdp_events.c), with the lock ----------------------------------------------------- */

void sdp_on_event(struct sdp_connection *connection, const it_event_t *event);
/* Takes what has arrived, unless a driver does. True: there was something. */
bool sdp_take(struct sdp_connection *connection);
/* The same in the callback. */
bool sdp_take_here(struct sdp_connection *connection);
/* Sends what can be sent. */
void sdp_push(struct sdp_connection *connection);
/* The connection ends now, with an error for the program. */
void sdp_fail(struct sdp_connection *connection, int error);
/* Resets: AbortConn, then the transport. */
void sdp_reset(struct sdp_connection *connection);

/* ---- Posts (sdp_post.c), with the lock ------------------------------------------------------ */

/* A message may be posted: there is a head for it. */
bool sdp_post_room(const struct sdp_connection *connection);
/* Behind the head the payload, from registered memory. */
void sdp_post(struct sdp_connection *connection, const struct sdp_message *message,
              it_lmr_handle_t lmr, const unsigned char *from);
void sdp_post_greeting(struct sdp_connection *connection);
void sdp_post_receive(struct sdp_connection *connection, uint32_t slot);
unsigned char *sdp_slot(const struct sdp_connection *connection, uint32_t slot);

/* ---- Telling (sdp_tell.c) ------------------------------------------------------------------- */

unsigned sdp_events_now(const struct sdp_connection *connection);
/* With the lock, which is given up around the call; true: it has been. */
bool sdp_tell(struct sdp_connection *connection);

/* Ends connections that were closed and whose peers do not answer. */
void sdp_sweep(void);

/* With the lock: nobody needs it any more, and the IA's thread frees it. */
static inline void sdp_bury(struct sdp_connection *connection)
{
    if (connection->buried)
        return;
    connection->buried = true;
    if (!connection->foreign)
        sdp_adapter_bury(&connection->over);
}

static inline size_t sdp_ring_used(const struct sdp_connection *connection)
{
    return (size_t)(connection->tx_filled - connection->tx_freed);
}

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_OBJECT_H */
