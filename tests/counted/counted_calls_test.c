/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls per message by kind, heap calls, and copies of payload, for each usual pattern of
 * traffic. One thread drives both ends, and calls that timers cause in the IAs' threads are
 * excluded, so that the counts do not depend on the load of the machine.
 */
#include "counted/counted_calls.h"
#include "counted/counted_schedule.h"
#include "counted/counted_pattern.h"

#include <sched.h>
#include <stdio.h>

/* Counts per message, both sides together. docs/performance-notes.md has them, too. */
struct bounds {
    double sends;
    double receives;
    double empty_receives;
    double polls; /* epoll_wait, or the yield in its place */
    double others;
    double copied; /* octets per octet of payload */
    double apart; /* octets per octet of payload that are received into or sent from other memory */
};

/*
 * Small messages are copied, which is cheaper than a scattered read. TCP decides how often a read
 * finds nothing before an answer or the rest of a large message is there.
 */
#define ANY 1e9
#define KIB 1024u

/*
 * Framing alone makes up to 0.0006 "apart". The rest are octets behind the payload that a read was
 * for and, of 1 MiB, the FPDU of which the socket took only a half. The response to a Read is
 * staged while its CRC is computed.
 */
static const struct {
    struct counted_pattern pattern;
    unsigned messages;
    struct bounds most;
} rows[] = {
    {{"ping-pong 64 B, polling", COUNTED_PING_PONG, 64, 1, false, COUNTED_FAST},
     6400,
     {1, 1, 0.02, 0.04, 0.001, ANY, ANY}},
    {{"the same with CRC", COUNTED_PING_PONG, 64, 1, true, COUNTED_FAST},
     6400,
     {1, 1, 0.02, 0.04, 0.001, ANY, ANY}},
    {{"ping-pong 64 B, waiting", COUNTED_WAITING, 64, 1, false, COUNTED_FAST},
     6400,
     {1, 1, 0.02, 1.1, 0.001, ANY, ANY}},
    {{"the same with CRC", COUNTED_WAITING, 64, 1, true, COUNTED_FAST},
     6400,
     {1, 1, 0.02, 1.1, 0.001, ANY, ANY}},
    {{"RDMA Reads 64 B, one at a time", COUNTED_READ, 64, 1, false, COUNTED_FAST},
     6400,
     {2.05, 2.05, ANY, 0.2, 0.001, ANY, ANY}},
    {{"the same with CRC", COUNTED_READ, 64, 1, true, COUNTED_FAST},
     6400,
     {2.05, 2.05, ANY, 0.2, 0.001, ANY, ANY}},
    {{"RDMA Reads 64 B", COUNTED_READ, 64, 8, true, COUNTED_FAST},
     6400,
     {0.4, 0.4, ANY, 0.05, 0.001, ANY, ANY}},
    {{"RDMA Writes 64 B", COUNTED_WRITE, 64, 64, false, COUNTED_FAST},
     64000,
     {0.1, 0.05, 0.01, 0.004, 0.001, ANY, ANY}},
    {{"the same with IT_COALESCE_WR_FLAG", COUNTED_WRITE, 64, 64, false, COUNTED_COALESCED},
     64000,
     {0.016, 0.02, 0.005, 0.002, 0.001, ANY, ANY}},
    {{"the same with CRC, too", COUNTED_WRITE, 64, 64, true, COUNTED_COALESCED},
     64000,
     {0.016, 0.02, 0.005, 0.002, 0.001, ANY, ANY}},
    {{"Sends 64 B", COUNTED_SEND, 64, 64, false, COUNTED_FAST},
     64000,
     {0.1, 0.05, 0.01, 0.004, 0.001, ANY, ANY}},
    {{"the same with IT_COALESCE_WR_FLAG", COUNTED_SEND, 64, 64, false, COUNTED_COALESCED},
     64000,
     {0.016, 0.02, 0.005, 0.002, 0.001, ANY, ANY}},
    {{"the same with CRC, too", COUNTED_SEND, 64, 64, true, COUNTED_COALESCED},
     64000,
     {0.016, 0.02, 0.005, 0.002, 0.001, ANY, ANY}},
    {{"ping-pong 64 KiB, polling", COUNTED_PING_PONG, 64 * KIB, 1, false, COUNTED_FAST},
     1600,
     {2, 2.2, 0.05, 0.1, 0.01, 0.005, 0.007}},
    {{"the same with CRC", COUNTED_PING_PONG, 64 * KIB, 1, true, COUNTED_FAST},
     1600,
     {2, 2.2, 0.05, 0.1, 0.01, 0.005, 0.007}},
    {{"ping-pong 64 KiB, waiting", COUNTED_WAITING, 64 * KIB, 1, false, COUNTED_FAST},
     1600,
     {2, 2.2, 0.05, 1.2, 0.01, 0.005, 0.007}},
    {{"the same with CRC", COUNTED_WAITING, 64 * KIB, 1, true, COUNTED_FAST},
     1600,
     {2, 2.2, 0.05, 1.2, 0.01, 0.005, 0.007}},
    {{"ping-pong 1 MiB, polling", COUNTED_PING_PONG, 1024 * KIB, 1, false, COUNTED_FAST},
     160,
     {2.5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"the same with CRC", COUNTED_PING_PONG, 1024 * KIB, 1, true, COUNTED_FAST},
     160,
     {5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"RDMA Writes 4 KiB", COUNTED_WRITE, 4 * KIB, 64, false, COUNTED_FAST},
     6400,
     {0.2, 0.15, 0.02, 0.004, 0.001, ANY, ANY}},
    {{"Sends 4 KiB", COUNTED_SEND, 4 * KIB, 64, false, COUNTED_FAST},
     6400,
     {0.2, 0.15, 0.02, 0.004, 0.001, ANY, ANY}},
    {{"RDMA Writes 64 KiB", COUNTED_WRITE, 64 * KIB, 16, false, COUNTED_COALESCED},
     1600,
     {0.4, 1.2, 0.05, 0.02, 0.01, 0.005, 0.006}},
    {{"the same with CRC", COUNTED_WRITE, 64 * KIB, 16, true, COUNTED_COALESCED},
     1600,
     {0.4, 1.2, 0.05, 0.02, 0.01, 0.005, 0.006}},
    {{"Sends 64 KiB", COUNTED_SEND, 64 * KIB, 16, false, COUNTED_COALESCED},
     1600,
     {0.4, 1.2, 0.05, 0.02, 0.01, 0.005, 0.006}},
    {{"the same with CRC", COUNTED_SEND, 64 * KIB, 16, true, COUNTED_COALESCED},
     1600,
     {0.4, 1.2, 0.05, 0.02, 0.01, 0.005, 0.006}},
    {{"RDMA Reads 64 KiB", COUNTED_READ, 64 * KIB, 8, false, COUNTED_COALESCED},
     1600,
     {1.25, 1.5, ANY, ANY, 0.01, 0.005, 0.008}},
    {{"the same with CRC", COUNTED_READ, 64 * KIB, 8, true, COUNTED_COALESCED},
     1600,
     {1.5, 1.5, ANY, ANY, 0.01, 0.005, 1.01}},
    {{"RDMA Writes 1 MiB", COUNTED_WRITE, 1024 * KIB, 2, false, COUNTED_COALESCED},
     160,
     {2.5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"the same with CRC", COUNTED_WRITE, 1024 * KIB, 2, true, COUNTED_COALESCED},
     160,
     {5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"Sends 1 MiB", COUNTED_SEND, 1024 * KIB, 2, false, COUNTED_COALESCED},
     160,
     {2.5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"the same with CRC", COUNTED_SEND, 1024 * KIB, 2, true, COUNTED_COALESCED},
     160,
     {5, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"RDMA Reads 1 MiB", COUNTED_READ, 1024 * KIB, 2, false, COUNTED_COALESCED},
     160,
     {4, 22, ANY, ANY, 0.6, 0.04, 0.04}},
    {{"the same with CRC", COUNTED_READ, 1024 * KIB, 2, true, COUNTED_COALESCED},
     160,
     {8, 22, ANY, ANY, 0.6, 0.04, 1.04}},
};

