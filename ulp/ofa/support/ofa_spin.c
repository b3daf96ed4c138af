/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_spin.h"

#include <sched.h>

void ofa_spin_wait(struct ofa_spin *spin)
{
    while (atomic_exchange_explicit(&spin->taken, 1, memory_order_acquire))
        (void)sched_yield();
}
