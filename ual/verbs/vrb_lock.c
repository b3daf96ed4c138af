/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/verbs/vrb_lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void vrb_lock_wait(struct vrb_lock *lock)
{
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0);
}

void vrb_lock_wake(struct vrb_lock *lock)
{
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}
