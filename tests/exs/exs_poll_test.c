/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs_poll: sockets that are ready now or later, time limits, closed sockets, many polls and many
 * sockets.
 */
#include "exs_kit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static exs_qhandle_t queue;
static struct exs_pair pair;

static exs_pollfd_t want(int fd, short events)
{
    return (exs_pollfd_t){.exs_fd = fd, .exs_events = events, .exs_revents = -1};
}

/* Checks that the call with a queue reports this number. */
static void expect(int error, int count)
{
    exs_event_t event = exs_kit_expect(queue, EXS_EVT_POLL, error);

    CHECK_EQ(-1, event.exs_evt_socket);
    CHECK_EQ(count, event.exs_evt_union.exs_evt_poll.exs_evt_count);
    exs_kit_empty(queue);
}

static void drain(int fd, size_t octets)
{
    char buffer[100];

    CHECK(octets <= sizeof(buffer));
    CHECK_RESULT((long)octets,
                 exs_blocking_recv(fd, buffer, octets, MSG_WAITALL, EXS_MHANDLE_UNREGISTERED));
}

static void test_ready(void)
{
    exs_pollfd_t set[3] = {want(pair.client, EXS_POLLIN | EXS_POLLOUT), want(-5, EXS_POLLIN),
                           want(pair.server, EXS_POLLIN)};

    CHECK_STARTS(exs_poll(set, 3, 0, NULL, queue, NULL));
    expect(0, 1);
    CHECK_EQ(EXS_POLLOUT, set[0].exs_revents);
    CHECK_EQ(0, set[1].exs_revents);
    CHECK_EQ(0, set[2].exs_revents);
    CHECK_RESULT(1, exs_poll(set, 3, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
}

static void test_later(void)
{
    exs_pollfd_t set[2] = {want(pair.client, EXS_POLLIN), want(pair.server, EXS_POLLIN)};

    CHECK_STARTS(exs_poll(set, 2, 0, NULL, queue, NULL));
    exs_kit_empty(queue);
    CHECK_RESULT(3, exs_write(pair.client, "abc", 3));
    expect(0, 1);
    CHECK_EQ(0, set[0].exs_revents);
    CHECK_EQ(EXS_POLLIN, set[1].exs_revents);
    drain(pair.server, 3);
}

static void test_time(void)
{
    const struct timeval none = {0, 0};
    const struct timeval soon = {0, 1};
    const struct timeval long_time = {3600, 0};
    exs_pollfd_t set = want(pair.server, EXS_POLLIN);

    CHECK_RESULT(0, exs_poll(&set, 1, EXS_BLOCK, &none, EXS_QHANDLE_INVALID, NULL));
    CHECK_EQ(0, set.exs_revents);
    for (int i = 0; i < 200; i++)
        CHECK_RESULT(0, exs_poll(&set, 1, EXS_BLOCK, &soon, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_poll(&set, 1, EXS_TIMEOUT_ONCE, &soon, queue, NULL));
    expect(0, 0);
    /* The timer of a call that has become ready stops. */
    CHECK_STARTS(exs_poll(&set, 1, 0, &long_time, queue, NULL));
    CHECK_RESULT(1, exs_write(pair.client, "a", 1));
    expect(0, 1);
    drain(pair.server, 1);
}

static void set_no_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0) >= 0);
}

