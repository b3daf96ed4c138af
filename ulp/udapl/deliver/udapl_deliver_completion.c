/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

#include "deliver/udapl_deliver_ib.h"
#include "map/udapl_dto.h"
#include "object/udapl_evd.h"
#include "object/udapl_rmr.h"

#include "itx_api.h"

/* The completion of an RMR bind. The handle is NULL if the RMR was freed. */
static bool deliver_bind(const struct udapl_ep *ep, const it_dto_cmpl_event_t *done, DAT_EVENT *out)
{
    DAT_RMR_BIND_COMPLETION_EVENT_DATA *data = &out->event_data.rmr_completion_event_data;
    struct udapl_record *record = (struct udapl_record *)(uintptr_t)done->cookie;
    const struct udapl_rmr *rmr;

    if (!udapl_record_is(&ep->records, done->cookie))
        return false;
    rmr = record->rmr;
    out->event_number = DAT_RMR_BIND_COMPLETION_EVENT;
    data->rmr_handle =
        rmr->object.entry.generation == record->generation ? record->rmr : DAT_HANDLE_NULL;
    data->user_cookie.as_64 = record->cookie;
    data->status = udapl_dto_status(done->dto_status);
    udapl_record_return(record);
    return true;
}

/*
 * The completion of a part of a split Read. The last part reports the success of all. The first
 * failed part reports the failure; later parts are not reported.
 */
static bool deliver_part(const struct udapl_ep *ep, DAT_DTO_COMPLETION_EVENT_DATA *data)
{
    struct udapl_record *record = (struct udapl_record *)(uintptr_t)data->user_cookie.as_64;

    if (!udapl_record_is(&ep->records, data->user_cookie.as_64) || record->told)
        return false;
    record->told = data->status != DAT_DTO_SUCCESS;
    data->user_cookie.as_64 = record->cookie;
    data->transfered_length = record->length;
    udapl_record_return(record);
    return true;
}

/* Returns the key that a peer's Send has invalidated. */
static DAT_RMR_CONTEXT unlinked_key(it_handle_t unlinked)
{
    it_handle_type_enum_t type;
    it_context_t context;

    if (it_get_handle_type(unlinked, &type) != IT_SUCCESS ||
        it_get_consumer_context(unlinked, &context) != IT_SUCCESS)
        return 0;
    return type == IT_HANDLE_TYPE_RMR ? ((const struct udapl_rmr *)context.ptr)->rmr_context
                                      : ((const struct udapl_lmr *)context.ptr)->rmr_context;
}

/* Finds the EP; NULL: it was freed. */
static struct udapl_ep *__attribute__((noinline)) look_up(struct udapl_evd *evd, it_ep_handle_t it)
{
    it_context_t context;

    if (it_get_consumer_context(it, &context) != IT_SUCCESS)
        return NULL;
    if (evd)
        atomic_store_explicit(&evd->last, context.ptr, memory_order_relaxed);
    return context.ptr;
}

/* Finds the EP, which is mostly that of the last completion. A freed one has no EP of IT-API. */
static inline struct udapl_ep *ep_of(struct udapl_evd *evd, it_ep_handle_t it)
{
    struct udapl_ep *last = evd ? atomic_load_explicit(&evd->last, memory_order_relaxed) : NULL;

    if (__builtin_expect(last && atomic_load_explicit(&last->it, memory_order_relaxed) == it, 1))
        return last;
    return look_up(evd, it);
}

bool udapl_deliver_completion(struct udapl_evd *evd, const it_event_t *event, DAT_EVENT *out)
{
    DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
    const it_dto_cmpl_event_t *done = &event->dto_cmpl;
    struct udapl_ep *ep;

    if (__builtin_expect((unsigned)event->all_dto_cmpl.flags & (unsigned)ITX_DTO_EP_FREED, 0))
        return false;
    ep = ep_of(evd, done->ep);
    if (__builtin_expect(!ep, 0))
        return false;
    if (__builtin_expect(done->event_number == IT_RMR_LINK_CMPL_EVENT, 0))
        return deliver_bind(ep, done, out);
    out->event_number = DAT_DTO_COMPLETION_EVENT;
    data->ep_handle = ep;
    data->user_cookie.as_64 = done->cookie;
    data->status = udapl_dto_status(done->dto_status);
    data->transfered_length = done->transferred_length;
    data->operation = udapl_dto_operation(done->event_number);
    data->rmr_context = 0;
    if (__builtin_expect(ep->extended, 0))
        udapl_deliver_ib(ep, event, out);
    if (__builtin_expect(data->operation == DAT_DTO_RDMA_READ, 0))
        return !ep->splits || deliver_part(ep, data);
    if (__builtin_expect(done->unlinked_mr_handle && data->operation == DAT_DTO_RECEIVE, 0)) {
        data->operation = DAT_DTO_RECEIVE_WITH_INVALIDATE;
        data->rmr_context = unlinked_key(done->unlinked_mr_handle);
    }
    return true;
}
