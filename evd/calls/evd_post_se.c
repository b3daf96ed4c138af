/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

#include "evd/deliver/evd_deliver.h"

#include "itx_api.h"

it_status_t it_evd_post_se(it_evd_handle_t evd_handle, const void *event)
{
    struct evd *evd = evd_from_handle(evd_handle);
    it_event_t queued;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, evd_handle);
    if (!evd_carries(evd, IT_SOFTWARE_EVENT_STREAM))
        return base_refuse(IT_ERR_INVALID_SOFT_EVD, __func__, "evd_handle %p of %s",
                           (void *)evd_handle, itx_event_string(evd->stream));
    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    queued.sw = (it_software_event_t){
        .event_number = IT_SOFTWARE_EVENT,
        .data = (void *)(uintptr_t)event, /* the API takes it const and gives it back plain */
    };
    if (!evd_push_unless_full(evd, &queued))
        return base_refuse_handle(IT_ERR_EVD_QUEUE_FULL, __func__, evd_handle);
    return IT_SUCCESS;
}
