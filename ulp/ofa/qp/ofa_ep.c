/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP of a queue pair. */
#include "link/ofa_async.h"
#include "link/ofa_link.h"
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"
#include "post/ofa_post.h"
#include "qp/ofa_qp.h"
#include "queue/ofa_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_AT_FIRST 16 /* of RDMA Reads; connecting changes it */

/*
 * How long an attempt goes on while the port has no listener. An InfiniBand device answers later
 * than TCP, and programs rely on that: the server of perftest listens again between its two
 * connections.
 */
#define PATIENCE_US 300000u

static void fill(const struct ofa_qp *qp, it_ep_attributes_t *attributes)
{
    const struct ibv_qp_cap *cap = &qp->cap;

    memset(attributes, 0, sizeof(*attributes));
    attributes->max_dto_payload_size = OFA_MAX_MESSAGE;
    attributes->max_request_dtos = cap->max_send_wr;
    attributes->max_recv_dtos = cap->max_recv_wr ? cap->max_recv_wr : 1;
    attributes->max_send_segments = cap->max_send_sge;
    attributes->max_recv_segments = cap->max_recv_sge ? cap->max_recv_sge : 1;
    attributes->srv.rc.max_rdma_read_segments = cap->max_send_sge;
    attributes->srv.rc.max_rdma_write_segments = cap->max_send_sge;
    attributes->srv.rc.rdma_read_enable = IT_TRUE;
    attributes->srv.rc.rdma_write_enable = IT_TRUE;
    attributes->srv.rc.atomics_enable = IT_TRUE;
    attributes->srv.rc.rdma_read_ird = DEPTH_AT_FIRST;
    attributes->srv.rc.rdma_read_ord = DEPTH_AT_FIRST;
    attributes->srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
}

/*
 * Returns the extensions by which InfiniBand differs from iWARP; they take effect if the peer also
 * offers them. An iWARP card has none of them, except that immediate data are those of verbs.
 */
static uint32_t promises(const struct ofa_qp *qp)
{
    const char *completions = secure_getenv("ITAPI_OFA_COMPLETIONS");

    if (!qp->parks)
        return ITX_OWN_PEER_IMM;
    if (completions && strcmp(completions, "local") == 0)
        return ITX_OWN_PEER_HOLD | ITX_OWN_PEER_IMM;
    return ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD | ITX_OWN_PEER_IMM;
}

static it_status_t set_promises(const struct ofa_qp *qp, it_ep_handle_t ep)
{
    struct itx_mpa_params params = {.size = sizeof(params)};
    it_status_t status = itx_ep_get_mpa_params(ep, &params);

    if (status != IT_SUCCESS)
        return status;
    params.own_peer = promises(qp);
    params.hold_us = IT_TIMEOUT_INFINITE;
    params.patience_us = PATIENCE_US;
    return itx_ep_set_mpa_params(ep, &params);
}

/* Events of the EP find the queue pair from now on. */
static void set_owner(it_ep_handle_t ep, struct ofa_qp *qp)
{
    it_context_t context = {.ptr = qp};

    (void)pthread_mutex_lock(&qp->context->ep_lock);
    (void)it_set_consumer_context(ep, context);
    (void)pthread_mutex_unlock(&qp->context->ep_lock);
}

/* Returns 0 or errno. */
static int create(struct ofa_qp *qp, it_ep_rc_creation_flags_t flags,
                  const it_ep_attributes_t *attributes, it_ep_handle_t *ep)
{
    int error = ofa_errno(it_ep_rc_create(qp->pd->pz, qp->send_cq->evd, qp->recv_cq->evd,
                                          qp->context->connection_evd, flags, attributes, ep));

    if (error != 0)
        return error;
    set_owner(*ep, qp);
    (void)itx_ep_enable_immediate(*ep, IT_TRUE);
    (void)set_promises(qp, *ep);
    return 0;
}

