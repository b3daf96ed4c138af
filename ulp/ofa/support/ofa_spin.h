/* SPDX-License-Identifier: BSD-2-Clause */
/* A spin lock of the data path: held for a few dozen instructions and rarely contended. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct ofa_spin {
    atomic_uint taken;
};

/* Waits until another thread has dropped the lock, and takes it. */
void ofa_spin_wait(struct ofa_spin *spin);

static inline bool ofa_spin_try(struct ofa_spin *spin)
{
    return atomic_exchange_explicit(&spin->taken, 1, memory_order_acquire) == 0;
}

static inline void ofa_spin_take(struct ofa_spin *spin)
{
    if (__builtin_expect(!ofa_spin_try(spin), 0))
        ofa_spin_wait(spin);
}

static inline void ofa_spin_drop(struct ofa_spin *spin)
{
    atomic_store_explicit(&spin->taken, 0, memory_order_release);
}

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_SPIN_H */
