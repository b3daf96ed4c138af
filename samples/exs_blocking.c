/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended Sockets, step 1: a sockets program with other names. Every call blocks like the
 * system's, and buffers are ordinary memory. The server sends back whatever it gets; the client
 * sends a file and checks that it comes back unchanged.
 */
#include "common/exs/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 65536

static void serve(int fd)
{
    char buffer[ROOM];
    ssize_t got;

    while ((got = exs_read(fd, buffer, sizeof(buffer))) > 0)
        need(exs_write(fd, buffer, (size_t)got) == got, "exs_write");
    need(got == 0, "exs_read");
    need(exs_blocking_close(fd) == 0, "exs_blocking_close");
}

static void run_server(const char *port)
{
    int listener = listen_on(port);

    for (;;) {
        int fd = exs_blocking_accept(listener, NULL, NULL);

        need(fd >= 0, "exs_blocking_accept");
        serve(fd);
    }
}

static void run_client(const struct arguments *arguments)
{
    size_t length;
    char *content = load_file(arguments->file, &length);
    int fd = connect_to(arguments->host, arguments->port);
    char buffer[ROOM];

    for (size_t sent = 0; sent < length;) {
        size_t part = length - sent < ROOM ? length - sent : ROOM;
        ssize_t got = 0;

        need(exs_write(fd, content + sent, part) == (ssize_t)part, "exs_write");
        got = exs_blocking_recv(fd, buffer, part, MSG_WAITALL, EXS_MHANDLE_UNREGISTERED);
        need(got == (ssize_t)part, "exs_blocking_recv");
        if (memcmp(buffer, content + sent, part) != 0) {
            (void)fputs("the octets that came back are others\n", stderr);
            exit(1);
        }
        sent += part;
    }
    need(exs_blocking_close(fd) == 0, "exs_blocking_close");
    (void)printf("%zu octets came back\n", length);
    free(content);
}

int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);

    need(exs_init(EXS_VERSION1) == 0, "exs_init");
    if (arguments.server)
        run_server(arguments.port);
    run_client(&arguments);
    return 0;
}
