/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step 6 of the tutorial: a server of many clients in one loop around poll. Some stay with TCP
 * (client of step 1), others convert (client of step 4). One EVD with a descriptor takes the events
 * of all endpoints.
 */
#include "objects.h"
#include "sockets.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 64
#define TOLD        (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)

struct client {
    int tcp; /* -1: there is none, or the connection is RDMA */
    it_ep_handle_t ep;
    char in[LINE_SIZE];
    char out[LINE_SIZE];
};

static struct client clients[CLIENTS_MAX];
static it_ia_handle_t ia;
static it_pz_handle_t pz;
static it_evd_handle_t events;
static it_lmr_handle_t lmr; /* of all clients */
static int events_fd;

static void make_objects(void)
{
    check(it_ia_create("uiwarp", 2, 1, &ia), "it_ia_create");
    check(it_pz_create(ia, &pz), "it_pz_create");
    check(it_lmr_create(pz, clients, NULL, sizeof(clients), IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                        IT_LMR_FLAG_NONE, 0, &lmr, NULL),
          "it_lmr_create");
    /*
     * Each client can have four events: a receive, a Send, and the beginning and the end of the
     * connection.
     */
    check(itx_evd_create_mixed(ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG, IT_EVD_CREATE_FD,
                               CLIENTS_MAX * (size_t)4, 0, NULL, &events, &events_fd),
          "itx_evd_create_mixed");
}

static it_lmr_triplet_t piece_of(char *memory, size_t length)
{
    it_lmr_triplet_t piece = {.lmr = lmr, .addr.abs = memory, .length = length};

    return piece;
}

static void post_receive(struct client *client)
{
    it_lmr_triplet_t piece = piece_of(client->in, LINE_SIZE);

    check(it_post_recv(client->ep, &piece, 1, (uintptr_t)client, TOLD), "it_post_recv");
}

static void convert(struct client *client)
{
    static const char go_ahead[] = "go ahead\n";
    const it_ep_attributes_t attributes = {.max_dto_payload_size = LINE_SIZE,
                                           .max_request_dtos = 2,
                                           .max_recv_dtos = 1,
                                           .max_send_segments = 1,
                                           .max_recv_segments = 1};

    check(it_ep_rc_create(pz, events, events, events, IT_EP_NO_FLAG, &attributes, &client->ep),
          "it_ep_rc_create");
    post_receive(client);
    check(it_socket_convert(client->tcp, client->ep, IT_SC_DEFAULT, (const unsigned char *)go_ahead,
                            strlen(go_ahead)),
          "it_socket_convert");
    close(client->tcp); /* the library has a descriptor of its own */
    client->tcp = -1;
}

static void serve_line(struct client *client)
{
    char line[LINE_SIZE];

    if (!read_line(client->tcp, line)) {
        close(client->tcp);
        client->tcp = -1;
    } else if (strcmp(line, "rdma") == 0) {
        convert(client);
    } else {
        write_line(client->tcp, line);
    }
}

static void serve_message(struct client *client, size_t length)
{
    it_lmr_triplet_t piece = piece_of(client->out, length);

    memcpy(client->out, client->in, length);
    post_receive(client);
    /* The next message comes when the client has this one, so a success is of no interest. */
    check(it_post_send(client->ep, &piece, 1, (uintptr_t)client, 0), "it_post_send");
}

static struct client *client_of(it_ep_handle_t ep)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].ep == ep)
            return &clients[i];
    fail("event", "of an endpoint that is none of ours");
}

static void handle(const it_event_t *event)
{
    switch (event->event_number) {
    case IT_DTO_RC_RECV_CMPL_EVENT: /* the end of the connection follows a flushed one */
        if (event->dto_cmpl.dto_status == IT_DTO_SUCCESS)
            serve_message((struct client *)(uintptr_t)event->dto_cmpl.cookie,
                          event->dto_cmpl.transferred_length);
        break;
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
    case IT_CM_MSG_CONN_BROKEN_EVENT:
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT: {
        struct client *client = client_of(event->conn.ep);

        check(it_ep_free(client->ep), "it_ep_free");
        client->ep = NULL;
        break;
    }
    default: /* established; a Send that failed */
        break;
    }
}

static void take_client(int listener)
{
    int tcp = accept(listener, NULL, NULL);

    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        if (clients[i].tcp >= 0 || clients[i].ep != NULL)
            continue;
        clients[i].tcp = tcp;
        return;
    }
    close(tcp); /* there is no room */
}

static void serve(int listener)
{
    struct pollfd watched[CLIENTS_MAX + 2] = {{.fd = listener, .events = POLLIN},
                                              {.fd = events_fd, .events = POLLIN}};
    it_event_t event;

    for (;;) {
        for (size_t i = 0; i < CLIENTS_MAX; i++)
            watched[i + 2] = (struct pollfd){.fd = clients[i].tcp, .events = POLLIN};
        (void)poll(watched, CLIENTS_MAX + 2, -1);
        for (size_t i = 0; i < CLIENTS_MAX; i++)
            if (watched[i + 2].revents != 0)
                serve_line(&clients[i]);
        while (watched[1].revents != 0 && it_evd_dequeue(events, &event) == IT_SUCCESS)
            handle(&event);
        if (watched[0].revents != 0)
            take_client(listener);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || strcmp(argv[1], "server") != 0) {
        fprintf(stderr, "usage: %s server [PORT]; clients are those of steps 1 and 4\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        clients[i].tcp = -1;
    make_objects();
    serve(listen_on(argc == 3 ? argv[2] : "0"));
}