/* Stores the EPs. Strangers' requests, on the IA's thread, find the queue pair by its number. */
static void set_eps(struct ofa_qp *qp, it_ep_handle_t ep, it_ep_handle_t send_ep)
{
    (void)pthread_mutex_lock(&qp->context->lock);
    qp->ep = ep;
    qp->send_ep = send_ep;
    (void)pthread_mutex_unlock(&qp->context->lock);
}

int ofa_ep_open(struct ofa_qp *qp)
{
    it_ep_attributes_t attributes;
    it_ep_handle_t ep;
    it_ep_param_t param;
    int error;

    fill(qp, &attributes);
    if (qp->srq)
        attributes.srv.rc.srq = qp->srq->srq;
    error = create(qp, qp->srq ? IT_EP_SRQ : IT_EP_NO_FLAG, &attributes, &ep);
    if (error != 0)
        return error;
    set_eps(qp, ep, ep);
    if (qp->srq)
        (void)itx_ep_tell_last_recv(ep, IT_TRUE);
    if (it_ep_query(ep, (it_ep_param_mask_t)(IT_EP_PARAM_MAX_REQ_DTO), &param) == IT_SUCCESS)
        qp->inline_places = (uint32_t)param.attr.max_request_dtos + 1;
    return 0;
}

int ofa_ep_split(struct ofa_qp *qp)
{
    it_ep_attributes_t attributes;
    it_ep_handle_t send_ep;
    int error;

    if (qp->send_ep != qp->ep)
        return 0;
    fill(qp, &attributes);
    attributes.max_recv_dtos = attributes.max_recv_segments = 1;
    error = create(qp, IT_EP_NO_FLAG, &attributes, &send_ep);
    if (error == 0)
        set_eps(qp, qp->ep, send_ep);
    return error;
}

/* Frees the EP of ofa_ep_split. */
static void join_locked(struct ofa_qp *qp)
{
    if (qp->send_ep != qp->ep)
        (void)it_ep_free(qp->send_ep); /* first: its events find no queue pair then */
    set_eps(qp, qp->ep, qp->ep);
}

/* Drops events and completions that the EPs have left: those of a freed one find no queue pair. */
static void forget_locked(struct ofa_qp *qp)
{
    ofa_link_dispatch(qp->context);
    ofa_async_dispatch(qp->context);
    ofa_link_gone(qp);
    ofa_cq_forget(qp->send_cq, qp);
    if (qp->recv_cq != qp->send_cq)
        ofa_cq_forget(qp->recv_cq, qp);
}

int ofa_ep_clear(struct ofa_qp *qp)
{
    int error = ofa_errno(itx_ep_clear(qp->ep));

    if (error != 0)
        return error;
    (void)pthread_mutex_lock(&qp->context->ep_lock);
    join_locked(qp);
    forget_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->ep_lock);
    (void)set_promises(qp, qp->ep); /* rdma_cm may have set a limit for its connection */
    return 0;
}

/*
 * Makes completions of a queue pair that is being destroyed park, so that they cause no event. The
 * program sees none of them.
 */
static int free_quietly_locked(struct ofa_qp *qp)
{
    int state = atomic_exchange_explicit(&qp->state, IBV_QPS_RESET, memory_order_relaxed);
    bool parks = qp->parks;
    int error;

    qp->parks = true;
    error = ofa_errno(it_ep_free(qp->ep));
    if (error != 0) {
        qp->parks = parks;
        atomic_store_explicit(&qp->state, state, memory_order_relaxed);
    }
    return error;
}

static int free_eps_locked(struct ofa_qp *qp)
{
    int error = free_quietly_locked(qp);

    /* IT-API keeps an EP that windows are linked to; Linux destroys such a queue pair. */
    if (error == EBUSY) {
        ofa_mw_unbind(qp);
        error = free_quietly_locked(qp);
    }
    if (error == 0)
        join_locked(qp);
    return error;
}

int ofa_ep_close(struct ofa_qp *qp)
{
    int error;

    (void)pthread_mutex_lock(&qp->context->ep_lock);
    error = free_eps_locked(qp);
    if (error == 0)
        forget_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->ep_lock);
    if (error != 0)
        return error;
    ofa_inline_close(qp);
    ofa_mw_forget(qp);
    return 0;
}
