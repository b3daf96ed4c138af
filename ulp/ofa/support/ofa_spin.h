/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock of the data path: held for a few dozen instructions, hardly ever contended. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H

#include <sched.h>
#include <stdatomic.h>

struct ofa_spin {
    atomic_uint taken;
};

static inline void ofa_spin_take(struct ofa_spin *spin)
{
    while (atomic_exchange_explicit(&spin->taken, 1, memory_order_acquire))
        (void)sched_yield();
}

static inline void ofa_spin_drop(struct ofa_spin *spin)
{
    atomic_store_explicit(&spin->taken, 0, memory_order_release);
}

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H */
