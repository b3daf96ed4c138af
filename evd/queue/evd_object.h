/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The EVD object, and what the files of the event layer share. A simple EVD (SEVD) has a queue, an
 * aggregate EVD (AEVD) a list of the members that are ready. Only the event layer includes this
 * header.
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

/* A bit of evd.users: no thread enters, and the last to leave wakes the one that frees the EVD. */
#define EVD_DYING UINT32_C(0x80000000)

/* The shortest time that a waiter polls before it sleeps; it doubles while polling succeeds. */
#define EVD_SOURCE_SPIN_MIN_NS UINT64_C(2000)

/* The source of an EVD (evd_source.h). */
struct evd_source {
    const struct evd_source_ops *ops; /* immutable, like context and the descriptors */
    void *context;
    int fd;
    int kick_fd;                 /* eventfd: wakes the waiter that polls .fd */
    bool held_back;              /* by evd.lock: the queue had no room for all completions */
    _Atomic bool place_taken;    /* a waiter polls .fd */
    _Atomic bool watched;        /* the loop watches .fd */
    _Atomic uint64_t spin_ns;    /* how long the next waiter polls before it sleeps */
    struct evd_io io;            /* loop's thread only */
    struct base_entries entries; /* evd_entries with the source's .dequeue; immutable */
};

struct evd {
    struct base_object object; /* .children: objects that feed it, or members of an AEVD */

    void *source_context; /* of .source: vp_layout.source_context */

    /* Immutable after create. */
    struct evd_ia *ia;
    it_event_type_t stream;              /* or ITX_MIXED_EVENT_STREAM */
    unsigned streams;                    /* itx_streams_t; 0 for an AEVD */
    bool notifies;                       /* AEVD with IT_EVD_DEQUEUE_NOTIFICATIONS */
    int fd;                              /* eventfd, or -1 */
    _Atomic(struct evd_source *) source; /* or NULL; set once, under the lock */

    _Atomic bool
        unsent; /* evd_mark_unsent was called since the last flush; always true for an AEVD */

    /*
     * Number of threads inside, which it_evd_free waits for, and EVD_DYING; a futex word. A thread
     * is inside in it_evd_wait, and when the event layer came to this EVD from another object: from
     * an AEVD to its member or back, or from the IA to its asynchronous EVDs.
     */
    _Atomic uint32_t users;

    /*
     * Guards the members from here to fd_lock. A thread that holds a member's lock may take that of
     * its AEVD, never the reverse.
     */
    struct base_lock lock;
    struct evd_queue queue; /* SEVD; .count is read without the lock */
    size_t threshold;
    unsigned flags; /* it_evd_flags_t */
    bool enabled;
    bool overflowed;
    bool unwaitable;               /* itx_evd_set_waitable */
    bool overflow_unreported;      /* evd_wake() must raise the asynchronous error */
    bool fd_raised;                /* changes under both locks */
    uint8_t arm;                   /* itx_evd_arm_t */
    uint32_t fired;                /* events it was armed for that no consumer was told of yet */
    _Atomic unsigned waiters_used; /* bit mask; evd_is_awaited reads it without the lock */
    struct evd_waiter waiters[EVD_WAITERS]; /* .state becomes RUNNING under the lock only */

    struct evd_callback *callback;  /* NULL: none */
    bool callback_runs;             /* also after the callback detached itself */
    unsigned callback_awaited;      /* threads that wait for the end of a run */
    _Atomic uint32_t callback_ends; /* count of ended runs; a futex word */

    /* Of a SEVD that is a member. */
    struct evd *aevd;       /* or NULL; the SEVD holds it as a child */
    size_t offered;         /* its share of aevd->available */
    bool listed;            /* on the AEVD's list; changes under both locks */
    _Atomic bool notified;  /* its notification was taken, and no look found it empty since */
    struct base_link ready; /* guarded by the AEVD's lock */

    /* Of an AEVD. */
    struct base_list ready_members; /* in the order in which they are served */
    _Atomic size_t available;       /* sum of the members' offers; changes without the lock */

    /* Orders the system calls on fd, and guards nothing in memory. Taken before .lock. */
    struct base_lock fd_lock;
};

static inline bool evd_is_aggregate(const struct evd *evd)
{
    return evd->stream == IT_AEVD_NOTIFICATION_EVENT_STREAM;
}

