/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same patterns over plain TCP with Reno on both sides, as the library's streams within a host
 * have it. Two rows make one more copy, as Extended Sockets must: in tcp-copy the receiver copies
 * from a ring, in tcp-pread the sender reads the file. They show how much of a difference comes
 * from the copy.
 */
#include "exs_perf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM  ((size_t)1 << 20)
#define RING  ROOM                /* the default ring of a socket */
#define PIECE ((size_t)128 << 10) /* received before it is copied */
#define CHUNK ((size_t)256 << 10) /* piece of a file */

static int open_socket(void)
{
    int fd = socket(PF_INET, SOCK_STREAM, 0);
    int one = 1;

    need(fd >= 0, "socket");
    need(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0, "TCP_CONGESTION");
    need(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0, "TCP_NODELAY");
    return fd;
}

static int accept_one(int port_to)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(here);
    int listener = open_socket();
    int fd;

    need(bind(listener, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(listener, 1) == 0 &&
             getsockname(listener, (struct sockaddr *)&here, &length) == 0,
         "listen");
    tell_port(port_to, ntohs(here.sin_port));
    fd = accept(listener, NULL, NULL);
    need(fd >= 0, "accept");
    return fd;
}

/* With a ring: receives a piece into it and then copies the piece. */
static ssize_t receive(int fd, char *buffer, size_t room, char *ring, size_t *at)
{
    ssize_t got;

    if (!ring)
        return recv(fd, buffer, room, 0);
    got = recv(fd, ring + *at, RING - *at < PIECE ? RING - *at : PIECE, 0);
    if (got > 0) {
        memcpy(buffer, ring + *at, (size_t)got);
        *at = (*at + (size_t)got) % RING;
    }
    return got;
}

static void receive_all(const struct perf *perf, int port_to, char *ring, struct figures *figures)
{
    size_t room = perf->size < ROOM && !ring ? ROOM / 16 : ROOM;
    char *buffer = malloc(room);
    int fd = accept_one(port_to);
    size_t at = 0;
    double first = 0;
    ssize_t got;

    need(buffer != NULL, "malloc");
    while ((got = receive(fd, buffer, room, ring, &at)) > 0) {
        if (figures->octets == 0)
            first = now();
        figures->octets += (uint64_t)got;
        figures->seconds = now() - first;
        be_late(perf);
    }
    figures->messages = perf->size ? figures->octets / perf->size + 1 : 1;
    free(buffer);
}

static void stream_server(const struct perf *perf, int port_to, struct figures *figures)
{
    receive_all(perf, port_to, NULL, figures);
}

static void copy_server(const struct perf *perf, int port_to, struct figures *figures)
{
    char *ring = malloc(RING);

    need(ring != NULL, "malloc");
    receive_all(perf, port_to, ring, figures);
    free(ring);
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
    memset(buffer, 1, perf->size); /* untouched memory would be one page of zeros */
    while (now() < until)
        for (int i = 0; i < (perf->size < 4096 ? 64 : 1); i++)
            send_all(fd, buffer, perf->size);
    (void)close(fd);
    free(buffer);
}

/* Sends a mapped file with write(2). */
static void file_client(const struct perf *perf, int port, struct figures *figures)
{
    int file = new_file(perf);
    char *mapped = mmap(NULL, perf->size, PROT_READ, MAP_SHARED, file, 0);
    int fd;

    (void)figures;
    need(mapped != MAP_FAILED, "mmap");
    fd = connect_to(port);
    send_all(fd, mapped, perf->size);
    (void)close(fd);
}

/* Sends what it has read with write(2): a file that is truncated at the same time does no harm. */
static void pread_client(const struct perf *perf, int port, struct figures *figures)
{
    int file = new_file(perf);
    char *buffer = malloc(CHUNK);
    int fd;
    ssize_t got;

    (void)figures;
    need(buffer != NULL, "malloc");
    fd = connect_to(port);
    for (size_t at = 0; at < perf->size; at += (size_t)got) {
        got = pread(file, buffer, CHUNK, (off_t)at);
        need(got > 0, "pread");
        send_all(fd, buffer, (size_t)got);
    }
    (void)close(fd);
    free(buffer);
}

const struct row tcp_rows[] = {
    {"tcp-stream", "B/s", stream_server, stream_client},
    {"tcp-copy", "B/s", copy_server, stream_client},
    {"tcp-rate", "msg/s", stream_server, stream_client},
    {"tcp-file", "B/s", stream_server, file_client},
    {"tcp-pread", "B/s", stream_server, pread_client},
    {NULL, NULL, NULL, NULL},
};
