/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------- handles */

struct evd *evd_from_handle(it_evd_handle_t handle)
{
    return base_object_is(handle, IT_HANDLE_TYPE_EVD) ? (struct evd *)(void *)handle : NULL;
}

it_evd_handle_t evd_handle(struct evd *evd)
{
    return (it_evd_handle_t)(void *)evd;
}

it_event_type_t evd_stream(const struct evd *evd)
{
    return evd->stream;
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
        (void)syscall(SYS_futex, users, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

/* ---------------------------------------------------------------- taking one event */

bool evd_pop_locked(struct evd *evd, it_event_t *event)
{
    const struct evd_source *source = atomic_load_explicit(&evd->source, memory_order_relaxed);
    const void *record = evd_queue_first(&evd->queue);

    base_lock_assert_held(&evd->lock);
    if (evd->stream == IT_DTO_EVENT_STREAM)
        evd_dto_tell(evd_handle(evd), record, event);
    else
        memcpy(event, record, evd->queue.record_size);
    evd_queue_drop_first(&evd->queue);
    if (source && source->held_back)
        (void)evd_source_move_locked(evd);
    if (evd->overflowed && (evd->flags & IT_EVD_OVERFLOW_AUTO_RESET))
        evd->overflowed = false;
    if (evd->aevd)
        return evd_aggregate_update_locked(evd);
    return evd->fd_raised && !evd_is_fd_due_locked(evd);
}

/* ---------------------------------------------------------------- waking */

bool evd_is_awaited(const struct evd *evd)
{
    return atomic_load_explicit(&evd->waiters_used, memory_order_seq_cst) != 0 ||
           atomic_load_explicit(&evd->ia->aggregate_waiters, memory_order_seq_cst) != 0;
}

int evd_idle_waiter_locked(struct evd *evd)
{
    for (int slot = 0; evd->waiters_used >> slot != 0; slot++) {
        if ((evd->waiters_used >> slot & 1) && !evd_waiter_is_woken(&evd->waiters[slot]))
            return slot;
    }
    return -1;
}

bool evd_needs_wake_locked(struct evd *evd)
{
    bool told = evd->aevd && evd_aggregate_update_locked(evd);

    base_lock_assert_held(&evd->lock);
    if (told || evd->overflow_unreported)
        return true;
    if (evd->fd < 0 && evd->waiters_used == 0 && !evd->callback)
        return false;
    if (evd->fd >= 0 && evd->fd_raised != evd_is_fd_due_locked(evd))
        return true;
    return evd_is_ready_locked(evd) &&
           (evd_idle_waiter_locked(evd) >= 0 || evd_callback_is_due_locked(evd));
}

struct evd_wakeup evd_wakeup_collect_locked(struct evd *evd)
{
    struct evd_wakeup wakeup = {.waiter = NULL};
    bool ready = evd_is_ready_locked(evd);
    int slot = ready ? evd_idle_waiter_locked(evd) : -1;

    base_lock_assert_held(&evd->lock);
    if (slot >= 0) {
        wakeup.waiter = &evd->waiters[slot];
        wakeup.waiter_state = evd_waiter_claim(wakeup.waiter);
    }
    wakeup.callback = evd_callback_claim_locked(evd);
    wakeup.sync_fd = evd->fd >= 0 && evd->fd_raised != evd_is_fd_due_locked(evd);
    return wakeup;
}

void evd_wakeup_run(struct evd *evd, const struct evd_wakeup *wakeup)
{
    if (wakeup->waiter)
        evd_waiter_signal(wakeup->waiter, wakeup->waiter_state);
    if (wakeup->callback)
        evd_callback_submit(evd, wakeup->callback);
    if (wakeup->sync_fd)
        evd_fd_sync(evd);
}

void evd_wake_all(struct evd *evd)
{
    int states[EVD_WAITERS];
    unsigned used;

    base_lock_take(&evd->lock);
    used = evd->waiters_used;
    for (int slot = 0; slot < EVD_WAITERS; slot++) {
        if (used >> slot & 1)
            states[slot] = evd_waiter_claim(&evd->waiters[slot]);
    }
    base_lock_drop(&evd->lock);
    for (int slot = 0; slot < EVD_WAITERS; slot++) {
        if (used >> slot & 1)
            evd_waiter_signal(&evd->waiters[slot], states[slot]);
    }
}

void evd_wake(struct evd *evd)
{
    struct evd_wakeup wakeup;
    struct evd *aevd;
    bool report;

    base_lock_take(&evd->lock);
    wakeup = evd_wakeup_collect_locked(evd);
    aevd = evd->aevd;
    if (aevd)
        evd_pin(aevd); /* not dying yet: it has this member */
    report = evd->overflow_unreported;
    evd->overflow_unreported = false;
    base_lock_drop(&evd->lock);

    evd_wakeup_run(evd, &wakeup);
    if (aevd) {
        evd_wake(aevd);
        evd_leave(aevd);
    }
    if (report)
        evd_ia_raise_overflow(evd);
}
