/* SPDX-License-Identifier: BSD-2-Clause */
#include "lock/exs_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* syscall(2) is no cancellation point. */
static void futex(struct exs_lock *lock, int operation, uint32_t value)
{
    (void)syscall(SYS_futex, &lock->word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void exs_lock_wait(struct exs_lock *lock)
{
    while (atomic_exchange_explicit(&lock->word, EXS_LOCK_WAITED, memory_order_acquire) !=
           EXS_LOCK_FREE)
        futex(lock, FUTEX_WAIT, EXS_LOCK_WAITED);
}

void exs_lock_wake(struct exs_lock *lock)
{
    futex(lock, FUTEX_WAKE, 1);
}
