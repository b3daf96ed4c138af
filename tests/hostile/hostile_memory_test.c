/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_lmr_free while a peer writes to the region or reads from it. When the call has returned, the
 * memory does not change any more, and no octet of it is sent.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "hostile/fixture_kit.h"
#include "hostile/hostile_writer.h"

#define REGION   WRITER_REGION
#define CHUNK    WRITER_CHUNK
#define GRACE_US 20000u

static void free_under_writes(const struct hk_startup *startup, unsigned seed)
{
    static unsigned char now[REGION];
    struct hk_victim victim;
    struct fx_buf region;
    struct writer writer;
    uint64_t until;

    hk_open(&kit);
    region = fx_buf_make(&kit.node, REGION);
    hk_victim(&kit, &victim, HK_CONNECT, startup);
    writer_start(&writer, &victim.peer, (uint32_t)region.key, fx_addr(&region, 0));
    writer_await(&writer, 2 + seed % 3);
    until = fx_now_us() + seed * 137 % 1000;
    while (fx_now_us() < until)
        continue;
    CHECK_OK(it_lmr_free(region.lmr));
    memcpy(now, region.data, REGION);
    stays(region.data, now, GRACE_US);
    /* The program may use its memory again. */
    memset(region.data, 0xff, REGION);
    memset(now, 0xff, REGION);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
    stays(region.data, now, GRACE_US);
    raw_finish(&victim.peer);
    CHECK(pthread_join(writer.thread, NULL) == 0);
    hk_victim_close(&victim);
    region.lmr = NULL;
    fx_buf_free(&region);
    hk_close(&kit);
    check_done();
}

Test(hostile_memory, freed_under_writes)
{
    for (unsigned seed = 0; seed < 6; seed++)
        free_under_writes(&hk_plain, seed);
}

Test(hostile_memory, freed_under_writes_without_crc)
{
    static const struct hk_startup startup = {1, 0, 0};

    for (unsigned seed = 0; seed < 6; seed++)
        free_under_writes(&startup, seed);
}

/* The region is freed when half of an FPDU has arrived. The rest is placed nowhere. */
Test(hostile_memory, freed_under_half_an_fpdu, .init = kit_init, .fini = kit_fini)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    static unsigned char payload[CHUNK];
    static unsigned char now[REGION];

    memset(payload, 0x61, sizeof(payload));
    for (size_t half = 2; half < CHUNK; half += 9973) {
        struct hk_victim victim;
        struct fx_buf region = fx_buf_make(&kit.node, REGION);

        hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
        raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)region.key, fx_addr(&region, 0), payload, CHUNK,
                   true);
        raw_reset(&stream);
        raw_fpdu(&stream, &ulpdu, true);
        CHECK(raw_send_part(&victim.peer, stream.data, half));
        hk_healthy(&kit);
        CHECK_OK(it_lmr_free(region.lmr));
        memcpy(now, region.data, REGION);
        (void)raw_send_part(&victim.peer, stream.data + half, stream.len - half);
        hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
        (void)fx_next(kit.node.aff_evd);
        stays(region.data, now, GRACE_US);
        hk_victim_close(&victim);
        region.lmr = NULL;
        fx_buf_free(&region);
    }
    check_done();
}

/* A thread whose peer reads the region and must never find the marked octet in it. */
struct reader {
    pthread_t thread;
    struct raw_peer *peer;
    uint32_t stag;
    uint64_t to;
    atomic_uint answers;
    atomic_bool leaked;
};

#define SECRET 0xc5

/*
 * Receives one FPDU. Sets *leaked if its payload, even of an incomplete one, contains the marked
 * octet.
 */
static enum raw_result receive_and_search(struct raw_peer *peer, struct raw_segment *segment,
                                          atomic_bool *leaked)
{
    enum raw_result result;

    memset(segment->ulpdu, 0, sizeof(segment->ulpdu));
    result = raw_receive_fpdu(peer, segment);
    if ((segment->ulpdu[0] & 0x80u) != 0 &&
        memchr(segment->ulpdu + 14, SECRET, sizeof(segment->ulpdu) - 14) != NULL)
        atomic_store(leaked, true);
    return result;
}