/* Returns the ITX_STREAM_ bit of a stream; 0 for that of AEVDs, and for no stream. */
unsigned evd_stream_bit(it_event_type_t stream);

/*
 * For the EVD of a consumer that has a callback or a descriptor, and relies on the loop for
 * completions. Events of connections may be some milliseconds late where another consumer polls.
 */
void evd_rely(struct evd *evd);
void evd_rely_no_more(struct evd *evd);

/*
 * Returns true when the record of a SEVD's queue is a struct evd_dto; else it is an it_event_t.
 * Each begins with the number of its event.
 */
static inline bool evd_is_completion(const struct evd *evd, const void *record)
{
    const it_any_event_t *event = record;

    return evd->stream == IT_DTO_EVENT_STREAM ||
           (evd->stream == ITX_MIXED_EVENT_STREAM &&
            ((unsigned)event->event_number & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM);
}

/* ---------------------------------------------------------------- users */

/* Returns false when the EVD is being, or was, freed; the memory of an EVD stays one's. */
bool evd_enter(struct evd *evd);

/* Enters an EVD that cannot be dying yet, because the caller holds a lock that prevents it. */
static inline void evd_pin(struct evd *evd)
{
    (void)atomic_fetch_add_explicit(&evd->users, 1, memory_order_relaxed);
}

/* The EVD may be gone afterwards. No lock is held. */
void evd_leave(struct evd *evd);

static inline bool evd_is_dying(const struct evd *evd)
{
    return (atomic_load_explicit(&evd->users, memory_order_acquire) & EVD_DYING) != 0;
}

/* ---------------------------------------------------------------- state */

/* Returns true when the EVD is ready: enabled, with an event to take. */
static inline bool evd_is_ready_locked(const struct evd *evd)
{
    if (!evd->enabled)
        return false;
    if (evd_is_aggregate(evd))
        return !base_list_is_empty(&evd->ready_members);
    return evd_queue_takeable(&evd->queue, evd->threshold) != 0;
}

/* The condition for descriptor and callback: ready, or, once armed, the event armed for. */
static inline bool evd_tells_locked(const struct evd *evd)
{
    return evd->arm == ITX_EVD_ARM_OFF ? evd_is_ready_locked(evd) : evd->fired > 0;
}

/* The descriptor stays readable when the IA has failed, to tell a thread that polls it. */
static inline bool evd_is_fd_due_locked(const struct evd *evd)
{
    return evd_tells_locked(evd) || atomic_load_explicit(&evd->ia->failed, memory_order_relaxed);
}

/* ---------------------------------------------------------------- the other files */

/* evd_fd.c. Returns false without descriptors. */
bool evd_fd_create(struct evd *evd);
void evd_fd_close(struct evd *evd);
/* Makes the descriptor readable exactly when evd_is_fd_due_locked says so. No lock is held. */
void evd_fd_sync(struct evd *evd);

/* Returns NULL unless handle is an AEVD of this IA. */
struct evd *evd_aggregate_from_handle(const struct evd_ia *ia, it_evd_handle_t handle);

/*
 * evd_members.c, under the member's lock. Returns true when the AEVD's list changed and somebody
 * waits for that: evd_wake() must follow.
 */
bool evd_member_update_locked(struct evd *member);
/*
 * Returns true when evd_member_update_locked may have work: events of a disabled member are not
 * passed on.
 */
static inline bool evd_member_offers_locked(const struct evd *member)
{
    return member->aevd && (member->enabled || member->offered != 0);
}
/* Gives the member a new AEVD, held by the caller, or none. Returns the old one, with its hold. */
struct evd *evd_member_change_locked(struct evd *member, struct evd *aevd);
/* Returns the next member to serve, pinned, or NULL. Serves members in turn. */
struct evd *evd_member_next_locked(struct evd *aevd);

/* evd_ia.c. An IA has at most one EVD for each asynchronous stream. */
it_status_t evd_ia_register(struct evd *evd);
void evd_ia_unregister(struct evd *evd);
/* Returns the EVD of an asynchronous stream, pinned, or NULL. */
struct evd *evd_ia_enter_stream(struct evd_ia *ia, it_event_type_t stream);

/* evd_source.c */
struct evd_source *evd_source_of(struct evd *evd);
/* Moves completions to the queue while it has room. Returns how many; 0 without a source. */
size_t evd_source_move_locked(struct evd *evd);

#endif
