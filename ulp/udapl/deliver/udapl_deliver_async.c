/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous errors of EPs, EVDs, S-RQs and the IA. */
#include "deliver/udapl_deliver.h"

/* Returns the object of an error; NULL: it is unknown to the consumer. */
static void *object_of(it_handle_t handle)
{
    it_context_t context;

    return it_get_consumer_context(handle, &context) == IT_SUCCESS ? context.ptr : NULL;
}

static bool tell(DAT_EVENT *out, DAT_EVENT_NUMBER number, DAT_HANDLE handle, int reason)
{
    DAT_ASYNCH_ERROR_EVENT_DATA *data = &out->event_data.asynch_error_event_data;

    out->event_number = number;
    data->dat_handle = handle;
    data->reason = reason;
    return handle != NULL;
}

/*
 * Delivers an affiliated event. DAT has an error for each event of an EP. For watermarks it has
 * only reasons and no event numbers, so they are delivered as provider errors.
 */
static bool deliver_affiliated(const it_affiliated_event_t *event, DAT_EVENT *out)
{
    switch ((unsigned)event->event_number) {
    case IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE:
        return tell(out, DAT_ASYNC_ERROR_EVD_OVERFLOW, object_of((it_handle_t)event->cause.sevd),
                    DAT_EVD_OVERFLOW_ERROR);
    case IT_ASYNC_AFF_SRQ_LOW_WATERMARK:
        return tell(out, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
                    object_of((it_handle_t)event->cause.srq), DAT_SRQ_LOW_WATERMARK_EVENT);
    case IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK:
        return tell(out, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
                    object_of((it_handle_t)event->cause.ep), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    case IT_ASYNC_AFF_EP_REQ_DROPPED:
        return tell(out, DAT_ASYNC_ERROR_EP_BROKEN, object_of((it_handle_t)event->cause.ep),
                    DAT_EP_OTHER_ERROR);
    case IT_ASYNC_AFF_EP_FAILURE:
    case IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE:
    case IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_RDMAW_CORRUPT_DATA:
    case IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR:
    case IT_ASYNC_AFF_EP_L_LLP_ERROR:
    case IT_ASYNC_AFF_EP_R_ERROR:
    case IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR:
    case IT_ASYNC_AFF_EP_SRQ_ERROR:
        return tell(out, DAT_ASYNC_ERROR_EP_BROKEN, object_of((it_handle_t)event->cause.ep),
                    DAT_EP_TRANSFER_TO_ERROR);
    default:
        return false;
    }
}

void udapl_deliver_failure(const struct udapl_ia *ia, DAT_EVENT *out)
{
    (void)tell(out, DAT_ASYNC_ERROR_IA_CATASTROPHIC, udapl_ia_handle(ia),
               DAT_IA_CATASTROPHIC_ERROR);
}

bool udapl_deliver_async(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out)
{
    if (((unsigned)event->event_number & IT_EVENT_STREAM_MASK) == IT_ASYNC_AFF_EVENT_STREAM)
        return deliver_affiliated(&event->aff_async, out);
    /* DAT has no event for a Spigot that goes online or offline. */
    return event->event_number == IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE &&
           tell(out, DAT_ASYNC_ERROR_EVD_OVERFLOW, udapl_ia_handle(ia), DAT_IA_OTHER_ERROR);
}
