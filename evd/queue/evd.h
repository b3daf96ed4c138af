/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event dispatchers, as the access layer and the providers see them. The event layer knows no
 * transport: a provider lends it functions (struct evd_progress_ops) by which a consumer that polls
 * or waits does the transport's work in its own thread.
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
    /* Sends the posts that evd_mark_unsent announced. No lock is held. Immutable like .progress. */
    void (*flush_evd)(void *progress_context, const struct evd *evd);
    /*
     * Called by a thread that is registered as waiter and is about to sleep on this EVD: posts of
     * the EVD's EPs are no longer held back to be coalesced with later ones. For an AEVD, which
     * knows no EPs, evd is NULL. No lock is held. Immutable like .progress.
     */
    void (*release_evd)(void *progress_context, const struct evd *evd);
    /* Rejects an undecided request, if it is still one. No lock is held. Immutable; NULL: none. */
    void (*refuse_request)(uint64_t id, bool datagram);
    const struct base_entries *failed_entries; /* of EPs, once the IA has failed; immutable */
    _Atomic bool failed;  /* set by evd_ia_fail: calls return IT_ERR_IA_CATASTROPHE */
    _Atomic bool closing; /* set by evd_ia_stop: waiters return IT_ERR_ABORT */
    /*
     * Number of callbacks and descriptors of EVDs for completions: their consumers rely on the loop
     * to read the streams.
     */
    _Atomic uint32_t reliant;
    _Atomic bool patient; /* itx_ia_lead_begin was called: threads of the program read */
    _Atomic uint32_t aggregate_waiters; /* threads in a wait on an AEVD */
    _Atomic uint64_t spin_us;           /* ITX_SPIN_DEFAULT, or the value of itx_ia_set_spin */
    struct base_lock lock;  /* guards what follows and the lists of objects of this IA */
    struct evd *affiliated; /* the EVDs of the asynchronous streams, or NULL */
    struct evd *unaffiliated;
    struct base_list objects[BASE_OBJECT_TYPES]; /* base_object.link; newest first */
};

/* Put an object on the IA's list and take it off. Both take ia->lock. */
void evd_ia_link(struct evd_ia *ia, struct base_object *object);
void evd_ia_unlink(struct evd_ia *ia, struct base_object *object);

/* Returns for how long a waiter may poll before it sleeps; usual_ns if the program set nothing. */
uint64_t evd_ia_spin_ns(const struct evd_ia *ia, uint64_t usual_ns);

/* ---------------------------------------------------------------- producing */

/*
 * Announces deferred posts of an EP with this EVD: the next poll that finds the EVD empty calls
 * evd_ia.flush_evd. To be called when flush_evd can find the posts, and not before.
 */
void evd_mark_unsent(struct evd *evd);

/*
 * Returns true when a thread waits on the EVD, or on any AEVD of its IA. To be called after a post
 * is published: pairs with evd_ia.release_evd.
 */
bool evd_is_awaited(const struct evd *evd);

/* ---------------------------------------------------------------- sources */

/* Returns the context of the EVD's source if the source has these functions, else NULL. */
void *evd_source_get(struct evd *evd, const struct evd_source_ops *ops);
/* Take and drop the EVD's lock, which guards the source. Provider locks may be held. */
void evd_source_lock(struct evd *evd);
void evd_source_unlock(struct evd *evd);
size_t evd_size(struct evd *evd);

/* ---------------------------------------------------------------- handles */

/* Returns NULL unless handle is a live EVD. */
struct evd *evd_from_handle(it_evd_handle_t handle);
/* The EVD's stream, or ITX_MIXED_EVENT_STREAM. Immutable. */
it_event_type_t evd_stream(const struct evd *evd);
bool evd_carries(const struct evd *evd, it_event_type_t stream);
struct evd_ia *evd_ia_of(const struct evd *evd);
bool evd_is_overflowed(struct evd *evd);

/*
 * Holds the EVD for an object that feeds it: it_evd_free answers IT_ERR_EVD_BUSY. Returns false
 * when the EVD is being freed.
 */
bool evd_hold(struct evd *evd);
void evd_release(struct evd *evd);

static inline it_evd_handle_t evd_handle(struct evd *evd)
{
    return (it_evd_handle_t)(void *)evd;
}

#endif
