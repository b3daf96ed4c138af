/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/exs/setup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void need(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

void need_event(const exs_event_t *event, const char *what)
{
    errno = event->exs_evt_errno;
    need(errno == 0, what);
}

struct arguments read_arguments(int argc, char **argv)
{
    struct arguments arguments = {.port = "0", .number = 1};

    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0) {
        arguments.server = true;
        if (argc == 3)
            arguments.port = argv[2];
        return arguments;
    }
    if (argc >= 5 && argc <= 6 && strcmp(argv[1], "client") == 0) {
        arguments.host = argv[2];
        arguments.port = argv[3];
        arguments.file = argv[4];
        if (argc == 6)
            arguments.number = atoi(argv[5]);
        if (arguments.number >= 1 && arguments.number <= 1000)
            return arguments;
    }
    (void)fprintf(stderr,
                  "%s server [PORT]\n"
                  "%s client HOST PORT FILE [NUMBER]\n",
                  argv[0], argv[0]);
    exit(2);
}

static int open_socket(const struct addrinfo *address)
{
    int fd = exs_socket(address->ai_family, SOCK_STREAM, 0);

    need(fd >= 0, "exs_socket");
    return fd;
}

static struct addrinfo *resolve(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = host ? 0 : AI_PASSIVE};
    struct addrinfo *address;
    int error;

    if (!host)
        hints.ai_family = PF_INET;
    error = getaddrinfo(host, port, &hints, &address);
    if (error != 0) {
        (void)fprintf(stderr, "%s: %s\n", host ? host : port, gai_strerror(error));
        exit(1);
    }
    return address;
}

int listen_on(const char *port)
{
    struct addrinfo *address = resolve(NULL, port);
    int fd = open_socket(address);
    struct sockaddr_in here;
    socklen_t length = sizeof(here);

    need(exs_bind(fd, address->ai_addr, address->ai_addrlen) == 0, "exs_bind");
    need(exs_listen(fd, 64) == 0, "exs_listen");
    need(exs_getsockname(fd, (struct sockaddr *)&here, &length) == 0, "exs_getsockname");
    freeaddrinfo(address);
    (void)printf("listening on port %d\n", ntohs(here.sin_port));
    (void)fflush(stdout);
    return fd;
}

int connect_to(const char *host, const char *port)
{
    struct addrinfo *address = resolve(host, port);
    int fd = open_socket(address);

    need(exs_blocking_connect(fd, address->ai_addr, address->ai_addrlen) == 0, host);
    freeaddrinfo(address);
    return fd;
}

char *load_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *content;
    long size = 0;

    need(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0, path);
    rewind(file);
    content = malloc((size_t)size + 1);
    need(content && fread(content, 1, (size_t)size, file) == (size_t)size, path);
    (void)fclose(file);
    *length = (size_t)size;
    return content;
}
