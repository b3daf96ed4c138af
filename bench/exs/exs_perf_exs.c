/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of Extended Sockets. */
#include "exs_perf.h"

#include <exs.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NO_QUEUE EXS_QHANDLE_INVALID

static exs_qhandle_t queue;
static char *memory;
static exs_mhandle_t mhandle;

/* ---- Setting up ----------------------------------------------------------------------------- */

static void open_library(const struct perf *perf, size_t length)
{
    int wait = perf->sleeps ? EXS_WAIT_ADAPTIVE : EXS_WAIT_BUSY_POLL;

    need(exs_init(EXS_VERSION1) == 0, "exs_init");
    queue = exs_qcreate(64);
    need(queue != NO_QUEUE, "exs_qcreate");
    need(exs_qmodify(queue, EXS_QATTR_WAIT, wait) == 0, "exs_qmodify");
    memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                  -1, 0);
    need(memory != MAP_FAILED, "mmap");
    mhandle = exs_mregister(memory, length, 0);
    need(mhandle != EXS_MHANDLE_INVALID, "exs_mregister");
}

static int open_socket(const struct perf *perf, int type)
{
    int fd = exs_socket(PF_INET, type, 0);

    need(fd >= 0, "exs_socket");
    if (!perf->sleeps)
        need(exs_fcntl(fd, EXS_F_SETFD, EXS_FD_BUSYPOLL) >= 0, "exs_fcntl");
    if (perf->ring > 0)
        need(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, perf->ring) >= 0, "exs_fcntl");
    if (perf->depth > 32)
        need(exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, perf->depth) >= 0, "exs_fcntl");
    return fd;
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listen_at(const struct perf *perf, int type, int port_to)
{
    struct sockaddr_in here = loopback(0);
    socklen_t length = sizeof(here);
    int fd = open_socket(perf, type);

    need(exs_bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0, "exs_bind");
    need(exs_listen(fd, 1024) == 0, "exs_listen");
    need(exs_getsockname(fd, (struct sockaddr *)&here, &length) == 0, "exs_getsockname");
    tell_port(port_to, ntohs(here.sin_port));
    return fd;
}

static int accept_one(const struct perf *perf, int type, int port_to)
{
    int listener = listen_at(perf, type, port_to);
    int fd = exs_blocking_accept(listener, NULL, NULL);

    need(fd >= 0, "exs_blocking_accept");
    return fd;
}

static int connect_one(const struct perf *perf, int type, int port)
{
    struct sockaddr_in there = loopback(port);
    int fd = open_socket(perf, type);

    need(exs_blocking_connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0, "exs_connect");
    return fd;
}

/* Takes up to `room` events, all of which must be successes. Returns their number. */
static int take(exs_event_t *events, int room)
{
    int count = exs_qdequeue(queue, events, room, NULL);

    need(count > 0, "exs_qdequeue");
    for (int i = 0; i < count; i++)
        need(events[i].exs_evt_errno == 0, "event");
    return count;
}

static size_t length_of(const exs_event_t *event)
{
    return event->exs_evt_union.exs_evt_xfer.exs_evt_length;
}

/* ---- Ping-pong ------------------------------------------------------------------------------ */

static void start_recv(int fd, size_t length, size_t at, void *ahandle, int flags)
{
    need(exs_recv(fd, memory + at, length, flags, queue, ahandle, mhandle) == 0, "exs_recv");
}

static void start_send(int fd, size_t length, size_t at)
{
    need(exs_send(fd, memory + at, length, EXS_UNSIGNALED | EXS_CREDIT_WAIT, queue, NULL,
                  mhandle) == 0,
         "exs_send");
}

static void pingpong_server(const struct perf *perf, int port_to, struct figures *figures)
{
    exs_event_t event;
    int fd;

    (void)figures;
    open_library(perf, 2 * perf->size);
    fd = accept_one(perf, SOCK_STREAM, port_to);
    for (;;) {
        start_recv(fd, perf->size, perf->size, NULL, MSG_WAITALL);
        (void)take(&event, 1);
        if (length_of(&event) < perf->size)
            break;
        start_send(fd, perf->size, 0);
    }
    need(exs_blocking_close(fd) == 0, "exs_close");
}

static void pingpong_client(const struct perf *perf, int port, struct figures *figures)
{
    exs_event_t event;
    uint64_t count = 0;
    double begin = 0;
    int fd;

    open_library(perf, 2 * perf->size);
    fd = connect_one(perf, SOCK_STREAM, port);
    for (double warm = now() + perf->seconds / 10; begin == 0 || now() < begin + perf->seconds;) {
        if (begin == 0 && now() > warm) {
            begin = now();
            count = 0;
        }
        for (int i = 0; i < 100; i++, count++) {
            start_send(fd, perf->size, 0);
            start_recv(fd, perf->size, perf->size, NULL, MSG_WAITALL);
            (void)take(&event, 1);
        }
    }
    figures->seconds = now() - begin;
    figures->messages = count;
    need(exs_blocking_close(fd) == 0, "exs_close");
}

