/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that asks for markers gets them in every frame: at the right positions, with the right
 * pointers and the right CRC (the raw peer checks each). Its own frames have none.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define ROOM 70000u

static const size_t sizes[] = {0,    1,    2,    3,    4,    20,    100,   470,   474,   475,
                               476,  477,  478,  479,  480,  484,   488,   492,   496,   500,
                               504,  508,  512,  516,  980,  984,   988,   992,   1000,  1420,
                               1428, 1429, 2000, 4096, 9001, 16384, 65000, 65535, 65536, 66001};

struct bed {
    struct hk kit;
    struct hk_victim victim;
    struct fx_buf out;
};

/* Receives one message of the library, in as many FPDUs as it has, and checks it. */
static void message(struct bed *bed, enum raw_op op, uint32_t msn, uint32_t stag, uint64_t to,
                    size_t size)
{
    static struct raw_segment segment;
    size_t at = 0;

    do {
        enum raw_result result = raw_receive_fpdu(&bed->victim.peer, &segment);

        if (result != RAW_OK)
            CHECK_FAIL("%zu of %zu: %s %s", at, size, raw_result_name(result),
                       bed->victim.peer.error);
        CHECK_EQ(op, segment.op);
        if (segment.tagged && size != 0) {
            CHECK_EQ(stag, segment.stag);
            CHECK_EQ(to + at, segment.to);
        } else if (!segment.tagged) {
            CHECK_EQ(0, segment.qn);
            CHECK_EQ(msn, segment.msn);
            CHECK_EQ(at, segment.mo);
        }
        CHECK(at + segment.len <= size);
        fx_check_same(bed->out.data + at, segment.payload, segment.len);
        at += segment.len;
        CHECK(segment.len != 0 || segment.last);
    } while (!segment.last);
    CHECK_EQ(size, at);
}

static void exchange(struct bed *bed)
{
    RAW_BYTES(ulpdu);
    uint32_t msn = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];

        fx_send(bed->victim.ep, &bed->out, 0, size, i, FX_SIGNAL);
        message(bed, RAW_SEND, ++msn, 0, 0, size);
        fx_done_len(bed->kit.node.request_evd, bed->victim.ep, IT_DTO_SEND_CMPL_EVENT, i, size);
        {
            it_lmr_triplet_t local = fx_seg(&bed->out, 0, size);

            CHECK_OK(it_post_rdma_write(bed->victim.ep, &local, 1, i, FX_SIGNAL, 0x123456789abcdef0,
                                        0xcafe0001));
            message(bed, RAW_WRITE, 0, 0xcafe0001, 0x123456789abcdef0, size);
            fx_done_len(bed->kit.node.request_evd, bed->victim.ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i,
                        size);
        }
        raw_read_request(&ulpdu, (uint32_t)i + 1, 0xbeef0002, 0x55, (uint32_t)size,
                         (uint32_t)bed->out.key, fx_addr(&bed->out, 0));
        CHECK(raw_send_ulpdu(&bed->victim.peer, &ulpdu));
        message(bed, RAW_READ_RESPONSE, 0, 0xbeef0002, 0x55, size);
    }
}

static void run(enum hk_role role, const struct hk_startup *startup)
{
    struct bed bed;
    struct itx_mpa_info info;
    RAW_BYTES(ulpdu);
    it_ep_attributes_t attr = fx_ep_attr();

    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    bed.out = fx_buf_make(&bed.kit.node, ROOM);
    fx_fill(bed.out.data, bed.out.size, 21);
    attr.srv.rc.rdma_read_ird = 4;
    hk_victim_of(&bed.kit, &bed.victim, fx_ep(&bed.kit.node, &attr), role, startup);
    CHECK_EQ(0, bed.victim.theirs.flags & RAW_MPA_M);
    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(bed.victim.ep, &info));
    CHECK_EQ(IT_TRUE, info.send_markers);
    if (!hk_victim_initiates(role) && (startup->word & RAW_ENH_A) == 0)
        hk_wake(&bed.victim);
    exchange(&bed);
    CHECK(bed.victim.peer.markers_seen >= bed.victim.peer.received / 512);
    /* The Terminate has markers, too. */
    raw_tagged(&ulpdu, RAW_WRITE, 0, 0, "nowhere", 7, true);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    CHECK_EQ(0x1100, hk_terminated(&bed.victim, &ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
    hk_victim_close(&bed.victim);
    fx_buf_free(&bed.out);
    hk_close(&bed.kit);
    check_done();
}

static const struct hk_startup revision_1 = {1, RAW_MPA_C | RAW_MPA_M, 0};
static const struct hk_startup revision_1_no_crc = {1, RAW_MPA_M, 0};
static const struct hk_startup revision_2 = {2, RAW_MPA_C | RAW_MPA_M, 8u << 16 | 4u};
static const struct hk_startup peer_to_peer = {2, RAW_MPA_C | RAW_MPA_M,
                                               RAW_ENH_A | RAW_ENH_C | 8u << 16 | 4u};

TEST_ROW(hostile_marker, listener, run, HK_LISTEN, &revision_1);
TEST_ROW(hostile_marker, listener_revision_2, run, HK_LISTEN, &revision_2);
TEST_ROW(hostile_marker, listener_peer_to_peer, run, HK_LISTEN, &peer_to_peer);
TEST_ROW(hostile_marker, connect, run, HK_CONNECT, &revision_1);
TEST_ROW(hostile_marker, connect_without_crc, run, HK_CONNECT, &revision_1_no_crc);
TEST_ROW(hostile_marker, connect_revision_2, run, HK_CONNECT, &revision_2);
TEST_ROW(hostile_marker, convert_responder, run, HK_CONVERT_RESPONDER, &revision_1);
TEST_ROW(hostile_marker, convert_initiator, run, HK_CONVERT_INITIATOR, &revision_1);

/* The queue has many small messages and a large one at once. */
Test(hostile_marker, queue_of_messages)
{
    struct bed bed;
    struct fx_buf big;

    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    big = fx_node_buf(&bed.kit.node, 1u << 20);
    bed.out = big;
    fx_fill(big.data, big.size, 3);
    hk_victim(&bed.kit, &bed.victim, HK_CONNECT, &revision_1);
    for (uint64_t i = 0; i < 40; i++)
        fx_send(bed.victim.ep, &big, 0, i == 20 ? big.size : 3 * i, i, FX_QUIET);
    for (uint32_t i = 0; i < 40; i++)
        message(&bed, RAW_SEND, i + 1, 0, 0, i == 20 ? big.size : 3 * i);
    hk_part(&bed.victim);
    hk_close(&bed.kit);
}
