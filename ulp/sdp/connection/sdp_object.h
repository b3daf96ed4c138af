/* SPDX-License-Identifier: BSD-2-Clause */
/* The struct of a connection, and declarations that the files of this folder share. */
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
#define SDP_RECEIVE_SIZE      131088u /* octets of each: 128 KiB of payload */
#define SDP_RECEIVE_PINNED    65552u  /* the same on devices, which keep all of them in memory */
#define SDP_GATHER            65536u  /* octets that are gathered before they are sent */
#define SDP_AIM_LEAST         8192u   /* octets; messages that begin with fewer are not aimed */
#define SDP_SEND_RING         (512u * 1024u)
#define SDP_HEADS             32u                        /* outstanding messages */
#define SDP_TX_FIRST          (UINT32_MAX - 10)          /* below the wrap: longer tests pass it */
#define SDP_HEAD_STRIDE       96u                        /* holds a Hello */
#define SDP_AIM_MARK          ((it_dto_cookie_t)1 << 40) /* in the cookies of aimed receives */
#define SDP_ZCOPY_FROM_OCTETS 524288u /* below it two copies cost less than a wait */
#define SDP_URGENT_MAX        8u      /* urgent octets not sent yet */
#define SDP_ORPHAN_S          60u     /* how long a closed connection waits for its peer */
/* Requests besides messages: RDMA Reads and Writes. */
#define SDP_RDMA_MAX 8u
/* One in this many messages is signalled. */
#define SDP_SIGNAL_EACH 4u

_Static_assert(SDP_HEAD_STRIDE >= SDP_HELLO_OCTETS, "a head holds a Hello");

/* Received octets of the stream, in a receive that is not posted. */
struct sdp_piece {
    uint32_t slot;
    uint32_t at; /* offset in the slot of the next octet to read */
    uint32_t octets;
};

/* Where the payload of the next long messages is placed (sdp_aim.c). */
struct sdp_aim {
    unsigned char *octets; /* NULL: in their receives */
    size_t length;
    size_t placed;    /* octets placed there by messages that have been handled */
    size_t taken;     /* of these, octets that a receiving call may return */
    bool spare;       /* it is the spare buffer */
    bool over;        /* the aim has ended: nothing more is placed there */
    it_length_t used; /* with .over: octets placed there by all messages */
    int guard;        /* of sdp_guard_hold */
};

struct sdp_connection {
    /*
     * Guards all members below except the links of the list. Not held during a wait, a call of
     * `changed`, or a call that waits for the IA's thread.
     */
    pthread_mutex_t lock;
    struct sdp_connection *next; /* guarded by sdp_list_lock */
    struct sdp_connection **link;
    struct sdp_later farewell; /* ends the transport; runs before .burial */
    struct sdp_later burial;   /* frees the connection */

    it_ep_handle_t ep;
    it_evd_handle_t evd;
    it_lmr_handle_t lmr;   /* of memory */
    unsigned char *memory; /* heads, ring, receives */
    size_t memory_size;
    unsigned char *receives;

    struct sdp_machine machine;
    struct sdp_hello own;
    bool active;
    bool direct;   /* the IA reads and writes memory of the program that is not registered */
    bool live;     /* established */
    bool ended;    /* the transport has ended, or never existed */
    bool detached; /* the program has closed it: it ends by itself and is freed */
    bool buried;
    int64_t expires; /* for a detached one: seconds of CLOCK_MONOTONIC */
    bool frozen;     /* since a fork: continues in the process that claims it */
    bool lost;       /* the other process has claimed it */
    bool left;       /* this process no longer uses it */
    /*
     * Set by a fork that found unsent octets: how many processes still use the connection. In
     * memory that they share.
     */
    _Atomic uint32_t *holders;
    bool foreign;        /* a parent's, on a device: its objects must not be used */
    bool disturbed;      /* calls return EBADF */
    bool unacknowledged; /* at the end of the process, the peer does not have all octets */
    bool finish;         /* send DisConn after all waiting data */
    bool disconnecting;
    bool failed; /* arriving messages are ignored */
    bool post_failed;
    bool eof;         /* nothing more will be received */
    bool no_sends;    /* shut down, or the peer takes nothing more */
    bool vanished;    /* the peer has ended without a word: the next send finds that out */
    bool no_receives; /* shut down by the program */
    int error;        /* SO_ERROR */

