/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/loop/evd_waiter.h"

#include "base/base_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The words of the futex calls are plain ints to the kernel. */
_Static_assert(sizeof(_Atomic int) == sizeof(int), "a futex word is an int");

/* Absolute, CLOCK_MONOTONIC. 0 or errno. */
static int waiter_futex_wait(_Atomic int *word, int value, uint64_t deadline_ns)
{
    /*
     * A deadline is given even for BASE_NEVER (it lies centuries ahead): the kernel restarts a wait
     * without one after a handler installed with SA_RESTART, and then the caller never learns of
     * the signal.
     */
    struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / BASE_NS_PER_S),
        .tv_nsec = (long)(deadline_ns % BASE_NS_PER_S),
    };

    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, &deadline, NULL,
                FUTEX_BITSET_MATCH_ANY) == 0)
        return 0;
    return errno;
}

int evd_waiter_sleep(struct evd_waiter *waiter, uint64_t deadline_ns)
{
    int expected = EVD_WAITER_RUNNING;
    int result = 0;

    if (!atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_SLEEPING,
                                                 memory_order_acq_rel, memory_order_acquire))
        return 0;
    while (result != EINTR && result != ETIMEDOUT) {
        result = waiter_futex_wait(&waiter->state, EVD_WAITER_SLEEPING, deadline_ns);
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

    /* Ordered before the state by its release; evd_waiter_claim() acquires. */
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
    /* Neither call can fail in a way that matters: a full eventfd is readable. */
    if (state_before == EVD_WAITER_SLEEPING)
        (void)syscall(SYS_futex, &waiter->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    else if (state_before == EVD_WAITER_POLLING)
        (void)eventfd_write(atomic_load_explicit(&waiter->kick_fd, memory_order_relaxed), 1);
}

void evd_waiter_wake(struct evd_waiter *waiter)
{
    evd_waiter_signal(waiter, evd_waiter_claim(waiter));
}
