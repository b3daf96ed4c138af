/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of one work queue: a few instructions when nobody else posts on it, sleep when somebody
 * does. 0: free, 1: taken, 2: taken, and others may sleep.
 */
#ifndef ITAPI_UAL_VERBS_VRB_LOCK_H
#define ITAPI_UAL_VERBS_VRB_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct vrb_lock {
    _Atomic uint32_t word;
};

__attribute__((cold)) void vrb_lock_wait(struct vrb_lock *lock); /* takes it in the end */
__attribute__((cold)) void vrb_lock_wake(struct vrb_lock *lock);

static inline void vrb_lock_take(struct vrb_lock *lock)
{
    uint32_t expected = 0;

    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed))
        vrb_lock_wait(lock);
}

static inline void vrb_lock_drop(struct vrb_lock *lock)
{
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        vrb_lock_wake(lock);
}

#endif
