/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of random sizes in both directions at once, into receives of random sizes. Each packet is
 * in the receive with its number, and octets that did not fit are counted.
 */
#include "exs_kit.h"

#include <pthread.h>
#include <stdlib.h>

#define OUTSTANDING 8
#define MOST        ((size_t)100000)
#ifdef __SANITIZE_THREAD__
#define PACKETS 300
#else
#define PACKETS 3000
#endif

struct row {
    size_t ring;
    size_t largest;
    bool registered;
};

static const struct row rows[] = {
    {(size_t)1 << 20, MOST, true},
    {(size_t)1 << 20, 3000, false},
    {4096, 3000, true},
    {0, MOST, true},
    {0, 100, false},
    {(size_t)1 << 20, 100, true},
};
static const struct row *row;
static size_t packets = PACKETS;

/* Returns the size of packet or receive n, which is the same at both ends. */
static size_t size_of(size_t number, unsigned salt)
{
    unsigned seed = (unsigned)number * 2654435761u + salt;

    if (rand_r(&seed) % 8 == 0)
        return 0;
    return (size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? row->largest : row->largest / 50 + 1);
}

struct end {
    int fd;
    bool receives;
    exs_qhandle_t queue;
    exs_mhandle_t handle;
    unsigned char *memory;
};

static void open_end(struct end *end)
{
    end->queue = exs_qcreate(16);
    CHECK(end->queue != EXS_QHANDLE_INVALID);
    end->memory = malloc(OUTSTANDING * MOST);
    CHECK(end->memory != NULL);
    end->handle = EXS_MHANDLE_UNREGISTERED;
    if (row->registered)
        end->handle = exs_mregister(end->memory, OUTSTANDING * MOST, 0);
    CHECK(end->handle != EXS_MHANDLE_INVALID);
}

static void close_end(struct end *end)
{
    exs_kit_empty(end->queue);
    if (row->registered)
        CHECK_STARTS(exs_mderegister(end->handle, 0));
    CHECK_STARTS(exs_qdelete(end->queue));
    free(end->memory);
}

static void start(const struct end *end, size_t number)
{
    unsigned char *piece = end->memory + number % OUTSTANDING * MOST;
    size_t size = size_of(number, end->receives ? 2 : 1);

    if (end->receives) {
        CHECK_STARTS(exs_recv(end->fd, piece, size, 0, end->queue, piece, end->handle));
        return;
    }
    exs_kit_fill(piece, size, number);
    CHECK_STARTS(exs_send(end->fd, piece, size, 0, end->queue, piece, end->handle));
}

static void finish(const struct end *end, size_t number)
{
    exs_event_t event = exs_kit_expect(end->queue, end->receives ? EXS_EVT_RECV : EXS_EVT_SEND, 0);
    exs_evt_xfer_t *xfer = &event.exs_evt_union.exs_evt_xfer;
    unsigned char *piece = end->memory + number % OUTSTANDING * MOST;
    size_t sent = size_of(number, 1);
    size_t room = size_of(number, 2);

    CHECK(event.exs_evt_ahandle == piece);
    if (!end->receives) {
        CHECK_EQ(sent, xfer->exs_evt_length);
        return;
    }
    CHECK_EQ(sent < room ? sent : room, xfer->exs_evt_length);
    CHECK_EQ(sent < room ? 0 : sent - room, xfer->exs_evt_amount_lost);
    exs_kit_compare(piece, xfer->exs_evt_length, number);
}

static void *run(void *argument)
{
    struct end *end = argument;
    unsigned seed = end->receives ? 7 : 8;
    size_t started = 0;
    size_t done = 0;

    open_end(end);
    while (done < packets) {
        if (started < packets && started - done < OUTSTANDING && rand_r(&seed) % 4 != 0)
            start(end, started++);
        else if (done < started)
            finish(end, done++);
    }
    close_end(end);
    return NULL;
}

static void set_ring(int fd)
{
    if (row->ring != (size_t)1 << 20)
        CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, (int)row->ring) >= 0);
}

/* ---- A ring that is shorter than a packet ---------------------------------------------------- */

static void set_short_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 100) >= 0);
}

static void test_short_ring(void)
{
    static char octets[1000];
    static char got[1000];
    exs_qhandle_t short_queue = exs_qcreate(4);
    struct exs_pair pair;

    exs_pair_open_with(&pair, SOCK_SEQPACKET, set_short_ring);
    for (size_t length = 0; length <= sizeof(octets); length += 50) {
        exs_kit_fill(octets, length, length);
        CHECK_STARTS(exs_send(pair.client, octets, length, EXS_UNSIGNALED, NULL, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(exs_recv(pair.server, got, sizeof(got), 0, short_queue, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        CHECK_EQ(
            length,
            exs_kit_expect(short_queue, EXS_EVT_RECV, 0).exs_evt_union.exs_evt_xfer.exs_evt_length);
        exs_kit_compare(got, length, length);
    }
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(short_queue));
}

/*
 * The receiver has read everything, so the longest packet of a message has room in its ring, and
 * the sender learns that.
 */
static void set_close_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 2048) >= 0);
}

static void test_close_ring(void)
{
    static char octets[2000];
    exs_qhandle_t close_queue = exs_qcreate(4);
    struct exs_pair pair;

    exs_pair_open_with(&pair, SOCK_SEQPACKET, set_close_ring);
    for (size_t length = 300; length <= 500; length += 20) {
        CHECK_RESULT((long)length, exs_write(pair.client, octets, length));
        CHECK_RESULT((long)length, exs_read(pair.server, octets, sizeof(octets)));
        CHECK_STARTS(exs_send(pair.client, octets, sizeof(octets), EXS_UNSIGNALED, NULL, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        CHECK_STARTS(exs_recv(pair.server, octets, sizeof(octets), 0, close_queue, NULL,
                              EXS_MHANDLE_UNREGISTERED));
        (void)exs_kit_expect(close_queue, EXS_EVT_RECV, 0);
    }
    exs_pair_close(&pair);
    CHECK_STARTS(exs_qdelete(close_queue));
}

int main(void)
{
    if (exs_kit_slow())
        packets = 100;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct exs_pair pair;
        struct end ends[4];
        pthread_t threads[4];

        row = &rows[i];
        exs_pair_open_with(&pair, SOCK_SEQPACKET, set_ring);
        for (size_t j = 0; j < 4; j++) {
            ends[j] = (struct end){.fd = j < 2 ? pair.client : pair.server, .receives = j % 2 == 1};
            CHECK_EQ(0, pthread_create(&threads[j], NULL, run, &ends[j]));
        }
        for (size_t j = 0; j < 4; j++)
            CHECK_EQ(0, pthread_join(threads[j], NULL));
        CHECK_STARTS(exs_close(pair.client, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
        CHECK_STARTS(exs_blocking_close(pair.listener));
    }
    test_short_ring();
    test_close_ring();
    return 0;
}
