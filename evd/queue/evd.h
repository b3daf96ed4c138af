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
     * A thread is about to sleep on this EVD, and is registered as waiter: posts of EPs with it
     * wait for no further posts. NULL: an AEVD, which does not know whose posts concern it. No lock
     * is held. Immutable like .progress.
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
    struct base_list objects[BASE_OBJECT_TYPES]; /* base_object.link; newest first */
};

/* Adds to, takes from the IA's list of its objects. Both take ia->lock. */
void evd_ia_link(struct evd_ia *ia, struct base_object *object);
void evd_ia_unlink(struct evd_ia *ia, struct base_object *object);

/* For how long a waiter may poll before it sleeps, where it usually would for so long. */
uint64_t evd_ia_spin_ns(const struct evd_ia *ia, uint64_t usual_ns);

/* ---------------------------------------------------------------- producing */

/*
 * Posts of an EP with this EVD have been left for later: the next poll that finds it empty calls
 * evd_ia.flush_evd. To be called as soon as that finds them, and not before.
 */
void evd_mark_unsent(struct evd *evd);

/*
 * A thread waits on the EVD, or on an AEVD. Pairs with evd_ia.release_evd: to be called behind a
 * post.
 */
bool evd_is_awaited(const struct evd *evd);

/* ---------------------------------------------------------------- sources */

/* The context of the source that is attached, if it has these functions; else NULL. */
void *evd_source_get(struct evd *evd, const struct evd_source_ops *ops);
/* The EVD's lock, which the source is called with. May be taken with provider locks held. */
void evd_source_lock(struct evd *evd);
void evd_source_unlock(struct evd *evd);
size_t evd_size(struct evd *evd);

/* ---------------------------------------------------------------- handles */

/* NULL unless handle is a live EVD. */
struct evd *evd_from_handle(it_evd_handle_t handle);
/* Immutable; of several streams ITX_MIXED_EVENT_STREAM. */
it_event_type_t evd_stream(const struct evd *evd);
bool evd_carries(const struct evd *evd, it_event_type_t stream);
struct evd_ia *evd_ia_of(const struct evd *evd);
bool evd_is_overflowed(struct evd *evd);

/* An object feeds this EVD: it_evd_free answers busy. False when the EVD is being freed. */
bool evd_hold(struct evd *evd);
void evd_release(struct evd *evd);

static inline it_evd_handle_t evd_handle(struct evd *evd)
{
    return (it_evd_handle_t)(void *)evd;
}

#endif
