/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event on its way into an EVD and out of it. Pushing, waking and raising form one recursion:
 * an event that does not fit causes an event of another EVD, whose consumers are woken. The
 * recursion ends, since each EVD enters overflow once.
 */
#include "evd/deliver/evd_deliver.h"

#include "evd/deliver/evd_deliver_private.h"

#include <string.h>

/* ---------------------------------------------------------------- taking one event */

/* Reports to the asynchronous EVDs that events of lost were dropped. No lock is held. */
static void evd_ia_raise_overflow(struct evd *lost);

bool evd_pop_locked(struct evd *evd, it_event_t *event)
{
    const struct evd_source *source = atomic_load_explicit(&evd->source, memory_order_relaxed);
    const void *record = evd_queue_first(&evd->queue);

    base_lock_assert_held(&evd->lock);
    if (evd_is_completion(evd, record))
        evd_dto_tell(evd_handle(evd), record, event);
    else
        memcpy(event, record, evd->queue.record_size);
    evd_queue_drop_first(&evd->queue);
    if (source && source->held_back)
        (void)evd_source_move_locked(evd);
    if (evd->overflowed && (evd->flags & IT_EVD_OVERFLOW_AUTO_RESET))
        evd->overflowed = false;
    if (evd_member_offers_locked(evd))
        return evd_member_update_locked(evd);
    return evd->fd_raised && !evd_is_fd_due_locked(evd);
}

/* ---------------------------------------------------------------- waking */

/* Returns the slot of a waiter that no thread has woken, or -1. */
static int evd_idle_waiter_locked(struct evd *evd)
{
    for (int slot = 0; evd->waiters_used >> slot != 0; slot++) {
        if ((evd->waiters_used >> slot & 1) && !evd_waiter_is_woken(&evd->waiters[slot]))
            return slot;
    }
    return -1;
}

