/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_knock.h"

#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "memory/ofa_adapter.h"

#include <string.h>

#define KNOCKS 1024 /* that wait for the IA's thread */

/* ---- Answers -------------------------------------------------------------------------------- */

/* Nobody is there: what waits for the connection fails. The queue pair may be gone meanwhile. */
static void fail(struct ofa_context *context, uint32_t number)
{
    struct ofa_qp *qp;

    (void)pthread_mutex_lock(&context->lock);
    qp = ofa_number_find_locked(context, number);
    if (qp && qp->link.state == OFA_LINK_AWAITED)
        ofa_link_down_locked(qp, IBV_WC_RETRY_EXC_ERR);
    (void)pthread_mutex_unlock(&context->lock);
}

/* On the IA's thread. The number of the queue pair is the consumer context of the EP. */
static void on_answer(it_evd_handle_t evd, void *argument)
{
    it_context_t number;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (it_get_consumer_context(event.conn.ep, &number) != IT_SUCCESS)
            continue;
        if (event.event_number != IT_CM_MSG_CONN_PEER_REJECT_EVENT)
            fail(argument, (uint32_t)number.index);
        (void)it_ep_free(event.conn.ep);
    }
}

/* ---- Knocking ------------------------------------------------------------------------------- */

static int open_evds(struct ofa_context *context)
{
    int error = 0;

    (void)pthread_mutex_lock(&context->open_lock);
    if (!context->knock_cq)
        error = ofa_errno(it_evd_create(context->ia, IT_DTO_EVENT_STREAM, 0, 1,
                                        IT_THRESHOLD_DISABLE, NULL, &context->knock_cq, NULL));
    if (error == 0 && !context->knock_evd)
        error = ofa_link_evd(context, IT_CM_MSG_EVENT_STREAM, KNOCKS, on_answer, context,
                             &context->knock_evd);
    (void)pthread_mutex_unlock(&context->open_lock);
    return error;
}

static int make_ep(struct ofa_context *context, uint32_t number, it_ep_handle_t *ep)
{
    it_context_t consumer = {.index = number};
    it_ep_attributes_t attributes;
    int error;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_request_dtos = attributes.max_recv_dtos = 1;
    attributes.max_send_segments = attributes.max_recv_segments = 1;
    error = ofa_errno(it_ep_rc_create(context->nobody_pz, context->knock_cq, context->knock_cq,
                                      context->knock_evd, IT_EP_NO_FLAG, &attributes, ep));
    if (error == 0)
        (void)it_set_consumer_context(*ep, consumer);
    return error;
}

int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer, const void *greeting,
              size_t length, uint64_t timeout_us)
{
    struct ofa_call call = {.peer = (const struct sockaddr *)(const void *)peer,
                            .data = greeting,
                            .length = length,
                            .timeout_us = timeout_us};
    it_ep_handle_t ep;
    int error = open_evds(qp->context);

    if (error == 0)
        error = make_ep(qp->context, qp->base.qp_num, &ep);
    if (error != 0)
        return error;
    error = ofa_errno(ofa_link_attempt(ep, &call));
    if (error != 0)
        (void)it_ep_free(ep);
    return error;
}
