/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to a request for a datagram service, and the object's end. The calls are in
 * tii/tii_ud_service.c.
 */
#include "ual/object/ual_object.h"

#include "evd/deliver/evd_deliver.h"
#include "evd/evd_private_data.h"

#include <string.h>

void ual_ud_service_destroy(struct base_object *object)
{
    struct ual_ud_service *service = (struct ual_ud_service *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->ud_service_destroy(service);
    evd_release(service->reply_evd);
    ual_object_end(object);
}

void ual_ud_service_report(struct ual_ud_service *service, const struct vp_ud_reply *reply)
{
    it_event_t event;
    it_ud_svc_reply_event_t *news = &event.ud_svc_reply;

    memset(&event, 0, sizeof(event));
    news->event_number = IT_CM_MSG_UD_SERVICE_REPLY_EVENT;
    news->ud_svc = (it_ud_svc_req_handle_t)(void *)service;
    news->status = reply->status;
    if (reply->status == IT_UD_SVC_EP_INFO_VALID)
        news->ep_info = reply->ep_info;
    news->dst_path = reply->path;
    evd_private_data_put(&event, news->private_data, &news->private_data_present,
                         reply->private_data, reply->private_length);
    (void)evd_deliver(service->reply_evd, &event); /* an EVD without room reports its overflow */
}
