/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: memory, states, ends of connections. */
#include "loop.h"

#include <stdlib.h>

it_status_t loop_ep_create(struct ual_ep *ual)
{
    const it_ep_attributes_t *attr = loop_host->ep_attributes(ual);
    struct loop_ep *ep = loop_ep_of(ual);
    struct vp_ep_info info;

    loop_host->ep_info(ual, &info);
    ep->ual = ual;
    ep->pz = info.pz;
    ep->recv_depth = attr->max_recv_dtos ? (uint32_t)attr->max_recv_dtos : 1;
    ep->request_depth = (uint32_t)attr->max_request_dtos;
    ep->receives = calloc(ep->recv_depth, sizeof(ep->receives[0]));
    if (!ep->receives)
        return IT_ERR_RESOURCES;
    if (attr->max_recv_dtos == 0)
        ep->recv_depth = 0;
    loop_host->ep_set_ops(ual, &loop_ep_ops);
    return IT_SUCCESS;
}

bool loop_step(struct loop_ep *ep, enum ual_ep_step step)
{
    bool stepped;

    loop_host->ep_lock(ep->ual);
    stepped = loop_host->ep_step_locked(ep->ual, step);
    loop_host->ep_unlock(ep->ual);
    return stepped;
}

it_rc_only_attributes_t loop_rc(struct loop_ep *ep)
{
    it_rc_only_attributes_t rc;

    loop_host->ep_lock(ep->ual);
    rc = loop_host->ep_attributes(ep->ual)->srv.rc;
    loop_host->ep_unlock(ep->ual);
    return rc;
}

static void loop_end_side(struct loop_later *later, struct loop_ep *ep, enum ual_ep_step step)
{
    struct ual_conn_news news = {.number = step == UAL_EP_BROKEN ? IT_CM_MSG_CONN_BROKEN_EVENT
                                                                 : IT_CM_MSG_CONN_DISCONNECT_EVENT};

    ep->peer = NULL;
    if (!loop_step(ep, step))
        return;
    loop_flush(later, ep, IT_DTO_ERR_FLUSHED);
    loop_report(later, ep, &news);
}

void loop_part(struct loop_later *later, struct loop_ep *ep, enum ual_ep_step step,
               enum ual_ep_step peer_step)
{
    struct loop_ep *peer = ep->peer;

    loop_end_side(later, ep, step);
    if (peer && peer != ep)
        loop_end_side(later, peer, peer_step);
}

/* Reports nothing on this side. */
void loop_ep_destroy(struct ual_ep *ual)
{
    struct loop_ep *ep = loop_ep_of(ual);
    struct loop_ep *peer;
    struct loop_later later;

    loop_begin(&later);
    loop_give_up(ep);
    peer = ep->peer;
    ep->peer = NULL;
    if (peer && peer != ep)
        loop_end_side(&later, peer, UAL_EP_CLOSED);
    loop_end(&later);
    pthread_mutex_lock(&loop_lock);
    loop_wait_unused(ep);
    pthread_mutex_unlock(&loop_lock);
    free(ep->receives);
    ep->receives = NULL;
}

/* Called with the EP's lock, so without loop_lock. The enables are read when they are needed. */
it_status_t loop_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                  it_ep_attributes_t *attr)
{
    const unsigned enables = (unsigned)IT_EP_PARAM_RDMA_RD_ENABLE |
                             (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |
                             (unsigned)IT_EP_PARAM_ATOMICS_ENABLE;

    (void)ual;
    (void)attr;
    return (unsigned)mask & ~enables ? IT_ERR_OP_NOT_SUPPORTED : IT_SUCCESS;
}

it_status_t loop_ep_reset(struct ual_ep *ual)
{
    it_status_t status;

    pthread_mutex_lock(&loop_lock);
    status = loop_step(loop_ep_of(ual), UAL_EP_RESET) ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
    pthread_mutex_unlock(&loop_lock);
    return status;
}
