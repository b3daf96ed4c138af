/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_set_spin. */
#include "evd/queue/evd_object.h"

#include "base/base_clock.h"

#include "itx_api.h"

/* A thread that polls does not hear of signals. */
#define SPIN_MAX_US UINT64_C(10000)

uint64_t evd_ia_spin_ns(const struct evd_ia *ia, uint64_t usual_ns)
{
    uint64_t spin_us = atomic_load_explicit(&ia->spin_us, memory_order_relaxed);

    if (spin_us == ITX_SPIN_DEFAULT)
        return usual_ns;
    return (spin_us < SPIN_MAX_US ? spin_us : SPIN_MAX_US) * BASE_NS_PER_US;
}

it_status_t itx_ia_set_spin(it_ia_handle_t ia_handle, uint64_t spin_us)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    atomic_store_explicit(&ia->spin_us, spin_us, memory_order_relaxed);
    return IT_SUCCESS;
}
