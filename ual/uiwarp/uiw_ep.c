/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP: its creation, change and end. */
#include "ual/uiwarp/uiw_ep.h"

#include "ual/uiwarp/uiw_conn.h"
#include "ual/uiwarp/uiw_handover.h"
#include "ual/uiwarp/uiw_rings.h"
#include "ual/uiwarp/uiw_stream.h"
#include "ual/uiwarp/uiw_tx.h"

#include <string.h>

static const struct vp_ep_ops ep_ops = {
    .post_request = uiw_post_request,
    .post_recv = uiw_post_recv,
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
    ep->fd = -1;
    ep->mpa = (struct itx_mpa_params){.size = sizeof(ep->mpa),
                                      .revision = 2,
                                      .crc = IT_TRUE,
                                      .peer_to_peer = IT_TRUE,
                                      .rtr_types = ITX_RTR_WRITE | ITX_RTR_READ};
    ep->wanted_ird = ual->attr.srv.rc.rdma_read_ird;
    ep->wanted_ord = ual->attr.srv.rc.rdma_read_ord;
    uiw_ep_set_enables(ep, UIW_EP_ALL, &ual->attr.srv.rc);
    uiw_ep_set_watermarks(ep, UIW_EP_ALL, &ual->attr.srv.rc);
    uiw_tx_reset(ep);
    ual->ops = &ep_ops;
    atomic_fetch_add_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    return IT_SUCCESS;
}

static void ep_add_counters(const struct uiw_ep *ep, struct itx_counters *sum)
{
    sum->bytes_sent += atomic_load_explicit(&ep->tx.octets, memory_order_relaxed);
    sum->fpdus_sent += atomic_load_explicit(&ep->tx.fpdus, memory_order_relaxed);
    sum->send_calls += atomic_load_explicit(&ep->tx.calls, memory_order_relaxed);
    sum->bytes_received += atomic_load_explicit(&ep->octets_in, memory_order_relaxed);
    sum->fpdus_received += atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed);
    sum->receive_calls += atomic_load_explicit(&ep->calls_in, memory_order_relaxed);
}

/* The EP is still in the IA's list: what it leaves to the IA must not be counted twice. */
static void ep_retire_counters(struct uiw_ep *ep)
{
    base_lock_take(&ep->ia->retired_lock);
    ep_add_counters(ep, &ep->ia->retired);
    ep->counters_retired = true;
    base_lock_drop(&ep->ia->retired_lock);
}

void uiw_ep_destroy(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ual_ia_of(&ual->object);

    uiw_conn_cancel(ual, true);
    uiw_ep_cut(ual);
    uiw_progress_undefer(ia, ual);
    uiw_nudge_never(ia, ual);
    uiw_progress_quiesce(ia);
    atomic_fetch_sub_explicit(&uiw_pz_of(ual->pz)->eps, 1, memory_order_relaxed);
    uiw_links_drop(ep);
    ep_retire_counters(ep);
    uiw_rings_free(ep);
}

/* Whoever ends a connection drains the EP right after the step to NONOPERATIONAL. */
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

it_status_t uiw_ep_reset(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    ep_wait_drained(ual);
    uiw_conn_cancel(ual, true);
    base_lock_take(&ual->lock);
    if (ual_ep_step_locked(ual, UAL_EP_RESET, NULL)) {
        status = IT_SUCCESS;
        ep->drained = false;
        ep->negotiated = false;
        uiw_ep_set_watermarks(ep, UIW_EP_ALL, &ual->attr.srv.rc); /* armed again */
        ual->attr.srv.rc.rdma_read_ird = ep->wanted_ird;
        ual->attr.srv.rc.rdma_read_ord = ep->wanted_ord;
    }
    base_lock_drop(&ual->lock);
    return status;
}

/* ---------------------------------------------------------------- EP: MPA settings */

it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    base_lock_take(&ual->lock);
    if (ual_ep_state(ual) == IT_EP_STATE_UNCONNECTED) {
        ep->mpa = *params;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params)
{
    base_lock_take(&ual->lock);
    *params = uiw_ep_of(ual)->mpa;
    base_lock_drop(&ual->lock);
    return IT_SUCCESS;
}

it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);
    it_status_t status = IT_ERR_INVALID_EP_STATE;
    it_ep_state_rc_t state;

    base_lock_take(&ual->lock);
    state = ual_ep_state(ual);
    if (ep->negotiated && (state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL)) {
        *info = ep->info;
        status = IT_SUCCESS;
    }
    base_lock_drop(&ual->lock);
    return status;
}

void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    base_lock_take(&ual->lock);
    *config = (struct iw_mpa_config){
        .revision = ep->mpa.revision,
        .crc = ep->mpa.crc != IT_FALSE,
        .peer_to_peer = ep->mpa.peer_to_peer != IT_FALSE,
        .rtr = ep->mpa.rtr_types,
        .suppress_depths = suppress_depths,
        .ird = (uint16_t)ep->wanted_ird,
        .ord = (uint16_t)ep->wanted_ord,
    };
    base_lock_drop(&ual->lock);
}

struct uiw_conn **uiw_ep_conn_slot(struct ual_ep *ual)
{
    return &uiw_ep_of(ual)->conn;
}

static void ep_add_retired(const struct itx_counters *retired, struct itx_counters *sum)
{
    sum->bytes_sent += retired->bytes_sent;
    sum->fpdus_sent += retired->fpdus_sent;
    sum->send_calls += retired->send_calls;
    sum->bytes_received += retired->bytes_received;
    sum->fpdus_received += retired->fpdus_received;
    sum->receive_calls += retired->receive_calls;
}

void uiw_ep_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    struct uiw_ia *ia = uiw_ia_of(ual);

    base_lock_take(&ual->evd.lock);
    base_lock_take(&ia->retired_lock);
    for (struct base_object *object = ual->evd.objects[IT_HANDLE_TYPE_EP]; object;
         object = object->next) {
        const struct uiw_ep *ep = uiw_ep_of((struct ual_ep *)(void *)object);

        if (!ep->counters_retired)
            ep_add_counters(ep, counters);
    }
    ep_add_retired(&ia->retired, counters);
    base_lock_drop(&ia->retired_lock);
    base_lock_drop(&ual->evd.lock);
    counters->crc_errors += atomic_load_explicit(&ia->crc_errors, memory_order_relaxed);
    counters->protocol_errors += atomic_load_explicit(&ia->protocol_errors, memory_order_relaxed);
    counters->terminates_sent += atomic_load_explicit(&ia->terminates_sent, memory_order_relaxed);
    counters->terminates_received +=
        atomic_load_explicit(&ia->terminates_received, memory_order_relaxed);
    counters->thread_wakeups +=
        atomic_load_explicit(&ia->progress.thread_wakeups, memory_order_relaxed);
}
