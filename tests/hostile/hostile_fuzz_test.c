/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers send pseudo-random sequences of frames, some of them well formed. Whatever they send, the
 * victim's connection ends once, its requests are flushed, memory that was not offered does not
 * change, and the rest of the process works. The sequences are the same in every run.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define REGION 256u
#define GUARD  64u

static struct {
    struct hk kit;
    struct fx_buf in;     /* all of it for receives */
    struct fx_buf memory; /* guard, region, guard */
    it_lmr_handle_t lmr;  /* LMR of the region in the middle */
    it_rmr_context_t key;
    struct fx_buf sink;
} bed;

static unsigned char *region_of(void)
{
    return bed.memory.data + GUARD;
}

static void bed_open(void)
{
    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    bed.in = fx_node_buf(&bed.kit.node, REGION);
    bed.sink = fx_node_buf(&bed.kit.node, REGION);
    bed.memory = fx_buf_make_as(bed.kit.node.pz, REGION + 2 * GUARD, IT_PRIV_LOCAL_READ,
                                IT_ADDR_MODE_ABSOLUTE);
    memset(bed.memory.data, 0xee, bed.memory.size);
    CHECK_OK(it_lmr_create21(bed.kit.node.pz, region_of(), NULL, REGION, IT_ADDR_MODE_ABSOLUTE,
                             FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &bed.lmr, &bed.key));
}

static void bed_close(void)
{
    CHECK_OK(it_lmr_free(bed.lmr));
    CHECK(fx_is_byte(bed.memory.data, GUARD, 0xee));
    CHECK(fx_is_byte(bed.memory.data + GUARD + REGION, GUARD, 0xee));
    fx_buf_free(&bed.memory);
    hk_close(&bed.kit);
}

static uint32_t pick(uint32_t *state, uint32_t count)
{
    return fx_random(state) % count;
}

