/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the device that concern connections. */
#include "vp/verbs/provider/verbs_cm_ep.h"

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/convert/verbs_convert.h"

/* A connection attempt continues until rdma_cm ends it. */
void verbs_cm_ep_failed(struct verbs_ep *ep)
{
    if (ep->conn)
        verbs_conn_on(ep->conn, VERBS_ON_QP_FAILED);
}

void verbs_cm_ep_heard(struct verbs_ep *ep)
{
    if (ep->conn)
        verbs_conn_on(ep->conn, VERBS_ON_QP_HEARD);
}

void verbs_cm_device_gone(struct verbs_ia *ia)
{
    if (!ia->cm)
        return;                /* the IA is being opened */
    verbs_convert_give_up(ia); /* the streams go on without the device */
}
