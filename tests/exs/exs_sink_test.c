/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer may go on sending after receives have been shut down: short and long, with and without a
 * ring, and if its sends waited before. Each send ends, and the other direction works.
 */
#include "exs_kit.h"

#include <pthread.h>
#include <stdlib.h>

#define LONG  ((size_t)300000)
#define SENDS 20
#define N     EXS_MHANDLE_UNREGISTERED

static exs_qhandle_t queue;
static char *octets;

static void set_no_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0) >= 0);
}

/* One credit, and room for two packets. */
static void set_little(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 1) >= 0);
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 4096) >= 0);
}

static const struct row {
    const char *name;
    int type;
    void (*set)(int fd);
} rows[] = {
    {"stream", SOCK_STREAM, NULL},
    {"stream, no ring", SOCK_STREAM, set_no_ring},
    {"stream, little", SOCK_STREAM, set_little},
    {"packets", SOCK_SEQPACKET, NULL},
    {"packets, no ring", SOCK_SEQPACKET, set_no_ring},
    {"packets, little", SOCK_SEQPACKET, set_little},
};

static void send_ends(int fd, size_t length)
{
    CHECK_STARTS(exs_send(fd, octets, length, EXS_CREDIT_WAIT, queue, NULL, N));
    CHECK_EQ(length,
             exs_kit_expect(queue, EXS_EVT_SEND, 0).exs_evt_union.exs_evt_xfer.exs_evt_length);
}

static void other_direction(const struct exs_pair *pair)
{
    char got[8];

    CHECK_RESULT(0, exs_read(pair->server, got, sizeof(got)));
    CHECK_STARTS(exs_send(pair->server, "back", 4, EXS_UNSIGNALED, NULL, NULL, N));
    CHECK_RESULT(4, exs_read(pair->client, got, sizeof(got)));
}

static void shut(int fd)
{
    CHECK_STARTS(exs_shutdown(fd, SHUT_RD, EXS_BLOCK, NULL, NULL));
}

static void test_later(const struct row *row)
{
    struct exs_pair pair;

    exs_pair_open_with(&pair, row->type, row->set);
    shut(pair.server);
    for (int i = 0; i < SENDS; i++) {
        send_ends(pair.client, i % 3 ? LONG : 1000);
        CHECK_RESULT(0, exs_cancel(pair.server, EXS_CAF_FILDES, NULL));
    }
    other_direction(&pair);
    CHECK_STARTS(exs_blocking_close(pair.client));
    CHECK_STARTS(exs_blocking_close(pair.server));
    CHECK_STARTS(exs_blocking_close(pair.listener));
}

static void *send_all(void *argument)
{
    for (int i = 0; i < SENDS; i++)
        CHECK_RESULT(1000, exs_write(*(int *)argument, octets, 1000));
    CHECK_RESULT(LONG, exs_write(*(int *)argument, octets, LONG));
    CHECK_RESULT(LONG, exs_write(*(int *)argument, octets, LONG));
    return NULL;
}

/* Waits until the peer has data for the socket, or its sends already wait. */
static void test_before(const struct row *row)
{
    struct exs_pair pair;
    exs_pollfd_t set;
    pthread_t thread;

    exs_pair_open_with(&pair, row->type, row->set);
    set = (exs_pollfd_t){.exs_fd = pair.server, .exs_events = EXS_POLLIN};
    CHECK_EQ(0, pthread_create(&thread, NULL, send_all, &pair.client));
    CHECK_RESULT(1, exs_poll(&set, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    shut(pair.server);
    CHECK_EQ(0, pthread_join(thread, NULL));
    other_direction(&pair);
    exs_pair_close(&pair);
}

/* Nothing is left of the ring when receives are shut down, and the peer waits for room. */
static void test_full(int type)
{
    const size_t length = type == SOCK_STREAM ? LONG : 1500;
    struct exs_pair pair;
    exs_pollfd_t set;

    check_context(type == SOCK_STREAM ? "full" : "full, packets");
    exs_pair_open_with(&pair, type, set_little);
    set = (exs_pollfd_t){.exs_fd = pair.client, .exs_events = EXS_POLLOUT};
    while (exs_poll(&set, 1, EXS_BLOCK, &(struct timeval){0, 100000}, NULL, NULL) == 1)
        CHECK_STARTS(exs_send(pair.client, octets, length, EXS_UNSIGNALED, NULL, NULL, N));
    shut(pair.server);
    send_ends(pair.client, length);
    other_direction(&pair);
    exs_pair_close(&pair);
    check_context(NULL);
}

int main(void)
{
    octets = calloc(1, LONG);
    CHECK(octets);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_context(rows[i].name);
        test_later(&rows[i]);
        test_before(&rows[i]);
    }
    check_context(NULL);
    test_full(SOCK_STREAM);
    test_full(SOCK_SEQPACKET);
    exs_kit_empty(queue);
    CHECK_STARTS(exs_qdelete(queue));
    free(octets);
    return 0;
}
