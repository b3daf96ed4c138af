/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

#include "map/udapl_dto.h"

bool udapl_deliver_completion(const it_event_t *event, DAT_EVENT *out)
{
    DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
    const it_dto_cmpl_event_t *done = &event->dto_cmpl;
    it_context_t context;

    if (it_get_consumer_context(done->ep, &context) != IT_SUCCESS)
        return false;
    out->event_number = DAT_DTO_COMPLETION_EVENT;
    data->ep_handle = context.ptr;
    data->user_cookie.as_64 = done->cookie;
    data->status = udapl_dto_status(done->dto_status);
    data->transfered_length = done->transferred_length;
    data->operation = udapl_dto_operation(done->event_number);
    data->rmr_context = 0;
    return true;
}
