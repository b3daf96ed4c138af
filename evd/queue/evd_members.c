/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members of an aggregate EVD. A member that becomes ready goes on the AEVD's list, and leaves
 * it when it is no longer ready, in both cases under the member's own lock. So list and state agree
 * whenever that lock is free.
 */
#include "evd/queue/evd_object.h"

/*
 * Returns how many events the AEVD can take from this member now. An AEVD without
 * IT_EVD_DEQUEUE_NOTIFICATIONS hands out the member's own events. With it, the AEVD hands out a
 * notification each time the member becomes ready; for an armed member, each time it has fired.
 */
static size_t evd_offer_locked(const struct evd *member)
{
    size_t takeable;

    if (!member->enabled)
        return 0;
    if (member->aevd->notifies && member->arm != ITX_EVD_ARM_OFF)
        return member->fired;
    takeable = evd_queue_takeable(&member->queue, member->threshold);
    if (!member->aevd->notifies)
        return takeable;
    return takeable > 0 && !atomic_load_explicit(&member->notified, memory_order_relaxed) ? 1 : 0;
}

/* Returns true when somebody must be told that the AEVD's list has changed. */
static bool evd_has_audience_locked(const struct evd *aevd)
{
    base_lock_assert_held(&aevd->lock);
    return aevd->fd >= 0 || aevd->waiters_used != 0 || aevd->callback;
}

static bool evd_offer_set_locked(struct evd *member, size_t offer)
{
    struct evd *aevd = member->aevd;
    bool list = offer != 0;
    bool tell;

    base_lock_assert_held(&member->lock);
    if (offer != member->offered) {
        /* A smaller offer wraps around, and so subtracts. */
        (void)atomic_fetch_add_explicit(&aevd->available, offer - member->offered,
                                        memory_order_relaxed);
        member->offered = offer;
    }
    if (list == member->listed)
        return false;
    member->listed = list;
    base_lock_take(&aevd->lock);
    if (list)
        base_list_append(&aevd->ready_members, &member->ready);
    else
        base_list_remove(&aevd->ready_members, &member->ready);
    tell = evd_has_audience_locked(aevd);
    base_lock_drop(&aevd->lock);
    return tell;
}

bool evd_member_update_locked(struct evd *member)
{
    return evd_offer_set_locked(member, evd_offer_locked(member));
}

struct evd *evd_member_change_locked(struct evd *member, struct evd *aevd)
{
    struct evd *old = member->aevd;

    base_lock_assert_held(&member->lock);
    if (old) {
        (void)evd_offer_set_locked(member,
                                   0); /* evd_aggregate_left() updates the old AEVD's descriptor */
        evd_pin(old);
    }
    member->aevd = aevd;
    atomic_store_explicit(&member->notified, false, memory_order_relaxed);
    if (aevd)
        (void)evd_member_update_locked(member); /* the caller calls evd_wake() anyway */
    return old;
}

struct evd *evd_member_next_locked(struct evd *aevd)
{
    struct evd *member = BASE_LIST_ITEM(base_list_take(&aevd->ready_members), struct evd, ready);

    base_lock_assert_held(&aevd->lock);
    if (!member)
        return NULL;
    base_list_append(&aevd->ready_members, &member->ready);
    evd_pin(member); /* cannot be dying: it leaves the list before */
    return member;
}
