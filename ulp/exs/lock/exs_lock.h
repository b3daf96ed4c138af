/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lock of a futex. Without contention it needs two instructions in place of two calls of the C
 * library, which counts where a message takes it four times.
 */
#ifndef ITAPI_ULP_EXS_LOCK_EXS_LOCK_H
#define ITAPI_ULP_EXS_LOCK_EXS_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#define EXS_LOCK_FREE   UINT32_C(0)
#define EXS_LOCK_TAKEN  UINT32_C(1)
#define EXS_LOCK_WAITED UINT32_C(2) /* taken, and other threads may sleep */

struct exs_lock {
    _Atomic uint32_t word; /* zeroed memory is a free lock */
};

__attribute__((cold)) void exs_lock_wait(struct exs_lock *lock); /* returns with the lock taken */
/* The lock is free already, and its memory may be gone. */
__attribute__((cold)) void exs_lock_wake(struct exs_lock *lock);

static inline void exs_lock_take(struct exs_lock *lock)
{
    uint32_t free = EXS_LOCK_FREE;

    if (__builtin_expect(
            !atomic_compare_exchange_strong_explicit(&lock->word, &free, EXS_LOCK_TAKEN,
                                                     memory_order_acquire, memory_order_relaxed),
            0))
        exs_lock_wait(lock);
}

static inline void exs_lock_drop(struct exs_lock *lock)
{
    if (__builtin_expect(atomic_exchange_explicit(&lock->word, EXS_LOCK_FREE,
                                                  memory_order_release) != EXS_LOCK_TAKEN,
                         0))
        exs_lock_wake(lock);
}

#endif
