/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits for the program's next calls, to share a system call: long sends and ADVERTs, until as
 * many are open as before, or until the leader finds no other work. ASK waits for several polls in
 * vain. The last octets of a long send leave with the message that announces it. This thread keeps
 * the lead, so nothing else happens meanwhile.
 */
#include "exs_kit.h"

#include "support/time_limit.h"

#include "adapter/exs_lead.h"
#include "transfer/exs_connection.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define LENGTH  ((size_t)64 << 10)
#define CALLS   3u
#define FPDU    ((size_t)65504) /* octets of a Write in the longest one */
#define LONGEST ((size_t)384 << 10)

static exs_qhandle_t queue;
static exs_mhandle_t handle;
static char *memory;

static void send_one(int fd)
{
    CHECK_STARTS(exs_send(fd, memory, LENGTH, 0, queue, NULL, handle));
}

static void recv_one(int fd)
{
    CHECK_STARTS(exs_recv(fd, memory + LENGTH, LENGTH, MSG_WAITALL, queue, NULL, handle));
}

/* ---- The lead ------------------------------------------------------------------------------- */

static void take_lead(void)
{
    while (!exs_lead_take(true))
        (void)sched_yield();
}

static void poll_until(bool (*done)(const struct exs_connection *connection), int fd)
{
    time_t limit = time(NULL) + time_limit_ms(20000) / 1000;
    struct exs_socket *socket;
    bool over = false;

    while (!over) {
        CHECK(time(NULL) <= limit);
        (void)exs_lead_poll();
        socket = exs_socket_find(fd);
        over = done(socket->connection);
        exs_socket_leave(socket);
    }
}

static bool is_sent(const struct exs_connection *connection)
{
    return connection->waiting == 0;
}

static bool is_idle(const struct exs_connection *connection)
{
    return !connection->ask_due && !connection->sends.first;
}

static bool is_advertised(const struct exs_connection *connection)
{
    return connection->in.count == connection->in.advertised;
}

static bool knows_all(const struct exs_connection *connection)
{
    return connection->out.count == CALLS;
}

static bool knows_one(const struct exs_connection *connection)
{
    return connection->out.count == 1;
}

static bool has_asked(const struct exs_connection *connection)
{
    return connection->out.asked;
}

/* ---- One side ------------------------------------------------------------------------------- */

static void check_waiting(int fd, size_t sends)
{
    struct exs_socket *socket = exs_socket_find(fd);

    CHECK_EQ(sends * LENGTH, socket->connection->waiting);
    exs_socket_leave(socket);
}

static void check_advertised(int fd, uint32_t receives)
{
    struct exs_socket *socket = exs_socket_find(fd);

    CHECK_EQ(receives, socket->connection->in.advertised);
    exs_socket_leave(socket);
}

/* As if the program had had so many calls open when it got its last events. */
static void set_levels(int fd, unsigned calls)
{
    struct exs_socket *socket = exs_socket_find(fd);

    socket->connection->sends_level = (int)calls;
    socket->connection->in.level = calls;
    exs_socket_leave(socket);
}

static void take_events(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK_EQ(0, exs_kit_event(queue).exs_evt_errno);
}

/* ---- Sends ---------------------------------------------------------------------------------- */

/* The data goes to the ring, which has room for it. */
static void test_sends(void)
{
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_STREAM);
    take_lead();
    send_one(pair.client); /* nothing else is outstanding, and never was */
    check_waiting(pair.client, 0);
    send_one(pair.client);
    send_one(pair.client);
    check_waiting(pair.client, 2);
    poll_until(is_sent, pair.client);
    poll_until(is_idle, pair.client);
    set_levels(pair.client, CALLS);
    send_one(pair.client);
    send_one(pair.client);
    check_waiting(pair.client, 2);
    send_one(pair.client); /* as many as before */
    check_waiting(pair.client, 0);
    exs_lead_give();
    take_events(2 * CALLS);
    exs_pair_close(&pair);
}

static uint32_t messages_of(int fd)
{
    struct exs_socket *socket = exs_socket_find(fd);
    uint32_t posted = socket->connection->tx_posted;

    exs_socket_leave(socket);
    return posted;
}

/* Data for the ring leaves in pieces of 128 KiB, so that the receiver copies one meanwhile. */
static void test_pieces(void)
{
    size_t length = 3 * ((size_t)128 << 10);
    struct exs_pair pair;
    uint32_t before;

    exs_kit_fill(memory, length, 0);
    exs_pair_open(&pair, SOCK_STREAM);
    take_lead();
    before = messages_of(pair.client);
    CHECK_STARTS(exs_send(pair.client, memory, length, 0, queue, NULL, handle));
    CHECK_EQ(3, messages_of(pair.client) - before);
    exs_lead_give();
    CHECK_STARTS(exs_recv(pair.server, memory + LONGEST, length, MSG_WAITALL, queue, NULL, handle));
    take_events(2);
    exs_kit_compare(memory + LONGEST, length, 0);
    exs_pair_close(&pair);
}

static void set_nodelay(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETFD, EXS_FD_NODELAY) >= 0);
}

static void test_nodelay(void)
{
    struct exs_pair pair;

    exs_pair_open_with(&pair, SOCK_STREAM, set_nodelay);
    take_lead();
    set_levels(pair.client, CALLS);
    for (unsigned i = 0; i < CALLS; i++) {
        send_one(pair.client);
        check_waiting(pair.client, 0);
    }
    exs_lead_give();
    take_events(CALLS);
    exs_pair_close(&pair);
}