/* Data that waits at the peer for a receive: there is no ring, or a packet is too long for it. */
static void test_needed(int type, void (*set)(int fd), size_t length)
{
    static char data[100000], got[sizeof(data)];
    struct exs_pair far;
    exs_pollfd_t one;

    check_context(type == SOCK_STREAM ? "a stream waits" : "a packet waits");
    exs_pair_open_with(&far, type, set);
    one = want(far.server, EXS_POLLIN);
    for (int i = 0; i < 2; i++) {
        CHECK_STARTS(exs_poll(&one, 1, 0, NULL, queue, NULL));
        exs_kit_empty(queue);
        CHECK_STARTS(exs_send(far.client, data, length, EXS_UNSIGNALED, queue, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        expect(0, 1);
        CHECK_EQ(EXS_POLLIN, one.exs_revents);
        CHECK_RESULT((long)length, exs_recv(far.server, got, length, EXS_BLOCK | MSG_WAITALL, NULL,
                                            NULL, EXS_MHANDLE_UNREGISTERED));
    }
    exs_pair_close(&far);
    check_context(NULL);
}

static void test_listener(void)
{
    struct sockaddr_in address;
    int port;
    int listener = exs_kit_listen(SOCK_STREAM, &port);
    int client = exs_socket(PF_INET, SOCK_STREAM, 0);
    exs_pollfd_t set = want(listener, EXS_POLLIN);
    int server;

    address = exs_kit_address(port);
    CHECK_STARTS(exs_poll(&set, 1, 0, NULL, queue, NULL));
    exs_kit_empty(queue);
    CHECK_STARTS(
        exs_connect(client, (struct sockaddr *)&address, sizeof(address), 0, NULL, queue, NULL));
    expect(0, 1);
    CHECK_EQ(EXS_POLLIN, set.exs_revents);
    server = exs_blocking_accept(listener, NULL, NULL);
    CHECK(server >= 0);
    (void)exs_kit_expect(queue, EXS_EVT_CONNECT, 0);
    /* The peer's end counts as readable. */
    set = want(server, EXS_POLLIN);
    CHECK_STARTS(exs_poll(&set, 1, 0, NULL, queue, NULL));
    CHECK_STARTS(exs_shutdown(client, SHUT_WR, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    expect(0, 1);
    CHECK(set.exs_revents & EXS_POLLIN);
    CHECK_STARTS(exs_blocking_close(client));
    CHECK_STARTS(exs_blocking_close(server));
    CHECK_STARTS(exs_blocking_close(listener));
}

static void test_closed(void)
{
    int port;
    int fd = exs_kit_listen(SOCK_STREAM, &port);
    exs_pollfd_t set[2] = {want(pair.server, EXS_POLLIN), want(fd, EXS_POLLIN)};

    CHECK_STARTS(exs_poll(set, 2, 0, NULL, queue, NULL));
    CHECK_STARTS(exs_blocking_close(fd));
    expect(EBADF, 0);
    CHECK_ERRNO(EBADF, exs_poll(set, 2, 0, NULL, queue, NULL));
    exs_kit_empty(queue);
}

/* A socket that is not connected, and will not be unless the program connects it, is no wait. */
static void test_refused(void)
{
    struct sockaddr_in nobody = exs_kit_address(1);
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    exs_pollfd_t set = want(fd, EXS_POLLOUT);
    exs_event_t events[2];

    CHECK_STARTS(exs_connect(fd, (struct sockaddr *)&nobody, sizeof(nobody), 0, NULL, queue, NULL));
    CHECK_STARTS(exs_poll(&set, 1, 0, NULL, queue, NULL));
    for (int i = 0; i < 2; i++)
        events[i] = exs_kit_event(queue);
    CHECK_EQ(EXS_EVT_CONNECT + EXS_EVT_POLL, events[0].exs_evt_type + events[1].exs_evt_type);
    CHECK_EQ(EXS_POLLHUP, set.exs_revents);
    CHECK_STARTS(exs_blocking_close(fd));
}

/* A connection that is cut off while its socket is polled. */
static void test_cut(void)
{
    struct exs_pair cut;
    exs_pollfd_t set;

    exs_pair_open(&cut, SOCK_STREAM);
    set = want(cut.client, EXS_POLLIN);
    CHECK_STARTS(exs_poll(&set, 1, 0, NULL, queue, NULL));
    CHECK_STARTS(exs_close(cut.server, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    expect(0, 1);
    CHECK_EQ(EXS_POLLIN | EXS_POLLHUP | EXS_POLLERR, set.exs_revents);
    CHECK_STARTS(exs_close(cut.client, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    CHECK_STARTS(exs_blocking_close(cut.listener));
}

static void test_cancel(void)
{
    exs_pollfd_t set[2] = {want(pair.client, EXS_POLLIN), want(pair.server, EXS_POLLIN)};

    CHECK_STARTS(exs_poll(set, 2, 0, NULL, queue, set));
    CHECK_RESULT(0, exs_cancel(pair.client, EXS_CAF_AHANDLE, NULL));
    CHECK_RESULT(1, exs_cancel(pair.client, EXS_CAF_AHANDLE, set));
    expect(ECANCELED, 0);
}

/* ---- Many ----------------------------------------------------------------------------------- */

#define POLLS 50

/* Each of many calls on one socket has its event. */
static void test_many(void)
{
    exs_pollfd_t sets[POLLS];

    for (int i = 0; i < POLLS; i++) {
        sets[i] = want(pair.server, EXS_POLLIN);
        CHECK_STARTS(exs_poll(&sets[i], 1, 0, NULL, queue, &sets[i]));
    }
    exs_kit_empty(queue);
    CHECK_RESULT(1, exs_write(pair.client, "a", 1));
    for (int i = 0; i < POLLS; i++) {
        exs_event_t event = exs_kit_expect(queue, EXS_EVT_POLL, 0);
        exs_pollfd_t *set = event.exs_evt_ahandle;

        CHECK(set >= sets && set < sets + POLLS && set->exs_revents == EXS_POLLIN);
    }
    exs_kit_empty(queue);
    drain(pair.server, 1);
}

static void *write_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++)
        CHECK_RESULT(1, exs_write(pair.client, "a", 1));
    return NULL;
}

/* A poll and then a receive, again and again, while octets arrive at any moment. */
static void test_race(void)
{
    exs_pollfd_t set = want(pair.server, EXS_POLLIN);
    pthread_t thread;
    char buffer[64];
    long got = 0;

    CHECK_EQ(0, pthread_create(&thread, NULL, write_often, NULL));
    while (got < 2000) {
        ssize_t part;

        CHECK_RESULT(1, exs_poll(&set, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
        CHECK_EQ(EXS_POLLIN, set.exs_revents);
        part = exs_read(pair.server, buffer, sizeof(buffer));
        CHECK(part > 0);
        got += part;
    }
    CHECK_EQ(0, pthread_join(thread, NULL));
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    exs_pair_open(&pair, SOCK_STREAM);
    test_ready();
    test_later();
    test_time();
    test_needed(SOCK_SEQPACKET, NULL, 100000);
    test_needed(SOCK_SEQPACKET, set_no_ring, 3);
    test_needed(SOCK_STREAM, set_no_ring, 3);
    test_needed(SOCK_STREAM, set_no_ring, 100000);
    test_listener();
    test_closed();
    test_refused();
    test_cut();
    test_cancel();
    test_many();
    test_race();
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
