/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns asynchronous events of the device into affiliated and unaffiliated events, on the IA's
 * thread.
 */
#include "vp/verbs/provider/verbs_provider.h"

#include "vp/verbs/cm/verbs_cm.h"
#include "vp/verbs/post/verbs_posting.h"
#include "vp/verbs/provider/verbs_cm_ep.h"
#include "vp/verbs/qp/verbs_qp.h"

#include <rdma/ib_user_verbs.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- handling by object */

/* The QP, and so the EP, stays until the event is acknowledged. */
static void async_about_ep(struct verbs_ep *ep, enum ibv_event_type type)
{
    if (ep->ud) {
        verbs_ud_failed(ep); /* raises the event */
        return;
    }
    if (type == IBV_EVENT_COMM_EST) {
        verbs_cm_ep_heard(ep);
        return;
    }
    if (ep->ia->quirks.is_siw && atomic_load_explicit(&ep->parted, memory_order_relaxed))
        return; /* siw closed its stream under requests: no failure after a disconnect */
    if (type == IBV_EVENT_QP_FATAL && verbs_nudge_may_have_failed(ep))
        return; /* the peer has left: rdma_cm reports that */
    if (type == IBV_EVENT_QP_FATAL)
        verbs_host->ep_raise(ep->ual, IT_ASYNC_AFF_EP_FAILURE);
    else if (type == IBV_EVENT_QP_ACCESS_ERR)
        verbs_host->ep_raise(ep->ual, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION);
    else if (type == IBV_EVENT_QP_REQ_ERR)
        verbs_host->ep_raise(ep->ual, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR);
    else
        return; /* drained, migrated, last receive reached: no failure */
    verbs_cm_ep_failed(ep);
}

static void async_about_srq(const struct verbs_srq *srq)
{
    verbs_log(VP_LOG_WARN, "%s: a shared receive queue has failed",
              verbs_host->ia_name(srq->ia->ual));
    verbs_host->srq_raise(srq->ual, IT_ASYNC_AFF_SRQ_CATASTROPHIC);
}

static void async_about_port(struct verbs_ia *ia, uint8_t port, bool online)
{
    verbs_log(online ? VP_LOG_INFO : VP_LOG_WARN, "%s: port %u is %s", verbs_host->ia_name(ia->ual),
              port, online ? "online" : "offline");
    verbs_host->ia_raise_spigot(
        ia->ual, online ? IT_ASYNC_UNAFF_SPIGOT_ONLINE : IT_ASYNC_UNAFF_SPIGOT_OFFLINE, port);
}

void verbs_device_gone(struct verbs_ia *ia)
{
    if (atomic_exchange_explicit(&ia->removed, true, memory_order_relaxed))
        return;
    verbs_log(VP_LOG_WARN, "%s: the device has failed or was removed",
              verbs_host->ia_name(ia->ual));
    for (uint8_t port = 1; port <= ia->ports; port++)
        async_about_port(ia, port, false);
    verbs_cm_device_gone(ia);
    verbs_host->ia_fail(ia->ual);
}

static void async_dispatch(struct verbs_ia *ia, struct ibv_async_event *event)
{
    switch ((unsigned)event->event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        async_about_ep(event->element.qp->qp_context, event->event_type);
        break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        verbs_srq_is_low(event->element.srq->srq_context);
        break;
    case IBV_EVENT_SRQ_ERR:
        async_about_srq(event->element.srq->srq_context);
        break;
    case IBV_EVENT_CQ_ERR:
        verbs_log(VP_LOG_ERROR, "%s: a completion queue has failed", verbs_host->ia_name(ia->ual));
        break;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
        async_about_port(ia, (uint8_t)event->element.port_num,
                         event->event_type == IBV_EVENT_PORT_ACTIVE);
        break;
    case IBV_EVENT_DEVICE_FATAL:
        verbs_device_gone(ia);
        break;
    default: /* changes of LIDs, keys, addresses and the like */
        verbs_log(VP_LOG_DEBUG, "%s: device event: %s", verbs_host->ia_name(ia->ual),
                  ibv_event_type_str(event->event_type));
        break;
    }
}

/* ---------------------------------------------------------------- reading them */

/* Reads an event without ibv_get_async_event: libsiw prints all events that pass through it. */
static bool async_read_raw(struct verbs_ia *ia, struct ibv_async_event *event)
{
    struct ib_uverbs_async_event_desc raw;

    if (read(ia->context->async_fd, &raw, sizeof(raw)) != (ssize_t)sizeof(raw))
        return false;
    memset(event, 0, sizeof(*event));
    event->event_type = (enum ibv_event_type)raw.event_type;
    switch (raw.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_DEVICE_FATAL:
        event->element.port_num = (int)raw.element;
        break;
    default: /* the object's address, as the library passed it to the kernel */
        event->element.qp = (struct ibv_qp *)(uintptr_t)raw.element;
        break;
    }
    return true;
}

static bool async_next(struct verbs_ia *ia, struct ibv_async_event *event)
{
    if (ia->quirks.is_siw)
        return async_read_raw(ia, event);
    return ibv_get_async_event(ia->context, event) == 0;
}

void verbs_async_take(struct verbs_ia *ia)
{
    struct ibv_async_event event;

    while (async_next(ia, &event)) {
        async_dispatch(ia, &event);
        ibv_ack_async_event(&event);
    }
}

static void async_ready(void *argument)
{
    verbs_async_take(argument);
}

bool verbs_async_open(struct verbs_ia *ia)
{
    int flags = fcntl(ia->context->async_fd, F_GETFL);

    if (flags < 0 || fcntl(ia->context->async_fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return false;
    ia->async_watch = verbs_host->watch_start(ia->ual, ia->context->async_fd, async_ready, ia);
    return ia->async_watch != NULL;
}

void verbs_async_close(struct verbs_ia *ia)
{
    verbs_host->watch_stop(ia->async_watch);
}
