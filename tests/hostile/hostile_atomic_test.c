/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations and Immediate Data (RFC 7306) with a raw peer: the library's frames, its
 * answers, and how it handles peers that violate the rules or do not know them.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include "hostile/hostile_kit.h"

#define ALL    UINT64_MAX
#define REGION 64u

/* Depths of 2 both ways. */
static const struct hk_startup depth_2 = {2, RAW_MPA_C, 2u << 16 | 2u};

static struct {
    struct hk kit;
    struct hk_victim victim;
    struct fx_buf words; /* the peer may run atomics on this memory */
    struct fx_buf local;
} bed;

static void victim_open(enum hk_role role, const struct hk_startup *startup)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;

    attr.srv.rc.atomics_enable = IT_TRUE;
    attr.srv.rc.rdma_read_ird = 2;
    ep = fx_ep(&bed.kit.node, &attr);
    CHECK_OK(itx_ep_enable_immediate(ep, IT_TRUE));
    hk_victim_of(&bed.kit, &bed.victim, ep, role, startup);
}

static void bed_open_as(enum hk_role role, const struct hk_startup *startup)
{
    it_mem_priv_t privs = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_ATOMIC);

    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    bed.words = fx_buf_make_as(bed.kit.node.pz, REGION, privs, IT_ADDR_MODE_ABSOLUTE);
    bed.local = fx_node_buf(&bed.kit.node, REGION);
    victim_open(role, startup);
}

static void bed_open(enum hk_role role)
{
    bed_open_as(role, &depth_2);
}

static void bed_close(void)
{
    hk_victim_close(&bed.victim);
    fx_buf_free(&bed.words);
    hk_close(&bed.kit);
    check_done();
}

static uint64_t *word(size_t index)
{
    return (uint64_t *)(void *)bed.words.data + index;
}

static void take(struct raw_segment *segment, enum raw_op op)
{
    enum raw_result result = raw_receive_fpdu(&bed.victim.peer, segment);

    if (result != RAW_OK)
        CHECK_FAIL("no FPDU: %s %s", raw_result_name(result), bed.victim.peer.error);
    CHECK_EQ(op, segment->op);
    CHECK(segment->last);
    CHECK_EQ(0, segment->stag * (unsigned)!segment->tagged);
}

/* After one illegal frame: checks the Terminate and the events. */
static void broken(unsigned code, it_event_type_t affiliated)
{
    EXPECT_EQ(code, hk_terminated(&bed.victim, NULL));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, affiliated, affiliated);
}

/* ---- What we ask for ------------------------------------------------------------------------ */

static uint32_t take_request(uint32_t msn, unsigned code, uint64_t operand, uint64_t operand_mask,
                             uint64_t compare, uint64_t compare_mask)
{
    static struct raw_segment segment;
    const unsigned char *p = segment.ulpdu + 18;

    take(&segment, RAW_ATOMIC_REQUEST);
    CHECK_EQ(1, segment.qn);
    CHECK_EQ(msn, segment.msn);
    CHECK_EQ(0, segment.mo);
    CHECK_EQ(52, segment.len);
    CHECK_EQ(code, raw_be32(p));
    CHECK_EQ(0x22334455, raw_be32(p + 8));
    CHECK_EQ(0x40, raw_be64(p + 12));
    CHECK_EQ(operand, raw_be64(p + 20));
    CHECK_EQ(operand_mask, raw_be64(p + 28));
    CHECK_EQ(compare, raw_be64(p + 36));
    CHECK_EQ(compare_mask, raw_be64(p + 44));
    return raw_be32(p + 4);
}

static void respond(uint32_t msn, uint32_t id, uint64_t original)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_ATOMIC_RESPONSE, 3, msn, 0, NULL, 0, true, 0);
    raw_add_be32(&ulpdu, id);
    raw_add_be64(&ulpdu, original);
    (void)raw_send_ulpdu(&bed.victim.peer, &ulpdu);
}

static void post(it_atomic_op_t op, it_dto_cookie_t cookie)
{
    it_lmr_triplet_t result = fx_seg(&bed.local, 8, 8);

    CHECK_OK(it_post_atomic(bed.victim.ep, op, 0x77, 0x1005, &result, cookie, FX_SIGNAL, 0x40,
                            0x22334455));
}

