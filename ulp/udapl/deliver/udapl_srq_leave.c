/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

#include "object/udapl_evd.h"

/* Offset of the software event's pointer: an address in the EP that consumers do not know. */
#define MARK offsetof(struct udapl_ep, connection)

/* Returns the EVD for errors with a reference; NULL: none. */
static struct udapl_evd *hold_errors_evd(struct udapl_ia *ia)
{
    struct udapl_evd *evd;

    pthread_mutex_lock(&ia->lock);
    evd = ia->errors_evd;
    if (evd && !udapl_object_hold(evd))
        evd = NULL;
    pthread_mutex_unlock(&ia->lock);
    return evd;
}

void udapl_srq_leave(struct udapl_ep *ep)
{
    struct udapl_evd *evd = hold_errors_evd(ep->object.ia);

    if (!evd)
        return;
    (void)it_evd_post_se(evd->it, (char *)ep + MARK); /* a full queue loses it */
    udapl_object_release(evd);
}

static DAT_HANDLE handle_of(const it_event_t *event)
{
    return (DAT_HANDLE)((uintptr_t)event->sw.data - MARK);
}

static DAT_HANDLE ep_of(const it_event_t *event)
{
    return udapl_slab_find(&udapl_slabs[DAT_HANDLE_TYPE_EP], handle_of(event));
}

bool udapl_is_srq_leave(const it_event_t *event)
{
    return ep_of(event) != NULL;
}

bool udapl_deliver_srq_leave(const it_event_t *event, DAT_EVENT *out)
{
    DAT_ASYNCH_ERROR_EVENT_DATA *data = &out->event_data.asynch_error_event_data;

    out->event_number = DAT_ASYNC_ERROR_EP_BROKEN;
    data->dat_handle = ep_of(event);
    data->reason = DAT_EP_TRANSFER_TO_ERROR;
    return udapl_is(data->dat_handle, DAT_HANDLE_TYPE_EP); /* false if it was freed */
}
