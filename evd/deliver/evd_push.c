/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

#include <string.h>

/* Joined with NOTIFY (or DEFAULT) auto reset still reports; alone it is silent. */
static bool evd_reports_overflow_locked(const struct evd *evd)
{
    return !(evd->flags & IT_EVD_OVERFLOW_AUTO_RESET) ||
           (evd->flags & ((unsigned)IT_EVD_OVERFLOW_NOTIFY | (unsigned)IT_EVD_OVERFLOW_DEFAULT));
}

/* False when the event has to be dropped; the EVD is then overflowed. */
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
 * Often the one to wake is the very thread that pushes, on its way through the transport's work: it
 * is told at once, and nothing is left for evd_wake().
 */
static enum evd_push_result evd_pushed_locked(struct evd *evd)
{
    int slot;

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

static void evd_add_locked(struct evd *evd, const it_event_t *event)
{
    it_any_event_t *record = evd_queue_add(&evd->queue, true, false);

    /* The record is as long as the longest event of the stream. */
    memcpy(record, event, evd->queue.record_size);
    record->evd = evd_handle(evd);
}

enum evd_push_result evd_push(struct evd *evd, const it_event_t *event)
{
    enum evd_push_result result = EVD_LOST;

    base_lock_take(&evd->lock);
    if (evd_admit_locked(evd)) {
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
    fits = !evd->overflowed && !evd_queue_is_full(&evd->queue);
    if (fits) {
        evd_add_locked(evd, event);
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

        if (record->ep != ep)
            continue;
        record->retire = NULL;
        if (record->event_number == IT_DTO_UD_RECV_CMPL_EVENT)
            record->datagram = NULL;
    }
    base_lock_drop(&evd->lock);
}
