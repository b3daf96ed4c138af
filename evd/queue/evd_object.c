/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles of EVDs, and the count of threads inside one. */
#include "evd/queue/evd_object.h"

#include "base/base_futex.h"

#include <limits.h>

/* ---------------------------------------------------------------- handles */

struct evd *evd_from_handle(it_evd_handle_t handle)
{
    return base_object_is(handle, IT_HANDLE_TYPE_EVD) ? (struct evd *)(void *)handle : NULL;
}

struct evd *evd_aggregate_from_handle(const struct evd_ia *ia, it_evd_handle_t handle)
{
    struct evd *evd = evd_from_handle(handle);

    return evd && evd_is_aggregate(evd) && evd->ia == ia ? evd : NULL;
}

it_event_type_t evd_stream(const struct evd *evd)
{
    return evd->stream;
}

unsigned evd_stream_bit(it_event_type_t stream)
{
    switch ((unsigned)stream) {
    case IT_DTO_EVENT_STREAM:
        return ITX_STREAM_DTO;
    case IT_CM_REQ_EVENT_STREAM:
        return ITX_STREAM_CM_REQ;
    case IT_CM_MSG_EVENT_STREAM:
        return ITX_STREAM_CM_MSG;
    case IT_ASYNC_AFF_EVENT_STREAM:
        return ITX_STREAM_ASYNC_AFF;
    case IT_ASYNC_UNAFF_EVENT_STREAM:
        return ITX_STREAM_ASYNC_UNAFF;
    case IT_SOFTWARE_EVENT_STREAM:
        return ITX_STREAM_SOFTWARE;
    default: /* any value: it comes from the consumer */
        return 0;
    }
}

bool evd_carries(const struct evd *evd, it_event_type_t stream)
{
    return (evd->streams & evd_stream_bit(stream)) != 0;
}

struct evd_ia *evd_ia_of(const struct evd *evd)
{
    return evd->ia;
}

bool evd_is_overflowed(struct evd *evd)
{
    bool overflowed;

    base_lock_take(&evd->lock);
    overflowed = evd->overflowed;
    base_lock_drop(&evd->lock);
    return overflowed;
}

size_t evd_size(struct evd *evd)
{
    size_t size;

    base_lock_take(&evd->lock);
    size = evd->queue.size;
    base_lock_drop(&evd->lock);
    return size;
}

bool evd_hold(struct evd *evd)
{
    return base_object_hold(&evd->object);
}

void evd_release(struct evd *evd)
{
    base_object_release(&evd->object);
}

/* ---------------------------------------------------------------- users */

bool evd_enter(struct evd *evd)
{
    uint32_t users = atomic_load_explicit(&evd->users, memory_order_relaxed);

    do {
        if (users & EVD_DYING)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&evd->users, &users, users + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return true;
}

void evd_leave(struct evd *evd)
{
    _Atomic uint32_t *users = &evd->users;

    /* Release: pairs with the acquire of evd_destroy(), which then reclaims the object. */
    if (atomic_fetch_sub_explicit(users, 1, memory_order_acq_rel) == (EVD_DYING | 1))
        base_futex_wake(users, INT_MAX);
}

bool evd_is_awaited(const struct evd *evd)
{
    return atomic_load_explicit(&evd->waiters_used, memory_order_seq_cst) != 0 ||
           atomic_load_explicit(&evd->ia->aggregate_waiters, memory_order_seq_cst) != 0;
}

void evd_mark_unsent(struct evd *evd)
{
    atomic_store_explicit(&evd->unsent, true, memory_order_release);
}
