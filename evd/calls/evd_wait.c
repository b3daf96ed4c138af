/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_evd_wait, itx_evd_wait_n, itx_aevd_wait. No wake-up is lost: a thread that finds no event sets
 * its waiter to RUNNING before it drops the EVD's lock, so an event that is queued later finds the
 * waiter and claims it. A thread that leaves while the EVD is still ready wakes the next waiter.
 */
#include "evd/calls/evd_calls.h"

#include "base/base_clock.h"
#include "base/base_log.h"

#include "itx_api.h"

#include <errno.h>
#include <pthread.h>

struct evd_wait {
    struct evd *evd;
    it_event_t *events;
    size_t max;
    size_t count; /* taken */
    size_t left;  /* events that remain, or are too few to be taken */
    int slot;     /* index into evd->waiters; -1: not registered */
    bool blocks;
};

/* ---------------------------------------------------------------- registering */

static bool evd_wait_enter_locked(struct evd_wait *wait)
{
    struct evd *evd = wait->evd;

    for (int slot = 0; wait->slot < 0 && slot < EVD_WAITERS; slot++) {
        if (!(evd->waiters_used >> slot & 1))
            wait->slot = slot;
    }
    if (wait->slot < 0)
        return false;
    /* Precedes the look at deferred posts: see evd_is_awaited. */
    (void)atomic_fetch_or_explicit(&evd->waiters_used, 1u << wait->slot, memory_order_seq_cst);
    if (evd_is_aggregate(evd))
        (void)atomic_fetch_add_explicit(&evd->ia->aggregate_waiters, 1, memory_order_seq_cst);
    return true;
}

static it_status_t evd_wait_arm_locked(struct evd_wait *wait)
{
    struct evd *evd = wait->evd;

    base_lock_assert_held(&evd->lock);
    if (wait->slot < 0 && !evd_wait_enter_locked(wait))
        return IT_ERR_WAITER_LIMIT;
    atomic_store_explicit(&evd->waiters[wait->slot].state, EVD_WAITER_RUNNING,
                          memory_order_relaxed);
    return IT_ERR_QUEUE_EMPTY;
}

/* Gives the slot back. Collects the wake-up of another waiter if the EVD is ready. */
static struct evd_wakeup evd_wait_finish_locked(struct evd_wait *wait)
{
    struct evd *evd = wait->evd;

    if (wait->slot >= 0) {
        (void)atomic_fetch_and_explicit(&evd->waiters_used, ~(1u << wait->slot),
                                        memory_order_relaxed);
        if (evd_is_aggregate(evd))
            (void)atomic_fetch_sub_explicit(&evd->ia->aggregate_waiters, 1, memory_order_relaxed);
    }
    wait->slot = -1;
    return evd_wakeup_collect_locked(evd);
}

static void evd_wait_finish(struct evd_wait *wait)
{
    struct evd_wakeup wakeup;

    if (wait->slot < 0)
        return;
    base_lock_take(&wait->evd->lock);
    wakeup = evd_wait_finish_locked(wait);
    base_lock_drop(&wait->evd->lock);
    evd_wakeup_run(wait->evd, &wakeup);
}

/* ---------------------------------------------------------------- looking */

/* IT_SUCCESS: an event can be taken. IT_ERR_QUEUE_EMPTY: go on waiting. Others end the wait. */
static it_status_t evd_wait_check_locked(const struct evd_wait *wait, bool entry)
{
    const struct evd *evd = wait->evd;

    if (evd_is_dying(evd) || atomic_load_explicit(&evd->ia->closing, memory_order_relaxed))
        return IT_ERR_ABORT;
    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (evd->aevd || evd->unwaitable)
        return IT_ERR_INVALID_EVD_STATE;
    if (evd->callback && evd->arm == ITX_EVD_ARM_OFF)
        return IT_ERR_CALLBACK_EXISTS;
    if (evd_is_ready_locked(evd))
        return IT_SUCCESS;
    /* A call that begins with the threshold met needs no notification event. */
    if (entry && evd->enabled && !evd_is_aggregate(evd) &&
        evd_queue_meets(&evd->queue, evd->threshold))
        return IT_SUCCESS;
    return IT_ERR_QUEUE_EMPTY;
}

