/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ep_modify. An EP is recreated before it connects; later it cannot be modified. */
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_ep_attr.h"
#include "endpoint/udapl_ep_make.h"

#include "itx_api.h"

#define HANDLES                                                                                    \
    (DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |     \
     DAT_EP_FIELD_CONNECT_EVD_HANDLE)
#define ATTRIBUTES                                                                                 \
    (DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE | DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |                   \
     DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE | DAT_EP_FIELD_EP_ATTR_QOS |                               \
     DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS | DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS |  \
     DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |                  \
     DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV |                    \
     DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT |              \
     DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV)

static void take_depths(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *asked, DAT_EP_ATTR *attr)
{
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS)
        attr->max_recv_dtos = asked->max_recv_dtos;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS)
        attr->max_request_dtos = asked->max_request_dtos;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV)
        attr->max_recv_iov = asked->max_recv_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV)
        attr->max_request_iov = asked->max_request_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN)
        attr->max_rdma_read_in = asked->max_rdma_read_in;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT)
        attr->max_rdma_read_out = asked->max_rdma_read_out;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV)
        attr->max_rdma_read_iov = asked->max_rdma_read_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV)
        attr->max_rdma_write_iov = asked->max_rdma_write_iov;
}

static void take_attributes(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *asked, DAT_EP_ATTR *attr)
{
    if (mask & DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE)
        attr->service_type = asked->service_type;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE)
        attr->max_message_size = asked->max_message_size;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE)
        attr->max_rdma_size = asked->max_rdma_size;
    if (mask & DAT_EP_FIELD_EP_ATTR_QOS)
        attr->qos = asked->qos;
    if (mask & DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS)
        attr->recv_completion_flags = asked->recv_completion_flags;
    if (mask & DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS)
        attr->request_completion_flags = asked->request_completion_flags;
    take_depths(mask, asked, attr);
}

/* Gets the parts that the mask names; the others are the EP's own. */
static DAT_RETURN choose_parts(const struct udapl_ep *ep, DAT_EP_PARAM_MASK mask,
                               const DAT_EP_PARAM *param, struct udapl_ep_parts *parts)
{
    DAT_RETURN result = udapl_ep_parts_find(
        ep->object.ia, mask & DAT_EP_FIELD_PZ_HANDLE ? param->pz_handle : ep->pz,
        mask & DAT_EP_FIELD_RECV_EVD_HANDLE ? param->recv_evd_handle : ep->recv_evd,
        mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE ? param->request_evd_handle : ep->request_evd,
        mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE ? param->connect_evd_handle : ep->connect_evd,
        parts);

    parts->srq = ep->srq;
    if (result == DAT_SUCCESS && parts->srq && parts->pz && parts->pz != parts->srq->pz)
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return result;
}

/* Returns true if receives are posted, which would be lost with the EP of IT-API. */
static bool has_receives(const struct udapl_ep *ep)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    return ep->it && itx_ep_stats(ep->it, &counters) == IT_SUCCESS &&
           (uint32_t)counters.receives_posted != (uint32_t)counters.receives_done;
}

static DAT_RETURN check_state(const struct udapl_ep *ep)
{
    DAT_EP_STATE state = udapl_ep_state(ep);

    switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
    case DAT_EP_STATE_UNCONFIGURED_UNCONNECTED:
    case DAT_EP_STATE_RESERVED:
    case DAT_EP_STATE_UNCONFIGURED_RESERVED:
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_UNCONFIGURED_TENTATIVE:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_UNCONFIGURED_PASSIVE:
        return has_receives(ep) ? udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY)
                                : DAT_SUCCESS;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_DISCONNECT_PENDING:
    case DAT_EP_STATE_DISCONNECTED:
    case DAT_EP_STATE_COMPLETION_PENDING:
    case DAT_EP_STATE_CONNECTED_SINGLE_PATH:
    case DAT_EP_STATE_CONNECTED_MULTI_PATH:
        break;
    }
    return udapl_state_error(state);
}

/* Recreates the EP. If that fails, restores it. */
static DAT_RETURN remake(struct udapl_ep *ep, const struct udapl_ep_parts *parts,
                         const DAT_EP_ATTR *attr)
{
    struct udapl_ep_parts old_parts;
    DAT_EP_ATTR old_attr = ep->attr;
    DAT_RETURN result, restored;

    udapl_ep_parts_of(ep, &old_parts);
    result = udapl_ep_unmake(ep);
    if (result != DAT_SUCCESS)
        return result;
    result = udapl_ep_make(ep, parts, attr);
    if (result == DAT_SUCCESS)
        return result;
    restored = udapl_ep_make(ep, &old_parts, &old_attr);
    return restored == DAT_SUCCESS ? result : restored;
}

DAT_RETURN udapl_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask,
                           const DAT_EP_PARAM *param)
{
    struct udapl_ep *ep = ep_handle;
    struct udapl_ep_parts parts;
    DAT_EP_ATTR asked, settled;
    DAT_RETURN result;

    if (!udapl_is(ep_handle, DAT_HANDLE_TYPE_EP))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if ((mask & ~(HANDLES | ATTRIBUTES)) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    result = choose_parts(ep, mask, param, &parts);
    if (result != DAT_SUCCESS)
        return result;
    asked = ep->attr;
    take_attributes(mask, &param->ep_attr, &asked);
    if (!udapl_ep_attr_settle(ep->object.ia, &asked, &settled))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    result = check_state(ep);
    return result == DAT_SUCCESS && mask != 0 ? remake(ep, &parts, &settled) : result;
}