    /* Receiving. */
    uint32_t slots;
    size_t stride;
    struct sdp_piece *pieces; /* a ring */
    uint32_t piece_room;
    uint32_t piece_first;
    uint32_t piece_count;
    size_t unread;
    uint64_t rx_position; /* of the next octet to read */
    uint64_t mark;        /* position of the urgent octet; valid if mark_set */
    bool mark_set;
    bool oob_pending; /* announced, not received yet */
    bool oob_valid;
    unsigned char oob_octet;
    bool oob_inline;
    size_t low_water;
    bool bulk; /* the last message with payload was a long one */
    struct sdp_aim aim;
    uint32_t spare_pieces; /* pieces in the spare buffer, which lies behind the slots */

    /*
     * Sending: a ring of octets. tx_filled counts the octets copied into it, tx_sent those sent,
     * and tx_freed those whose memory may be reused. Messages are numbered from 1.
     */
    unsigned char *ring;
    size_t ring_size;
    uint64_t ring_base; /* position of the octet at its beginning; changes while it is empty */
    size_t send_buffer;
    uint64_t tx_filled;
    uint64_t tx_sent;
    uint64_t tx_freed;
    const void *lent; /* where the octets from tx_sent to tx_filled are, if not in the ring */
    uint32_t tx_posted;
    uint32_t tx_done;
    uint32_t tx_signal;              /* number of the last signalled message */
    uint32_t tx_end;                 /* number of DisConn or AbortConn */
    uint64_t freed_by[SDP_HEADS];    /* tx_freed once this message has completed */
    uint64_t urgent[SDP_URGENT_MAX]; /* positions after urgent octets */
    uint32_t urgent_count;
    bool cork;
    bool more; /* MSG_MORE was set in the last call */

    /* ZCopy. */
    size_t zcopy_from;   /* octets; 0: never */
    uint32_t zcopy_rest; /* sends that are copied before the next attempt */
    bool sending_zcopy;
    bool receiving_zcopy;
    bool read_done;  /* the RDMA Read has completed */
    bool large_read; /* the last receiving call was one for ZCopy */

