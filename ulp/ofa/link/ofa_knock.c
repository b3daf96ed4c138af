/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_knock.h"

#include "link/ofa_greeting.h"
#include "link/ofa_link.h"
#include "memory/ofa_adapter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KNOCKS 1024 /* that can wait for the IA's thread */

/*
 * A message, from before it is sent until its EP is freed. It is found by the EP, which has no
 * consumer context: that would be taken for the queue pair of an earlier EP with the same handle.
 */
struct ofa_knock_sent {
    struct ofa_knock_sent *next;
    it_ep_handle_t ep;
    uint32_t number;
    bool asks;
    bool answered; /* only the IA's thread uses it */
    uint64_t nonce;
};

/* ---- Messages that wait ---------------------------------------------------------------------- */

static void list_add(struct ofa_context *context, struct ofa_knock_sent *sent)
{
    (void)pthread_mutex_lock(&context->knock_lock);
    sent->next = context->knocks;
    context->knocks = sent;
    (void)pthread_mutex_unlock(&context->knock_lock);
}

static struct ofa_knock_sent *list_find(struct ofa_context *context, it_ep_handle_t ep)
{
    struct ofa_knock_sent *sent;

    (void)pthread_mutex_lock(&context->knock_lock);
    sent = context->knocks;
    while (sent && sent->ep != ep)
        sent = sent->next;
    (void)pthread_mutex_unlock(&context->knock_lock);
    return sent;
}

static void list_remove(struct ofa_context *context, const struct ofa_knock_sent *sent)
{
    struct ofa_knock_sent **link = &context->knocks;

    (void)pthread_mutex_lock(&context->knock_lock);
    while (*link != sent)
        link = &(*link)->next;
    *link = sent->next;
    (void)pthread_mutex_unlock(&context->knock_lock);
}

/* Removes a message that was answered. NULL: there is none. */
static struct ofa_knock_sent *list_take_answered(struct ofa_context *context)
{
    struct ofa_knock_sent **link = &context->knocks;
    struct ofa_knock_sent *sent;

    (void)pthread_mutex_lock(&context->knock_lock);
    while (*link && !(*link)->answered)
        link = &(*link)->next;
    sent = *link;
    if (sent)
        *link = sent->next;
    (void)pthread_mutex_unlock(&context->knock_lock);
    return sent;
}

void ofa_knock_close(struct ofa_context *context)
{
    struct ofa_knock_sent *sent;

    while ((sent = context->knocks) != NULL) {
        context->knocks = sent->next;
        free(sent);
    }
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void tell(struct ofa_context *context, const struct ofa_knock_sent *sent,
                 const it_connection_event_t *event)
{
    struct ofa_knock_answer answer = {
        .number = sent->number,
        .asked = sent->asks,
        .nonce = sent->nonce,
        .reached = event->event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT,
    };
    struct ofa_greeting said;

    if (answer.reached && event->private_data_present &&
        ofa_greeting_decode(event->private_data, &said))
        answer.said = &said;
    context->on_knocked(context, &answer);
}

/*
 * Runs on the IA's thread. A peer that accepts a message causes more than one event. So an EP is
 * freed once it can have no further event and none is queued.
 */
static void on_answer(it_evd_handle_t evd, void *argument)
{
    struct ofa_knock_sent *sent;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        sent = list_find(argument, event.conn.ep);
        if (!sent || sent->answered)
            continue;
        tell(argument, sent, &event.conn);
        (void)itx_ep_clear(sent->ep);
        sent->answered = true;
    }
    while ((sent = list_take_answered(argument)) != NULL) {
        (void)it_ep_free(sent->ep);
        free(sent);
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

static int make_ep(struct ofa_context *context, it_ep_handle_t *ep)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_request_dtos = attributes.max_recv_dtos = 1;
    attributes.max_send_segments = attributes.max_recv_segments = 1;
    return ofa_errno(it_ep_rc_create(context->nobody_pz, context->knock_cq, context->knock_cq,
                                     context->knock_evd, IT_EP_NO_FLAG, &attributes, ep));
}

/* Creates a message in the list. Returns NULL, with *error set, if that fails. */
static struct ofa_knock_sent *create(struct ofa_context *context,
                                     const struct ofa_greeting *greeting, int *error)
{
    struct ofa_knock_sent *sent = calloc(1, sizeof(*sent));

    *error = sent ? make_ep(context, &sent->ep) : ENOMEM;
    if (*error != 0) {
        free(sent);
        return NULL;
    }
    sent->number = greeting->from_number;
    sent->asks = greeting->kind == OFA_GREETING_ASK;
    sent->nonce = greeting->nonce;
    list_add(context, sent);
    return sent;
}

int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer,
              const struct ofa_greeting *greeting, uint64_t timeout_us)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    struct ofa_call call = {.peer = (const struct sockaddr *)(const void *)peer,
                            .data = bytes,
                            .length = sizeof(bytes),
                            .timeout_us = timeout_us};
    int error;
    struct ofa_knock_sent *sent = create(qp->context, greeting, &error);

    if (!sent)
        return error;
    ofa_greeting_encode(greeting, bytes);
    if (greeting->kind == OFA_GREETING_KNOCK)
        ofa_link_be_patient(sent->ep);
    error = ofa_errno(ofa_link_attempt(sent->ep, &call));
    if (error == 0)
        return 0; /* the IA's thread may have freed the message already */
    list_remove(qp->context, sent);
    (void)it_ep_free(sent->ep);
    free(sent);
    return error;
}