/* Of a program that polls memory: Reads at most, and answers in a row that posts have read. */
#define MEMORY_READS 4000u
#define MEMORY_STAYS 64u

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Compares with the library's own counters: it has made no call that was not counted. */
static void check_books(const struct itx_counters before[2], const struct itx_counters after[2],
                        const struct counted_calls *calls)
{
    uint64_t sends = 0;
    uint64_t receives = 0;
    uint64_t sent = 0;
    uint64_t received = 0;

    for (unsigned i = 0; i < 2; i++) {
        sends += after[i].send_calls - before[i].send_calls;
        receives += after[i].receive_calls - before[i].receive_calls;
        sent += after[i].bytes_sent - before[i].bytes_sent;
        received += after[i].bytes_received - before[i].bytes_received;
    }
    CHECK_EQ(sends, calls->sends);
    CHECK_EQ(receives, calls->receives + calls->empty_receives);
    CHECK_EQ(sent, calls->sent);
    CHECK_EQ(received, calls->received);
}

static void count(struct counted_bed *bed, unsigned messages, struct counted_calls *calls)
{
    struct itx_counters before[2] = {fx_counters(&bed->pair.a), fx_counters(&bed->pair.b)};
    struct itx_counters after[2];

    counted_calls_begin();
    counted_run(bed, messages);
    counted_calls_end(calls);
    after[0] = fx_counters(&bed->pair.a);
    after[1] = fx_counters(&bed->pair.b);
    check_books(before, after, calls);
    CHECK(calls->sent >= (uint64_t)messages * bed->pattern->octets);
    CHECK(calls->received >= (uint64_t)messages * bed->pattern->octets);
    CHECK_EQ(0, calls->heap);
}