bool evd_needs_wake_locked(struct evd *evd)
{
    bool told = evd_member_offers_locked(evd) && evd_member_update_locked(evd);

    base_lock_assert_held(&evd->lock);
    if (told || evd->overflow_unreported)
        return true;
    if (evd->fd < 0 && evd->waiters_used == 0 && !evd->callback)
        return false;
    if (evd->fd >= 0 && evd->fd_raised != evd_is_fd_due_locked(evd))
        return true;
    return (evd_is_ready_locked(evd) && evd_idle_waiter_locked(evd) >= 0) ||
           evd_callback_is_due_locked(evd);
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
        evd_pin(aevd); /* cannot be dying: it still has this member */
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

/* ---------------------------------------------------------------- pushing */

/* Auto reset alone is silent; together with NOTIFY or DEFAULT it reports. */
static bool evd_reports_overflow_locked(const struct evd *evd)
{
    return !(evd->flags & IT_EVD_OVERFLOW_AUTO_RESET) ||
           (evd->flags & ((unsigned)IT_EVD_OVERFLOW_NOTIFY | (unsigned)IT_EVD_OVERFLOW_DEFAULT));
}

/* Returns false when the event must be dropped; the EVD is then in overflow. */
static bool evd_admit_locked(struct evd *evd)
{
    base_lock_assert_held(&evd->lock);
    if (evd->overflowed)
        return false;
    if (!evd_queue_is_full(&evd->queue))
        return true;
    evd->overflowed = true;
    if (evd_reports_overflow_locked(evd))
        evd->overflow_unreported = true;
    return false;
}

/*
 * Called just after an event was queued. It may be the event for which itx_evd_arm armed the EVD.
 */
static void evd_fire_locked(struct evd *evd)
{
    bool notifies = evd->queue.notify_end == evd->queue.tail;

    base_lock_assert_held(&evd->lock);
    if (evd->arm != ITX_EVD_ARM_ANY && (evd->arm != ITX_EVD_ARM_NOTIFICATION || !notifies))
        return;
    evd->arm = ITX_EVD_ARM_NONE;
    evd->fired++;
}

/*
 * Often the waiter to wake belongs to the thread that pushes, while it does the transport's work.
 * Then its state is changed here, without a system call, and evd_wake() has nothing left to do.
 */
static enum evd_push_result evd_pushed_locked(struct evd *evd)
{
    int slot;

    if (__builtin_expect(evd->arm != ITX_EVD_ARM_OFF, false))
        evd_fire_locked(evd);
    if (!evd_needs_wake_locked(evd))
        return EVD_PUSHED;
    if (evd->fd >= 0 || evd->aevd || evd->callback || evd->overflow_unreported)
        return EVD_PUSHED_WAKE;
    slot = evd_idle_waiter_locked(evd);
    return slot >= 0 && evd_waiter_tell(&evd->waiters[slot]) ? EVD_PUSHED : EVD_PUSHED_WAKE;
}

enum evd_push_result evd_push_dto(struct evd *evd, const struct evd_dto *dto)
{
    enum evd_push_result result = EVD_LOST;
    bool failed = dto->status != IT_DTO_SUCCESS;

    base_lock_take(&evd->lock);
    if (evd_admit_locked(evd)) {
        struct evd_dto *record = evd_queue_add(&evd->queue, dto->notify || failed, failed);

        *record = *dto;
        result = evd_pushed_locked(evd);
    }
    base_lock_drop(&evd->lock);
    return result;
}

/* Completions that a source holds are older than the event, so they are queued before it. */
static bool evd_admit_behind_locked(struct evd *evd)
{
    (void)evd_source_move_locked(evd);
    return evd_admit_locked(evd);
}

static void evd_add_locked(struct evd *evd, const it_event_t *event)
{
    it_any_event_t *record = evd_queue_add(&evd->queue, true, false);

    /* A record has the size of the longest event of the EVD's streams, so this event fits. */
    memcpy(record, event, evd->queue.record_size);
    record->evd = evd_handle(evd);
}

static enum evd_push_result evd_push(struct evd *evd, const it_event_t *event)
{
    enum evd_push_result result = EVD_LOST;

    base_lock_take(&evd->lock);
    if (evd_admit_behind_locked(evd)) {
        evd_add_locked(evd, event);
        result = evd_pushed_locked(evd);
    }
    base_lock_drop(&evd->lock);
    return result;
}

bool evd_push_unless_full(struct evd *evd, const it_event_t *event)
{
    bool fits;
    bool wake = false;

    base_lock_take(&evd->lock);
    (void)evd_source_move_locked(evd);
    fits = !evd->overflowed && !evd_queue_is_full(&evd->queue);
    if (fits) {
        evd_add_locked(evd, event);
        evd_fire_locked(evd);
        wake = evd_needs_wake_locked(evd);
    }
    base_lock_drop(&evd->lock);
    if (wake)
        evd_wake(evd);
    return fits;
}

bool evd_deliver(struct evd *evd, const it_event_t *event)
{
    enum evd_push_result result = evd_push(evd, event);

    if (result != EVD_PUSHED)
        evd_wake(evd);
    return result != EVD_LOST;
}

void evd_disown_dto(struct evd *evd, it_ep_handle_t ep)
{
    base_lock_take(&evd->lock);
    for (uint64_t number = evd->queue.head; number != evd->queue.tail; number++) {
        struct evd_dto *record = evd_queue_record(&evd->queue, number);

        if (!evd_is_completion(evd, record) || record->ep != ep)
            continue;
        record->retire = NULL;
        record->ep_freed = true;
        if (record->event_number == IT_DTO_UD_RECV_CMPL_EVENT)
            record->datagram = NULL;
    }
    base_lock_drop(&evd->lock);
}

/* ---------------------------------------------------------------- raising asynchronous events */

/* Returns true when the IA has an EVD of that stream, other than the one that lost events. */
static bool evd_raise(struct evd_ia *ia, it_event_type_t stream, const it_event_t *event,
                      const struct evd *lost)
{
    struct evd *evd = evd_ia_enter_stream(ia, stream);

    if (!evd)
        return false;
    if (evd != lost)
        (void)evd_deliver(evd, event); /* that EVD reports its own loss */
    evd_leave(evd);
    return evd != lost;
}

void evd_raise_affiliated_ep(struct evd_ia *ia, it_event_type_t number, it_ep_handle_t ep)
{
    it_event_t event = {.aff_async = {.event_number = number, .cause.ep = ep}};

    (void)evd_raise(ia, IT_ASYNC_AFF_EVENT_STREAM, &event, NULL);
}

void evd_raise_affiliated_srq(struct evd_ia *ia, it_event_type_t number, it_srq_handle_t srq)
{
    it_event_t event = {.aff_async = {.event_number = number, .cause.srq = srq}};

    (void)evd_raise(ia, IT_ASYNC_AFF_EVENT_STREAM, &event, NULL);
}

void evd_raise_unaffiliated_spigot(struct evd_ia *ia, it_event_type_t number, size_t spigot_id)
{
    it_event_t event = {.unaff_async = {.event_number = number,
                                        .ia = (it_ia_handle_t)(void *)ia,
                                        .spigot_id = spigot_id}};

    (void)evd_raise(ia, IT_ASYNC_UNAFF_EVENT_STREAM, &event, NULL);
}

/*
 * This delivery may overflow an asynchronous EVD in turn. The recursion ends, because each EVD
 * enters overflow, and so comes here, once. An affiliated EVD that lost events itself leaves the
 * report to the unaffiliated one.
 */
static void evd_ia_raise_overflow(struct evd *lost)
{
    it_event_t affiliated = {.aff_async = {.event_number = IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE,
                                           .cause.sevd = evd_handle(lost)}};
    it_event_t unaffiliated = {.unaff_async = {.event_number = IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE,
                                               .ia = (it_ia_handle_t)(void *)lost->ia}};

    if (!evd_raise(lost->ia, IT_ASYNC_AFF_EVENT_STREAM, &affiliated, lost))
        (void)evd_raise(lost->ia, IT_ASYNC_UNAFF_EVENT_STREAM, &unaffiliated, lost);
}
