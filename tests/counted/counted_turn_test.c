/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits how much a stream may send while others wait for their turn: peers ask for large RDMA
 * Reads, and the test counts the response octets that leave while the target polls once. The test
 * replaces the system call and drops them, so it takes octets faster than any peer. It also limits
 * how much one poll reads when there is a message for the consumer.
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
#define READS 8u /* number of Reads of a peer */
#define PEERS 2u
/* One system call may exceed the limit by this much. */
#define BATCH ((uint64_t)1 << 20)
/* The limits of a stream with others and of one alone. A poll may have two rounds. */
#define SHARED_TURN (((uint64_t)1 << 20) + BATCH)
#define TURN        (((uint64_t)4 << 20) + BATCH)
#define ROUNDS      2u
/* A poll stops reading between two reads, after a message. */
#define MESSAGE  ((size_t)64 << 10)
#define MESSAGES 16u
#define READ     (((uint64_t)128 << 10) + MESSAGE)

static bool vanish;
static uint64_t vanished;
static _Thread_local uint64_t taken;

#if COUNTED_CALLS
long syscall(long number, ...)
{
    static long (*real)(long, long, long, long, long, long, long);
    long a[6];
    long result;
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
    result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if ((number == SYS_recvmsg || number == SYS_recvfrom) && result > 0)
        taken += (uint64_t)result;
    return result;
}
#endif

struct bed {
    struct event_base *base;
    struct fx_node asking, target;
    struct fx_buf sink, source;
    it_ep_handle_t eps[PEERS], targets[PEERS];
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
        bed->targets[i] = fx_ep(&bed->target, NULL);
        fx_join(&bed->asking, bed->eps[i], &bed->target, bed->targets[i]);
        fx_read(bed->eps[i], &bed->sink, 0, 64, &bed->source, 0, 1, FX_SIGNAL);
        fx_done_len(bed->asking.request_evd, bed->eps[i], IT_DTO_RDMA_READ_CMPL_EVENT, 1, 64);
    }
}

static void bed_close(struct bed *bed)
{
    fx_buf_free(&bed->sink);
    fx_buf_free(&bed->source);
    fx_node_close(&bed->asking);
    fx_node_close(&bed->target);
    event_base_free(bed->base);
}

/* Returns the most octets that have left while the target polled once. */
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
    CHECK_OK(itx_ia_set_event_base(bed.target.ia, bed.base));
    for (unsigned i = 0; i < peers; i++)
        for (unsigned j = 0; j < READS; j++)
            fx_read(bed.eps[i], &bed.sink, 0, SIZE, &bed.source, 0, j, FX_QUIET);
    most = most_of_a_poll(&bed, (uint64_t)peers * READS * SIZE);
    printf("%u peers: at most %llu octets while the target polls once (at most %llu)\n", peers,
           (unsigned long long)most, (unsigned long long)limit);
    CHECK(most > 0 && most <= limit);
    bed_close(&bed);
}

/* Returns the most octets that one poll reads while messages arrive. */
static uint64_t most_read(const struct bed *bed)
{
    struct fx_patience patience = fx_patience_start("all messages");
    uint64_t most = 0;
    it_event_t event;

    for (unsigned i = 0; i < MESSAGES; i++)
        fx_recv(bed->targets[0], &bed->source, i * MESSAGE, MESSAGE, i);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_send(bed->eps[0], &bed->sink, 0, MESSAGE, i, FX_QUIET);
    for (unsigned done = 0; done < MESSAGES; fx_patience_check(&patience)) {
        uint64_t before = taken;

        done += it_evd_dequeue(bed->target.recv_evd, &event) == IT_SUCCESS;
        most = taken - before > most ? taken - before : most;
    }
    return most;
}

static void messages(void)
{
    struct bed bed;
    uint64_t most = 0;

    bed_open(&bed);
    for (unsigned i = 0; i < 10; i++) {
        uint64_t read = most_read(&bed);

        most = read > most ? read : most;
    }
    printf("messages: at most %llu octets are read by one poll (at most %llu)\n",
           (unsigned long long)most, (unsigned long long)(ROUNDS * READ));
    CHECK(most <= ROUNDS * READ); /* the loop may have read all of it */
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
    messages();
    check_done();
    return 0;
}