/* While the leader sleeps, nothing would send what waits before an event wakes it. */
static void test_sleeping_leader(void)
{
    struct exs_socket *socket;
    struct exs_pair pair;
    bool waits;

    exs_pair_open(&pair, SOCK_STREAM);
    take_lead();
    socket = exs_socket_find(pair.client);
    CHECK(exs_connection_waits(socket->connection));
    exs_socket_leave(socket);
    poll_until(is_idle, pair.client);
    exs_lead_give();
    do {
        while (!exs_lead_sleeps())
            (void)sched_yield();
        socket = exs_socket_find(pair.client);
        waits = exs_connection_waits(socket->connection);
        exs_socket_leave(socket);
    } while (!exs_lead_sleeps()); /* something had woken it meanwhile */
    CHECK(!waits);
    exs_pair_close(&pair);
}

/* ---- Receives ------------------------------------------------------------------------------- */

static void test_adverts(void)
{
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_STREAM);
    take_lead();
    set_levels(pair.server, CALLS);
    recv_one(pair.server);
    recv_one(pair.server);
    check_advertised(pair.server, 0);
    recv_one(pair.server);
    check_advertised(pair.server, CALLS);
    poll_until(knows_all, pair.client);
    for (unsigned i = 0; i < CALLS; i++)
        send_one(pair.client);
    exs_lead_give();
    take_events(2 * CALLS);
    /* The program posts fewer than before. */
    take_lead();
    set_levels(pair.server, CALLS);
    recv_one(pair.server);
    check_advertised(pair.server, 0);
    poll_until(is_advertised, pair.server);
    check_advertised(pair.server, 1);
    send_one(pair.client);
    exs_lead_give();
    take_events(2);
    exs_pair_close(&pair);
}

/* ---- FPDUs ---------------------------------------------------------------------------------- */

static uint64_t fpdus_sent(int fd)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};
    struct exs_socket *socket = exs_socket_find(fd);

    CHECK(itx_ep_stats(socket->connection->ep, &counters) == IT_SUCCESS);
    exs_socket_leave(socket);
    return counters.fpdus_sent;
}

/* Sends so many octets into a receive. Returns how many FPDUs that took. */
static uint64_t fpdus_of(const struct exs_pair *pair, size_t length)
{
    uint64_t before;

    exs_kit_fill(memory, length, 0);
    take_lead();
    CHECK_STARTS(
        exs_recv(pair->server, memory + LONGEST, length, MSG_WAITALL, queue, NULL, handle));
    poll_until(is_advertised, pair->server);
    poll_until(knows_one, pair->client);
    before = fpdus_sent(pair->client);
    CHECK_STARTS(exs_send(pair->client, memory, length, 0, queue, NULL, handle));
    poll_until(is_idle, pair->client);
    exs_lead_give();
    take_events(2);
    exs_kit_compare(memory + LONGEST, length, 0);
    return fpdus_sent(pair->client) - before;
}

/*
 * Sends into receives, just inside and outside the limits of lengths whose last octets leave with
 * the message: it then has the octets of a last short FPDU.
 */
static void test_tails(void)
{
    static const struct {
        size_t length;
        uint64_t fpdus;
    } cases[] = {
        {((size_t)64 << 10) - 1, 2 + 1},
        {(size_t)64 << 10, 1 + 1},
        {FPDU + 160, 1 + 1},
        {FPDU + 161, 2 + 1},
        {2 * FPDU + 160, 2 + 1},
        {(size_t)320 << 10, 5 + 1},
        {((size_t)320 << 10) + 1, 6 + 1},
        {6 * FPDU, 6 + 1},
        {6 * FPDU + 1, 7 + 1},
        {6 * FPDU + 160, 7 + 1},
    };
    struct exs_pair pair;

    exs_pair_open(&pair, SOCK_STREAM);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_EQ(cases[i].fpdus, fpdus_of(&pair, cases[i].length));
    exs_pair_close(&pair);
}

/* ---- ASK ------------------------------------------------------------------------------------ */

/* The receiver has had a receive, so the sender hopes for another one before it uses the ring. */
static void test_ask(void)
{
    struct exs_pair pair;
    struct exs_socket *socket;
    unsigned patience;

    exs_pair_open(&pair, SOCK_STREAM);
    take_lead();
    recv_one(pair.server);
    poll_until(knows_one, pair.client);
    send_one(pair.client);
    exs_lead_give();
    take_events(2);
    take_lead();
    poll_until(is_idle, pair.client);
    socket = exs_socket_find(pair.client);
    CHECK_EQ(EXS_ASK_POLLS, socket->connection->patience);
    exs_socket_leave(socket);
    send_one(pair.client);
    check_waiting(pair.client, 1);
    poll_until(has_asked, pair.client);
    socket = exs_socket_find(pair.client);
    patience = socket->connection->patience;
    exs_socket_leave(socket);
    CHECK_EQ(0, patience);
    exs_lead_give();
    recv_one(pair.server);
    take_events(2);
    exs_pair_close(&pair);
}

int main(void)
{
    memory = calloc(2, LONGEST);
    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(16);
    handle = exs_mregister(memory, 2 * LONGEST, 0);
    CHECK(queue != EXS_QHANDLE_INVALID && handle != EXS_MHANDLE_INVALID);
    test_sends();
    test_pieces();
    test_nodelay();
    test_sleeping_leader();
    test_adverts();
    test_tails();
    test_ask();
    CHECK_STARTS(exs_mderegister(handle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    free(memory);
    return 0;
}
