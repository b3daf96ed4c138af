/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The EVD object, simple (SEVD: a queue) or aggregate (AEVD: a list of the members that are ready),
 * and what the files of this folder share. Nobody outside the folder includes this.
 */
#ifndef ITAPI_EVD_QUEUE_EVD_OBJECT_H
#define ITAPI_EVD_QUEUE_EVD_OBJECT_H

#include "base/base_lock.h"
#include "base/base_object.h"
#include "base/base_refuse.h"
#include "evd/queue/evd.h"
#include "evd/queue/evd_callback.h"
#include "evd/loop/evd_loop.h"
#include "evd/queue/evd_queue.h"
#include "evd/loop/evd_waiter.h"

#include "itx_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVD_WAITERS 8

#define EVD_FLAGS_OVERFLOW                                                                         \
    ((unsigned)IT_EVD_OVERFLOW_DEFAULT | (unsigned)IT_EVD_OVERFLOW_NOTIFY |                        \
     (unsigned)IT_EVD_OVERFLOW_AUTO_RESET)
#define EVD_FLAGS_ALL                                                                              \
    ((unsigned)IT_EVD_DEQUEUE_NOTIFICATIONS | (unsigned)IT_EVD_CREATE_FD | EVD_FLAGS_OVERFLOW)

/* In evd.users: no new user, and the last one to leave wakes the thread that frees the EVD. */
#define EVD_DYING UINT32_C(0x80000000)

/* For how long a waiter polls before it sleeps: longer where that has paid, shorter where not. */
#define EVD_SOURCE_SPIN_MIN_NS UINT64_C(2000)

/* A queue of completions below (evd_source.h). */
struct evd_source {
    const struct evd_source_ops *ops; /* immutable, as what follows */
    void *context;
    int fd;
    int kick_fd;                 /* eventfd: wakes the waiter that polls .fd */
    bool held_back;              /* by evd.lock: more may be there than the queue has room for */
    _Atomic bool place_taken;    /* a waiter polls .fd */
    _Atomic bool watched;        /* by the loop, from now on */
    _Atomic uint64_t spin_ns;    /* for how long the next waiter polls first */
    struct evd_io io;            /* loop's thread only */
    struct base_entries entries; /* with .dequeue of the source; immutable */
};

struct evd {
    struct base_object object; /* .children: objects that feed it, or members of an AEVD */

    void *source_context; /* of .source: vp_layout.source_context */

    /* Immutable after create. */
    struct evd_ia *ia;
    it_event_type_t stream;              /* ITX_MIXED_EVENT_STREAM: several */
    unsigned streams;                    /* itx_streams_t; of an AEVD 0 */
    bool notifies;                       /* AEVD with IT_EVD_DEQUEUE_NOTIFICATIONS */
    int fd;                              /* eventfd, or -1 */
    _Atomic(struct evd_source *) source; /* NULL: none; set once, under the lock */

    _Atomic bool unsent; /* evd_mark_unsent since the last flush; of an AEVD always */

    /*
     * Threads inside that it_evd_free waits for: it_evd_wait, and those of this layer that have
     * come by way of another object (an AEVD to its member, a member to its AEVD, the IA to its
     * asynchronous EVDs). Plus EVD_DYING. A futex word.
     */
    _Atomic uint32_t users;

    /*
     * Guards all that follows up to fd_lock. The lock of a member may be held when the lock of
     * its AEVD is taken, never the reverse.
     */
    struct base_lock lock;
    struct evd_queue queue; /* SEVD; .count is read without the lock */
    size_t threshold;
    unsigned flags; /* it_evd_flags_t */
    bool enabled;
    bool overflowed;
    bool unwaitable;               /* itx_evd_set_waitable */
    bool overflow_unreported;      /* evd_wake() has to raise the asynchronous error */
    bool fd_raised;                /* changes under fd_lock too */
    uint8_t arm;                   /* itx_evd_arm_t */
    uint32_t fired;                /* events that it was armed for, and that are not told */
    _Atomic unsigned waiters_used; /* bit mask; evd_is_awaited reads it without the lock */
    struct evd_waiter waiters[EVD_WAITERS]; /* .state goes to RUNNING under the lock only */

    struct evd_callback *callback;  /* NULL: none */
    bool callback_runs;             /* also one that has been detached by itself */
    unsigned callback_awaited;      /* threads that wait for its end */
    _Atomic uint32_t callback_ends; /* +1 at the end of each run; a futex word */

