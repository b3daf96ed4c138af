/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device says of an EP or of itself, for connections. */
#include "vp/verbs/provider/verbs_cm_ep.h"

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/convert/verbs_convert.h"

void verbs_cm_ep_failed(struct verbs_ep *ep)
{
    /* An attempt goes on until rdma_cm ends it. */
    if (ep->conn && ep->conn->state == VERBS_CONN_LIVE)
        verbs_conn_break(ep->conn);
}

void verbs_cm_ep_heard(struct verbs_ep *ep)
{
    if (ep->conn && ep->conn->state == VERBS_CONN_CONFIRM)
        (void)rdma_notify(ep->conn->id, IBV_EVENT_COMM_EST); /* else the confirmation will come */
}

void verbs_cm_device_gone(struct verbs_ia *ia)
{
    if (!ia->cm)
        return;                /* it is being opened */
    verbs_convert_give_up(ia); /* streams go on without the device */
}
