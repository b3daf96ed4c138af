/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why attempts fail: translates the codes of rdma_cm, which differ by transport, to those of
 * events.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include <errno.h>

/* Reasons in a REJ message of InfiniBand's communication management. */
enum reason_ib {
    REASON_NO_QP = 1,
    REASON_NO_EEC = 2,
    REASON_NO_RESOURCES = 3,
    REASON_TIMEOUT = 4,
    REASON_STALE = 10,
    REASON_INVALID_GID = 12,
    REASON_INVALID_RATE = 17,
    REASON_PORT_REDIRECT = 25,
    REASON_INVALID_MTU = 26,
    REASON_READS = 27,
    REASON_CONSUMER = 28,
    REASON_INVALID_RNR_RETRY = 29
};

it_conn_reject_code_t verbs_reason_of_errno(int error)
{
    if (error == EPROTO || error == EINVAL)
        return IT_CN_REJ_BAD_CONN_PARMS;
    return base_net_reject_code(error);
}

static it_conn_reject_code_t reason_of_rej(int reason)
{
    if (reason >= REASON_INVALID_GID && reason <= REASON_INVALID_RATE)
        return IT_CN_REJ_BAD_PATH;
    switch (reason) {
    case REASON_NO_QP:
    case REASON_NO_EEC:
    case REASON_NO_RESOURCES:
        return IT_CN_REJ_RESOURCES;
    case REASON_TIMEOUT:
        return IT_CN_REJ_TIMEOUT;
    case REASON_STALE:
        return IT_CN_REJ_STALE_CONN;
    case REASON_PORT_REDIRECT:
        return IT_CN_REJ_BAD_PATH;
    case REASON_READS:
        return IT_CN_REJ_BAD_ORD;
    case REASON_INVALID_MTU:
    case REASON_INVALID_RNR_RETRY:
        return IT_CN_REJ_BAD_CONN_PARMS;
    default:
        return IT_CN_REJ_OTHER; /* no listener, or any other cause */
    }
}

it_conn_reject_code_t verbs_reason_of_event(const struct verbs_cm *cm,
                                            const struct verbs_cm_event *event)
{
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
        /* Also a host that is not found in time; a timer enforces the consumer's own limit. */
        return event->status == -ENOMEM ? IT_CN_REJ_RESOURCES : IT_CN_REJ_BAD_PATH;
    case RDMA_CM_EVENT_UNREACHABLE:
        return IT_CN_REJ_TIMEOUT;
    case RDMA_CM_EVENT_REJECTED:
        if (!cm->ia->is_iwarp)
            return reason_of_rej(event->status);
        /* From siw: the Reply asks for something that siw cannot do. */
        if (cm->ia->quirks.is_siw && event->status == -ECONNREFUSED)
            return IT_CN_REJ_BAD_CONN_PARMS;
        return IT_CN_REJ_OTHER;
    case RDMA_CM_EVENT_DISCONNECTED:
        return IT_CN_REJ_OTHER;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        return IT_CN_REJ_RESOURCES;
    default:
        return verbs_reason_of_errno(event->status < 0 ? -event->status : event->status);
    }
}

/*
 * iWARP devices have no status for it. The kernel's convention is ECONNREFUSED. siw reports
 * ECONNRESET, but also when the peer closes without a Reply.
 */
bool verbs_reason_is_consumer(const struct verbs_cm *cm, const struct verbs_cm_event *event)
{
    if (!cm->ia->is_iwarp)
        return event->status == REASON_CONSUMER;
    return event->status == (cm->ia->quirks.is_siw ? -ECONNRESET : -ECONNREFUSED);
}
