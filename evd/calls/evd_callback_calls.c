/* SPDX-License-Identifier: BSD-2-Clause */
/* it_evd_callback_attach and it_evd_callback_detach. */
#include "evd/calls/evd_calls.h"

#include <stdlib.h>

static it_status_t callback_check_locked(const struct evd *evd)
{
    base_lock_assert_held(&evd->lock);
    if (atomic_load_explicit(&evd->ia->closing, memory_order_relaxed))
        return IT_ERR_INVALID_EVD; /* evd_ia_stop may have passed this EVD already */
    if (evd->callback)
        return IT_ERR_CALLBACK_EXISTS;
    if (evd->waiters_used != 0)
        return IT_ERR_EVD_WAIT;
    if (evd->aevd)
        return IT_ERR_INVALID_EVD_STATE;
    return IT_SUCCESS;
}

static it_status_t callback_attach(struct evd *evd, struct evd_callback *callback)
{
    struct evd_callback *due = NULL;
    it_status_t status;

    base_lock_take(&evd->lock);
    status = callback_check_locked(evd);
    if (status == IT_SUCCESS) {
        evd->callback = callback;
        evd_rely(evd);
        due = evd_callback_claim_locked(evd);
    }
    base_lock_drop(&evd->lock);
    if (due)
        evd_callback_submit(evd, due);
    return status;
}

it_status_t it_evd_callback_attach(it_evd_handle_t handle, it_evd_callback_rtn_t callback,
                                   void *argument)
{
    struct evd *evd = evd_from_handle(handle);
    struct evd_callback *attached;
    it_status_t status;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!callback)
        return base_refuse_null(__func__, callback);
    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (!evd_enter(evd))
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    attached = calloc(1, sizeof(*attached));
    if (attached) {
        attached->task.run = evd_callback_run;
        attached->task.calls_out = true;
        attached->evd = evd;
        attached->function = callback;
        attached->argument = argument;
        status = evd_source_rely(evd) ? callback_attach(evd, attached) : IT_ERR_RESOURCES;
    } else {
        status = IT_ERR_RESOURCES;
    }
    if (status != IT_SUCCESS)
        free(attached);
    evd_leave(evd);
    return base_refuse(status, __func__, "evd_handle %p", (void *)handle);
}

it_status_t it_evd_callback_detach(it_evd_handle_t handle)
{
    struct evd *evd = evd_from_handle(handle);
    bool had;

    if (!evd || !evd_enter(evd))
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    had = evd_callback_stop(evd);
    evd_leave(evd);
    return had ? IT_SUCCESS : base_refuse_handle(IT_ERR_INVALID_EVD_STATE, __func__, handle);
}