static it_status_t evd_wait_look_simple(struct evd_wait *wait, bool entry)
{
    struct evd *evd = wait->evd;
    struct evd_wakeup wakeup = {.waiter = NULL};
    it_status_t status;

    base_lock_take(&evd->lock);
    (void)evd_source_move_locked(evd);
    status = evd_wait_check_locked(wait, entry);
    if (status == IT_SUCCESS) {
        do {
            /* Not a member of an AEVD: the wake-up collected below covers all events. */
            (void)evd_pop_locked(evd, &wait->events[wait->count++]);
            wait->left = evd_queue_count(&evd->queue);
        } while (wait->count < wait->max && wait->left > 0);
    }
    if (status == IT_ERR_QUEUE_EMPTY)
        wait->left = evd_queue_count(&evd->queue);
    if (status == IT_ERR_QUEUE_EMPTY && wait->blocks)
        status = evd_wait_arm_locked(wait);
    if (status != IT_ERR_QUEUE_EMPTY)
        wakeup = evd_wait_finish_locked(wait);
    base_lock_drop(&evd->lock);
    evd_wakeup_run(evd, &wakeup);
    return status;
}

static it_status_t evd_wait_look_aggregate(struct evd_wait *wait)
{
    struct evd *aevd = wait->evd;
    struct evd *member = NULL;
    it_status_t status;

    do {
        base_lock_take(&aevd->lock);
        status = evd_wait_check_locked(wait, false);
        if (status == IT_SUCCESS)
            member = evd_member_next_locked(aevd);
        else if (status == IT_ERR_QUEUE_EMPTY && wait->blocks)
            status = evd_wait_arm_locked(wait);
        base_lock_drop(&aevd->lock);
        if (status == IT_SUCCESS)
            wait->count = evd_aggregate_take(aevd, member, wait->events, wait->max);
    } while (status == IT_SUCCESS && wait->count == 0);
    if (status != IT_SUCCESS)
        return status;
    if (wait->count < wait->max)
        wait->count +=
            evd_aggregate_dequeue(aevd, wait->events + wait->count, wait->max - wait->count);
    wait->left = atomic_load_explicit(&aevd->available, memory_order_relaxed);
    return status;
}

static it_status_t evd_wait_look(struct evd_wait *wait, bool entry)
{
    return evd_is_aggregate(wait->evd) ? evd_wait_look_aggregate(wait)
                                       : evd_wait_look_simple(wait, entry);
}

/* ---------------------------------------------------------------- waiting */

/* The EVDs on which the calling thread waits in its own loops, the innermost first. */
struct wait_frame {
    const struct evd *evd;
    const struct wait_frame *outer;
};
static _Thread_local const struct wait_frame *wait_innermost;

bool evd_wait_is_caller(const struct evd *evd)
{
    const struct wait_frame *frame = wait_innermost;

    while (frame && frame->evd != evd)
        frame = frame->outer;
    return frame != NULL;
}

bool evd_wait_is_inside(const struct evd_ia *ia)
{
    const struct wait_frame *frame = wait_innermost;

    while (frame && frame->evd->ia != ia)
        frame = frame->outer;
    return frame != NULL;
}

/*
 * This thread sleeps in the loops that run on it, which watch the streams and call callbacks.
 * Deferred posts are sent, and octets that have arrived are read, before.
 */
static int evd_wait_sleep_in_loop(struct evd *evd, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    const struct wait_frame frame = {evd, wait_innermost};
    struct evd_ia *ia = evd->ia;
    int result;

    /* If this fails, the loop looks at the source when something else wakes it. */
    (void)evd_source_rely(evd);
    if (ia->progress && ia->progress->flush)
        ia->progress->flush(ia->progress_context);
    if (ia->progress)
        ia->progress->poll(ia->progress_context);
    wait_innermost = &frame;
    result = evd_loop_wait(waiter, deadline_ns);
    wait_innermost = frame.outer;
    return result;
}

/*
 * Sleeps where the loop's handlers or calls of a device run. Those have cancellation points, and a
 * thread cancelled there would keep its slot, and the place in the poll set, for ever.
 */
static int evd_wait_sleep_uncancelled(struct evd *evd, struct evd_waiter *waiter,
                                      uint64_t deadline_ns)
{
    int result, cancel;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (evd_loop_is_here())
        result = evd_wait_sleep_in_loop(evd, waiter, deadline_ns);
    else
        result = evd_source_wait(evd, waiter, deadline_ns);
    (void)pthread_setcancelstate(cancel, NULL);
    return result;
}

/* Sleeps. Returns 0, or EINTR when a signal handler ran. */
static int evd_wait_sleep(struct evd_wait *wait, uint64_t deadline_ns)
{
    struct evd_ia *ia = wait->evd->ia;
    struct evd_waiter *waiter = &wait->evd->waiters[wait->slot];

    if (ia->release_evd)
        ia->release_evd(ia->progress_context, evd_is_aggregate(wait->evd) ? NULL : wait->evd);
    if (evd_loop_is_here() || evd_source_of(wait->evd))
        return evd_wait_sleep_uncancelled(wait->evd, waiter, deadline_ns);
    if (ia->progress)
        return ia->progress->wait(ia->progress_context, waiter, deadline_ns);
    return evd_waiter_sleep(waiter, deadline_ns);
}