static bool read_region(struct reader *reader, uint32_t msn, struct raw_segment *segment)
{
    RAW_BYTES(ulpdu);
    bool good;

    raw_read_request(&ulpdu, msn, 1, 0, REGION, reader->stag, reader->to);
    good = raw_send_ulpdu(reader->peer, &ulpdu);
    do {
        good = good && receive_and_search(reader->peer, segment, &reader->leaked) == RAW_OK &&
               segment->op == RAW_READ_RESPONSE;
        if (good)
            atomic_fetch_add(&reader->answers, 1);
    } while (good && !segment->last);
    return good;
}

static void *reader_main(void *argument)
{
    struct reader *reader = argument;
    struct raw_segment *segment = malloc(sizeof(*segment));
    uint32_t msn = 1;

    CHECK(segment != NULL);
    while (read_region(reader, msn, segment))
        msn++;
    free(segment);
    return NULL;
}

static void free_under_reads(const struct hk_startup *startup, unsigned seed)
{
    struct hk_victim victim;
    struct fx_buf region;
    struct reader reader;
    uint64_t until;

    hk_open(&kit);
    region = fx_buf_make(&kit.node, REGION);
    memset(region.data, 0x11, REGION);
    hk_victim(&kit, &victim, HK_CONNECT, startup);
    memset(&reader, 0, sizeof(reader));
    reader.peer = &victim.peer;
    reader.stag = (uint32_t)region.key;
    reader.to = fx_addr(&region, 0);
    CHECK(pthread_create(&reader.thread, NULL, reader_main, &reader) == 0);
    FX_WAIT_WHILE(atomic_load(&reader.answers) < 40 + 7 * seed, "reads");
    until = fx_now_us() + seed * 211 % 1000;
    while (fx_now_us() < until)
        continue;
    CHECK_OK(it_lmr_free(region.lmr));
    memset(region.data, SECRET, REGION);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK(pthread_join(reader.thread, NULL) == 0);
    CHECK(!atomic_load(&reader.leaked));
    fx_drain(kit.node.aff_evd);
    hk_victim_close(&victim);
    region.lmr = NULL;
    fx_buf_free(&region);
    hk_close(&kit);
    check_done();
}

Test(hostile_memory, freed_under_reads)
{
    for (unsigned seed = 0; seed < 6; seed++)
        free_under_reads(&hk_plain, seed);
}

Test(hostile_memory, freed_under_reads_without_crc)
{
    static const struct hk_startup startup = {1, 0, 0};

    for (unsigned seed = 0; seed < 6; seed++)
        free_under_reads(&startup, seed);
}

/* The peer does not read the Response, so only half of it was sent when the region is freed. */
Test(hostile_memory, freed_under_half_a_response, .init = kit_init, .fini = kit_fini)
{
    static struct raw_segment segment;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    enum raw_result result;
    atomic_bool leaked = false;
    struct fx_buf region = fx_buf_make(&kit.node, 32u << 20);

    memset(region.data, 0x11, region.size);
    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    raw_read_request(&ulpdu, 1, 1, 0, (uint32_t)region.size, (uint32_t)region.key,
                     fx_addr(&region, 0));
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    /* The start of the Response has left. */
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    hk_healthy(&kit);
    CHECK_OK(it_lmr_free(region.lmr));
    memset(region.data, SECRET, region.size);
    /* Octets that the kernel has taken may still come, but no others. */
    do
        result = receive_and_search(&victim.peer, &segment, &leaked);
    while (result == RAW_OK && segment.op == RAW_READ_RESPONSE);
    CHECK(!atomic_load(&leaked));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_drain(kit.node.aff_evd);
    hk_victim_close(&victim);
    region.lmr = NULL;
    fx_buf_free(&region);
    check_done();
}
