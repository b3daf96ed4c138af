/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program changes memory while a peer reads it. The peer finds right CRCs all the same, except
 * where the program has promised that the memory is steady: then its octets are not copied.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "hostile/fixture_kit.h"
#include "itx_api.h"
#include "support/it_window.h"

#define BIG (4u << 20)

/* ThreadSanitizer would report what the program does here on purpose. */
#ifdef __SANITIZE_THREAD__
#define RESTLESS .disabled = true
#else
#define RESTLESS .disabled = false
#endif

struct restless {
    unsigned char *octets;
    volatile bool stop;
};

static void *change(void *argument)
{
    struct restless *memory = argument;

    for (unsigned value = 0; !memory->stop; value++)
        for (size_t at = 0; at < BIG; at += 1024)
            ((volatile unsigned char *)memory->octets)[at] = (unsigned char)value;
    return NULL;
}

/* Reads all of the memory. Returns false at an FPDU with a wrong CRC. */
static bool read_all(struct hk_victim *victim, uint32_t msn, uint32_t stag, const void *octets)
{
    static struct raw_segment segment;
    enum raw_result result;
    RAW_BYTES(ulpdu);

    raw_read_request(&ulpdu, msn, 1, 0, BIG, stag, (uintptr_t)octets);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    do {
        result = raw_receive_fpdu(&victim->peer, &segment);
    } while (result == RAW_OK && !segment.last);
    CHECK(result == RAW_OK || result == RAW_BAD);
    return result == RAW_OK;
}

/*
 * Returns the number of Reads until one is damaged, or `most`; through a window if `links` is set.
 */
static uint32_t read_restless(it_lmr_flag_t flags, bool links, uint32_t most)
{
    struct restless memory = {.octets = calloc(1, BIG)};
    uint32_t reads = 0;
    it_rmr_context_t key;
    it_lmr_handle_t lmr;
    it_rmr_handle_t rmr;
    struct fx_buf buf;
    struct fx_part part;
    struct hk_victim victim;
    pthread_t thread;

    CHECK(memory.octets);
    CHECK_OK(it_lmr_create10(kit.node.pz, memory.octets, BIG, IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ,
                             flags, 0, &lmr, &key));
    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    buf = (struct fx_buf){.lmr = lmr, .data = memory.octets, .size = BIG};
    part = (struct fx_part){&buf, 0, BIG, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ};
    rmr = fx_rmr(kit.node.pz, IT_RMR_TYPE_WIDE);
    if (links)
        key = fx_linked(kit.node.request_evd, victim.ep, rmr, &part);
    CHECK(pthread_create(&thread, NULL, change, &memory) == 0);
    while (reads < most && read_all(&victim, reads + 1, (uint32_t)key, memory.octets))
        reads++;
    memory.stop = true;
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_OK(it_ep_free(victim.ep));
    raw_close(&victim.peer);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_lmr_free(lmr));
    free(memory.octets);
    return reads;
}

Test(hostile_steady, memory_that_changes, .init = kit_init, .fini = kit_fini, RESTLESS)
{
    EXPECT_EQ(20, read_restless(IT_LMR_FLAG_NONE, false, 20));
    EXPECT_EQ(20, read_restless(IT_LMR_FLAG_NONE, true, 20));
}

/* Sooner or later the thread changes an octet between its sum and its way into the socket. */
Test(hostile_steady, memory_that_was_said_not_to_change, .init = kit_init, .fini = kit_fini,
     RESTLESS)
{
    EXPECT(read_restless(ITX_LMR_STEADY, false, UINT32_MAX) < UINT32_MAX);
    EXPECT(read_restless(ITX_LMR_STEADY, true, UINT32_MAX) < UINT32_MAX);
}

/* The memory rests; the stream has markers. */
Test(hostile_steady, with_markers, .init = kit_init, .fini = kit_fini)
{
    static const struct hk_startup marked = {1, RAW_MPA_C | RAW_MPA_M, 0};
    unsigned char *octets = calloc(1, BIG);
    it_rmr_context_t key;
    it_lmr_handle_t lmr;
    struct hk_victim victim;

    CHECK(octets);
    CHECK_OK(it_lmr_create10(kit.node.pz, octets, BIG, IT_PRIV_REMOTE_READ, ITX_LMR_STEADY, 0, &lmr,
                             &key));
    hk_victim(&kit, &victim, HK_LISTEN, &marked);
    CHECK(read_all(&victim, 1, (uint32_t)key, octets));
    EXPECT(victim.peer.markers_seen > 0);
    CHECK_OK(it_ep_free(victim.ep));
    raw_close(&victim.peer);
    CHECK_OK(it_lmr_free(lmr));
    free(octets);
}