/* ---- One way -------------------------------------------------------------------------------- */

static size_t place(const struct perf *perf, int i)
{
    return (size_t)i * perf->size;
}

static void count_octets(struct figures *figures, size_t octets, double *first)
{
    if (figures->octets == 0)
        *first = now();
    figures->octets += octets;
    figures->messages++;
    figures->seconds = now() - *first;
}

/* Receives with `depth` receives always open. */
static void ahead(const struct perf *perf, int fd, size_t room, int flags, struct figures *figures)
{
    exs_event_t events[64];
    double first = 0;
    bool end = false;

    for (int i = 0; i < perf->depth; i++) {
        size_t at = perf->same ? 0 : room * (size_t)i;

        start_recv(fd, room, at, memory + at, flags);
    }
    while (!end) {
        int count = take(events, 64);

        for (int i = 0; i < count; i++) {
            size_t got = length_of(&events[i]);

            end = end || got == 0;
            if (end)
                continue;
            count_octets(figures, got, &first);
            be_late(perf);
            start_recv(fd, room, (size_t)((char *)events[i].exs_evt_ahandle - memory),
                       events[i].exs_evt_ahandle, flags);
        }
    }
    need(exs_close(fd, EXS_BLOCK | EXS_DONTLINGER, NO_QUEUE, NULL) == 0, "exs_close");
}

/* Keeps `depth` sends open for the time of the run, then ends the stream. */
static void send_for(const struct perf *perf, int fd)
{
    exs_event_t events[64];
    double until = now() + perf->seconds;
    int open = 0;
    int next = 0;

    while (now() < until) {
        for (; open < perf->depth; open++, next = (next + 1) % perf->depth)
            need(exs_send(fd, memory + (perf->same ? 0 : place(perf, next)), perf->size, 0, queue,
                          NULL, mhandle) == 0,
                 "exs_send");
        open -= take(events, 64);
    }
    while (open > 0)
        open -= take(events, 64);
    need(exs_shutdown(fd, SHUT_WR, EXS_BLOCK, NO_QUEUE, NULL) == 0, "exs_shutdown");
    /* The peer closes after it has received everything. */
    (void)exs_read(fd, memory, 1);
    need(exs_close(fd, EXS_BLOCK | EXS_DONTLINGER, NO_QUEUE, NULL) == 0, "exs_close");
}

static void direct_server(const struct perf *perf, int port_to, struct figures *figures)
{
    open_library(perf, place(perf, perf->depth));
    ahead(perf, accept_one(perf, SOCK_STREAM, port_to), perf->size, MSG_WAITALL, figures);
}

static void stream_client(const struct perf *perf, int port, struct figures *figures)
{
    (void)figures;
    open_library(perf, place(perf, perf->depth));
    send_for(perf, connect_one(perf, SOCK_STREAM, port));
}

/* Starts each receive when data has arrived, or later. */
static void late_server(const struct perf *perf, int port_to, struct figures *figures)
{
    double first = 0;
    ssize_t got;
    int fd;

    open_library(perf, perf->size);
    fd = accept_one(perf, SOCK_STREAM, port_to);
    for (;;) {
        exs_pollfd_t set = {.exs_fd = fd, .exs_events = EXS_POLLIN};

        need(exs_poll(&set, 1, EXS_BLOCK, NULL, NO_QUEUE, NULL) >= 0, "exs_poll");
        be_late(perf);
        got = exs_blocking_recv(fd, memory, perf->size, 0, mhandle);
        need(got >= 0, "exs_recv");
        if (got == 0)
            break;
        count_octets(figures, (size_t)got, &first);
    }
    need(exs_close(fd, EXS_BLOCK | EXS_DONTLINGER, NO_QUEUE, NULL) == 0, "exs_close");
}

static void packet_server(const struct perf *perf, int port_to, struct figures *figures)
{
    open_library(perf, place(perf, perf->depth));
    ahead(perf, accept_one(perf, SOCK_SEQPACKET, port_to), perf->size, 0, figures);
}

static void packet_client(const struct perf *perf, int port, struct figures *figures)
{
    (void)figures;
    open_library(perf, place(perf, perf->depth));
    send_for(perf, connect_one(perf, SOCK_SEQPACKET, port));
}

/* Counts octets, because small sends of a stream arrive in larger receives. */
static void rate_server(const struct perf *perf, int port_to, struct figures *figures)
{
    const size_t room = 65536;

    open_library(perf, room * (size_t)perf->depth);
    ahead(perf, accept_one(perf, SOCK_STREAM, port_to), room, 0, figures);
    figures->messages = figures->octets / perf->size;
}