/* Returns mostly sensible values, sometimes extreme ones. */
static uint32_t value(uint32_t *state, uint32_t usual)
{
    static const uint32_t wild[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

    switch (pick(state, 12)) {
    case 0:
        return wild[pick(state, 7)];
    case 1:
        return fx_random(state);
    case 2:
        return usual + pick(state, 5) - 2;
    default:
        return usual;
    }
}

static uint64_t offset(uint32_t *state)
{
    uint64_t base = (uint64_t)(uintptr_t)region_of();

    switch (pick(state, 8)) {
    case 0:
        return UINT64_MAX - pick(state, 64);
    case 1:
        return base + REGION - pick(state, 40);
    case 2:
        return base - pick(state, 40);
    default:
        return base + pick(state, REGION - 100);
    }
}

/* The position in the sequence: what a well-behaved peer would send next. */
struct place {
    uint32_t send_msn;
    uint32_t read_msn;
    uint32_t mo;
};

static void random_ulpdu(struct raw_bytes *ulpdu, struct place *place, uint32_t *state)
{
    static unsigned char payload[3000];
    size_t len = pick(state, 6) == 0 ? pick(state, sizeof(payload)) : pick(state, 60);
    bool last = pick(state, 4) != 0;

    memset(payload, (int)pick(state, 256), len);
    switch (pick(state, 6)) {
    case 0:
    case 1:
        raw_untagged(ulpdu, (enum raw_op)(RAW_SEND + pick(state, 4)), value(state, 0),
                     value(state, place->send_msn), value(state, place->mo), payload, len, last,
                     value(state, 0));
        place->mo = last ? 0 : place->mo + (uint32_t)len;
        place->send_msn += last;
        break;
    case 2:
        raw_read_request(ulpdu, value(state, place->read_msn), fx_random(state), fx_random(state),
                         value(state, pick(state, 100)), value(state, (uint32_t)bed.key),
                         offset(state));
        place->read_msn++;
        break;
    case 3:
        raw_tagged(ulpdu, (enum raw_op)pick(state, 16), value(state, (uint32_t)bed.key),
                   offset(state), payload, len, last);
        break;
    case 4:
        raw_untagged(ulpdu, (enum raw_op)pick(state, 16), pick(state, 5), value(state, 1),
                     value(state, 0), payload, len, last, fx_random(state));
        break;
    default:
        raw_tagged(ulpdu, RAW_WRITE, (uint32_t)bed.key, offset(state), payload, len, last);
        break;
    }
    if (pick(state, 25) == 0)
        ulpdu->data[pick(state, (uint32_t)ulpdu->len)] ^= (unsigned char)(1u << pick(state, 8));
    if (pick(state, 40) == 0)
        ulpdu->len = pick(state, (uint32_t)ulpdu->len + 1);
}

/* Damages the framing: wrong lengths and CRCs. */
static void damage(struct raw_bytes *stream, uint32_t *state)
{
    for (uint32_t i = pick(state, 4); i > 0 && stream->len != 0; i--)
        stream->data[pick(state, (uint32_t)stream->len)] ^= (unsigned char)(1u << pick(state, 8));
}

static void post_work(it_ep_handle_t ep)
{
    it_lmr_triplet_t sink = fx_seg(&bed.sink, 0, 40);

    for (uint64_t i = 0; i < 6; i++)
        fx_recv(ep, &bed.in, i * 40, 40, i);
    CHECK_OK(it_post_rdma_read(ep, &sink, 1, 100, FX_SIGNAL, 0x1000, 0x1234));
    CHECK_OK(it_post_send(ep, NULL, 0, 101, FX_SIGNAL));
}

/* Checks that all posted requests complete in order, flushed ones last. */
static void work_completes(it_ep_handle_t ep)
{
    bool failed = false;

    for (uint64_t i = 0; i < 6; i++) {
        it_event_t event = fx_next(bed.kit.node.recv_evd);

        EXPECT(event.dto_cmpl.ep == ep);
        EXPECT_EQ(i, event.dto_cmpl.cookie);
        EXPECT(!failed || event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
        failed = event.dto_cmpl.dto_status != IT_DTO_SUCCESS;
    }
    for (uint64_t i = 0; i < 2; i++)
        EXPECT_EQ(100 + i, fx_next(bed.kit.node.request_evd).dto_cmpl.cookie);
}

static void one_peer(uint32_t seed, bool damaged, const struct hk_startup *startup)
{
    uint32_t state = seed * 2654435761u + 12345u;
    struct place place = {1, 1, 0};
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct hk_victim victim;
    it_event_t event;

    hk_victim(&bed.kit, &victim, (enum hk_role)(seed % HK_ROLES), startup);
    post_work(victim.ep);
    for (uint32_t i = 1 + pick(&state, 12); i > 0; i--) {
        random_ulpdu(&ulpdu, &place, &state);
        raw_fpdu(&stream, &ulpdu, victim.peer.crc);
    }
    if (damaged)
        damage(&stream, &state);
    (void)raw_send(&victim.peer, &stream);
    if (pick(&state, 3) == 0)
        raw_close_with_reset(&victim.peer);
    else
        raw_finish(&victim.peer);
    event = fx_next(bed.kit.node.conn_evd);
    EXPECT(event.conn.ep == victim.ep);
    EXPECT(event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
           event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(victim.ep));
    work_completes(victim.ep);
    fx_drain(bed.kit.node.aff_evd);
    fx_empty(bed.kit.node.conn_evd);
    EXPECT(fx_is_byte(bed.memory.data, GUARD, 0xee));
    EXPECT(fx_is_byte(bed.memory.data + GUARD + REGION, GUARD, 0xee));
    hk_victim_close(&victim);
}

static void many_peers(uint32_t first, bool damaged, const struct hk_startup *startup)
{
    char context[64];

    bed_open();
    for (uint32_t seed = first; seed < first + 300; seed++) {
        (void)snprintf(context, sizeof(context), "seed %u", seed);
        check_context(context);
        one_peer(seed, damaged, startup);
        if (seed % 20 == 0)
            hk_healthy(&bed.kit);
    }
    check_context(NULL);
    fx_drain(bed.kit.node.aff_evd);
    bed_close();
    check_done();
}

TEST_ROW(hostile_fuzz, frames, many_peers, 1, false, &hk_plain);
TEST_ROW(hostile_fuzz, damaged_frames, many_peers, 1000, true, &hk_plain);

/* Without CRC all damage reaches the layers above. */
Test(hostile_fuzz, damaged_frames_without_crc, .init = bed_open, .fini = bed_close)
{
    static const struct hk_startup startup = {1, 0, 0};

    for (uint32_t seed = 5000; seed < 5300; seed++) {
        /* Only an initiator can do without CRC. */
        one_peer(seed | 1u, true, &startup);
        if (seed % 20 == 0)
            hk_healthy(&bed.kit);
    }
    fx_drain(bed.kit.node.aff_evd);
}

/* Sends random octets. */
Test(hostile_fuzz, noise, .init = bed_open, .fini = bed_close)
{
    for (uint32_t seed = 1; seed < 150; seed++) {
        uint32_t state = seed * 7919u;
        struct hk_victim victim;
        RAW_BYTES(noise);

        hk_victim(&bed.kit, &victim, (enum hk_role)(seed % HK_ROLES), &hk_plain);
        for (uint32_t i = 1 + pick(&state, 300); i > 0; i--)
            raw_add_byte(&noise, pick(&state, 256));
        (void)raw_send(&victim.peer, &noise);
        raw_finish(&victim.peer);
        hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
        (void)raw_drain(&victim.peer);
        hk_victim_close(&victim);
    }
    hk_healthy(&bed.kit);
    fx_drain(bed.kit.node.aff_evd);
}

/* Rejects every request until the peer's connection was closed. */
static void until_closed(struct hk *kit, struct raw_peer *peer)
{
    struct fx_patience patience = fx_patience_start("end of the connection");
    ssize_t got;

    do {
        unsigned char scrap[256];
        it_event_t event;

        while (it_evd_dequeue(kit->node.listen_evd, &event) == IT_SUCCESS)
            (void)it_reject(event.conn_req.cn_est_id, NULL, 0);
        got = recv(peer->fd, scrap, sizeof(scrap), MSG_DONTWAIT);
        fx_patience_check(&patience);
    } while (got > 0 || (got < 0 && errno == EAGAIN));
}

/* Sends startup frames with one bit changed to the listener. */
Test(hostile_fuzz, startup_bits)
{
    struct hk kit;
    RAW_BYTES(good);

    hk_open(&kit);
    raw_mpa2(&good, false, RAW_MPA_C, RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 4u << 16 | 4u);
    for (size_t bit = 0; bit < 8 * good.len; bit++) {
        struct raw_peer peer;

        good.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        raw_connect(&peer, kit.port);
        (void)raw_send(&peer, &good);
        raw_finish(&peer);
        good.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (bit % 16 == 0)
            hk_healthy(&kit);
        until_closed(&kit, &peer);
        raw_close(&peer);
    }
    hk_healthy(&kit);
    hk_close(&kit);
    check_done();
}