static void post_read(it_dto_cookie_t cookie)
{
    it_lmr_triplet_t sink = fx_seg(&bed.local, 16, 8);

    CHECK_OK(it_post_rdma_read(bed.victim.ep, &sink, 1, cookie, FX_SIGNAL, 0, 0x99));
}

static bool says_nothing(void)
{
    struct pollfd wait = {bed.victim.peer.fd, POLLIN, 0};

    return poll(&wait, 1, 30) == 0;
}

Test(hostile_atomic, requests_on_the_wire, .fini = bed_close)
{
    it_lmr_triplet_t result;
    uint32_t id[3];

    bed_open(HK_CONNECT);
    post(IT_FETCH_AND_ADD, 1);
    post(IT_COMPARE_AND_SWAP, 2);
    result = fx_seg(&bed.local, 8, 8);
    CHECK_OK(itx_post_atomic_swap(bed.victim.ep, 0x88, &result, 3, FX_SIGNAL, 0x40, 0x22334455));
    id[0] = take_request(1, 0, 0x77, 0, 0, ALL);
    id[1] = take_request(2, 2, 0x77, ALL, 0x1005, ALL);
    CHECK(id[0] != id[1]);
    CHECK(says_nothing()); /* the ORD is 2 */
    respond(1, id[0], UINT64_C(0x0102030405060708));
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 1, 8);
    CHECK_EQ(UINT64_C(0x0102030405060708), *(uint64_t *)(void *)(bed.local.data + 8));
    id[2] = take_request(3, 2, 0x88, ALL, 0, 0);
    respond(2, id[1], 1);
    respond(3, id[2], 2);
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 2, 8);
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 3, 8);
    CHECK_EQ(2, *(uint64_t *)(void *)(bed.local.data + 8));
    CHECK(fx_is_byte(bed.local.data, 8, 0) && fx_is_byte(bed.local.data + 16, REGION - 16, 0));
    raw_finish(&bed.victim.peer);
    hk_ended(&bed.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- Responses that lie --------------------------------------------------------------------- */

static void lie_nobody_asked(void)
{
    respond(1, 0, 5);
}

static void lie_other_id(void)
{
    post(IT_COMPARE_AND_SWAP, 1);
    respond(1, take_request(1, 2, 0x77, ALL, 0x1005, ALL) + 1, 5);
}

static void lie_second_first(void)
{
    uint32_t id;

    post(IT_COMPARE_AND_SWAP, 1);
    post(IT_COMPARE_AND_SWAP, 2);
    id = take_request(1, 2, 0x77, ALL, 0x1005, ALL);
    respond(2, id, 5);
}

static void lie_twice(void)
{
    uint32_t id;

    post(IT_COMPARE_AND_SWAP, 1);
    id = take_request(1, 2, 0x77, ALL, 0x1005, ALL);
    respond(1, id, 0);
    respond(2, id, 5);
}

static void lie_to_a_read(void)
{
    static struct raw_segment segment;

    post_read(1);
    take(&segment, RAW_READ_REQUEST);
    respond(1, 0, 5);
}

static void lie_as_a_read(void)
{
    static const unsigned char data[8] = "llllllll";
    RAW_BYTES(ulpdu);

    post(IT_COMPARE_AND_SWAP, 1);
    (void)take_request(1, 2, 0x77, ALL, 0x1005, ALL);
    raw_tagged(&ulpdu, RAW_READ_RESPONSE, (uint32_t)bed.local.key, 0, data, 8, true);
    (void)raw_send_ulpdu(&bed.victim.peer, &ulpdu);
}

static void lie_short(void)
{
    RAW_BYTES(ulpdu);

    post(IT_COMPARE_AND_SWAP, 1);
    raw_untagged(&ulpdu, RAW_ATOMIC_RESPONSE, 3, 1, 0, "llllllll", 8, true, 0);
    (void)raw_send_ulpdu(&bed.victim.peer, &ulpdu);
}

static const struct lie {
    const char *name;
    void (*tell)(void);
    unsigned code;
    it_event_type_t affiliated;
    it_dto_status_t status; /* status of the first failed request; IT_DTO_SUCCESS: none fails */
} lies[] = {
    {"nobody asked", lie_nobody_asked, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE,
     IT_DTO_SUCCESS},
    {"another identifier", lie_other_id, 0x02ff, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR,
     IT_DTO_ERR_BAD_RESPONSE},
    {"MSN 2 first", lie_second_first, 0x1203, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR,
     IT_DTO_ERR_BAD_RESPONSE},
    {"answered twice", lie_twice, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, IT_DTO_SUCCESS},
    {"answer to a Read", lie_to_a_read, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE,
     IT_DTO_ERR_BAD_RESPONSE},
    {"a Read Response", lie_as_a_read, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE,
     IT_DTO_ERR_BAD_RESPONSE},
    {"4 octets short", lie_short, 0x2003, IT_ASYNC_AFF_EP_L_LLP_ERROR, IT_DTO_ERR_FLUSHED},
};

Test(hostile_atomic, responses_that_lie)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        it_event_t event;

        check_context(lies[i].name);
        bed_open(HK_CONNECT);
        lies[i].tell();
        broken(lies[i].code, lies[i].affiliated);
        while (it_evd_dequeue(bed.kit.node.request_evd, &event) == IT_SUCCESS &&
               event.dto_cmpl.dto_status == IT_DTO_SUCCESS) {
        }
        if (lies[i].status != IT_DTO_SUCCESS)
            EXPECT_EQ(lies[i].status, event.dto_cmpl.dto_status);
        while (it_evd_dequeue(bed.kit.node.request_evd, &event) == IT_SUCCESS)
            EXPECT_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        EXPECT(fx_is_byte(bed.local.data, REGION, 0));
        hk_healthy(&bed.kit);
        hk_quiet(&bed.kit);
        bed_close();
    }
    check_context(NULL);
}

