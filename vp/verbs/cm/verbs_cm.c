/* SPDX-License-Identifier: BSD-2-Clause */
/* The channel that brings the events of rdma_cm to the IA's thread. */
#include "vp/verbs/cm/verbs_cm_private.h"

#include <errno.h>
#include <string.h>

#define CM_EVENT_BUDGET 64 /* per wake-up: others on this thread want their turn */

static bool cm_has_parameters(enum rdma_cm_event_type type)
{
    return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
           type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED;
}

static void cm_copy_data(const void *data, uint8_t length, struct verbs_cm_event *copy)
{
    if (!data)
        return;
    memcpy(copy->private_data, data, length);
    copy->private_length = length;
}

static void cm_copy_event(const struct rdma_cm_event *event, struct verbs_cm_event *copy)
{
    const struct rdma_conn_param *param = &event->param.conn;

    *copy = (struct verbs_cm_event){.type = event->event, .status = event->status};
    /* In the UDP port space rdma_cm reports a refusal as UNREACHABLE. */
    if (event->id->ps == RDMA_PS_UDP &&
        (cm_has_parameters(event->event) || event->event == RDMA_CM_EVENT_UNREACHABLE)) {
        copy->qp_num = event->param.ud.qp_num;
        copy->qkey = event->param.ud.qkey;
        cm_copy_data(event->param.ud.private_data, event->param.ud.private_data_len, copy);
        return;
    }
    if (!cm_has_parameters(event->event))
        return;
    copy->responder_resources = param->responder_resources;
    copy->initiator_depth = param->initiator_depth;
    cm_copy_data(param->private_data, param->private_data_len, copy);
}

static void cm_dispatch(struct verbs_cm *cm, struct rdma_cm_id *id, void *context,
                        void *listen_context, struct verbs_cm_event *event)
{
    if (!cm->ia->is_iwarp && id->ps != RDMA_PS_UDP)
        event->private_length = verbs_cm_strip(event->private_data, event->private_length);
    if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
        (*(const struct verbs_cm_target **)listen_context)->requested(listen_context, id, event);
    else
        (*(const struct verbs_cm_target **)context)->told(context, id, event);
}

/* Takes one event from the channel. Returns false if there was none. */
static bool cm_take(struct verbs_cm *cm)
{
    struct rdma_cm_event *event;
    struct verbs_cm_event copy;
    struct rdma_cm_id *id;
    void *context;
    void *listen_context = NULL;

    if (rdma_get_cm_event(cm->channel, &event) != 0)
        return errno == EINTR;
    id = event->id;
    context = id->context;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        listen_context = event->listen_id->context;
    cm_copy_event(event, &copy);
    /* Acknowledges first, since destroying an id waits for its events. Cannot fail. */
    (void)rdma_ack_cm_event(event);
    cm_dispatch(cm, id, context, listen_context, &copy);
    if (copy.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        cm->ops->device_gone(cm->ia);
    return true;
}

void verbs_cm_take_events(struct verbs_cm *cm)
{
    for (int i = 0; i < CM_EVENT_BUDGET; i++)
        if (!cm_take(cm))
            return;
}

/* InfiniBand pads the peer's private data with zeros, so trailing zeros are not reported. */
size_t verbs_cm_strip(const uint8_t *private_data, size_t length)
{
    while (length > 0 && private_data[length - 1] == 0)
        length--;
    return length;
}
