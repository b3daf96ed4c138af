/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of one work queue: two instructions each way when nobody else posts on it, sleep when
 * somebody does.
 */
#ifndef ITAPI_UAL_VERBS_VRB_LOCK_H
#define ITAPI_UAL_VERBS_VRB_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VRB_LOCK_TAKEN   UINT32_C(1)
#define VRB_LOCK_AWAITED UINT32_C(2) /* others may sleep */

struct vrb_lock {
    _Atomic uint32_t word;
};

__attribute__((cold)) void vrb_lock_wait(struct vrb_lock *lock); /* takes it in the end */
__attribute__((cold)) void vrb_lock_wake(struct vrb_lock *lock); /* it has been dropped */

static inline bool vrb_lock_try(struct vrb_lock *lock)
{
    return (atomic_fetch_or_explicit(&lock->word, VRB_LOCK_TAKEN, memory_order_acquire) &
            VRB_LOCK_TAKEN) == 0;
}

static inline void vrb_lock_take(struct vrb_lock *lock)
{
    if (__builtin_expect(!vrb_lock_try(lock), false))
        vrb_lock_wait(lock);
}

static inline void vrb_lock_drop(struct vrb_lock *lock)
{
    uint32_t before = atomic_fetch_sub_explicit(&lock->word, VRB_LOCK_TAKEN, memory_order_release);

    if (__builtin_expect(before != VRB_LOCK_TAKEN, false))
        vrb_lock_wake(lock);
}

#endif