/* ---- Peers without RFC 7306 ----------------------------------------------------------------- */

/* The Terminate names the second of three requests, or none, like siw's. */
static void does_not_know(bool as_siw)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    uint32_t id;

    bed_open(HK_CONNECT);
    post(IT_COMPARE_AND_SWAP, 1);
    post(IT_COMPARE_AND_SWAP, 2);
    post(IT_COMPARE_AND_SWAP, 3);
    id = take_request(1, 2, 0x77, ALL, 0x1005, ALL);
    take(&segment, RAW_ATOMIC_REQUEST);
    respond(1, id, 0);
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 1, 8);
    if (as_siw)
        raw_terminate(&ulpdu, 2, 0, 6, 0, NULL, 0, NULL, 0);
    else
        raw_terminate(&ulpdu, 0, 2, 6, (unsigned)segment.ulpdu_len, segment.ulpdu, 18, NULL, 0);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, IT_ASYNC_AFF_EP_R_ERROR, IT_ASYNC_AFF_EP_R_ERROR);
    fx_done(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 2,
            IT_DTO_ERR_REMOTE_RESPONDER);
    fx_done(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 3,
            IT_DTO_ERR_FLUSHED);
    bed_close();
}

Test(hostile_atomic, peer_without_atomics)
{
    does_not_know(false);
    does_not_know(true);
}

/* ---- What the peer asks for ----------------------------------------------------------------- */

static void ask(struct raw_bytes *stream, uint32_t msn, unsigned code, uint64_t to,
                const uint64_t data[4])
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_ATOMIC_REQUEST, 1, msn, 0, NULL, 0, true, 0);
    raw_add_be32(&ulpdu, code);
    raw_add_be32(&ulpdu, 0x01010100 + msn);
    raw_add_be32(&ulpdu, (uint32_t)bed.words.key);
    raw_add_be64(&ulpdu, to);
    for (unsigned i = 0; i < 4; i++)
        raw_add_be64(&ulpdu, data[i]);
    raw_fpdu(stream, &ulpdu, bed.victim.peer.crc);
}

static const struct {
    unsigned code;
    uint64_t before;
    uint64_t data[4]; /* operand, its mask, compare, its mask */
    uint64_t after;
} operations[] = {
    {0, 0x1000, {5, 0, 0, ALL}, 0x1005}, /* the golden frames */
    {2, 0x1005, {0x77, ALL, 0x1005, ALL}, 0x77},
    {2, 0x1006, {0x77, ALL, 0x1005, ALL}, 0x1006},
    {2, 0x1006, {0x77, ALL, 0x1005, 0}, 0x77},
    {2, 0xab12, {0x3477, 0xff, 0xcd12, 0xff}, 0xab77},
    {0, ALL, {1, 0, 0, 0}, 0},
    {0, 0x00000001ffffffff, {0x0000000200000001, 0x8000000080000000, 0, ALL}, 0x0000000300000000},
    {0xfffffff0, 1, {1, 0, 0, ALL}, 2}, /* 28 reserved bits */
};

