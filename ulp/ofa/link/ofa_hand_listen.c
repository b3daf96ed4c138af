/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening on the ports of numbers. */
#include "link/ofa_hand.h"
#include "link/ofa_knock.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "memory/ofa_adapter.h"

#define REQUESTS 1024 /* that can wait for the IA's thread */

static void on_requests(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        ofa_hand_request(argument, &event.conn_req);
}

/* With ofa_context.open_lock, which the IA's thread never takes. Returns 0 or errno. */
static int listen_once(struct ofa_context *context, struct ofa_port_block *block)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(block->port)};
    int error = 0;

    if (block->listener)
        return 0;
    error = ofa_knock_open(context, ofa_hand_knocked);
    if (error == 0 && !context->request_evd)
        error = ofa_link_evd(context, IT_CM_REQ_EVENT_STREAM, REQUESTS, on_requests, context,
                             &context->request_evd);
    if (error != 0)
        return error;
    return ofa_errno(it_listen_create(context->ia, 0, context->request_evd,
                                      IT_LISTEN_CONN_QUAL_INPUT, &qual, &block->listener));
}

int ofa_hand_listen(struct ofa_context *context, uint32_t number)
{
    struct ofa_port_block *block;
    int error;

    (void)pthread_mutex_lock(&context->lock);
    block = ofa_number_block_locked(context, number >> 8);
    (void)pthread_mutex_unlock(&context->lock);
    (void)pthread_mutex_lock(&context->open_lock);
    error = listen_once(context, block);
    (void)pthread_mutex_unlock(&context->open_lock);
    return error;
}
