/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_lock.h"

#include "base/base_futex.h"

#ifndef NDEBUG
_Atomic(base_lock_watcher *) base_lock_watch;
#endif

/*
 * The word counts a waiter until it has the lock. So the operation that drops the lock also tells
 * whether to wake a waiter; a second look could find the lock freed.
 */
void base_lock_wait(struct base_lock *lock)
{
    uint32_t seen = atomic_fetch_add_explicit(&lock->word, BASE_LOCK_WAITER, memory_order_relaxed) +
                    BASE_LOCK_WAITER;

    for (;;) {
        if (!(seen & BASE_LOCK_TAKEN)) {
            if (atomic_compare_exchange_weak_explicit(&lock->word, &seen,
                                                      seen - BASE_LOCK_WAITER + BASE_LOCK_TAKEN,
                                                      memory_order_acquire, memory_order_relaxed))
                return;
            continue;
        }
        base_futex_wait(&lock->word, seen);
        seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
    }
}

void base_lock_wake(struct base_lock *lock)
{
    base_futex_wake(&lock->word, 1);
}
