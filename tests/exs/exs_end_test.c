/* SPDX-License-Identifier: BSD-2-Clause */
/* Shutdown, close and cancel with open calls: how each call ends, with one event each. */
#include "exs_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)

static struct exs_pair pair;
static exs_qhandle_t queue;
static char *memory; /* LARGE octets for each side and a few more */
static exs_mhandle_t handle;

static char tag[8]; /* ahandles */

static void set_no_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0) >= 0);
}

static void start_send(int fd, size_t length, int id)
{
    CHECK_STARTS(exs_send(fd, memory, length, 0, queue, &tag[id], handle));
}

static void start_recv(int fd, size_t length, int flags, int id)
{
    CHECK_STARTS(exs_recv(fd, memory + LARGE, length, flags, queue, &tag[id], handle));
}

static void expect(int type, int error, int id, size_t length)
{
    exs_event_t event = exs_kit_expect(queue, type, error);

    CHECK(event.exs_evt_ahandle == &tag[id]);
    if (type == EXS_EVT_SEND || type == EXS_EVT_RECV)
        CHECK_EQ(length, event.exs_evt_union.exs_evt_xfer.exs_evt_length);
}

static void close_start(int fd, int flags, int id)
{
    CHECK_STARTS(exs_close(fd, flags, queue, &tag[id]));
    CHECK_ERRNO(EBADF, exs_close(fd, 0, queue, NULL));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The peer reads the rest, then the end. Its sends fail. */
static void shut_then_end(void)
{
    start_send(pair.client, 10, 0);
    expect(EXS_EVT_SEND, 0, 0, 10);
    CHECK_STARTS(exs_shutdown(pair.client, SHUT_WR, 0, queue, &tag[1]));
    expect(EXS_EVT_SHUTDOWN, 0, 1, 0);
    CHECK_ERRNO(EPIPE, exs_send(pair.client, memory, 1, 0, queue, NULL, handle));
    CHECK_STARTS(exs_shutdown(pair.client, SHUT_WR, 0, queue, &tag[1]));
    expect(EXS_EVT_SHUTDOWN, 0, 1, 0);
    start_recv(pair.server, 4, 0, 2);
    expect(EXS_EVT_RECV, 0, 2, 4);
    start_recv(pair.server, 100, MSG_WAITALL, 2);
    start_recv(pair.server, 100, 0, 3);
    expect(EXS_EVT_RECV, 0, 2, 6);
    expect(EXS_EVT_RECV, 0, 3, 0);
    start_send(pair.server, 5, 4);
    expect(EXS_EVT_SEND, 0, 4, 5);
    start_recv(pair.client, 100, 0, 5);
    expect(EXS_EVT_RECV, 0, 5, 5);
}

/* Open receives end at once, and so do later ones. The peer may still send. */
static void shut_receives(void)
{
    start_recv(pair.client, LARGE, 0, 0);
    CHECK_STARTS(exs_shutdown(pair.client, SHUT_RD, EXS_BLOCK, queue, NULL));
    expect(EXS_EVT_RECV, 0, 0, 0);
    start_recv(pair.client, 10, 0, 1);
    expect(EXS_EVT_RECV, 0, 1, 0);
    for (int i = 0; i < 4; i++) {
        start_send(pair.server, LARGE, 2);
        expect(EXS_EVT_SEND, 0, 2, LARGE);
    }
}

/* Data in transit arrives before the end. */
static void close_behind_data(void)
{
    for (int i = 0; i < 3; i++)
        start_send(pair.client, 200000, i);
    close_start(pair.client, 0, 3);
    for (int i = 0; i < 3; i++)
        expect(EXS_EVT_SEND, 0, i, 200000);
    expect(EXS_EVT_CLOSE, 0, 3, 0);
    start_recv(pair.server, 600000, MSG_WAITALL, 4);
    expect(EXS_EVT_RECV, 0, 4, 600000);
    start_recv(pair.server, 10, 0, 4);
    expect(EXS_EVT_RECV, 0, 4, 0);
    CHECK_ERRNO(EPIPE, exs_send(pair.server, memory, 1, 0, queue, NULL, handle));
    pair.client = -1;
}

/* What the peer has closed is shut down already. Names stay known. */
static void end_behind_end(void)
{
    struct sockaddr_in name;
    socklen_t length = sizeof(name);
    exs_pollfd_t ended = {.exs_fd = pair.server};

    close_start(pair.client, 0, 0);
    expect(EXS_EVT_CLOSE, 0, 0, 0);
    CHECK_RESULT(1, exs_poll(&ended, 1, EXS_BLOCK, NULL, NULL, NULL)); /* EXS_POLLHUP */
    CHECK_STARTS(exs_shutdown(pair.server, SHUT_WR, EXS_BLOCK, NULL, NULL));
    CHECK_STARTS(exs_shutdown(pair.server, SHUT_RDWR, 0, queue, &tag[1]));
    expect(EXS_EVT_SHUTDOWN, 0, 1, 0);
    CHECK_STARTS(exs_getpeername(pair.server, (struct sockaddr *)&name, &length));
    CHECK(name.sin_port != 0);
    pair.client = -1;
}

/* A close waits until the peer has room for the sends. */
static void close_waits(void)
{
    for (int i = 0; i < 3; i++)
        start_send(pair.client, LARGE, i);
    close_start(pair.client, 0, 3);
    expect(EXS_EVT_SEND, 0, 0, LARGE);
    for (int i = 0; i < 3; i++)
        CHECK_RESULT(LARGE, exs_recv(pair.server, memory + LARGE, LARGE, MSG_WAITALL | EXS_BLOCK,
                                     NULL, NULL, handle));
    expect(EXS_EVT_SEND, 0, 1, LARGE);
    expect(EXS_EVT_SEND, 0, 2, LARGE);
    expect(EXS_EVT_CLOSE, 0, 3, 0);
    pair.client = -1;
}

/* An abrupt close does not wait, and both sides lose their open calls. */
static void cut_off(void)
{
    exs_event_t events[4];
    int seen = 0;

    for (int i = 0; i < 3; i++)
        start_send(pair.client, LARGE, i);
    expect(EXS_EVT_SEND, 0, 0, LARGE);
    start_recv(pair.client, 10, 0, 4);
    close_start(pair.client, EXS_DONTLINGER, 3);
    for (int i = 0; i < 4; i++) {
        events[i] = exs_kit_event(queue);
        seen |= 1 << (int)((char *)events[i].exs_evt_ahandle - tag);
        CHECK(events[i].exs_evt_type == EXS_EVT_CLOSE ? events[i].exs_evt_errno == 0
                                                      : events[i].exs_evt_errno == ECANCELED);
    }
    CHECK_EQ(0x1e, seen);
    CHECK_EQ(EXS_EVT_CLOSE, events[3].exs_evt_type);
    CHECK(exs_recv(pair.server, memory + LARGE, LARGE, MSG_WAITALL | EXS_BLOCK, NULL, NULL,
                   handle) <= (ssize_t)LARGE);
    while (exs_recv(pair.server, memory + LARGE, LARGE, EXS_BLOCK, NULL, NULL, handle) > 0) {
    }
    CHECK(errno == ECONNRESET);
    CHECK_ERRNO(ECONNRESET, exs_send(pair.server, memory, 1, 0, queue, NULL, handle));
    pair.client = -1;
}

/* Open receives are cancelled by their own side's close and ended by the peer's. */
static void close_with_receives(void)
{
    start_recv(pair.client, LARGE, 0, 0);
    start_recv(pair.client, 10, 0, 1);
    start_recv(pair.server, LARGE, MSG_WAITALL, 2);
    close_start(pair.client, 0, 3);
    for (int i = 0; i < 4; i++) {
        exs_event_t event = exs_kit_event(queue);
        int id = (int)((char *)event.exs_evt_ahandle - tag);

        CHECK_EQ(id < 2 ? ECANCELED : 0, event.exs_evt_errno);
        if (id == 2)
            CHECK_EQ(0, event.exs_evt_union.exs_evt_xfer.exs_evt_length);
    }
    pair.client = -1;
}

/*
 * Cancels advertised, partly filled and waiting receives: all end, and the stream continues without
 * a gap.
 */
static void cancel_receives(void)
{
    start_recv(pair.server, LARGE, MSG_WAITALL, 0);
    start_recv(pair.server, 100, 0, 1);
    exs_kit_fill(memory, 300, 0);
    CHECK_RESULT(100, exs_send(pair.client, memory, 100, EXS_BLOCK, NULL, NULL, handle));
    CHECK_RESULT(2, exs_cancel(pair.server, EXS_CAF_FILDES, NULL));
    for (int i = 0; i < 2; i++) {
        exs_event_t event = exs_kit_expect(queue, EXS_EVT_RECV, ECANCELED);

        CHECK(event.exs_evt_ahandle == &tag[i]);
        if (i == 0 && event.exs_evt_union.exs_evt_xfer.exs_evt_length == 0)
            CHECK_RESULT(100, exs_recv(pair.server, memory + LARGE, 100, MSG_WAITALL | EXS_BLOCK,
                                       NULL, NULL, handle));
    }
    CHECK_RESULT(200, exs_send(pair.client, memory + 100, 200, EXS_BLOCK, NULL, NULL, handle));
    CHECK_RESULT(200, exs_recv(pair.server, memory + LARGE, 200, MSG_WAITALL | EXS_BLOCK, NULL,
                               NULL, handle));
    exs_kit_compare(memory + LARGE, 200, 100);
}

static void cancel_sends(void)
{
    start_send(pair.client, LARGE, 0); /* fills the ring */
    expect(EXS_EVT_SEND, 0, 0, LARGE);
    start_send(pair.client, 100, 1);
    start_send(pair.client, LARGE, 2);
    CHECK_RESULT(1, exs_cancel(pair.client, EXS_CAF_AHANDLE, &tag[2]));
    CHECK_RESULT(LARGE, exs_recv(pair.server, memory + LARGE, LARGE, MSG_WAITALL | EXS_BLOCK, NULL,
                                 NULL, handle));
    expect(EXS_EVT_SEND, 0, 1, 100);
    expect(EXS_EVT_SEND, ECANCELED, 2, 0);
    CHECK_RESULT(100, exs_recv(pair.server, memory + LARGE, 200, EXS_BLOCK, NULL, NULL, handle));
}

static void peek(void)
{
    exs_kit_fill(memory, 100, 0);
    CHECK_RESULT(100, exs_send(pair.client, memory, 100, EXS_BLOCK, NULL, NULL, handle));
    CHECK_RESULT(100, exs_recv(pair.server, memory + LARGE, 100, MSG_PEEK | MSG_WAITALL | EXS_BLOCK,
                               NULL, NULL, handle));
    exs_kit_compare(memory + LARGE, 100, 0);
    CHECK_RESULT(
        40, exs_recv(pair.server, memory + LARGE, 40, MSG_WAITALL | EXS_BLOCK, NULL, NULL, handle));
    CHECK_RESULT(
        60, exs_recv(pair.server, memory + LARGE, 200, MSG_PEEK | EXS_BLOCK, NULL, NULL, handle));
    exs_kit_compare(memory + LARGE, 60, 40);
    CHECK_RESULT(60, exs_recv(pair.server, memory + LARGE, 200, EXS_BLOCK, NULL, NULL, handle));
}

/* Without a ring nothing moves before there is a receive, so the credits can be counted. */
static void no_ring(void)
{
    for (int i = 0; i < 32; i++)
        start_send(pair.client, 10, 0);
    CHECK_ERRNO(EBUSY, exs_send(pair.client, memory, 10, 0, queue, NULL, handle));
    for (int i = 0; i < 32; i++)
        start_recv(pair.client, 10, 0, 1);
    CHECK_ERRNO(EBUSY, exs_recv(pair.client, memory, 10, 0, queue, NULL, handle));
    CHECK_ERRNO(EOPNOTSUPP, exs_recv(pair.server, memory, 10, MSG_PEEK, queue, NULL, handle));
    exs_kit_empty(queue);
    CHECK_RESULT(320, exs_recv(pair.server, memory + LARGE, 320, MSG_WAITALL | EXS_BLOCK, NULL,
                               NULL, handle));
    for (int i = 0; i < 32; i++)
        expect(EXS_EVT_SEND, 0, 0, 10);
    CHECK_RESULT(320, exs_send(pair.server, memory, 320, EXS_BLOCK, NULL, NULL, handle));
    for (int i = 0; i < 32; i++)
        expect(EXS_EVT_RECV, 0, 1, 10);
}

/* ---- All rows ------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    void (*run)(void);
    void (*set)(int fd);
} rows[] = {
    {"shut down, then read the end", shut_then_end, NULL},
    {"shut down receives", shut_receives, NULL},
    {"close behind data", close_behind_data, NULL},
    {"the end behind the peer's close", end_behind_end, NULL},
    {"close waits", close_waits, NULL},
    {"abrupt close", cut_off, NULL},
    {"close with receives outstanding", close_with_receives, NULL},
    {"cancel receives", cancel_receives, NULL},
    {"cancel sends", cancel_sends, NULL},
    {"peek", peek, NULL},
    {"no ring", no_ring, set_no_ring},
};

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    memory = calloc(3, LARGE);
    CHECK(memory != NULL);
    handle = exs_mregister(memory, 3 * LARGE, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_context(rows[i].name);
        queue = exs_qcreate(64);
        exs_pair_open_with(&pair, SOCK_STREAM, rows[i].set);
        rows[i].run();
        if (pair.client >= 0)
            CHECK_STARTS(exs_close(pair.client, EXS_BLOCK, NULL, NULL));
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK, NULL, NULL));
        CHECK_STARTS(exs_blocking_close(pair.listener));
        exs_kit_empty(queue);
        CHECK_STARTS(exs_qdelete(queue));
    }
    CHECK_STARTS(exs_mderegister(handle, 0));
    free(memory);
    return 0;
}
