/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating, resetting, disconnecting and destroying an EP. */
#include "vp/uiwarp/provider/uiw_ep_create.h"

#include "vp/uiwarp/connect/uiw_conn.h"
#include "vp/uiwarp/lead/uiw_fork.h"
#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_rings.h"
#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/send/uiw_send.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <sched.h>

static const struct vp_ep_ops ep_ops = {
    .post_request = uiw_post_request,
    .post_recv = uiw_rq_post,
};

it_status_t uiw_ep_create(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_ring_sizes sizes;

    uiw_rings_sizes_of(ual, &ual->attr, &sizes);
    if (!uiw_rings_make(ep, &sizes))
        return IT_ERR_RESOURCES;
    ep->ual = ual;
    ep->ia = uiw_ia_of(ual_ia_of(&ual->object));
    ep->pz = ual->pz;
    ep->id.pz = ual->pz;
    ep->sent_is = UIW_DONE;
    ep->fd = -1;
    ep->mpa = (struct itx_mpa_params){.size = sizeof(ep->mpa),
                                      .revision = 2,
                                      .crc = IT_TRUE,
                                      .peer_to_peer = IT_TRUE,
                                      .rtr_types = ITX_RTR_WRITE | ITX_RTR_READ,
                                      .release_us = ITX_RELEASE_US};
    ep->wanted_ird = ual->attr.srv.rc.rdma_read_ird;
    ep->wanted_ord = ual->attr.srv.rc.rdma_read_ord;
    uiw_ep_set_enables(ep, UIW_EP_ALL, &ual->attr.srv.rc);
    uiw_ep_set_watermarks(ep, UIW_EP_ALL, &ual->attr.srv.rc);
    uiw_out_reset(ep);
    ual->ops = &ep_ops;
    atomic_fetch_add_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    return IT_SUCCESS;
}

void uiw_ep_destroy(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ual_ia_of(&ual->object);

    uiw_fork_leave(ual);
    uiw_conn_cancel(ual, true);
    uiw_ep_cut(ual);
    uiw_silence_forget(ia, ual);
    uiw_leader_quiesce(ia);
    uiw_later_leave(ual);
    atomic_fetch_sub_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    uiw_links_drop(ep);
    uiw_ep_retire_counters(ep);
    uiw_rings_free(ep);
}

/* Waits for the thread that ends a connection: it drains the EP right after its step. */
static void ep_wait_drained(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool drained = false;

    while (!drained) {
        base_lock_take(&ual->lock);
        drained = ep->drained || ual_ep_state(ual) != IT_EP_STATE_NONOPERATIONAL;
        base_lock_drop(&ual->lock);
        if (!drained)
            sched_yield();
    }
}

/* Waits until that thread has raised the events of the end, too: it is the reader until then. */
static void ep_wait_reported(struct uiw_ep *ep)
{
    uiw_reader_take(ep);
    uiw_reader_drop(ep);
}

it_status_t uiw_ep_reset(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    ep_wait_drained(ual);
    ep_wait_reported(ep);
    uiw_conn_cancel(ual, true);
    base_lock_take(&ual->lock);
    if (ual_ep_step_locked(ual, UAL_EP_RESET, NULL)) {
        status = IT_SUCCESS;
        ep->drained = false;
        ep->negotiated = false;
        uiw_ep_set_watermarks(ep, UIW_EP_ALL, &ual->attr.srv.rc); /* arms the soft one again */
        ual->attr.srv.rc.rdma_read_ird = ep->wanted_ird;
        ual->attr.srv.rc.rdma_read_ord = ep->wanted_ord;
    }
    base_lock_drop(&ual->lock);
    return status;
}

it_status_t uiw_ep_disconnect(struct ual_ep *ual)
{
    static const struct uiw_end end = {.step = UAL_EP_DISCONNECT,
                                       .recv_status = IT_DTO_ERR_FLUSHED};
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};

    (void)uiw_fork_claim(ual);
    /* An attempt may become a connection before it is ended: the next round then ends that. */
    for (;;) {
        it_ep_state_rc_t state = ual_ep_state(ual);

        if (state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
            return IT_ERR_INVALID_EP_STATE;
        if (state == IT_EP_STATE_CONNECTED) {
            if (uiw_ep_end(ual, &end, false))
                return IT_SUCCESS;
        } else if (uiw_ep_end_attempt(ual, UAL_EP_DISCONNECT, &news)) {
            uiw_conn_cancel(ual, false);
            return IT_SUCCESS;
        }
    }
}

/* Steps to NONOPERATIONAL from any state, without a connection event. */
static void ep_leave(struct ual_ep *ual, bool discard)
{
    const struct uiw_end end = {.step = UAL_EP_FLUSH,
                                .recv_status = IT_DTO_ERR_FLUSHED,
                                .silent = true,
                                .discard = discard};

    (void)uiw_fork_claim(ual);
    for (;;) { /* for the reason in uiw_ep_disconnect */
        it_ep_state_rc_t state = ual_ep_state(ual);

        if (state == IT_EP_STATE_NONOPERATIONAL)
            break;
        if (state == IT_EP_STATE_CONNECTED) {
            (void)uiw_ep_end(ual, &end, false);
        } else if (uiw_ep_end_unconnected(ual, discard)) {
            uiw_conn_cancel(ual, false);
        }
    }
    ep_wait_drained(ual); /* another thread may be ending the connection */
}

it_status_t uiw_ep_flush(struct ual_ep *ual)
{
    ep_leave(ual, false);
    return IT_SUCCESS;
}

it_status_t uiw_ep_clear(struct ual_ep *ual)
{
    if (ual_ep_state(ual) == IT_EP_STATE_UNCONNECTED && uiw_queue_in_use(&uiw_ep_of(ual)->rq) == 0)
        return IT_SUCCESS;
    ep_leave(ual, true);
    return uiw_ep_reset(ual);
}

void uiw_ep_claim_and_halt(struct ual_ep *ual)
{
    (void)uiw_fork_claim(ual);
    uiw_ep_halt(ual);
}
