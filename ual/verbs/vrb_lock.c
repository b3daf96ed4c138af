/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/verbs/vrb_lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void vrb_lock_wait(struct vrb_lock *lock)
{
    const uint32_t awaited = VRB_LOCK_TAKEN | VRB_LOCK_AWAITED;

    while (atomic_fetch_or_explicit(&lock->word, awaited, memory_order_acquire) & VRB_LOCK_TAKEN)
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, awaited, NULL, NULL,
                      0);
}

/* Who is woken, or does not come to sleep, sets the mark again for those that sleep still. */
void vrb_lock_wake(struct vrb_lock *lock)
{
    atomic_fetch_and_explicit(&lock->word, ~VRB_LOCK_AWAITED, memory_order_relaxed);
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}