/* ---- A file --------------------------------------------------------------------------------- */

static void file_server(const struct perf *perf, int port_to, struct figures *figures)
{
    const struct perf ours = {
        .size = 1 << 20, .depth = 8, .sleeps = perf->sleeps, .same = perf->same};

    open_library(perf, place(&ours, ours.depth));
    ahead(&ours, accept_one(&ours, SOCK_STREAM, port_to), ours.size, MSG_WAITALL, figures);
}

static void file_client(const struct perf *perf, int port, struct figures *figures)
{
    int file = new_file(perf);
    exs_xferfile_t element = {.exs_xfv_type = EXS_FDVEC};
    int fd;

    (void)figures;
    element.exs_xfvec.exs_fdv = (exs_fdvec_t){file, 0, perf->size};
    open_library(perf, 4096);
    fd = connect_one(perf, SOCK_STREAM, port);
    need(exs_sendfile(fd, &element, 1, EXS_BLOCK, NO_QUEUE, NULL) == (ssize_t)perf->size,
         "exs_sendfile");
    need(exs_shutdown(fd, SHUT_WR, EXS_BLOCK, NO_QUEUE, NULL) == 0, "exs_shutdown");
    (void)exs_read(fd, memory, 1);
    need(exs_close(fd, EXS_BLOCK | EXS_DONTLINGER, NO_QUEUE, NULL) == 0, "exs_close");
}

/* ---- Many connections ----------------------------------------------------------------------- */

static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Uses one queue. Counts the octets of each connection, starting when all are connected. */
static void many_server(const struct perf *perf, int port_to, struct figures *figures)
{
    uint64_t *octets = calloc((size_t)perf->number, sizeof(*octets));
    int *fds = calloc((size_t)perf->number, sizeof(*fds));
    exs_event_t events[64];
    uint64_t least = UINT64_MAX;
    double until;
    int listener;

    raise_limit();
    open_library(perf, place(perf, perf->number));
    listener = listen_at(perf, SOCK_STREAM, port_to);
    for (int i = 0; i < perf->number; i++) {
        fds[i] = exs_blocking_accept(listener, NULL, NULL);
        need(fds[i] >= 0, "exs_blocking_accept");
    }
    for (int i = 0; i < perf->number; i++)
        start_recv(fds[i], perf->size, place(perf, i), (void *)(intptr_t)i, 0);
    until = now() + perf->seconds;
    while (now() < until) {
        int count = take(events, 64);

        for (int k = 0; k < count; k++) {
            int i = (int)(intptr_t)events[k].exs_evt_ahandle;

            octets[i] += length_of(&events[k]);
            figures->messages++;
            start_recv(fds[i], perf->size, place(perf, i), events[k].exs_evt_ahandle, 0);
        }
    }
    for (int i = 0; i < perf->number; i++) {
        figures->octets += octets[i];
        if (octets[i] < least)
            least = octets[i];
    }
    figures->share = (double)least * perf->number / (double)figures->octets;
    figures->seconds = perf->seconds;
    _exit(0);
}

/* Keeps one send open on each connection until the server has gone. */
static void many_client(const struct perf *perf, int port, struct figures *figures)
{
    int *fds = calloc((size_t)perf->number, sizeof(*fds));
    exs_event_t events[64];
    int open = 0;

    (void)figures;
    raise_limit();
    open_library(perf, perf->size);
    for (int i = 0; i < perf->number; i++)
        fds[i] = connect_one(perf, SOCK_STREAM, port);
    for (int i = 0; i < perf->number; i++)
        if (exs_send(fds[i], memory, perf->size, 0, queue, (void *)(intptr_t)i, mhandle) == 0)
            open++;
    while (open > 0) {
        int count = exs_qdequeue(queue, events, 64, NULL);

        for (int k = 0; k < count; k++) {
            int i = (int)(intptr_t)events[k].exs_evt_ahandle;

            if (events[k].exs_evt_errno != 0 || exs_send(fds[i], memory, perf->size, 0, queue,
                                                         events[k].exs_evt_ahandle, mhandle) != 0)
                open--;
        }
    }
    free(fds);
}

const struct row exs_rows[] = {
    {"pingpong", "us", pingpong_server, pingpong_client},
    {"direct", "B/s", direct_server, stream_client},
    {"late", "B/s", late_server, stream_client},
    {"rate", "msg/s", rate_server, stream_client},
    {"packets", "msg/s", packet_server, packet_client},
    {"file", "B/s", file_server, file_client},
    {"many", "of fair", many_server, many_client},
    {NULL, NULL, NULL, NULL},
};
