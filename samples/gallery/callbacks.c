/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callbacks on libevent: an echo server in one thread. The library has no thread of its own; it
 * works in the program's event loop, together with a timer and a signal handler. Its clients are
 * echo_client.
 *
 *     callbacks [PORT]
 */
#include "setup.h"

#include <event2/event.h>

#include <signal.h>
#include <stdio.h>

#define MESSAGE_SIZE 256
#define CLIENTS_MAX  64

/*
 * A client. Its message is echoed from the buffer that received it; then the receive is posted
 * again.
 */
struct client {
    it_ep_handle_t ep; /* NULL: the entry is free */
    char message[MESSAGE_SIZE];
};

struct server {
    struct adapter adapter;
    it_lmr_handle_t lmr; /* the messages of all clients */
    struct client clients[CLIENTS_MAX];
    unsigned long messages;
};

static void post_receive(const struct server *server, struct client *client)
{
    it_lmr_triplet_t piece = piece_of(server->lmr, client->message, MESSAGE_SIZE);

    check(it_post_recv(client->ep, &piece, 1, (uintptr_t)client, TOLD), "it_post_recv");
}

static void post_echo(const struct server *server, struct client *client, size_t length)
{
    it_lmr_triplet_t piece = piece_of(server->lmr, client->message, length);

    check(it_post_send(client->ep, &piece, 1, (uintptr_t)client, TOLD), "it_post_send");
}

/* Returns the client of an endpoint; for NULL, a free entry. Returns NULL if there is none. */
static struct client *client_of(struct server *server, it_ep_handle_t ep)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (server->clients[i].ep == ep)
            return &server->clients[i];
    return NULL;
}

static void take_client(struct server *server, const it_event_t *request)
{
    struct client *client = client_of(server, NULL);

    if (client == NULL) {
        (void)it_reject(request->conn_req.cn_est_id, NULL, 0);
        return;
    }
    client->ep = endpoint_make(&server->adapter);
    post_receive(server, client);
    if (!accept_with(client->ep, request, NULL))
        client->ep = NULL;
}

static void lose_client(struct server *server, it_ep_handle_t ep)
{
    client_of(server, ep)->ep = NULL;
    check(it_ep_free(ep), "it_ep_free");
}

static void handle(struct server *server, const it_event_t *event)
{
    struct client *client = (struct client *)(uintptr_t)event->dto_cmpl.cookie;

    if (event->event_number == IT_CM_REQ_CONN_REQUEST_EVENT) {
        take_client(server, event);
    } else if (is_end(event)) {
        lose_client(server, event->conn.ep);
    } else if (event->event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT ||
               event->dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        return; /* a flushed request: the end of the connection follows */
    } else if (event->event_number == IT_DTO_RC_RECV_CMPL_EVENT) {
        server->messages++;
        post_echo(server, client, event->dto_cmpl.transferred_length);
    } else if (event->event_number == IT_DTO_SEND_CMPL_EVENT) {
        post_receive(server, client);
    }
}

/* Runs in the loop when there are events, and takes all of them. */
static void on_events(it_evd_handle_t events, void *argument)
{
    it_event_t event;

    while (it_evd_dequeue(events, &event) == IT_SUCCESS)
        handle(argument, &event);
}

static void on_time(evutil_socket_t none, short what, void *argument)
{
    const struct server *server = argument;

    (void)none, (void)what;
    fprintf(stderr, "%lu messages\n", server->messages);
}

static void on_signal(evutil_socket_t number, short what, void *argument)
{
    (void)number, (void)what;
    event_base_loopbreak(argument);
}

int main(int argc, char **argv)
{
    static struct server server;
    const struct timeval minute = {.tv_sec = 60};
    struct event_base *base = event_base_new();
    struct event *timer = event_new(base, -1, EV_PERSIST, on_time, &server);
    struct event *end = evsignal_new(base, SIGTERM, on_signal, base);

    if (argc > 2)
        fail("usage", "callbacks [PORT]");
    event_add(timer, &minute);
    event_add(end, NULL);
    adapter_open(&server.adapter);
    check(itx_ia_set_event_base(server.adapter.ia, base), "itx_ia_set_event_base");
    server.lmr = memory_register(&server.adapter, server.clients, sizeof(server.clients),
                                 IT_PRIV_LOCAL, NULL);
    check(it_evd_callback_attach(server.adapter.events, on_events, &server),
          "it_evd_callback_attach");
    listen_at(&server.adapter, server.adapter.events, argc == 2 ? argv[1] : "0");
    event_base_dispatch(base);

    printf("served: %lu messages\n", server.messages);
    check(it_ia_free(server.adapter.ia), "it_ia_free");
    event_free(timer);
    event_free(end);
    event_base_free(base);
    return 0;
}
