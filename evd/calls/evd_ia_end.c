/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/calls/evd_calls.h"

/* ---------------------------------------------------------------- the IA's list of objects */

static struct evd *evd_ia_first_locked(const struct evd_ia *ia)
{
    base_lock_assert_held(&ia->lock);
    return BASE_LIST_FIRST(&ia->objects[IT_HANDLE_TYPE_EVD], struct evd, object.link);
}

/*
 * Returns the live EVD behind evd, or the first if evd is NULL, or NULL at the end. Leaves evd and
 * enters the result, which therefore stays in the list.
 */
static struct evd *evd_ia_next(struct evd_ia *ia, struct evd *evd)
{
    struct evd *next;

    base_lock_take(&ia->lock);
    next = evd ? BASE_LIST_NEXT(evd, struct evd, object.link) : evd_ia_first_locked(ia);
    while (next && !evd_enter(next))
        next = BASE_LIST_NEXT(next, struct evd, object.link);
    base_lock_drop(&ia->lock);
    if (evd)
        evd_leave(evd);
    return next;
}

/* Sends each later post through the entries that look at the flag. */
static void evd_ia_fail_eps(struct evd_ia *ia)
{
    base_lock_take(&ia->lock);
    BASE_LIST_EACH(struct base_object, ep, &ia->objects[IT_HANDLE_TYPE_EP], link)
        base_object_set_entries(ep, ia->failed_entries);
    base_lock_drop(&ia->lock);
}

void evd_ia_fail(struct evd_ia *ia)
{
    struct evd *evd = NULL;

    atomic_store(&ia->failed, true);
    evd_ia_fail_eps(ia);
    /* Each EVD's lock is taken once below, so a thread that takes it later sees the flag. */
    while ((evd = evd_ia_next(ia, evd)) != NULL) {
        base_object_set_entries(&evd->object, &evd_entries);
        evd_wake_all(evd);
        evd_wake(evd);
    }
}

void evd_ia_stop(struct evd_ia *ia)
{
    struct evd *evd = NULL;

    /* Waiters return first: a callback may be waiting, and evd_callback_stop waits for it. */
    atomic_store_explicit(&ia->closing, true, memory_order_relaxed);
    while ((evd = evd_ia_next(ia, evd)) != NULL)
        evd_wake_all(evd);
    while ((evd = evd_ia_next(ia, evd)) != NULL)
        (void)evd_callback_stop(evd);
}

/* Picks simple EVDs first: an AEVD is freed when its members have left. */
static struct evd *evd_ia_pick(struct evd_ia *ia)
{
    struct evd *evd;

    base_lock_take(&ia->lock);
    evd = evd_ia_first_locked(ia);
    while (evd && evd->object.link.next && evd_is_aggregate(evd))
        evd = BASE_LIST_NEXT(evd, struct evd, object.link);
    base_lock_drop(&ia->lock);
    return evd;
}

void evd_ia_free_all(struct evd_ia *ia)
{
    struct evd *evd;

    while ((evd = evd_ia_pick(ia)) != NULL)
        evd_destroy(evd);
}

bool evd_ia_renew_fds(struct evd_ia *ia)
{
    bool renewed = true;

    base_lock_take(&ia->lock);
    BASE_LIST_EACH(struct evd, evd, &ia->objects[IT_HANDLE_TYPE_EVD], object.link)
        renewed = renewed && (evd->fd < 0 || evd_loop_renew_eventfd(evd->fd, evd->fd_raised));
    base_lock_drop(&ia->lock);
    return renewed;
}