    /* SEVD as member. */
    struct evd *aevd;       /* NULL: no member; holds a child of the AEVD */
    size_t offered;         /* its share of aevd->available */
    bool listed;            /* in the AEVD's ready list; changes under both locks */
    _Atomic bool notified;  /* its record was taken, and it has not been found empty since */
    struct base_link ready; /* by the AEVD's lock */

    /* AEVD. */
    struct base_list ready_members; /* next one to serve first */
    _Atomic size_t available; /* what further takes would return; members add without the lock */

    /* Orders the system calls on fd; taken before .lock, guards nothing in memory. */
    struct base_lock fd_lock;
};

static inline bool evd_is_aggregate(const struct evd *evd)
{
    return evd->stream == IT_AEVD_NOTIFICATION_EVENT_STREAM;
}

/* The ITX_STREAM_ bit of a stream; 0: an AEVD's, or no stream. */
unsigned evd_stream_bit(it_event_type_t stream);

/* How a record lies in the queue of a SEVD; each begins with the number of its event. */
static inline bool evd_is_completion(const struct evd *evd, const void *record)
{
    const it_any_event_t *event = record;

    return evd->stream == IT_DTO_EVENT_STREAM ||
           (evd->stream == ITX_MIXED_EVENT_STREAM &&
            ((unsigned)event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM);
}

/* ---------------------------------------------------------------- users */

/* False when the EVD is being freed, or was: its memory stays an EVD's. */
bool evd_enter(struct evd *evd);

/* For callers who know by a lock that the EVD is not being freed yet. */
static inline void evd_pin(struct evd *evd)
{
    (void)atomic_fetch_add_explicit(&evd->users, 1, memory_order_relaxed);
}

/* No lock is held; the EVD may be gone after this. */
void evd_leave(struct evd *evd);

static inline bool evd_is_dying(const struct evd *evd)
{
    return (atomic_load_explicit(&evd->users, memory_order_acquire) & EVD_DYING) != 0;
}

/* ---------------------------------------------------------------- state */

/* The ready rule. */
static inline bool evd_is_ready_locked(const struct evd *evd)
{
    if (!evd->enabled)
        return false;
    if (evd_is_aggregate(evd))
        return !base_list_is_empty(&evd->ready_members);
    return evd_queue_takeable(&evd->queue, evd->threshold) != 0;
}

/* What descriptor and callback tell: that it is ready, or that it has what it was armed for. */
static inline bool evd_tells_locked(const struct evd *evd)
{
    return evd->arm == ITX_EVD_ARM_OFF ? evd_is_ready_locked(evd) : evd->fired > 0;
}

/* The descriptor of a failed IA stays readable: that is how who polls it comes to know. */
static inline bool evd_is_fd_due_locked(const struct evd *evd)
{
    return evd_tells_locked(evd) || atomic_load_explicit(&evd->ia->failed, memory_order_relaxed);
}

/* ---------------------------------------------------------------- the other files */

/* evd_fd.c: false without descriptors. */
bool evd_fd_create(struct evd *evd);
void evd_fd_close(struct evd *evd);
/* Makes the descriptor readable or not, as the EVD is ready or not. No lock is held. */
void evd_fd_sync(struct evd *evd);

/* NULL unless handle is an AEVD of this IA. */
struct evd *evd_aggregate_from_handle(const struct evd_ia *ia, it_evd_handle_t handle);

/* evd_members.c. Member and its lock. True when the list of the AEVD has changed: evd_wake(). */
bool evd_member_update_locked(struct evd *member);
/* The member has a new AEVD, which it holds already, or none. The caller gets the old hold. */
struct evd *evd_member_change_locked(struct evd *member, struct evd *aevd);
/* The next member to serve, pinned, or NULL. Later calls serve others first. */
struct evd *evd_member_next_locked(struct evd *aevd);

/* evd_ia.c: at most one EVD per asynchronous stream. */
it_status_t evd_ia_register(struct evd *evd);
void evd_ia_unregister(struct evd *evd);
/* The EVD of an asynchronous stream, pinned, or NULL. */
struct evd *evd_ia_enter_stream(struct evd_ia *ia, it_event_type_t stream);

/* evd_source.c */
struct evd_source *evd_source_of(struct evd *evd);
/* Returns how many completions have been moved up. No source: 0. */
size_t evd_source_move_locked(struct evd *evd);

#endif
