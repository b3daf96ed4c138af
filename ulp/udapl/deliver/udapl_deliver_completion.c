/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

#include "deliver/udapl_deliver_ib.h"
#include "map/udapl_dto.h"
#include "object/udapl_rmr.h"

/* The end of an RMR bind. An RMR that was freed meanwhile may be another's by now: then none. */
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
 * The end of a part of a Read that was split: the last one tells the success of all, the first that
 * fails the failure, and those behind it are flushed without a word.
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

/* The key that a peer's Send has made invalid. */
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

bool udapl_deliver_completion(const it_event_t *event, DAT_EVENT *out)
{
    DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
    const it_dto_cmpl_event_t *done = &event->dto_cmpl;
    it_context_t context;

    if (__builtin_expect(it_get_consumer_context(done->ep, &context) != IT_SUCCESS, 0))
        return false;
    if (__builtin_expect(done->event_number == IT_RMR_LINK_CMPL_EVENT, 0))
        return deliver_bind(context.ptr, done, out);
    out->event_number = DAT_DTO_COMPLETION_EVENT;
    data->ep_handle = context.ptr;
    data->user_cookie.as_64 = done->cookie;
    data->status = udapl_dto_status(done->dto_status);
    data->transfered_length = done->transferred_length;
    data->operation = udapl_dto_operation(done->event_number);
    data->rmr_context = 0;
    if (__builtin_expect(((const struct udapl_ep *)context.ptr)->extended, 0))
        udapl_deliver_ib(context.ptr, event, out);
    if (__builtin_expect(data->operation == DAT_DTO_RDMA_READ, 0)) {
        const struct udapl_ep *ep = context.ptr;

        return !ep->splits || deliver_part(ep, data);
    }
    if (__builtin_expect(done->unlinked_mr_handle && data->operation == DAT_DTO_RECEIVE, 0)) {
        data->operation = DAT_DTO_RECEIVE_WITH_INVALIDATE;
        data->rmr_context = unlinked_key(done->unlinked_mr_handle);
    }
    return true;
}