static struct bounds per_message(const struct counted_calls *calls, unsigned messages,
                                 uint32_t octets)
{
    double payload = (double)messages * octets;
    double apart = (double)calls->sent_apart + (double)calls->received_apart;

    return (struct bounds){
        .sends = (double)calls->sends / messages,
        .receives = (double)calls->receives / messages,
        .empty_receives = (double)calls->empty_receives / messages,
        .polls = (double)(calls->polls + calls->yields) / messages,
        .others = (double)(calls->poll_changes + calls->others) / messages,
        .copied = (double)calls->copied / payload,
        .apart = apart / payload,
    };
}

static bool is_within(const struct bounds *got, const struct bounds *most)
{
    return got->sends <= most->sends && got->receives <= most->receives &&
           got->empty_receives <= most->empty_receives && got->polls <= most->polls &&
           got->others <= most->others && got->copied <= most->copied && got->apart <= most->apart;
}

/*
 * Reads like a program that polls memory, until posts stay (queue/uiw_stay.h): the answer is in
 * place when a post returns. The held posts must not stay all the same.
 */
static void poll_memory(const struct counted_bed *bed)
{
    volatile unsigned char *sink = bed->a.data;
    it_lmr_triplet_t segment = fx_seg(&bed->a, 0, bed->pattern->octets);
    unsigned stayed = 0;

    for (unsigned i = 0; i < MEMORY_READS && stayed < MEMORY_STAYS; i++) {
        *sink = (unsigned char)~bed->b.data[0];
        CHECK_OK(
            it_post_rdma_read(bed->pair.a_ep, &segment, 1, i, 0, fx_addr(&bed->b, 0), bed->b.key));
        stayed = *sink == bed->b.data[0] ? stayed + 1 : 0;
        while (*sink != bed->b.data[0])
            (void)sched_yield();
    }
}

static bool row_holds(size_t row)
{
    struct counted_bed bed;
    struct counted_calls calls;
    struct bounds got;
    bool within;

    counted_open(&bed, &rows[row].pattern);
    counted_calls_memory(bed.a.data, bed.b.data, bed.a.size);
    counted_run(&bed, rows[row].messages / 4); /* lets the sockets' buffers grow */
    if (rows[row].pattern.operation == COUNTED_READ && rows[row].pattern.window == 1)
        poll_memory(&bed);
    counted_settle(&bed);
    count(&bed, rows[row].messages, &calls);
    got = per_message(&calls, rows[row].messages, rows[row].pattern.octets);
    within = is_within(&got, &rows[row].most);
    printf("%-36s %7.4f %8.4f %7.4f %7.4f %7.4f %7.4f %7.4f\n", rows[row].pattern.name, got.sends,
           got.receives, got.empty_receives, got.polls, got.others, got.copied, got.apart);
    counted_release();
    counted_close(&bed);
    return within;
}

int main(void)
{
    unsigned failed = 0;

    if (!COUNTED_CALLS) {
        (void)puts("skipped: a sanitizer stands between this build and the C library");
        return 77;
    }
    printf("%-36s %7s %8s %7s %7s %7s %7s %7s\n", "per message", "sends", "receives", "empty",
           "polls", "others", "copied", "apart");
    for (size_t i = 0; i < ROWS; i++) {
        if (!row_holds(i)) {
            printf("too much: %s\n", rows[i].pattern.name);
            failed++;
        }
    }
    CHECK_EQ(0, failed);
    check_done();
    return 0;
}
