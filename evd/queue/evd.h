/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event dispatchers as the layers above and the providers see them. This layer knows no transport:
 * a provider lends it two functions (struct evd_progress_ops) by which a consumer that polls or
 * waits does the transport's work in its own thread.
 */
#ifndef ITAPI_EVD_QUEUE_EVD_H
#define ITAPI_EVD_QUEUE_EVD_H

#include "base/base_lock.h"
#include "base/base_object.h"
#include "evd/evd_progress.h"
#include "evd/evd_source.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct evd;
struct evd_loop;

/* The event layer's part of an IA: first member of the IA object. */
struct evd_ia {
    struct base_object object;
    struct evd_loop *loop;                   /* immutable after it_ia_create */
    const struct evd_progress_ops *progress; /* immutable after it_ia_create; NULL: none */
    void *progress_context;
    /* Sends now what evd_mark_unsent was called for. No lock is held. Immutable like .progress. */
    void (*flush_evd)(void *progress_context, const struct evd *evd);
    /*
     * A thread is about to sleep on this EVD, and is registered as waiter: posts of EPs with it wait for no further
     * posts. NULL: an AEVD, which does not know whose posts concern it. No lock is held. Immutable like .progress.
     */
    void (*release_evd)(void *progress_context, const struct evd *evd);
    const struct base_entries *failed_entries; /* of EPs from then on; immutable */
    _Atomic bool failed;  /* by evd_ia_fail: IT_ERR_IA_CATASTROPHE from now on */
    _Atomic bool closing; /* by evd_ia_stop: waiters return IT_ERR_ABORT */
    /* Callbacks and descriptors: their consumers rely on the loop while they are elsewhere. */
    _Atomic uint32_t reliant;
    _Atomic uint32_t aggregate_waiters; /* threads in a wait on an AEVD */
    _Atomic uint64_t spin_us;           /* ITX_SPIN_DEFAULT, or what itx_ia_set_spin has set */
    struct base_lock lock;  /* guards what follows and the lists of objects of this IA */
    struct evd *affiliated; /* asynchronous streams, at most one EVD each */
    struct evd *unaffiliated;
    struct base_object *objects[BASE_OBJECT_TYPES]; /* newest first */
};

/* Adds to, takes from the IA's list of its objects. Both take ia->lock. */
void evd_ia_link(struct evd_ia *ia, struct base_object *object);
void evd_ia_unlink(struct evd_ia *ia, struct base_object *object);

/* The IA has failed: calls return IT_ERR_IA_CATASTROPHE, those that wait too. No lock is held. */
void evd_ia_fail(struct evd_ia *ia);

/*
 * First step of it_ia_free, while all objects are still there: waiters return IT_ERR_ABORT,
 * callbacks are taken off, and those that run have come to their end. Not from inside the loop.
 */
void evd_ia_stop(struct evd_ia *ia);

/* For how long a waiter may poll before it sleeps, where it usually would for so long. */
uint64_t evd_ia_spin_ns(const struct evd_ia *ia, uint64_t usual_ns);

/* Frees all EVDs that it_ia_free finds left; blocked waiters have returned before it ends. */
void evd_ia_free_all(struct evd_ia *ia);

/* ---------------------------------------------------------------- producing */

enum evd_push_result {
    EVD_PUSHED,      /* queued, nobody to wake */
    EVD_PUSHED_WAKE, /* queued: call evd_wake() as soon as no lock is held */
    EVD_LOST         /* overflow: the event is gone; call evd_wake(), which reports the overflow */
};

/* Queues a completion. May be called with provider locks held: takes only the EVD's own lock. */
enum evd_push_result evd_push_dto(struct evd *evd, const struct evd_dto *dto);

/* Queues any other event; event->any.evd is filled in here. */
enum evd_push_result evd_push(struct evd *evd, const it_event_t *event);

/* Wakes a waiter, raises the descriptor, tells the AEVD, reports an overflow. No lock may be held. */
void evd_wake(struct evd *evd);

/* evd_push and, where needed, evd_wake. No lock may be held. True unless the event was lost. */
bool evd_deliver(struct evd *evd, const it_event_t *event);

/* The same, but a full EVD refuses the event (false) and does not overflow. No lock may be held. */
bool evd_push_unless_full(struct evd *evd, const it_event_t *event);

/*
 * Posts of an EP with this EVD have been left for later: the next poll that finds it empty calls
 * evd_ia.flush_evd. To be called as soon as that finds them, and not before.
 */
void evd_mark_unsent(struct evd *evd);

/* A thread waits on the EVD, or on an AEVD. Pairs with evd_ia.release_evd: to be called behind a post. */
bool evd_is_awaited(const struct evd *evd);

/* The EP is being freed: its events stay, but no longer write through evd_dto.retire. */
void evd_disown_dto(struct evd *evd, it_ep_handle_t ep);

/* News of a Spigot (IT_ASYNC_UNAFF_SPIGOT_...); dropped when there is no EVD. */
void evd_raise_unaffiliated_spigot(struct evd_ia *ia, it_event_type_t number, size_t spigot_id);

/*
 * Asynchronous error about one EP (0x04002..0x04061) or S-RQ (0x04100); dropped when there is no
 * EVD. No lock may be held.
 */
void evd_raise_affiliated_ep(struct evd_ia *ia, it_event_type_t number, it_ep_handle_t ep);
void evd_raise_affiliated_srq(struct evd_ia *ia, it_event_type_t number, it_srq_handle_t srq);

/* ---------------------------------------------------------------- sources */

/*
 * Lends the DTO EVD a source for the rest of its life; at most one. IT_ERR_RESOURCES: nothing has
 * changed. Waits for nothing.
 */
it_status_t evd_source_attach(struct evd *evd, const struct evd_source_ops *ops, void *context,
                              int fd);
/*
 * To be called afterwards, again if it has failed: the loop watches the source from now on. Waits for
 * the loop. False without memory.
 */
bool evd_source_start(struct evd *evd);
/* The context of the source that is attached, if it has these functions; else NULL. */
void *evd_source_get(struct evd *evd, const struct evd_source_ops *ops);
/* The EVD's lock, which the source is called with. May be taken with provider locks held. */
void evd_source_lock(struct evd *evd);
void evd_source_unlock(struct evd *evd);
/* Moves completions up, as many as there is room for. True: call evd_wake(). */
bool evd_source_move(struct evd *evd);
size_t evd_size(struct evd *evd);
/* it_evd_dequeue with all checks, for a source's own. */
it_status_t evd_dequeue_one(it_evd_handle_t handle, it_event_t *event);
/*
 * A source's own has found nothing, with the lock, which is dropped here: whoever polls does the transport's
 * work. Returns IT_ERR_QUEUE_EMPTY.
 */
it_status_t evd_source_found_nothing(it_evd_handle_t handle);

/* ---------------------------------------------------------------- handles */

/* NULL unless handle is a live EVD. */
struct evd *evd_from_handle(it_evd_handle_t handle);
it_evd_handle_t evd_handle(struct evd *evd);
it_event_type_t evd_stream(const struct evd *evd); /* immutable */
struct evd_ia *evd_ia_of(const struct evd *evd);
bool evd_is_overflowed(struct evd *evd);

/* An object feeds this EVD: it_evd_free answers busy. False when the EVD is being freed. */
bool evd_hold(struct evd *evd);
void evd_release(struct evd *evd);

#endif
