/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listening for rdma_cm. Each listen point has an EVD of its own, since a request does not name its
 * listen point.
 */
#include "link/ofa_link.h"

#include "memory/ofa_adapter.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <stdlib.h>

#define REQUESTS 1024 /* that can wait for the IA's thread */

struct ofa_listener {
    it_evd_handle_t evd;
    it_listen_handle_t point;
    ofa_request_handler handler;
    void *owner;
};

static void on_requests(it_evd_handle_t evd, void *argument)
{
    struct ofa_listener *listener = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        listener->handler(listener->owner, &event, itx_event_private_data_length(&event));
}

/* Listens with IT_IANA_LR_PORT, so that requests also have the peer's port. */
static it_status_t listen_at(struct ofa_context *context, struct ofa_listener *listener,
                             const struct sockaddr *address, bool both)
{
    it_conn_qual_t qual = {.type = IT_IANA_LR_PORT,
                           .conn_qual.lr_port.local = htons(ofa_port_of(address))};

    if (both)
        return it_listen_create(context->ia, 0, listener->evd, IT_LISTEN_CONN_QUAL_INPUT, &qual,
                                &listener->point);
    return itx_listen_create_at(context->ia, listener->evd, IT_LISTEN_CONN_QUAL_INPUT, address,
                                &qual, &listener->point);
}

int ofa_link_listen(struct ibv_context *base, const struct sockaddr *address, bool both,
                    ofa_request_handler handler, void *owner, struct ofa_listener **result)
{
    struct ofa_context *context = ofa_context_of(base);
    struct ofa_listener *listener;
    int error = ofa_link_open(context);

    if (error != 0)
        return error;
    listener = calloc(1, sizeof(*listener));
    if (!listener)
        return ENOMEM;
    listener->handler = handler;
    listener->owner = owner;
    error = ofa_link_evd(context, IT_CM_REQ_EVENT_STREAM, REQUESTS, on_requests, listener,
                         &listener->evd);
    if (error != 0) {
        free(listener);
        return error;
    }
    error = ofa_errno(listen_at(context, listener, address, both));
    if (error != 0) {
        (void)it_evd_callback_detach(listener->evd);
        (void)it_evd_free(listener->evd);
        free(listener);
        return error;
    }
    *result = listener;
    return 0;
}

void ofa_link_unlisten(struct ofa_listener *listener)
{
    it_event_t event;

    (void)it_listen_free(listener->point);
    (void)it_evd_callback_detach(listener->evd);
    while (it_evd_dequeue(listener->evd, &event) == IT_SUCCESS)
        (void)it_reject(event.conn_req.cn_est_id, NULL, 0);
    (void)it_evd_free(listener->evd);
    free(listener);
}
