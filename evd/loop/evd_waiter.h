/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One blocked thread. A waiter lives in the EVD (never on a stack), so that a late wake-up finds
 * valid memory: it then only makes another waiter look once more.
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

/* Sleeps in a futex until woken or the deadline (ns, CLOCK_MONOTONIC). 0, EINTR or ETIMEDOUT. */
int evd_waiter_sleep(struct evd_waiter *waiter, uint64_t deadline_ns);

/*
 * The thread is about to sleep in a poll set that holds kick_fd (an eventfd). False: it has been
 * woken already and must not sleep.
 */
bool evd_waiter_begin_poll(struct evd_waiter *waiter, int kick_fd);

/*
 * The thread has left the poll set. True when it was woken; the eventfd is then the caller's to
 * drain. A kick may also arrive after the thread has left: whoever polls next drains what it finds.
 */
bool evd_waiter_end_poll(struct evd_waiter *waiter);

/*
 * Wakes a thread that is not asleep, which needs no system call. False: it sleeps (or was woken),
 * nothing was done.
 */
static inline bool evd_waiter_tell(struct evd_waiter *waiter)
{
    int expected = EVD_WAITER_RUNNING;

    return atomic_compare_exchange_strong_explicit(&waiter->state, &expected, EVD_WAITER_WOKEN,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Wakes from any state; a system call only when the thread sleeps. */
void evd_waiter_wake(struct evd_waiter *waiter);

/*
 * The two halves of evd_waiter_wake: the claim needs no system call and is made under the EVD's
 * lock, so that no second waker takes the same waiter; the signal follows without any lock.
 */
int evd_waiter_claim(struct evd_waiter *waiter);
void evd_waiter_signal(struct evd_waiter *waiter, int state_before);

#endif
