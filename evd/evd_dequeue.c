/* SPDX-License-Identifier: BSD-2-Clause */
/* The polling path: an empty EVD costs no lock, an event one. */
#include "evd/evd_object.h"

static it_status_t evd_dequeue_aggregate(struct evd *aevd, it_event_t *event)
{
    struct evd *member;

    do {
        base_lock_take(&aevd->lock);
        member = evd_aggregate_next_locked(aevd);
        base_lock_drop(&aevd->lock);
    } while (member && !evd_aggregate_take(aevd, member, event));
    return member ? IT_SUCCESS : IT_ERR_QUEUE_EMPTY;
}

static it_status_t evd_dequeue_simple(struct evd *evd, it_event_t *event)
{
    bool wake;

    base_lock_take(&evd->lock);
    if (evd_queue_count(&evd->queue) == 0) {
        /* Found empty: the next readiness makes a new AEVD record. */
        atomic_store_explicit(&evd->notified, false, memory_order_relaxed);
        base_lock_drop(&evd->lock);
        return IT_ERR_QUEUE_EMPTY;
    }
    wake = evd_pop_locked(evd, event);
    base_lock_drop(&evd->lock);
    if (wake)
        evd_wake(evd);
    return IT_SUCCESS;
}

static bool evd_looks_empty(struct evd *evd)
{
    if (evd_is_aggregate(evd))
        return atomic_load_explicit(&evd->available, memory_order_relaxed) == 0;
    return evd_queue_looks_empty(&evd->queue) &&
           !atomic_load_explicit(&evd->notified, memory_order_relaxed);
}

void evd_make_progress(const struct evd_ia *ia)
{
    bool current = evd_loop_is_current(ia->loop);

    /* A callback that is never done, since we find it ever more events, would keep all others off. */
    if (current && evd_loop_is_overdue(ia->loop))
        return;
    if (ia->progress)
        ia->progress->poll(ia->progress_context);
    if (current)
        evd_loop_poll(ia->loop);
}

it_status_t it_evd_dequeue(it_evd_handle_t handle, it_event_t *event)
{
    struct evd *evd = evd_from_handle(handle);

    if (!evd)
        return IT_ERR_INVALID_EVD;
    if (!event)
        return IT_ERR_FAULT;
    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (evd_looks_empty(evd)) {
        evd_make_progress(evd->ia);
        if (evd_looks_empty(evd))
            return IT_ERR_QUEUE_EMPTY;
    }
    return evd_is_aggregate(evd) ? evd_dequeue_aggregate(evd, event)
                                 : evd_dequeue_simple(evd, event);
}
