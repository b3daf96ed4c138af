/* SPDX-License-Identifier: BSD-2-Clause */
/* The same over plain TCP, with Reno on both sides, as our own streams within a host have it. */
#include "exs_perf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM (1 << 20)

static int open_socket(void)
{
    int fd = socket(PF_INET, SOCK_STREAM, 0);
    int one = 1;

    need(fd >= 0, "socket");
    need(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0, "TCP_CONGESTION");
    need(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0, "TCP_NODELAY");
    return fd;
}

static void stream_server(const struct perf *perf, int port_to, struct figures *figures)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(here);
    size_t room = perf->size < ROOM ? ROOM / 16 : ROOM;
    char *buffer = malloc(room);
    int listener = open_socket();
    double first = 0;
    ssize_t got;
    int fd;

    need(buffer && bind(listener, (struct sockaddr *)&here, sizeof(here)) == 0 &&
             listen(listener, 1) == 0 &&
             getsockname(listener, (struct sockaddr *)&here, &length) == 0,
         "listen");
    tell_port(port_to, ntohs(here.sin_port));
    fd = accept(listener, NULL, NULL);
    need(fd >= 0, "accept");
    while ((got = recv(fd, buffer, room, 0)) > 0) {
        if (figures->octets == 0)
            first = now();
        figures->octets += (uint64_t)got;
        figures->seconds = now() - first;
        be_late(perf);
    }
    figures->messages = perf->size ? figures->octets / perf->size + 1 : 1;
    free(buffer);
}

static int connect_to(int port)
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = open_socket();

    need(connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0, "connect");
    return fd;
}

static void send_all(int fd, const char *buffer, size_t length)
{
    while (length > 0) {
        ssize_t part = write(fd, buffer, length);

        need(part > 0, "write");
        buffer += part;
        length -= (size_t)part;
    }
}

static void stream_client(const struct perf *perf, int port, struct figures *figures)
{
    char *buffer = malloc(perf->size);
    int fd = connect_to(port);
    double until = now() + perf->seconds;

    (void)figures;
    need(buffer != NULL, "malloc");
    memset(buffer, 1, perf->size); /* untouched memory is one page of zeros */
    while (now() < until)
        for (int i = 0; i < (perf->size < 4096 ? 64 : 1); i++)
            send_all(fd, buffer, perf->size);
    (void)close(fd);
    free(buffer);
}

/* write(2) from a mapped file. */
static void file_client(const struct perf *perf, int port, struct figures *figures)
{
    int file = memfd_create("file", 0);
    static char zeros[1 << 20];
    char *mapped;
    int fd;

    (void)figures;
    for (size_t at = 0; at < perf->size; at += sizeof(zeros))
        need(write(file, zeros, sizeof(zeros)) == sizeof(zeros), "file");
    mapped = mmap(NULL, perf->size, PROT_READ, MAP_SHARED, file, 0);
    need(mapped != MAP_FAILED, "mmap");
    fd = connect_to(port);
    send_all(fd, mapped, perf->size);
    (void)close(fd);
}

const struct row tcp_rows[] = {
    {"tcp-stream", "B/s", stream_server, stream_client},
    {"tcp-rate", "msg/s", stream_server, stream_client},
    {"tcp-file", "B/s", stream_server, file_client},
    {NULL, NULL, NULL, NULL},
};
