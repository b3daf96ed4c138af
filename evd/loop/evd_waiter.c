/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/loop/evd_waiter.h"

#include "base/base_call.h"
#include "base/base_futex.h"

/* The kernel takes a futex word as a plain int. */
_Static_assert(sizeof(_Atomic int) == sizeof(int), "a futex word is an int");

int evd_waiter_sleep(struct evd_waiter *waiter, uint64_t deadline_ns)
{
    int expected = EVD_WAITER_RUNNING;
    int result = 0;

    if (!atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_SLEEPING,
                                                 memory_order_acq_rel, memory_order_acquire))
        return 0;
    while (result != EINTR && result != ETIMEDOUT) {
        result = base_futex_wait_until(&waiter->state, EVD_WAITER_SLEEPING, deadline_ns);
        if (evd_waiter_is_woken(waiter))
            return 0;
    }
    expected = EVD_WAITER_SLEEPING;
    if (!atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_RUNNING,
                                                 memory_order_acq_rel, memory_order_acquire))
        return 0;
    return result;
}

bool evd_waiter_begin_poll(struct evd_waiter *waiter, int kick_fd)
{
    int expected = EVD_WAITER_RUNNING;

    /* The release of .state publishes it; evd_waiter_claim() acquires. */
    atomic_store_explicit(&waiter->kick_fd, kick_fd, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_POLLING,
                                                   memory_order_acq_rel, memory_order_acquire);
}

bool evd_waiter_end_poll(struct evd_waiter *waiter)
{
    int expected = EVD_WAITER_POLLING;

    return !atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_RUNNING,
                                                    memory_order_acq_rel, memory_order_acquire);
}

int evd_waiter_claim(struct evd_waiter *waiter)
{
    return atomic_exchange_explicit(&waiter->state, EVD_WAITER_WOKEN, memory_order_acq_rel);
}

void evd_waiter_signal(struct evd_waiter *waiter, int state_before)
{
    /* Errors do not matter: an eventfd that is full is readable too. */
    if (state_before == EVD_WAITER_SLEEPING)
        base_futex_wake(&waiter->state, 1);
    else if (state_before == EVD_WAITER_POLLING)
        base_event_raise(atomic_load_explicit(&waiter->kick_fd, memory_order_relaxed));
}

void evd_waiter_wake(struct evd_waiter *waiter)
{
    evd_waiter_signal(waiter, evd_waiter_claim(waiter));
}
