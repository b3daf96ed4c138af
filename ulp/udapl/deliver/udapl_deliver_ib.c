/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver_ib.h"

#include "map/udapl_immediate.h"
#include "object/udapl_ia.h"

#include "itx_api.h"

#include <dat2/dat_ib_extensions.h>
#include <string.h>

_Static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) <=
                   sizeof(((DAT_EVENT *)0)->event_extension_data),
               "an event has room for it");

static void extend(DAT_EVENT *out, DAT_IB_EXT_TYPE type, DAT_UINT32 immediate)
{
    DAT_IB_EXTENSION_EVENT_DATA data;

    memset(&data, 0, sizeof(data));
    data.type = type;
    data.status = out->event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS
                      ? DAT_OP_SUCCESS
                      : DAT_IB_OP_ERR;
    data.val.immed.data = immediate;
    memcpy(out->event_extension_data, &data, sizeof(data));
    out->event_number = (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT;
}

static void deliver_write(struct udapl_ep *ep, DAT_EVENT *out)
{
    DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
    struct udapl_record *record = (struct udapl_record *)(uintptr_t)data->user_cookie.as_64;

    if (!udapl_record_is(&ep->records, data->user_cookie.as_64))
        return;
    data->user_cookie.as_64 = record->cookie;
    data->operation = (DAT_DTOS)DAT_IB_DTO_RDMA_WRITE_IMMED;
    udapl_record_return(record);
    extend(out, DAT_IB_RDMA_WRITE_IMMED, 0);
}

static void deliver_receive(const struct udapl_ep *ep, const it_event_t *event, DAT_EVENT *out)
{
    DAT_DTO_COMPLETION_EVENT_DATA *data = &out->event_data.dto_completion_event_data;
    uint64_t value;

    if (!itx_event_immediate(event, &value))
        return;
    data->transfered_length = udapl_immediate_length(ep->object.ia->features.immediate_bits, value,
                                                     data->transfered_length);
    data->operation = (DAT_DTOS)DAT_IB_DTO_RECV_IMMED;
    extend(out, DAT_IB_RDMA_WRITE_IMMED_DATA, (DAT_UINT32)value);
}

void udapl_deliver_ib(struct udapl_ep *ep, const it_event_t *event, DAT_EVENT *out)
{
    switch ((unsigned)event->event_number) {
    case IT_DTO_FETCH_ADD_CMPL_EVENT:
        extend(out, DAT_IB_FETCH_AND_ADD, 0);
        break;
    case IT_DTO_CMP_SWAP_CMPL_EVENT:
        extend(out, DAT_IB_CMP_AND_SWAP, 0);
        break;
    case IT_DTO_RDMA_WRITE_CMPL_EVENT:
        deliver_write(ep, out);
        break;
    case IT_DTO_RC_RECV_CMPL_EVENT:
        deliver_receive(ep, event, out);
        break;
    default:
        break;
    }
}