Test(hostile_atomic, operations, .fini = bed_close)
{
    static struct raw_segment segment;
    RAW_BYTES(stream);

    bed_open(HK_LISTEN);
    for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        *word(3) = operations[i].before;
        raw_reset(&stream);
        ask(&stream, i + 1, operations[i].code, fx_addr(&bed.words, 24), operations[i].data);
        CHECK(raw_send(&bed.victim.peer, &stream));
        take(&segment, RAW_ATOMIC_RESPONSE);
        EXPECT_EQ(3, segment.qn);
        EXPECT_EQ(i + 1, segment.msn);
        EXPECT_EQ(0, segment.mo);
        EXPECT_EQ(12, segment.len);
        EXPECT_EQ(0x01010101 + i, raw_be32(segment.payload));
        EXPECT_EQ(operations[i].before, raw_be64(segment.payload + 4));
        EXPECT_EQ(operations[i].after, *word(3));
    }
    EXPECT(*word(2) == 0 && *word(4) == 0);
    raw_finish(&bed.victim.peer);
    hk_ended(&bed.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* Reads and atomics in one stream of octets are answered in order and share MSNs. */
Test(hostile_atomic, answers_keep_their_order, .fini = bed_close)
{
    static const uint64_t one[4] = {1, 0, 0, ALL};
    static struct raw_segment segment;
    RAW_BYTES(stream);
    RAW_BYTES(ulpdu);
    struct fx_buf source;

    bed_open(HK_LISTEN);
    source = fx_buf_make(&bed.kit.node, 8);
    for (uint32_t i = 0; i < 100; i++) {
        raw_reset(&stream);
        raw_read_request(&ulpdu, 2 * i + 1, 0xabcd, 0, 8, (uint32_t)source.key,
                         fx_addr(&source, 0));
        raw_fpdu(&stream, &ulpdu, bed.victim.peer.crc);
        ask(&stream, 2 * i + 2, 0, fx_addr(&bed.words, 0), one);
        CHECK(raw_send(&bed.victim.peer, &stream));
        take(&segment, RAW_READ_RESPONSE);
        take(&segment, RAW_ATOMIC_RESPONSE);
        CHECK_EQ(i + 1, segment.msn);
        CHECK_EQ(i, raw_be64(segment.payload + 4));
    }
    raw_finish(&bed.victim.peer);
    hk_ended(&bed.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_buf_free(&source);
}

static const struct refusal {
    const char *name;
    unsigned code;
    uint64_t offset;
    uint32_t count; /* number of requests in one stream of octets */
    unsigned terminate;
    it_event_type_t affiliated;
    uint64_t done; /* number of them that are executed */
} refusals[] = {
    {"code 1", 1, 0, 1, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, 0},
    {"code 15", 15, 0, 1, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE, 0},
    {"misaligned", 0, 4, 1, 0x0207, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR, 0},
    {"past the end", 0, REGION, 1, 0x0101, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, 0},
    {"below", 0, (uint64_t)-8, 1, 0x0101, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, 0},
    {"beyond the IRD", 0, 0, 3, 0x1202, IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION, 2},
};

Test(hostile_atomic, refused)
{
    static const uint64_t one[4] = {1, 0, 0, ALL};

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        RAW_BYTES(stream);

        check_context(refusals[i].name);
        bed_open(HK_LISTEN);
        for (uint32_t n = 1; n <= refusals[i].count; n++)
            ask(&stream, n, refusals[i].code, fx_addr(&bed.words, 0) + refusals[i].offset, one);
        CHECK(raw_send(&bed.victim.peer, &stream));
        broken(refusals[i].terminate, refusals[i].affiliated);
        EXPECT_EQ(refusals[i].done, *word(0));
        EXPECT(fx_is_byte(bed.words.data + 8, REGION - 8, 0));
        hk_healthy(&bed.kit);
        hk_quiet(&bed.kit);
        bed_close();
    }
    check_context(NULL);
}

/* ---- Immediate Data ------------------------------------------------------------------------- */

static void take_value(enum raw_op op, uint32_t msn, uint64_t value)
{
    static struct raw_segment segment;

    take(&segment, op);
    CHECK_EQ(0, segment.qn);
    CHECK_EQ(msn, segment.msn);
    CHECK_EQ(0, segment.mo);
    CHECK_EQ(8, segment.len);
    CHECK_EQ(value, raw_be64(segment.payload));
}

static void immediate_on_the_wire(const struct hk_startup *startup)
{
    static struct raw_segment segment;
    it_lmr_triplet_t local;

    bed_open_as(HK_CONNECT, startup);
    local = fx_seg(&bed.local, 0, 24);
    CHECK_OK(itx_post_rdma_write_imm(bed.victim.ep, &local, 1, 1, FX_QUIET, 0x10002000, 0x11223344,
                                     UINT64_C(0x1122334455667788)));
    CHECK_OK(itx_post_send_imm(bed.victim.ep, &local, 1, 2, IT_SOLICITED_WAIT_FLAG,
                               UINT64_C(0x99aabbccddeeff00)));
    CHECK_OK(itx_post_send_imm(bed.victim.ep, NULL, 0, 3, FX_QUIET, 7));
    CHECK_OK(it_post_send(bed.victim.ep, NULL, 0, 4, FX_SIGNAL));
    take(&segment, RAW_WRITE);
    CHECK_EQ(24, segment.len);
    CHECK_EQ(0x11223344, segment.stag);
    take_value(RAW_IMMEDIATE, 1, UINT64_C(0x1122334455667788));
    take(&segment, RAW_SEND);
    CHECK(segment.msn == 2 && segment.len == 24);
    take_value(RAW_IMMEDIATE_SE, 3, UINT64_C(0x99aabbccddeeff00));
    take_value(RAW_IMMEDIATE, 4, 7);
    take(&segment, RAW_SEND);
    CHECK(segment.msn == 5 && segment.len == 0);
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_SEND_CMPL_EVENT, 4, 0);
    raw_finish(&bed.victim.peer);
    hk_ended(&bed.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    bed_close();
}

Test(hostile_atomic, immediate_on_the_wire)
{
    static const struct hk_startup with_markers = {2, RAW_MPA_C | RAW_MPA_M, 2u << 16 | 2u};

    immediate_on_the_wire(&depth_2);
    immediate_on_the_wire(&with_markers);
}

/* A message with a value after `sends` Sends. `half`: the last Send is incomplete. */
static const struct value_case {
    const char *name;
    uint32_t sends;
    bool half;
    uint32_t msn;
    size_t length;
    unsigned terminate;
    it_event_type_t affiliated;
} value_cases[] = {
    {"4 octets", 0, false, 1, 4, 0x02ff, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR},
    {"16 octets", 0, false, 1, 16, 0x02ff, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR},
    {"MSN 2", 0, false, 2, 8, 0x1203, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR},
    {"inside a Send", 1, true, 1, 8, 0x0206, IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE},
    {"no receive left", 2, false, 3, 8, 0x1202, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR},
};

static void send_value(const struct value_case *row)
{
    static const unsigned char octets[16];
    RAW_BYTES(ulpdu);

    for (uint32_t i = 1; i <= row->sends; i++) {
        bool half = row->half && i == row->sends;

        raw_untagged(&ulpdu, RAW_SEND, 0, i, 0, octets, 4, !half, 0);
        CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    }
    raw_untagged(&ulpdu, RAW_IMMEDIATE, 0, row->msn, 0, octets, row->length, true, 0);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
}

Test(hostile_atomic, bad_immediate)
{
    for (size_t i = 0; i < sizeof(value_cases) / sizeof(value_cases[0]); i++) {
        const struct value_case *row = &value_cases[i];
        uint32_t good = row->sends - (row->half ? 1 : 0);

        check_context(row->name);
        bed_open(HK_LISTEN);
        fx_recv(bed.victim.ep, &bed.local, 0, 16, 0);
        fx_recv(bed.victim.ep, &bed.local, 16, 16, 1);
        send_value(row);
        broken(row->terminate, row->affiliated);
        for (uint32_t n = 0; n < 2; n++)
            fx_done(bed.kit.node.recv_evd, bed.victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, n,
                    n < good ? IT_DTO_SUCCESS : IT_DTO_ERR_FLUSHED);
        hk_healthy(&bed.kit);
        hk_quiet(&bed.kit);
        bed_close();
    }
    check_context(NULL);
}
