/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_knock.h"

#include "link/ofa_greeting.h"
#include "link/ofa_link.h"
#include "memory/ofa_adapter.h"

#include <string.h>

#define KNOCKS 1024 /* that can wait for the IA's thread */

/*
 * The consumer context of such an EP identifies queue pair and attempt. The queue pair may be
 * destroyed before the answer comes.
 */
#define NUMBER_BITS 24
#define ASKS        (UINT64_C(1) << 63)

static uint64_t mark_of(const struct ofa_greeting *greeting)
{
    return (greeting->kind == OFA_GREETING_ASK ? ASKS : 0) |
           ofa_knock_short_nonce(greeting->nonce) << NUMBER_BITS | greeting->from_number;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void tell(struct ofa_context *context, uint64_t mark, const it_connection_event_t *event)
{
    struct ofa_knock_answer answer = {
        .number = (uint32_t)(mark & ((1u << NUMBER_BITS) - 1)),
        .asked = (mark & ASKS) != 0,
        .short_nonce = (mark & ~ASKS) >> NUMBER_BITS,
        .reached = event->event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT,
    };
    struct ofa_greeting said;

    if (answer.reached && event->private_data_present &&
        ofa_greeting_decode(event->private_data, &said))
        answer.said = &said;
    context->on_knocked(context, &answer);
}

/* Runs on the IA's thread. */
static void on_answer(it_evd_handle_t evd, void *argument)
{
    it_context_t mark;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (it_get_consumer_context(event.conn.ep, &mark) != IT_SUCCESS)
            continue;
        tell(argument, mark.index, &event.conn);
        (void)it_ep_free(event.conn.ep);
    }
}

/* ---- Knocking ------------------------------------------------------------------------------- */

int ofa_knock_open(struct ofa_context *context, ofa_knock_handler handler)
{
    int error = 0;

    if (!context->knock_evd)
        context->on_knocked = handler; /* before any answer */
    if (!context->knock_cq)
        error = ofa_errno(it_evd_create(context->ia, IT_DTO_EVENT_STREAM, 0, 1,
                                        IT_THRESHOLD_DISABLE, NULL, &context->knock_cq, NULL));
    if (error == 0 && !context->knock_evd)
        error = ofa_link_evd(context, IT_CM_MSG_EVENT_STREAM, KNOCKS, on_answer, context,
                             &context->knock_evd);
    return error;
}

static int make_ep(struct ofa_context *context, uint64_t mark, it_ep_handle_t *ep)
{
    it_context_t consumer = {.index = mark};
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

int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer,
              const struct ofa_greeting *greeting, uint64_t timeout_us)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    struct ofa_call call = {.peer = (const struct sockaddr *)(const void *)peer,
                            .data = bytes,
                            .length = sizeof(bytes),
                            .timeout_us = timeout_us};
    it_ep_handle_t ep;
    int error = make_ep(qp->context, mark_of(greeting), &ep);

    if (error != 0)
        return error;
    ofa_greeting_encode(greeting, bytes);
    if (greeting->kind == OFA_GREETING_KNOCK)
        ofa_link_be_patient(ep);
    error = ofa_errno(ofa_link_attempt(ep, &call));
    if (error != 0)
        (void)it_ep_free(ep);
    return error;
}