static it_status_t evd_wait_blocking(struct evd_wait *wait, uint64_t timeout_us)
{
    uint64_t deadline_ns = BASE_NEVER;
    it_status_t status = evd_wait_look(wait, true);

    if (status == IT_ERR_QUEUE_EMPTY && timeout_us <= BASE_NEVER / BASE_NS_PER_US)
        deadline_ns = base_deadline_ns(base_now_ns(), timeout_us * BASE_NS_PER_US);
    while (status == IT_ERR_QUEUE_EMPTY) {
        int result = evd_wait_sleep(wait, deadline_ns);

        status = evd_wait_look(wait, false);
        if (status != IT_ERR_QUEUE_EMPTY)
            break;
        if (deadline_ns != BASE_NEVER && base_now_ns() >= deadline_ns)
            status = IT_ERR_TIMEOUT_EXPIRED;
        else if (result == EINTR)
            status = IT_ERR_INTERRUPT;
    }
    evd_wait_finish(wait);
    return status;
}

static it_status_t evd_wait_polling(struct evd_wait *wait)
{
    it_status_t status = evd_wait_look(wait, true);

    if (status == IT_ERR_QUEUE_EMPTY) {
        evd_make_progress(wait->evd);
        status = evd_wait_look(wait, true);
    }
    return status == IT_ERR_QUEUE_EMPTY ? IT_ERR_TIMEOUT_EXPIRED : status;
}

static it_status_t evd_wait(const char *call, struct evd_wait *wait, uint64_t timeout)
{
    struct evd *evd = wait->evd;
    it_status_t status = IT_ERR_INVALID_EVD;

    if (evd_enter(evd)) {
        wait->slot = -1;
        wait->blocks = timeout != 0;
        status = wait->blocks ? evd_wait_blocking(wait, timeout) : evd_wait_polling(wait);
        evd_leave(evd);
    }
    if (status == IT_ERR_TIMEOUT_EXPIRED && wait->blocks && wait->left > 0)
        base_log_limited(
            BASE_LOG_INFO,
            "%s: time is up, and %zu %s in the queue; requests wake a waiter only with "
            "IT_NOTIFY_FLAG, and only as many as the threshold",
            call, wait->left, wait->left == 1 ? "event is" : "events are");
    if (status == IT_SUCCESS || status == IT_ERR_TIMEOUT_EXPIRED)
        return status;
    return base_refuse(status, call, "evd_handle %p", (void *)evd);
}

it_status_t it_evd_wait(it_evd_handle_t handle, uint64_t timeout, it_event_t *event, size_t *nmore)
{
    struct evd_wait wait = {.evd = evd_from_handle(handle), .events = event, .max = 1};
    it_status_t status;

    if (!wait.evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!event)
        return base_refuse_null(__func__, event);
    status = evd_wait(__func__, &wait, timeout);
    if (status == IT_SUCCESS && nmore)
        *nmore = wait.left;
    return status;
}

static it_status_t evd_wait_n(const char *call, struct evd_wait *wait, uint64_t timeout,
                              size_t *event_count)
{
    it_status_t status;

    if (!wait->events || !event_count)
        return base_refuse(IT_ERR_FAULT, call, "events %p, event_count %p", (void *)wait->events,
                           (void *)event_count);
    if (wait->max == 0)
        return base_refuse(IT_ERR_INVALID_LENGTH, call, "room for 0 events");
    status = evd_wait(call, wait, timeout);
    if (status == IT_SUCCESS)
        *event_count = wait->count;
    return status;
}

it_status_t itx_evd_wait_n(it_evd_handle_t handle, uint64_t timeout, size_t max_events,
                           it_event_t *events, size_t *event_count, size_t *nmore)
{
    struct evd_wait wait = {.evd = evd_from_handle(handle), .events = events, .max = max_events};
    it_status_t status;

    if (!wait.evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    status = evd_wait_n(__func__, &wait, timeout, event_count);
    if ((status == IT_SUCCESS || status == IT_ERR_TIMEOUT_EXPIRED) && nmore)
        *nmore = wait.left;
    return status;
}

it_status_t itx_aevd_wait(it_evd_handle_t handle, uint64_t timeout, size_t max_event_count,
                          it_event_t *events, size_t *events_count)
{
    struct evd_wait wait = {
        .evd = evd_from_handle(handle), .events = events, .max = max_event_count};
    it_status_t status;

    if (!wait.evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!evd_is_aggregate(wait.evd))
        return base_refuse_handle(IT_ERR_INVALID_AEVD, __func__, handle);
    status = evd_wait_n(__func__, &wait, timeout, events_count);
    if (status != IT_ERR_TIMEOUT_EXPIRED)
        return status;
    *events_count = 0; /* other implementations of IT-API answer so */
    return IT_SUCCESS;
}
