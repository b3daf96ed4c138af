/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef NDEBUG
_Atomic(base_lock_watcher *) base_lock_watch;
#endif

void base_lock_wait(struct base_lock *lock)
{
    while (atomic_exchange_explicit(&lock->word, BASE_LOCK_AWAITED, memory_order_acquire) !=
           BASE_LOCK_FREE)
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, BASE_LOCK_AWAITED,
                      NULL, NULL, 0);
}

void base_lock_wake(struct base_lock *lock)
{
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}
