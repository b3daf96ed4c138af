/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events from the members of an aggregate EVD. */
#include "evd/deliver/evd_deliver_private.h"

/* A member gives at most this many events in one turn; then other members have theirs. */
#define EVD_TURN 16

void evd_aggregate_left(struct evd *old)
{
    if (!old)
        return;
    evd_wake(old); /* may make its descriptor unreadable */
    evd_release(old);
    evd_leave(old);
}

/* Takes one event of a listed member. Returns true when a thread waits for this change. */
static bool evd_take_from_locked(struct evd *member, it_event_t *event)
{
    struct evd *aevd = member->aevd;

    if (!aevd->notifies)
        return evd_pop_locked(member, event);
    event->aevd_notify.event_number = IT_AEVD_NOTIFICATION_EVENT;
    event->aevd_notify.aevd = evd_handle(aevd);
    event->aevd_notify.sevd = evd_handle(member);
    if (member->arm != ITX_EVD_ARM_OFF)
        member->fired--;
    else
        atomic_store_explicit(&member->notified, true, memory_order_relaxed);
    return evd_member_update_locked(member);
}

size_t evd_aggregate_take(struct evd *aevd, struct evd *member, it_event_t *events, size_t max)
{
    size_t count = 0;
    bool changed = false;

    if (max > EVD_TURN)
        max = EVD_TURN;
    base_lock_take(&member->lock);
    while (count < max && member->aevd == aevd && member->listed)
        changed = evd_take_from_locked(member, &events[count++]) || changed;
    base_lock_drop(&member->lock);
    evd_leave(member);
    if (changed && aevd->fd >= 0)
        evd_fd_sync(aevd);
    return count;
}

size_t evd_aggregate_dequeue(struct evd *aevd, it_event_t *events, size_t max)
{
    struct evd *member;
    size_t count = 0;

    do {
        base_lock_take(&aevd->lock);
        member = evd_member_next_locked(aevd);
        base_lock_drop(&aevd->lock);
        if (member)
            count += evd_aggregate_take(aevd, member, events + count, max - count);
    } while (member && count < max &&
             atomic_load_explicit(&aevd->available, memory_order_relaxed) != 0);
    return count;
}
