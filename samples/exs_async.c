/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended Sockets, step 3: asynchronous calls and one queue. Calls only start operations, whose
 * ends come as events. Several buffers are outstanding in each direction, so neither side waits for
 * the other.
 */
#include "common/exs/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 8
#define ROOM  65536

static char memory[PARTS][ROOM];
static exs_mhandle_t mhandle;
static exs_qhandle_t queue;

static exs_event_t next_event(const char *what)
{
    exs_event_t event;

    need(exs_qdequeue(queue, &event, 1, NULL) == 1, "exs_qdequeue");
    need_event(&event, what);
    return event;
}

/* ---- Server: each buffer is received, then sent back, then received again -------------------- */

static void receive(int fd, char *buffer)
{
    need(exs_recv(fd, buffer, ROOM, 0, queue, buffer, mhandle) == 0, "exs_recv");
}

static void serve(int fd)
{
    int receives = PARTS;
    int sends = 0;
    bool end = false;

    for (int i = 0; i < PARTS; i++)
        receive(fd, memory[i]);
    while (receives + sends > 0) {
        exs_event_t event = next_event("transfer");
        char *buffer = event.exs_evt_ahandle;
        size_t length = event.exs_evt_union.exs_evt_xfer.exs_evt_length;

        if (event.exs_evt_type == EXS_EVT_SEND) {
            sends--;
            if (!end) {
                receive(fd, buffer);
                receives++;
            }
            continue;
        }
        receives--;
        end = end || length == 0; /* the end of the stream */
        if (length > 0) {
            need(exs_send(fd, buffer, length, 0, queue, buffer, mhandle) == 0, "exs_send");
            sends++;
        }
    }
    need(exs_close(fd, 0, queue, NULL) == 0, "exs_close");
    (void)next_event("exs_close");
}

static void run_server(const char *port)
{
    exs_acceptaddr_t element = {.exs_addr = NULL};
    int listener = listen_on(port);

    for (;;) {
        exs_event_t event;

        need(exs_accept(listener, &element, 1, 0, queue) == 0, "exs_accept");
        event = next_event("exs_accept");
        serve(event.exs_evt_union.exs_evt_accept.exs_evt_new_socket);
    }
}

/* ---- Client: sends are ahead of receives by at most PARTS buffers ---------------------------- */

struct transfer {
    int fd;
    size_t length;
    size_t sent;
    size_t asked; /* octets of receives started */
    size_t got;
};

static size_t part_at(const struct transfer *transfer, size_t at)
{
    return transfer->length - at < ROOM ? transfer->length - at : ROOM;
}

/* MSG_WAITALL: each receive gets exactly the octets of its place. */
static void start(struct transfer *transfer, char *content, char *result, exs_mhandle_t file)
{
    size_t part;

    while (transfer->asked < transfer->length &&
           transfer->asked - transfer->got < (size_t)PARTS * ROOM) {
        part = part_at(transfer, transfer->asked);
        need(exs_recv(transfer->fd, result + transfer->asked, part, MSG_WAITALL, queue, NULL,
                      file) == 0,
             "exs_recv");
        transfer->asked += part;
    }
    while (transfer->sent < transfer->asked) {
        part = part_at(transfer, transfer->sent);
        /* Only a failed send matters: the data that comes back shows that it was sent. */
        need(exs_send(transfer->fd, content + transfer->sent, part,
                      EXS_UNSIGNALED | EXS_CREDIT_WAIT, queue, NULL, file) == 0,
             "exs_send");
        transfer->sent += part;
    }
}

static void run_client(const struct arguments *arguments)
{
    struct transfer transfer = {0};
    char *content = load_file(arguments->file, &transfer.length);
    char *both = malloc(2 * transfer.length + 1); /* the file, and the data that comes back */
    exs_mhandle_t file;

    need(both != NULL, "malloc");
    memcpy(both, content, transfer.length);
    file = exs_mregister(both, 2 * transfer.length + 1, 0);
    need(file != EXS_MHANDLE_INVALID, "exs_mregister");
    transfer.fd = connect_to(arguments->host, arguments->port);
    while (transfer.got < transfer.length) {
        exs_event_t event;

        start(&transfer, both, both + transfer.length, file);
        event = next_event("transfer");
        transfer.got += event.exs_evt_union.exs_evt_xfer.exs_evt_length;
    }
    need(exs_close(transfer.fd, 0, queue, NULL) == 0, "exs_close");
    (void)next_event("exs_close");
    if (memcmp(content, both + transfer.length, transfer.length) != 0) {
        (void)fputs("the octets that came back are others\n", stderr);
        exit(1);
    }
    need(exs_mderegister(file, 0) == 0, "exs_mderegister");
    (void)printf("%zu octets came back\n", transfer.length);
    free(both);
    free(content);
}

int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);

    need(exs_init(EXS_VERSION1) == 0, "exs_init");
    queue = exs_qcreate(2 * PARTS);
    need(queue != EXS_QHANDLE_INVALID, "exs_qcreate");
    mhandle = exs_mregister(memory, sizeof(memory), 0);
    need(mhandle != EXS_MHANDLE_INVALID, "exs_mregister");
    if (arguments.server)
        run_server(arguments.port);
    run_client(&arguments);
    return 0;
}
