/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_lead_begin, itx_ia_lead_end: a thread that sleeps elsewhere does the work of the IA's. */
#include "evd/queue/evd_object.h"

#include "itx_api.h"

/* The IA that the calling thread leads. */
static _Thread_local const struct evd_ia *lead_ia;

static it_status_t lead_check(const char *call, it_ia_handle_t ia_handle)
{
    const struct evd_ia *ia = (const struct evd_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, call, ia_handle);
    if (!ia->progress || !ia->progress->lead_begin || evd_loop_is_here())
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, call, "ia_handle %p", (void *)ia_handle);
    return IT_SUCCESS;
}

it_status_t itx_ia_lead_begin(it_ia_handle_t ia_handle, int *fd)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;
    it_status_t status = lead_check(__func__, ia_handle);

    if (status != IT_SUCCESS)
        return status;
    if (!fd)
        return base_refuse_null(__func__, fd);
    atomic_store_explicit(&ia->patient, true, memory_order_relaxed);
    if (lead_ia || !ia->progress->lead_begin(ia->progress_context, fd))
        return base_refuse(IT_ERR_WAITER_LIMIT, __func__, "ia_handle %p", (void *)ia_handle);
    lead_ia = ia;
    return IT_SUCCESS;
}

it_status_t itx_ia_lead_end(it_ia_handle_t ia_handle, it_boolean_t work)
{
    const struct evd_ia *ia = (const struct evd_ia *)(void *)ia_handle;
    it_status_t status = lead_check(__func__, ia_handle);
    struct evd_callback_runs runs;

    if (status != IT_SUCCESS)
        return status;
    if (lead_ia != ia)
        return base_refuse(IT_ERR_INVALID_EVD_STATE, __func__, "ia_handle %p", (void *)ia_handle);
    lead_ia = NULL;
    evd_callback_gather(&runs, ia->loop);
    ia->progress->lead_end(ia->progress_context, work != IT_FALSE);
    evd_callback_run_gathered(&runs);
    return IT_SUCCESS;
}
