/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One blocked thread. A waiter is part of its EVD, never on a stack, so a late wake-up finds valid
 * memory. At worst it makes the slot's next thread look once more.
 */
#ifndef ITAPI_EVD_LOOP_EVD_WAITER_H
#define ITAPI_EVD_LOOP_EVD_WAITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum evd_waiter_state {
    EVD_WAITER_RUNNING,  /* not asleep: a wake-up costs no system call */
    EVD_WAITER_SLEEPING, /* in futex(2) on .state */
    EVD_WAITER_POLLING,  /* in a poll set that holds .kick_fd */
    EVD_WAITER_WOKEN
};

struct evd_waiter {
    _Atomic int state;   /* enum evd_waiter_state */
    _Atomic int kick_fd; /* eventfd of the poll set; valid while POLLING */
};

static inline bool evd_waiter_is_woken(struct evd_waiter *waiter)
{
    return atomic_load_explicit(&waiter->state, memory_order_acquire) == EVD_WAITER_WOKEN;
}

/* Sleeps in a futex until woken or deadline_ns (CLOCK_MONOTONIC). Returns 0, EINTR, ETIMEDOUT. */
int evd_waiter_sleep(struct evd_waiter *waiter, uint64_t deadline_ns);

/*
 * Announces a sleep in a poll set that holds kick_fd (an eventfd). Returns false when the thread
 * has been woken already and must not sleep.
 */
bool evd_waiter_begin_poll(struct evd_waiter *waiter, int kick_fd);

/*
 * Ends that sleep. Returns true when the thread was woken; the caller then drains the eventfd. A
 * kick may also arrive later: the next thread that polls drains it.
 */
bool evd_waiter_end_poll(struct evd_waiter *waiter);

/*
 * Wakes a thread that does not sleep, which needs no system call. Returns false, and does nothing,
 * when it sleeps or was woken.
 */
static inline bool evd_waiter_tell(struct evd_waiter *waiter)
{
    int expected = EVD_WAITER_RUNNING;

    return atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_WOKEN,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Wakes the thread in any state; makes a system call only when it sleeps. */
void evd_waiter_wake(struct evd_waiter *waiter);

/*
 * The two halves of evd_waiter_wake. The claim makes no system call; the EVD's lock is held, so
 * that no other thread claims the same waiter. The signal follows without any lock.
 */
int evd_waiter_claim(struct evd_waiter *waiter);
void evd_waiter_signal(struct evd_waiter *waiter, int state_before);

#endif
