/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UD endpoints: their QPs, and where a datagram's header lies. The header takes the first octets of
 * each receive: a GRH, or an IPv4 header after octets without meaning.
 */

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/device/verbs_query.h"
#include "vp/verbs/qp/verbs_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UD_KEY_PRIVILEGED UINT32_C(0x80000000) /* in a send request it selects the QP's own key */

/* ---------------------------------------------------------------- limits */

it_status_t verbs_ud_check(const struct verbs_ia *ia, uint8_t port, const it_ep_attributes_t *attr)
{
    if (attr->srv.ud.ep_info.ud_ep_key & UD_KEY_PRIVILEGED)
        return IT_ERR_INVALID_EP_KEY;
    return attr->max_dto_payload_size > verbs_ud_max(ia, port) ? IT_ERR_PAYLOAD_SIZE : IT_SUCCESS;
}

/* ---------------------------------------------------------------- creation */

bool verbs_ud_make(struct verbs_ep *ep, uint8_t port)
{
    size_t segments = verbs_host->ep_attributes(ep->ual)->max_recv_segments;
    size_t slots = (size_t)ep->rq.mask + 1;
    struct verbs_ud *ud = calloc(1, sizeof(*ud));

    if (!ud)
        return false;
    ep->ud = ud;
    ud->port = port;
    ud->on_ethernet = verbs_port_is_ethernet(ep->ia, port);
    ud->piece_count = segments < 1 ? 1 : segments < UD_HEADER ? segments : UD_HEADER;
    ud->pieces = calloc(slots * ud->piece_count, sizeof(*ud->pieces));
    ud->datagrams = calloc(slots, sizeof(*ud->datagrams));
    if (!ud->pieces || !ud->datagrams) {
        verbs_ud_free(ep);
        return false;
    }
    ep->rq.special = 0;      /* it has no connection */
    ep->sq.signal_every = 1; /* no marker can follow requests: it would need a destination */
    return true;
}

void verbs_ud_free(struct verbs_ep *ep)
{
    if (!ep->ud)
        return;
    free(ep->ud->datagrams);
    free(ep->ud->pieces);
    free(ep->ud);
    ep->ud = NULL;
}

int verbs_ud_start_qp(const struct verbs_ep *ep, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = ep->ud->port,
        .qkey = verbs_host->ep_attributes(ep->ual)->srv.ud.ep_info.ud_ep_key,
    };
    int error =
        ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

    if (error)
        return error;
    attr.qp_state = IBV_QPS_RTR;
    error = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
    if (error)
        return error;
    attr.qp_state = IBV_QPS_RTS;
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

void verbs_ud_open_locked(struct verbs_ep *ep)
{
    it_remote_ep_info_t *info = &verbs_host->ep_attributes(ep->ual)->srv.ud.ep_info;
    struct ibv_qp_attr key = {.qkey = info->ud_ep_key}; /* may have been modified */

    info->ud_ep_id = ep->qp->qp_num;
    if (ibv_modify_qp(ep->qp, &key, IBV_QP_QKEY) != 0)
        verbs_log(VP_LOG_WARN, "ep %p: no new key", (void *)ep->ual);
    verbs_ep_open_locked(ep);
}

/* ---------------------------------------------------------------- failure, modify */

static bool ud_queue_works(struct verbs_queue *queue)
{
    bool local;

    base_lock_take(&queue->lock);
    local = queue->local;
    base_lock_drop(&queue->lock);
    return !local;
}

static bool ud_works(struct verbs_ep *ep)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    memset(&attr, 0, sizeof(attr));
    return ud_queue_works(&ep->sq) && ud_queue_works(&ep->rq) &&
           ibv_query_qp(ep->qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_RTS;
}

/* A reset replaces the QP. It waits for this thread, and is illegal before the state is set. */
void verbs_ud_failed(struct verbs_ep *ep)
{
    bool over;

    if (verbs_host->ep_ud_state(ep->ual) != IT_EP_STATE_UD_OPERATIONAL || ud_works(ep))
        return;
    verbs_host->ep_lock(ep->ual);
    over = verbs_host->ep_set_ud_state_locked(ep->ual, IT_EP_STATE_UD_NONOPERATIONAL);
    verbs_host->ep_unlock(ep->ual);
    if (!over)
        return;
    verbs_ep_break(ep);
    verbs_host->ep_raise(ep->ual, IT_ASYNC_AFF_EP_FAILURE);
}

it_status_t verbs_ud_modify_locked(struct verbs_ep *ep, unsigned mask,
                                   const it_ep_attributes_t *attr)
{
    struct ibv_qp_attr change = {.qkey = attr->srv.ud.ep_info.ud_ep_key};
    int error;

    if (!(mask & IT_EP_PARAM_EP_KEY))
        return IT_SUCCESS;
    if (change.qkey & UD_KEY_PRIVILEGED)
        return IT_ERR_INVALID_EP_KEY;
    /* A failed QP needs no change: ep_reset replaces it by a QP with the new key. */
    if (verbs_host->ep_ud_state(ep->ual) != IT_EP_STATE_UD_OPERATIONAL)
        return IT_SUCCESS;
    error = ibv_modify_qp(ep->qp, &change, IBV_QP_QKEY);
    if (!error)
        return IT_SUCCESS;
    verbs_log(VP_LOG_WARN, "ep %p: key: %s", (void *)ep->ual, strerror(error));
    return error == EPERM ? IT_ERR_INVALID_EP_KEY : IT_ERR_RESOURCES;
}