    /* Waiting. */
    bool quiet;       /* a call is in progress and takes the events: the callback does not run */
    bool driver;      /* a thread sleeps on the EVD */
    bool held;        /* no thread may become the driver: the process forks */
    uint32_t waiters; /* threads that sleep on turn */
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

/* Taken before all others: shared by threads that make connections, exclusive for a fork. */
extern pthread_rwlock_t sdp_start_lock;
extern pthread_mutex_t sdp_list_lock; /* taken before sdp_connection.lock */
extern struct sdp_connection *sdp_list_first;

void sdp_list_add(struct sdp_connection *connection);
/* Called with sdp_list_lock. */
void sdp_list_remove(struct sdp_connection *connection);
void sdp_init_lock(pthread_mutex_t *lock);

/* Shared by callbacks that wait for a lock, exclusive for a fork. Taken after sdp_start_lock. */
extern pthread_rwlock_t sdp_fork_gate;
/* Takes a lock in a callback. Returns false if the process is forking. */
bool sdp_lock_here(pthread_mutex_t *lock);

/* ---- fork (sdp_fork.c, sdp_owed.c), with the lock -------------------------------------------- */

/* After a fork: claims the connection for the process that uses it first. */
bool sdp_claim(struct sdp_connection *connection);
void sdp_owed_before_fork(struct sdp_connection *connection);
/*
 * Ends this process's use of the connection. Returns true if no other process is left that could
 * send the unsent octets.
 */
bool sdp_owed_leave(struct sdp_connection *connection);
void sdp_owed_forget(struct sdp_connection *connection);
/* Called in both processes, with all locks. */
void sdp_owed_forked(bool child);
bool sdp_owed_needs_care(const struct sdp_connection *connection);
/* Called after a fork if a connection needs care: makes sure that its unsent octets are sent. */
void sdp_owed_care(bool child);

/* ---- Entering and waiting (sdp_wait.c) ------------------------------------------------------ */

/*
 * Takes the lock and returns 0. Returns, without the lock, EBADF if the connection belongs to
 * another process, or EAGAIN if a signal handler has interrupted a call of its own thread.
 */
int sdp_enter(struct sdp_connection *connection);
/* Sends what is due, releases the lock, and notifies of changes. */
void sdp_leave(struct sdp_connection *connection);

/*
 * Waits until something has happened: returns 0, and the caller checks again. EAGAIN: timeout.
 * EINTR; EBADF (sdp_disturb).
 */
int sdp_wait(struct sdp_connection *connection, const struct timespec *deadline);
/* The same, for a thread that is not the driver. */
int sdp_wait_turn(struct sdp_connection *connection, const struct timespec *deadline);
void sdp_wake_waiters(struct sdp_connection *connection);
/* The calling function takes the events from now until sdp_leave; the callback does not run. */
void sdp_be_quiet(struct sdp_connection *connection);
/* The callback of the connection's EVD. */
void sdp_callback(it_evd_handle_t evd, void *connection);

/* ---- Work (sdp_events.c), with the lock ----------------------------------------------------- */

void sdp_on_event(struct sdp_connection *connection, const it_event_t *event);
/* Takes the events that have arrived, unless there is a driver. Returns true if there were any. */
bool sdp_take(struct sdp_connection *connection);
/* The same for the callback. */
bool sdp_take_here(struct sdp_connection *connection);
/* Sends whatever can be sent. */
void sdp_push(struct sdp_connection *connection);
/* sdp_later.run: ends the transport, without the lock. */
void sdp_disconnect_here(struct sdp_later *farewell);
/* Ends the connection now, with an error for the program. */
void sdp_fail(struct sdp_connection *connection, int error);
/* Resets the connection: AbortConn, then the transport ends. */
void sdp_reset(struct sdp_connection *connection);

/* ---- Payload that is placed elsewhere (sdp_aim.c), with the lock ---------------------------- */

/* Aims at the spare buffer if it is free and nothing else is aimed at. */
void sdp_aim_spare(struct sdp_connection *connection);
/* Aims at memory of a receiving call. Returns false if this is not possible. */
bool sdp_aim_program(struct sdp_connection *connection, void *octets, size_t count);
/*
 * Ends the aim at a call's memory. Returns the number of octets placed there, which the call
 * returns. Sets *error to EFAULT if a part of the memory is not mapped.
 */
size_t sdp_aim_end(struct sdp_connection *connection, int *error);
/*
 * Before a fork, ends aims at the memory of waiting calls; octets placed so far belong to those
 * calls. The child has no such calls, so it drops these aims.
 */
void sdp_aim_before_fork(struct sdp_connection *connection);
void sdp_aim_in_child(struct sdp_connection *connection);

/* ---- Posts (sdp_post.c), with the lock ------------------------------------------------------ */

/* Returns true if a message may be posted, since a head is free. */
bool sdp_post_room(const struct sdp_connection *connection);
/* Returns true if the message of this number, one of the last, has completed. The numbers wrap. */
static inline bool sdp_post_is_done(const struct sdp_connection *connection, uint32_t number)
{
    return (int32_t)(connection->tx_done - number) >= 0;
}
/* Returns true if a call that sends this number of octets may cause completions. */
bool sdp_post_completes(const struct sdp_connection *connection, size_t octets);
/* Posts a message: the head, then the payload from registered memory. */
void sdp_post(struct sdp_connection *connection, const struct sdp_message *message,
              it_lmr_handle_t lmr, const unsigned char *from);
/*
 * The same for octets that are at connection->lent: `place` in the ring gets those that are not
 * sent at once.
 */
void sdp_post_lent(struct sdp_connection *connection, const struct sdp_message *message,
                   const unsigned char *place);
void sdp_post_greeting(struct sdp_connection *connection);
void sdp_post_receive(struct sdp_connection *connection, uint32_t slot);
/*
 * Gives the page that held the peer's Hello back to the kernel: an idle connection does not need
 * it.
 */
void sdp_forget_greeting(struct sdp_connection *connection, uint32_t slot);
unsigned char *sdp_slot(const struct sdp_connection *connection, uint32_t slot);

/* ---- Telling (sdp_tell.c) ------------------------------------------------------------------- */

unsigned sdp_events_now(const struct sdp_connection *connection);
/* Called with the lock, which is released during the call of `changed`. Returns true if it was. */
bool sdp_tell(struct sdp_connection *connection);

/* Ends closed connections whose peers do not answer. */
void sdp_sweep(void);

/* Called with the lock when the connection is not needed any more: the IA's thread frees it. */
static inline void sdp_bury(struct sdp_connection *connection)
{
    if (connection->buried)
        return;
    connection->buried = true;
    if (!connection->foreign)
        sdp_adapter_later(&connection->burial);
}

static inline size_t sdp_ring_used(const struct sdp_connection *connection)
{
    return (size_t)(connection->tx_filled - connection->tx_freed);
}

#endif /* ITAPI_ULP_SDP_CONNECTION_SDP_OBJECT_H */
