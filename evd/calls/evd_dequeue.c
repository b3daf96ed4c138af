/* SPDX-License-Identifier: BSD-2-Clause */
/* The polling path: an empty EVD costs no lock, an event costs one. */
#include "evd/calls/evd_calls.h"

#include "itx_api.h"

static size_t evd_dequeue_simple(struct evd *evd, it_event_t *events, size_t max)
{
    const struct evd_source *source;
    size_t count = 0;
    bool wake = false;

    base_lock_take(&evd->lock);
    while (count < max && evd_queue_count(&evd->queue) != 0)
        wake = evd_pop_locked(evd, &events[count++]) || wake;
    source = atomic_load_explicit(&evd->source, memory_order_relaxed);
    if (source && count < max)
        count += source->ops->take(source->context, events + count, max - count);
    /* The EVD is empty now: when it becomes ready again, its AEVD gets a new record. */
    if (count < max)
        atomic_store_explicit(&evd->notified, false, memory_order_relaxed);
    base_lock_drop(&evd->lock);
    if (wake)
        evd_wake(evd);
    return count;
}

static bool evd_looks_empty(struct evd *evd)
{
    if (evd_is_aggregate(evd))
        return atomic_load_explicit(&evd->available, memory_order_relaxed) == 0;
    return evd_queue_looks_empty(&evd->queue) &&
           !atomic_load_explicit(&evd->source, memory_order_relaxed) &&
           !atomic_load_explicit(&evd->notified, memory_order_relaxed);
}

/* Sends deferred posts: those of the EVD's EPs, or all for an AEVD, which knows no EPs. */
static void __attribute__((noinline)) evd_flush_posts(struct evd *evd)
{
    const struct evd_ia *ia = evd->ia;

    if (!evd_is_aggregate(evd)) {
        (void)atomic_exchange_explicit(&evd->unsent, false, memory_order_acq_rel);
        ia->flush_evd(ia->progress_context, evd);
    } else if (ia->progress && ia->progress->flush) {
        ia->progress->flush(ia->progress_context);
    }
}

void evd_make_progress(struct evd *evd)
{
    const struct evd_ia *ia = evd->ia;

    /*
     * A callback that polls until the EVD is empty must find it empty at some time: otherwise the
     * loop's other callbacks never run.
     */
    if (evd_loop_is_here() && !evd_loop_poll())
        return;
    if (atomic_load_explicit(&evd->unsent, memory_order_relaxed))
        evd_flush_posts(evd);
    if (ia->progress)
        ia->progress->poll(ia->progress_context);
}

/* Writes *count only on success; count may be NULL. */
static it_status_t __attribute__((noinline))
evd_dequeue(struct evd *evd, it_event_t *events, size_t max, size_t *count)
{
    size_t taken;

    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (evd_looks_empty(evd)) {
        evd_make_progress(evd);
        if (evd_looks_empty(evd))
            return IT_ERR_QUEUE_EMPTY;
    }
    taken = evd_is_aggregate(evd) ? evd_aggregate_dequeue(evd, events, max)
                                  : evd_dequeue_simple(evd, events, max);
    if (taken == 0) {
        if (atomic_load_explicit(&evd->source, memory_order_relaxed))
            evd_make_progress(evd);
        return IT_ERR_QUEUE_EMPTY;
    }
    if (count)
        *count = taken;
    return IT_SUCCESS;
}

it_status_t evd_dequeue_one(it_evd_handle_t handle, it_event_t *event)
{
    struct evd *evd = evd_from_handle(handle);

    if (!evd)
        return base_no_dequeue(handle, event);
    if (!event)
        return base_refuse_null("it_evd_dequeue", event);
    return evd_dequeue(evd, event, 1, NULL);
}

const struct base_entries evd_entries = {
    .post_send = base_no_send,
    .post_rdma_write = base_no_write,
    .post_rdma_read = base_no_read,
    .post_recv = base_no_recv,
    .dequeue = evd_dequeue_one,
};

it_status_t evd_source_found_nothing(it_evd_handle_t handle)
{
    struct evd *evd = (struct evd *)(void *)handle;

    atomic_store_explicit(&evd->notified, false, memory_order_relaxed);
    base_lock_drop(&evd->lock);
    evd_make_progress(evd);
    return IT_ERR_QUEUE_EMPTY;
}

it_status_t it_evd_dequeue(it_evd_handle_t handle, it_event_t *event)
{
    if (__builtin_expect(!base_object_is_usual(handle, IT_HANDLE_TYPE_EVD), false))
        return base_no_dequeue(handle, event);
    return base_object_entries(handle)->dequeue(handle, event);
}

it_status_t itx_evd_dequeue_n(it_evd_handle_t handle, size_t max_events, it_event_t *events,
                              size_t *event_count)
{
    struct evd *evd = evd_from_handle(handle);

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!events || !event_count)
        return base_refuse_null2(__func__, events, event_count);
    if (max_events == 0)
        return base_refuse_number(IT_ERR_INVALID_LENGTH, __func__, max_events);
    return evd_dequeue(evd, events, max_events, event_count);
}

it_status_t it_evd_dequeue_n(it_evd_handle_t handle, int deque_count, it_event_t *events,
                             int *dequed_count)
{
    struct evd *evd = evd_from_handle(handle);
    it_status_t status;
    size_t count = 0;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!events || !dequed_count)
        return base_refuse_null2(__func__, events, dequed_count);
    if (deque_count <= 0)
        return base_refuse(IT_ERR_INVALID_LENGTH, __func__, "deque_count %d", deque_count);
    status = evd_dequeue(evd, events, (size_t)deque_count, &count);
    if (status == IT_ERR_QUEUE_EMPTY)
        status = IT_SUCCESS; /* other implementations of IT-API answer so */
    if (status == IT_SUCCESS)
        *dequed_count = (int)count;
    return status;
}
