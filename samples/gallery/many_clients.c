/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many clients: an echo server whose endpoints share one queue of receives (S-RQ), so that it needs
 * memory for the messages in progress instead of for each client. Three queues of events, one for
 * each kind, join an aggregate (AEVD), on which the server waits. Its clients are echo_client.
 *
 *     many_clients [PORT]
 */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGE_SIZE 256
#define MESSAGES     64 /* under way, of all clients */
#define EVENTS       256

struct server {
    struct adapter adapter; /* its queue of events is not used */
    it_evd_handle_t any;    /* the aggregate: names the queue that has events */
    it_evd_handle_t requests, connections, messages;
    it_srq_handle_t receives;
    it_lmr_handle_t lmr;
    char memory[MESSAGES][MESSAGE_SIZE];
};

static it_evd_handle_t queue_make(const struct server *server, it_event_type_t stream,
                                  it_evd_flags_t flags)
{
    it_evd_handle_t evd;

    check(it_evd_create(server->adapter.ia, stream, flags, EVENTS, 0, server->any, &evd, NULL),
          "it_evd_create");
    return evd;
}

/* Posts a receive for a message of any client. */
static void post_receive(const struct server *server, char *message)
{
    it_lmr_triplet_t piece = piece_of(server->lmr, message, MESSAGE_SIZE);

    check(it_post_recv(server->receives, &piece, 1, (uintptr_t)message, TOLD), "it_post_recv");
}

static void open_server(struct server *server)
{
    adapter_open(&server->adapter);
    server->any =
        queue_make(server, IT_AEVD_NOTIFICATION_EVENT_STREAM, IT_EVD_DEQUEUE_NOTIFICATIONS);
    server->requests = queue_make(server, IT_CM_REQ_EVENT_STREAM, 0);
    server->connections = queue_make(server, IT_CM_MSG_EVENT_STREAM, 0);
    server->messages = queue_make(server, IT_DTO_EVENT_STREAM, 0);
    server->lmr = memory_register(&server->adapter, server->memory, sizeof(server->memory),
                                  IT_PRIV_LOCAL, NULL);
    check(it_srq_create(server->adapter.pz, 1, MESSAGES, &server->receives), "it_srq_create");
    for (int i = 0; i < MESSAGES; i++)
        post_receive(server, server->memory[i]);
}

static void take_client(const struct server *server, const it_event_t *request)
{
    const it_ep_attributes_t attributes = {
        .max_dto_payload_size = MESSAGE_SIZE,
        .max_request_dtos = MESSAGES,
        .max_send_segments = 1,
        .srv.rc = {.srq = server->receives, .hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE},
    };
    it_ep_handle_t ep;

    check(it_ep_rc_create(server->adapter.pz, server->messages, server->messages,
                          server->connections, IT_EP_SRQ, &attributes, &ep),
          "it_ep_rc_create");
    (void)accept_with(ep, request, NULL);
}

/* Echoes a message. Posts its memory as a receive again once the echo has completed or failed. */
static void handle_message(const struct server *server, const it_event_t *event)
{
    char *message = (char *)(uintptr_t)event->dto_cmpl.cookie;
    it_lmr_triplet_t echo = piece_of(server->lmr, message, event->dto_cmpl.transferred_length);

    if (event->event_number != IT_DTO_RC_RECV_CMPL_EVENT ||
        event->dto_cmpl.dto_status != IT_DTO_SUCCESS ||
        it_post_send(event->dto_cmpl.ep, &echo, 1, event->dto_cmpl.cookie, TOLD) != IT_SUCCESS)
        post_receive(server, message);
}

static void handle_messages(const struct server *server)
{
    it_event_t event;

    while (it_evd_dequeue(server->messages, &event) == IT_SUCCESS)
        handle_message(server, &event);
}

static void handle_end(const struct server *server, it_ep_handle_t ep)
{
    handle_messages(server); /* first, since a new endpoint may get the same handle */
    check(it_ep_free(ep), "it_ep_free");
}

static void handle_ready(const struct server *server, it_evd_handle_t evd)
{
    it_event_t event;

    if (evd == server->messages) {
        handle_messages(server);
        return;
    }
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        if (evd == server->requests)
            take_client(server, &event);
        else if (is_end(&event))
            handle_end(server, event.conn.ep);
}

int main(int argc, char **argv)
{
    static struct server server;
    it_event_t ready;

    if (argc > 2)
        fail("usage", "many_clients [PORT]");
    open_server(&server);
    listen_at(&server.adapter, server.requests, argc == 2 ? argv[1] : "0");
    for (;;) {
        check(it_evd_wait(server.any, IT_TIMEOUT_INFINITE, &ready, NULL), "it_evd_wait");
        handle_ready(&server, ready.aevd_notify.sevd);
    }
}
