/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended Sockets, step 2: registered memory. The program of step 1, except that memory is
 * registered once: the peer's data is written directly into it, without a copy. Large parts show
 * the difference.
 */
#include "common/exs/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (1 << 20)

/* Memory and its registration. */
struct region {
    char *memory;
    exs_mhandle_t mhandle;
};

static struct region register_memory(char *memory, size_t length, int flags)
{
    struct region region = {memory, exs_mregister(memory, length, flags)};

    need(region.mhandle != EXS_MHANDLE_INVALID, "exs_mregister");
    return region;
}

static void serve(int fd, const struct region *buffer)
{
    ssize_t got;

    while ((got = exs_blocking_recv(fd, buffer->memory, ROOM, 0, buffer->mhandle)) > 0)
        need(exs_blocking_send(fd, buffer->memory, (size_t)got, 0, buffer->mhandle) == got,
             "exs_blocking_send");
    need(got == 0, "exs_blocking_recv");
    need(exs_blocking_close(fd) == 0, "exs_blocking_close");
}

static void run_server(const char *port)
{
    static char memory[ROOM];
    struct region buffer = register_memory(memory, ROOM, 0);
    int listener = listen_on(port);

    for (;;) {
        int fd = exs_blocking_accept(listener, NULL, NULL);

        need(fd >= 0, "exs_blocking_accept");
        serve(fd, &buffer);
    }
}

static void exchange(int fd, const struct region *file, size_t at, size_t part,
                     const struct region *buffer)
{
    need(exs_blocking_send(fd, file->memory + at, part, 0, file->mhandle) == (ssize_t)part,
         "exs_blocking_send");
    need(exs_blocking_recv(fd, buffer->memory, part, MSG_WAITALL, buffer->mhandle) == (ssize_t)part,
         "exs_blocking_recv");
    if (memcmp(buffer->memory, file->memory + at, part) != 0) {
        (void)fputs("the octets that came back are others\n", stderr);
        exit(1);
    }
}

static void run_client(const struct arguments *arguments)
{
    static char memory[ROOM];
    struct region buffer = register_memory(memory, ROOM, 0);
    size_t length;
    char *content = load_file(arguments->file, &length);
    /* No peer may write to this memory. The additional octet makes an empty file valid. */
    struct region file = register_memory(content, length + 1, EXS_MRF_RECV_DISABLE);
    int fd = connect_to(arguments->host, arguments->port);

    for (size_t at = 0; at < length; at += ROOM)
        exchange(fd, &file, at, length - at < ROOM ? length - at : ROOM, &buffer);
    need(exs_blocking_close(fd) == 0, "exs_blocking_close");
    need(exs_mderegister(file.mhandle, 0) == 0, "exs_mderegister");
    need(exs_mderegister(buffer.mhandle, 0) == 0, "exs_mderegister");
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
