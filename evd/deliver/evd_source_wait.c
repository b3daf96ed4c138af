/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moving a source's completions to the EVD's queue, and sleeping until there are some. One waiter
 * of the EVD sleeps in a poll set that holds the source's descriptor. Later waiters sleep in their
 * futex; one of them takes that place when it becomes free. The loop watches the descriptor too:
 * for consumers that rely on the loop (a descriptor of the EVD, a callback, an AEVD, a wait on the
 * loop's own thread), and for failed completions while no thread waits.
 */
#include "evd/deliver/evd_deliver_private.h"

#include "base/base_call.h"
#include "base/base_clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCE_SPIN_MAX_NS UINT64_C(60000)

/* ---------------------------------------------------------------- moving */

bool evd_source_move(struct evd *evd)
{
    bool wake;

    base_lock_take(&evd->lock);
    wake = evd_source_move_locked(evd) > 0 && evd_needs_wake_locked(evd);
    base_lock_drop(&evd->lock);
    return wake;
}

/* Arms the source. The second move takes completions that came before the arming. */
static size_t evd_source_arm_locked(struct evd *evd, struct evd_source *source)
{
    size_t moved = evd_source_move_locked(evd);

    source->ops->arm(source->context, false);
    moved += evd_source_move_locked(evd);
    if (evd->aevd)
        (void)evd_member_update_locked(evd); /* the caller calls evd_wake() anyway */
    return moved;
}

/* ---------------------------------------------------------------- on the loop */

/* No consumer waits: arms for failures only, since a failure ends a connection. */
static void evd_source_attend_locked(struct evd *evd, struct evd_source *source)
{
    source->ops->arm(source->context, true);
    (void)evd_source_move_locked(evd);
}

static bool evd_source_is_relied_on_locked(const struct evd *evd)
{
    base_lock_assert_held(&evd->lock);
    return evd->fd >= 0 || evd->aevd || (evd->callback && evd->arm == ITX_EVD_ARM_OFF);
}

/*
 * On the loop, when the descriptor is readable. A waiter may sleep on the same descriptor, and find
 * it unreadable already: evd_wake wakes it.
 */
static void evd_source_ready(void *argument, unsigned events)
{
    struct evd *evd = argument;
    struct evd_source *source = evd_source_of(evd);

    (void)events;
    base_lock_take(&evd->lock);
    source->ops->disarm(source->context);
    if (evd_source_is_relied_on_locked(evd) || evd->waiters_used != 0)
        (void)evd_source_arm_locked(evd, source);
    else
        evd_source_attend_locked(evd, source);
    base_lock_drop(&evd->lock);
    evd_wake(evd);
}

struct source_call {
    struct evd *evd;
    struct evd_source *source;
    bool done;
};

static void evd_source_watch(void *argument)
{
    struct source_call *call = argument;
    struct evd_source *source = call->source;

    call->done = source->io.active || evd_io_watch(&source->io, call->evd->ia->loop, source->fd,
                                                   EVD_IO_READ, evd_source_ready, call->evd);
}

static void evd_source_unwatch(void *argument)
{
    evd_io_unwatch(&((struct source_call *)argument)->source->io);
}

static bool evd_source_have_watched(struct evd *evd, struct evd_source *source)
{
    struct source_call call = {.evd = evd, .source = source};

    if (atomic_load_explicit(&source->watched, memory_order_acquire))
        return true;
    evd_loop_call(evd->ia->loop, evd_source_watch, &call);
    atomic_store_explicit(&source->watched, call.done, memory_order_release);
    return call.done;
}

bool evd_source_rely(struct evd *evd)
{
    struct evd_source *source = evd_source_of(evd);

    if (!source)
        return true;
    if (!evd_source_have_watched(evd, source))
        return false;
    base_lock_take(&evd->lock);
    (void)evd_source_arm_locked(evd, source);
    base_lock_drop(&evd->lock);
    evd_wake(evd);
    return true;
}

/* ---------------------------------------------------------------- attaching */

bool evd_source_start(struct evd *evd)
{
    struct evd_source *source = evd_source_of(evd);
    bool relied;

    if (!evd_source_have_watched(evd, source))
        return false;
    base_lock_take(&evd->lock);
    relied = evd_source_is_relied_on_locked(evd);
    if (!relied)
        source->ops->arm(source->context, true);
    base_lock_drop(&evd->lock);
    return !relied || evd_source_rely(evd);
}

void evd_source_close(struct evd *evd)
{
    struct evd_source *source = evd_source_of(evd);
    struct source_call call = {.evd = evd, .source = source};

    if (!source)
        return;
    if (atomic_load_explicit(&source->watched, memory_order_acquire))
        evd_loop_call(evd->ia->loop, evd_source_unwatch, &call);
    atomic_store_explicit(&evd->source, NULL, memory_order_relaxed);
    source->ops->close(source->context);
    (void)close(source->kick_fd); /* closing an eventfd cannot fail */
    free(source);
}

/* ---------------------------------------------------------------- waiting */

/* Polls for a time. Returns true when it moved a completion to the queue. */
static bool evd_source_spin(struct evd *evd, struct evd_source *source, uint64_t deadline_ns,
                            struct evd_waiter *waiter)
{
    uint64_t limit_ns = evd_ia_spin_ns(evd->ia, SOURCE_SPIN_MAX_NS);
    uint64_t spin_ns = atomic_load_explicit(&source->spin_ns, memory_order_relaxed);
    uint64_t now = base_now_ns();
    uint64_t end = base_deadline_ns(now, spin_ns < limit_ns ? spin_ns : limit_ns);
    bool found = false;

    if (limit_ns == 0)
        return false;
    if (deadline_ns < end)
        end = deadline_ns;
    while (!found && now < end && !evd_waiter_is_woken(waiter)) {
        (void)sched_yield(); /* the peer may need this processor */
        base_lock_take(&evd->lock);
        found = evd_source_move_locked(evd) > 0;
        base_lock_drop(&evd->lock);
        now = base_now_ns();
    }
    spin_ns = found ? spin_ns * 2 : spin_ns / 2;
    if (spin_ns < EVD_SOURCE_SPIN_MIN_NS)
        spin_ns = EVD_SOURCE_SPIN_MIN_NS;
    if (spin_ns > limit_ns)
        spin_ns = limit_ns;
    atomic_store_explicit(&source->spin_ns, spin_ns, memory_order_relaxed);
    return found;
}

/*
 * Takes the completions after the descriptor was readable. The loop may not have seen that, so
 * evd_source_leave arms for the next completion, on behalf of both.
 */
static void evd_source_take_news(struct evd *evd, struct evd_source *source)
{
    base_lock_take(&evd->lock);
    source->ops->disarm(source->context);
    (void)evd_source_move_locked(evd);
    if (evd->aevd)
        (void)evd_member_update_locked(evd);
    base_lock_drop(&evd->lock);
    evd_wake(evd);
}

static int evd_source_poll(struct evd *evd, struct evd_source *source, struct evd_waiter *waiter,
                           uint64_t deadline_ns)
{
    struct pollfd polls[] = {{.fd = source->fd, .events = POLLIN},
                             {.fd = source->kick_fd, .events = POLLIN}};
    struct timespec limit = base_timespec_until(deadline_ns);
    int result = 0;

    if (!evd_waiter_begin_poll(waiter, source->kick_fd))
        return 0;
    if (ppoll(polls, 2, deadline_ns == BASE_NEVER ? NULL : &limit, NULL) < 0 && errno == EINTR)
        result = EINTR;
    (void)evd_waiter_end_poll(waiter);
    if (polls[1].revents)
        base_event_clear(source->kick_fd); /* never blocks */
    if (result == 0 && polls[0].revents)
        evd_source_take_news(evd, source);
    return result;
}

/* The place in the poll set is free: wakes a waiter that found it taken. */
static void evd_source_pass_on(struct evd *evd, const struct evd_waiter *from)
{
    struct evd_waiter *next = NULL;
    int state = EVD_WAITER_RUNNING;

    base_lock_take(&evd->lock);
    for (int slot = 0; evd->waiters_used >> slot != 0 && !next; slot++) {
        struct evd_waiter *waiter = &evd->waiters[slot];

        if ((evd->waiters_used >> slot & 1) && waiter != from && !evd_waiter_is_woken(waiter))
            next = waiter;
    }
    if (next)
        state = evd_waiter_claim(next);
    base_lock_drop(&evd->lock);
    if (next)
        evd_waiter_signal(next, state);
}

/*
 * Arms the source for the time when no thread waits. On some devices (siw) the latest request to
 * arm wins, so it asks for all completions if a consumer relies on the loop.
 */
static void evd_source_leave(struct evd *evd, struct evd_source *source)
{
    bool relied;

    base_lock_take(&evd->lock);
    relied = evd_source_is_relied_on_locked(evd);
    if (relied)
        (void)evd_source_arm_locked(evd, source);
    else
        evd_source_attend_locked(evd, source);
    base_lock_drop(&evd->lock);
    if (relied)
        evd_wake(evd);
}

int evd_source_wait(struct evd *evd, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct evd_source *source = evd_source_of(evd);
    bool found;
    int result;

    if (evd_source_spin(evd, source, deadline_ns, waiter))
        return 0;
    /* Pairs with the store below: evd_source_pass_on sees a waiter that found the place taken. */
    if (atomic_exchange_explicit(&source->place_taken, true, memory_order_acq_rel))
        return evd_waiter_sleep(waiter, deadline_ns);
    base_lock_take(&evd->lock);
    found = evd_source_arm_locked(evd, source) > 0;
    base_lock_drop(&evd->lock);
    result = found ? 0 : evd_source_poll(evd, source, waiter, deadline_ns);
    evd_source_leave(evd, source);
    atomic_store_explicit(&source->place_taken, false, memory_order_release);
    evd_source_pass_on(evd, waiter);
    return result;
}
