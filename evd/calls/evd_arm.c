/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_evd_arm: an armed EVD reports one event, by its descriptor, callback or AEVD. */
#include "evd/calls/evd_calls.h"

#include "itx_api.h"

static void arm_set_locked(struct evd *evd, itx_evd_arm_t arm)
{
    base_lock_assert_held(&evd->lock);
    /* An EVD that is armed for any event stays so: that includes notification events. */
    if (arm != ITX_EVD_ARM_NOTIFICATION || evd->arm != ITX_EVD_ARM_ANY)
        evd->arm = (uint8_t)arm;
    /* An AEVD and a callback report each event anew; a descriptor stays readable. */
    if (arm == ITX_EVD_ARM_OFF || (!evd->aevd && !evd->callback && arm != ITX_EVD_ARM_NONE))
        evd->fired = 0;
    atomic_store_explicit(&evd->notified, false, memory_order_relaxed);
}

static it_status_t arm_check_locked(const struct evd *evd, itx_evd_arm_t arm)
{
    bool off = arm == ITX_EVD_ARM_OFF;

    base_lock_assert_held(&evd->lock);
    /* A source can be silenced, but it cannot tell which kind of completion comes next. */
    if (arm > ITX_EVD_ARM_NONE && atomic_load_explicit(&evd->source, memory_order_relaxed))
        return IT_ERR_OP_NOT_SUPPORTED;
    return !off && evd->aevd && !evd->aevd->notifies ? IT_ERR_INVALID_EVD_STATE : IT_SUCCESS;
}

it_status_t itx_evd_arm(it_evd_handle_t evd_handle, itx_evd_arm_t arm)
{
    struct evd *evd = evd_from_handle(evd_handle);
    it_status_t status;
    bool wake = false;
    bool rely = false;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, evd_handle);
    if ((unsigned)arm > ITX_EVD_ARM_ANY)
        return base_refuse_number(IT_ERR_INVALID_FLAGS, __func__, arm);
    if (evd_is_aggregate(evd))
        return base_refuse_handle(IT_ERR_INVALID_EVD_TYPE, __func__, evd_handle);
    base_lock_take(&evd->lock);
    status = arm_check_locked(evd, arm);
    if (status == IT_SUCCESS) {
        rely = arm == ITX_EVD_ARM_OFF && evd->arm != ITX_EVD_ARM_OFF && evd->callback &&
               atomic_load_explicit(&evd->source, memory_order_relaxed);
        arm_set_locked(evd, arm);
        wake = evd_needs_wake_locked(evd);
    }
    base_lock_drop(&evd->lock);
    if (rely)
        (void)evd_source_rely(evd); /* cannot fail: the loop watches the source already */
    else if (wake)
        evd_wake(evd);
    if (status == IT_SUCCESS)
        return status;
    return base_refuse(status, __func__, "evd_handle %p", (void *)evd_handle);
}
