/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a stream may send while others wait for their turn: peers ask for large RDMA Reads, and
 * the octets of the answers are counted that leave while the target polls once. The test stands in
 * front of the system call and lets them vanish: no peer takes octets faster.
 */
#include "counted/counted_calls.h"

#include <dlfcn.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "support/it_fixture.h"

#define SIZE  ((size_t)16 << 20)
#define READS 8u /* of a peer */
#define PEERS 2u
/* One call of the system may add as much. */
#define BATCH ((uint64_t)1 << 20)
/*
 * Of a stream that has company, and of one alone. The first round of a poll reads, a second goes
 * on.
 */
#define SHARED_TURN (((uint64_t)1 << 20) + BATCH)
#define TURN        (((uint64_t)4 << 20) + BATCH)
#define ROUNDS      2u

static bool vanish;
static uint64_t vanished;

#if COUNTED_CALLS
long syscall(long number, ...)
{
    static long (*real)(long, long, long, long, long, long, long);
    long a[6];
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (vanish && number == SYS_sendmsg) {
        const struct msghdr *message = (const void *)a[1];
        uint64_t octets = 0;

        for (size_t i = 0; i < message->msg_iovlen; i++)
            octets += message->msg_iov[i].iov_len;
        vanished += octets;
        return (long)octets;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

struct bed {
    struct event_base *base;
    struct fx_node asking, target;
    struct fx_buf sink, source;
    it_ep_handle_t eps[PEERS];
};

static void bed_open(struct bed *bed)
{
    bed->base = event_base_new();
    CHECK(bed->base != NULL);
    fx_node_open(&bed->asking);
    fx_node_open(&bed->target);
    bed->sink = fx_buf_make(&bed->asking, SIZE);
    bed->source = fx_buf_make(&bed->target, SIZE);
    for (unsigned i = 0; i < PEERS; i++) {
        bed->eps[i] = fx_ep(&bed->asking, NULL);
        fx_join(&bed->asking, bed->eps[i], &bed->target, fx_ep(&bed->target, NULL));
        fx_read(bed->eps[i], &bed->sink, 0, 64, &bed->source, 0, 1, FX_SIGNAL);
        fx_done_len(bed->asking.request_evd, bed->eps[i], IT_DTO_RDMA_READ_CMPL_EVENT, 1, 64);
    }
    CHECK_OK(itx_ia_set_event_base(bed->target.ia, bed->base));
}

static void bed_close(struct bed *bed)
{
    fx_buf_free(&bed->sink);
    fx_buf_free(&bed->source);
    fx_node_close(&bed->asking);
    fx_node_close(&bed->target);
    event_base_free(bed->base);
}

/* The most that has left while the target polled once. */
static uint64_t most_of_a_poll(const struct bed *bed, uint64_t wanted)
{
    struct fx_patience patience = fx_patience_start("all answers");
    uint64_t most = 0;

    vanished = 0;
    vanish = true;
    while (vanished < wanted) {
        uint64_t before = vanished;
        it_event_t event;

        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(bed->target.recv_evd, &event));
        most = vanished - before > most ? vanished - before : most;
        fx_patience_check(&patience);
    }
    vanish = false;
    return most;
}

static void turns(unsigned peers, uint64_t limit)
{
    struct bed bed;
    uint64_t most;

    bed_open(&bed);
    for (unsigned i = 0; i < peers; i++)
        for (unsigned j = 0; j < READS; j++)
            fx_read(bed.eps[i], &bed.sink, 0, SIZE, &bed.source, 0, j, FX_QUIET);
    most = most_of_a_poll(&bed, (uint64_t)peers * READS * SIZE);
    printf("%u peers: at most %llu octets while the target polls once (at most %llu)\n", peers,
           (unsigned long long)most, (unsigned long long)limit);
    CHECK(most > 0 && most <= limit);
    bed_close(&bed);
}

int main(void)
{
    if (!COUNTED_CALLS) {
        (void)puts("skipped: a sanitizer stands between this build and the C library");
        return 77;
    }
    turns(1, ROUNDS * TURN);
    turns(PEERS, ROUNDS * PEERS * SHARED_TURN);
    check_done();
    return 0;
}
