/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of random sends and receives in both directions at once. Every octet arrives once and in
 * order, and every call has one event.
 */
#include "exs_kit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OUTSTANDING 8
#define MOST        ((size_t)200000) /* most octets of one call */
#ifdef __SANITIZE_THREAD__
#define SHARE 16 /* divides the octets of a row */
#else
#define SHARE 1
#endif

struct row {
    size_t ring;
    size_t largest;
    bool waitall; /* for half of the receives */
    bool registered;
    size_t total;
};

static const struct row rows[] = {
    {(size_t)1 << 20, MOST, false, true, (size_t)16 << 20},
    {(size_t)1 << 20, MOST, true, true, (size_t)16 << 20},
    {4096, MOST, true, true, (size_t)8 << 20},
    {4096, 3000, true, false, (size_t)2 << 20},
    {0, MOST, true, true, (size_t)16 << 20},
    {0, 3000, false, false, (size_t)2 << 20},
    {(size_t)1 << 20, 100, true, true, (size_t)1 << 19},
    {(size_t)1 << 16, MOST, true, false, (size_t)8 << 20},
};
static const struct row *row;
static size_t total;

static size_t random_size(unsigned *seed)
{
    /* Some lengths are short, some are long. */
    unsigned kind = (unsigned)rand_r(seed) % 3;
    size_t most = kind == 0 ? 64 : kind == 1 ? row->largest / 10 + 1 : row->largest;

    return 1 + (size_t)rand_r(seed) % most;
}

/* One direction of one socket. */
struct end {
    int fd;
    exs_qhandle_t queue;
    exs_mhandle_t handle;
    unsigned char *memory; /* OUTSTANDING pieces of MOST octets */
};

static void open_end(struct end *end, int fd)
{
    end->fd = fd;
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

static void *send_all(void *argument)
{
    unsigned seed = 1;
    size_t started = 0;
    size_t ended = 0;
    size_t calls = 0;
    size_t done = 0;
    struct end end;

    open_end(&end, *(int *)argument);
    while (ended < total) {
        if (started < total && calls - done < OUTSTANDING) {
            unsigned char *piece = end.memory + calls % OUTSTANDING * MOST;
            size_t size = random_size(&seed);

            if (size > total - started)
                size = total - started;
            exs_kit_fill(piece, size, started);
            CHECK_STARTS(exs_send(end.fd, piece, size, 0, end.queue, piece, end.handle));
            started += size;
            calls++;
        } else {
            exs_event_t event = exs_kit_expect(end.queue, EXS_EVT_SEND, 0);

            CHECK(event.exs_evt_ahandle == end.memory + done % OUTSTANDING * MOST);
            ended += event.exs_evt_union.exs_evt_xfer.exs_evt_length;
            done++;
        }
    }
    CHECK_EQ(total, ended);
    CHECK_STARTS(exs_shutdown(end.fd, SHUT_WR, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
    close_end(&end);
    return NULL;
}

static void *receive_all(void *argument)
{
    unsigned seed = 2;
    size_t place = 0;
    size_t calls = 0;
    size_t done = 0;
    bool over = false;
    size_t sizes[OUTSTANDING];
    bool all[OUTSTANDING];
    struct end end;

    open_end(&end, *(int *)argument);
    while (!over || done < calls) {
        unsigned char *piece = end.memory + calls % OUTSTANDING * MOST;

        if (!over && calls - done < OUTSTANDING && rand_r(&seed) % 4 != 0) {
            sizes[calls % OUTSTANDING] = random_size(&seed);
            all[calls % OUTSTANDING] = row->waitall && rand_r(&seed) % 2;
            CHECK_STARTS(exs_recv(end.fd, piece, sizes[calls % OUTSTANDING],
                                  all[calls % OUTSTANDING] ? MSG_WAITALL : 0, end.queue, piece,
                                  end.handle));
            calls++;
        } else if (done < calls) {
            exs_event_t event = exs_kit_expect(end.queue, EXS_EVT_RECV, 0);
            size_t length = event.exs_evt_union.exs_evt_xfer.exs_evt_length;

            piece = end.memory + done % OUTSTANDING * MOST;
            CHECK(event.exs_evt_ahandle == piece);
            exs_kit_compare(piece, length, place);
            place += length;
            if (length == 0)
                over = true;
            else if (all[done % OUTSTANDING] && place < total)
                CHECK_EQ(sizes[done % OUTSTANDING], length);
            done++;
        }
    }
    CHECK_EQ(total, place);
    close_end(&end);
    return NULL;
}

static void set_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, (int)row->ring) >= 0);
}

static void blocking_calls(void)
{
    exs_qhandle_t queue = exs_qcreate(2);
    struct exs_pair pair;
    char octet = 0;

    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_RESULT(1, exs_blocking_send(pair.client, "x", 1, 0, EXS_MHANDLE_UNREGISTERED));
    CHECK_RESULT(1, exs_blocking_recv(pair.server, &octet, 1, 0, EXS_MHANDLE_UNREGISTERED));
    CHECK_EQ('x', octet);
    CHECK(exs_qfd(queue) >= 0);
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, EXS_WAIT_NOTIFY));
    CHECK_STARTS(exs_qdelete(queue));
    exs_pair_close(&pair);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct exs_pair pair;
        pthread_t threads[4];

        row = &rows[i];
        total = row->total / (exs_kit_slow() ? 64 : SHARE);
        exs_pair_open_with(&pair, SOCK_STREAM, set_ring);
        CHECK_EQ(0, pthread_create(&threads[0], NULL, send_all, &pair.client));
        CHECK_EQ(0, pthread_create(&threads[1], NULL, receive_all, &pair.server));
        CHECK_EQ(0, pthread_create(&threads[2], NULL, send_all, &pair.server));
        CHECK_EQ(0, pthread_create(&threads[3], NULL, receive_all, &pair.client));
        for (size_t j = 0; j < 4; j++)
            CHECK_EQ(0, pthread_join(threads[j], NULL));
        CHECK_STARTS(exs_close(pair.client, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL));
        CHECK_STARTS(exs_blocking_close(pair.listener));
    }
    blocking_calls();
    return 0;
}
