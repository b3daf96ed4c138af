/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_async.h"

#include "link/ofa_gid_watch.h"
#include "link/ofa_link.h"
#include "memory/ofa_adapter.h"
#include "port/ofa_gid.h"
#include "queue/ofa_event.h"
#include "queue/ofa_queue.h"

#include <errno.h>

#define ASYNC_EVENTS 4096 /* that can wait for the IA's thread */

/* ---- From IT-API ---------------------------------------------------------------------------- */

/* Converts an event number. IBV_EVENT_DEVICE_FATAL: verbs has no such event. */
static enum ibv_event_type type_of(it_event_type_t number)
{
    switch ((int)number) {
    case IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION:
        return IBV_EVENT_QP_ACCESS_ERR;
    case IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE:
    case IT_ASYNC_AFF_EP_RDMAW_CORRUPT_DATA:
    case IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION:
    case IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR:
    case IT_ASYNC_AFF_EP_SRQ_ERROR:
        return IBV_EVENT_QP_REQ_ERR;
    case IT_ASYNC_AFF_EP_FAILURE:
        return IBV_EVENT_QP_FATAL;
    case ITX_ASYNC_AFF_EP_LAST_RECV:
        return IBV_EVENT_QP_LAST_WQE_REACHED;
    default:
        return IBV_EVENT_DEVICE_FATAL;
    }
}

static void on_srq_limit(it_srq_handle_t handle)
{
    it_context_t object;

    if (it_get_consumer_context(handle, &object) == IT_SUCCESS)
        ofa_srq_limit_reached(object.ptr);
}

static void on_cq_error(it_evd_handle_t handle)
{
    it_context_t object;

    if (it_get_consumer_context(handle, &object) == IT_SUCCESS)
        ofa_event_raise_overrun(object.ptr);
}

/* A local error that ends the connection moves the queue pair to ERR, so receives are flushed. */
static void fail(struct ofa_qp *qp)
{
    ofa_event_enter_error(qp);
    ofa_cq_look(qp->send_cq);
    ofa_cq_look(qp->recv_cq);
}

/* Returns true for errors of this side that a completion tells: verbs has no event for them. */
static bool is_completed(it_event_type_t number)
{
    return number == IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION ||
           number == IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION;
}

/*
 * Returns true if a Send has waited too long for a receive. On InfiniBand only its sender fails;
 * here the connection ends, too. With a foreign peer, no Send waits.
 */
static bool is_not_ready(it_ep_handle_t ep, it_event_type_t number)
{
    struct itx_mpa_info info = {.size = sizeof(info)};

    return (number == IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR || number == IT_ASYNC_AFF_EP_SRQ_ERROR) &&
           itx_ep_query_mpa(ep, &info) == IT_SUCCESS && (info.own_peer & ITX_OWN_PEER_HOLD);
}

static void on_ep_error(it_ep_handle_t handle, it_event_type_t number)
{
    enum ibv_event_type type = type_of(number);
    it_context_t object;

    if ((type == IBV_EVENT_DEVICE_FATAL && !is_completed(number)) || is_not_ready(handle, number) ||
        it_get_consumer_context(handle, &object) != IT_SUCCESS)
        return;
    if (type == IBV_EVENT_QP_LAST_WQE_REACHED) {
        ofa_event_last_receive(object.ptr);
        return;
    }
    if (!is_completed(number))
        ofa_event_raise_qp(object.ptr, type);
    fail(object.ptr);
}

/* Holds the lock, so that the object of each event is either valid or not found. */
void ofa_async_dispatch(struct ofa_context *context)
{
    it_event_t event;

    (void)pthread_mutex_lock(&context->lock);
    while (it_evd_dequeue(context->affiliated_evd, &event) == IT_SUCCESS) {
        const it_affiliated_event_t *error = &event.aff_async;

        if (error->event_number == IT_ASYNC_AFF_SRQ_LOW_WATERMARK)
            on_srq_limit(error->cause.srq);
        else if (error->event_number == IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE)
            on_cq_error(error->cause.sevd);
        else
            on_ep_error(error->cause.ep, error->event_number);
    }
    (void)pthread_mutex_unlock(&context->lock);
}

static void on_affiliated(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    ofa_async_dispatch(argument);
}

static void on_unaffiliated(it_evd_handle_t evd, void *argument)
{
    struct ofa_context *context = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (event.event_number == IT_ASYNC_UNAFF_SPIGOT_ONLINE)
            ofa_event_raise_port(context, IBV_EVENT_PORT_ACTIVE);
        else if (event.event_number == IT_ASYNC_UNAFF_SPIGOT_OFFLINE)
            ofa_event_raise_port(context, IBV_EVENT_PORT_ERR);
    }
}

/* Reports a change of the port since the context was opened. The adapter reports later ones. */
static void tell_port(struct ofa_context *context)
{
    bool up = ofa_port_is_up(context->device);

    if (up != context->was_up)
        ofa_event_raise_port(context, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

int ofa_async_open(struct ofa_context *context)
{
    int error = ofa_adapter_open(context);

    if (error != 0)
        return error;
    (void)pthread_mutex_lock(&context->open_lock);
    if (!context->affiliated_evd)
        error = ofa_link_evd(context, IT_ASYNC_AFF_EVENT_STREAM, ASYNC_EVENTS, on_affiliated,
                             context, &context->affiliated_evd);
    if (error == 0 && !context->unaffiliated_evd) {
        error = ofa_link_evd(context, IT_ASYNC_UNAFF_EVENT_STREAM, ASYNC_EVENTS, on_unaffiliated,
                             context, &context->unaffiliated_evd);
        if (error == 0) {
            tell_port(context);
            ofa_gid_watch_open(context); /* called once, because only the last watch is closed */
        }
    }
    (void)pthread_mutex_unlock(&context->open_lock);
    return error;
}

void ofa_async_close(struct ofa_context *context)
{
    ofa_gid_watch_close(context);
    if (context->affiliated_evd)
        (void)it_evd_callback_detach(context->affiliated_evd);
    if (context->unaffiliated_evd)
        (void)it_evd_callback_detach(context->unaffiliated_evd);
}

/* ---- To the program ------------------------------------------------------------------------- */

int ibv_get_async_event(struct ibv_context *base, struct ibv_async_event *event)
{
    struct ofa_context *context = ofa_context_of(base);
    int error = ofa_async_open(context);

    if (error == 0)
        error = ofa_event_get(context, event);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
