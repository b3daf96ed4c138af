/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended Sockets, step 4: many clients, one queue, one thread. The ahandle of each call is its
 * client, so an event leads directly to it. The client of this program opens NUMBER connections,
 * sends the file over each and checks that it comes back.
 */
#include "common/exs/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCEPTS 8
#define ROOM    16384

static exs_qhandle_t queue;

/* ---- Server --------------------------------------------------------------------------------- */

struct client {
    int fd;
    exs_mhandle_t mhandle;
    char buffer[ROOM];
};

static exs_acceptaddr_t elements[ACCEPTS];

static void end(struct client *client)
{
    need(exs_close(client->fd, 0, queue, client) == 0, "exs_close");
}

/* A failure of one client does not affect the others. */
static void receive(struct client *client)
{
    if (exs_recv(client->fd, client->buffer, ROOM, 0, queue, client, client->mhandle) != 0)
        end(client);
}

static void send_back(struct client *client, size_t length)
{
    if (exs_send(client->fd, client->buffer, length, 0, queue, client, client->mhandle) != 0)
        end(client);
}

static void open_client(int fd)
{
    struct client *client = malloc(sizeof(*client));

    need(client != NULL, "malloc");
    client->fd = fd;
    client->mhandle = exs_mregister(client->buffer, ROOM, 0);
    need(client->mhandle != EXS_MHANDLE_INVALID, "exs_mregister");
    receive(client);
}

static void free_client(struct client *client)
{
    need(exs_mderegister(client->mhandle, 0) == 0, "exs_mderegister");
    free(client);
}

static void on_transfer(const exs_event_t *event)
{
    struct client *client = event->exs_evt_ahandle;
    size_t length = event->exs_evt_union.exs_evt_xfer.exs_evt_length;

    if (event->exs_evt_errno != 0 || length == 0)
        end(client);
    else if (event->exs_evt_type == EXS_EVT_SEND)
        receive(client);
    else
        send_back(client, length);
}

static void on_event(int listener, const exs_event_t *event)
{
    exs_acceptaddr_t *element;

    switch (event->exs_evt_type) {
    case EXS_EVT_ACCEPT:
        element = event->exs_evt_ahandle;
        if (event->exs_evt_errno == 0)
            open_client(event->exs_evt_union.exs_evt_accept.exs_evt_new_socket);
        need(exs_accept(listener, element, 1, 0, queue) == 0, "exs_accept");
        break;
    case EXS_EVT_CLOSE:
        free_client(event->exs_evt_ahandle);
        break;
    default:
        on_transfer(event);
        break;
    }
}

static void run_server(const char *port)
{
    int listener = listen_on(port);
    exs_event_t events[32];

    for (int i = 0; i < ACCEPTS; i++)
        elements[i].exs_ahandle = &elements[i];
    need(exs_accept(listener, elements, ACCEPTS, 0, queue) == 0, "exs_accept");
    for (;;) {
        int count = exs_qdequeue(queue, events, 32, NULL);

        need(count > 0, "exs_qdequeue");
        for (int i = 0; i < count; i++)
            on_event(listener, &events[i]);
    }
}

/* ---- Client --------------------------------------------------------------------------------- */

struct connection {
    int fd;
    size_t got;
    char *result;
};

static void start(struct connection *connection, const char *content, size_t length)
{
    connection->result = malloc(length + 1);
    need(connection->result != NULL, "malloc");
    need(exs_recv(connection->fd, connection->result, length, MSG_WAITALL, queue, connection,
                  EXS_MHANDLE_UNREGISTERED) == 0,
         "exs_recv");
    need(exs_send(connection->fd, content, length, EXS_UNSIGNALED, queue, connection,
                  EXS_MHANDLE_UNREGISTERED) == 0,
         "exs_send");
}

static void run_client(const struct arguments *arguments)
{
    struct connection *connections = calloc((size_t)arguments->number, sizeof(*connections));
    size_t length;
    char *content = load_file(arguments->file, &length);
    exs_event_t event;

    need(connections != NULL, "calloc");
    for (int i = 0; i < arguments->number; i++)
        connections[i].fd = connect_to(arguments->host, arguments->port);
    for (int i = 0; i < arguments->number; i++)
        start(&connections[i], content, length);
    for (int i = 0; i < arguments->number; i++) {
        struct connection *connection;

        need(exs_qdequeue(queue, &event, 1, NULL) == 1, "exs_qdequeue");
        need_event(&event, "exs_recv");
        connection = event.exs_evt_ahandle;
        if (event.exs_evt_union.exs_evt_xfer.exs_evt_length != length ||
            memcmp(connection->result, content, length) != 0) {
            (void)fputs("the octets that came back are others\n", stderr);
            exit(1);
        }
        free(connection->result);
        need(exs_blocking_close(connection->fd) == 0, "exs_blocking_close");
    }
    (void)printf("%zu octets came back %d times\n", length, arguments->number);
    free(content);
    free(connections);
}

int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);

    need(exs_init(EXS_VERSION1) == 0, "exs_init");
    queue = exs_qcreate(64);
    need(queue != EXS_QHANDLE_INVALID, "exs_qcreate");
    if (arguments.server)
        run_server(arguments.port);
    run_client(&arguments);
    return 0;
}
