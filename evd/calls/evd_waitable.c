/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_evd_set_waitable. */
#include "evd/calls/evd_calls.h"

#include "itx_api.h"

it_status_t itx_evd_set_waitable(it_evd_handle_t evd_handle, it_boolean_t waitable)
{
    struct evd *evd = evd_from_handle(evd_handle);

    if (!evd || !evd_enter(evd))
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, evd_handle);
    /* A waiter that takes the lock later sees the flag; sleeping ones are woken to look. */
    base_lock_take(&evd->lock);
    evd->unwaitable = waitable == IT_FALSE;
    base_lock_drop(&evd->lock);
    if (waitable == IT_FALSE)
        evd_wake_all(evd);
    evd_leave(evd);
    return IT_SUCCESS;
}
