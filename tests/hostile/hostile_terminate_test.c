/* SPDX-License-Identifier: BSD-2-Clause */
/* Terminates from the peer in the RFC's layout, in that of Linux siw, and truncated ones. */
#include <criterion/criterion.h>

#include "hostile/fixture_kit.h"

TestSuite(hostile_terminate, .init = kit_init, .fini = kit_fini);

#define UNTAGGED " 4143 00000000 00000000 00000001 00000000 " /* a DDP header, 18 octets */
#define TAGGED   " c140 11223344 00000000 10002000 "          /* 14 octets */

struct row {
    const char *name;
    const char *payload; /* payload of the Terminate in hexadecimal */
    it_event_type_t affiliated[2];
};

#define R_ERROR  IT_ASYNC_AFF_EP_R_ERROR
#define R_ACCESS IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION
#define R_RECV   IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION
#define R_LENGTH IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR

static const struct row rows[] = {
    {"0/0/00", "00000000", {R_ERROR, R_ERROR}},
    {"0/1/00 bare", "01000000", {R_ACCESS, R_ACCESS}},
    {"0/1/01 with headers", "0101c000 001e" TAGGED, {R_ACCESS, R_ACCESS}},
    {"0/1/02", "0102c000 001e" TAGGED, {R_ACCESS, R_ACCESS}},
    {"0/1/03", "01030000", {R_ACCESS, R_ACCESS}},
    {"0/1/04", "01040000", {R_ACCESS, R_ACCESS}},
    {"0/1/09", "01090000", {R_ACCESS, R_ACCESS}},
    {"0/1/ff", "01ff0000", {R_ACCESS, R_ACCESS}},
    {"0/2/05", "02050000", {R_ERROR, R_ERROR}},
    {"0/2/06", "02060000", {R_ERROR, R_ERROR}},
    {"0/2/07", "02070000", {R_ERROR, R_ERROR}},
    {"1/0/00", "10000000", {R_ERROR, R_RECV}},
    {"1/1/00 with headers", "1100c000 001e" TAGGED, {R_ACCESS, R_ACCESS}},
    {"1/1/01", "11010000", {R_ACCESS, R_ACCESS}},
    {"1/1/02", "11020000", {R_ACCESS, R_ACCESS}},
    {"1/1/03", "11030000", {R_ACCESS, R_ACCESS}},
    {"1/2/01", "12010000", {R_ERROR, R_ERROR}},
    {"1/2/02 with headers", "1202c000 0012" UNTAGGED, {R_ERROR, R_ERROR}},
    {"1/2/03", "12030000", {R_ERROR, R_ERROR}},
    {"1/2/04", "12040000", {R_ERROR, R_ERROR}},
    {"1/2/05", "12050000", {R_LENGTH, R_LENGTH}},
    {"1/2/05 with headers", "1205c000 0012" UNTAGGED, {R_LENGTH, R_LENGTH}},
    {"1/2/06", "12060000", {R_ERROR, R_ERROR}},
    {"2/0/02", "20020000", {R_ERROR, R_ERROR}},
    {"2/0/03", "20030000", {R_ERROR, R_ERROR}},
    /* The flags announce headers that are missing or incomplete. */
    {"headers promised", "1100e000", {R_ACCESS, R_ACCESS}},
    {"headers cut", "1100c000 001e c140 1122", {R_ACCESS, R_ACCESS}},
    {"length cut", "1100c000 00", {R_ACCESS, R_ACCESS}},
    /* Unknown values. */
    {"layer 7", "70000000", {R_ERROR, R_ERROR}},
    {"code 0x77", "12770000", {R_ERROR, R_ERROR}},
    /* The layout of siw on a little-endian host. */
    {"siw 1/1/00", "11000300 0020" TAGGED, {R_ACCESS, R_ACCESS}},
    {"siw 0/1/00",
     "10000700 0000" UNTAGGED "11111111 22222222 22222222 33333333 44444444 "
     "55555555 55555555",
     {R_ACCESS, R_ACCESS}},
    {"siw 2/0/02", "02020000", {R_ERROR, R_ERROR}},
    {"siw 1/2/01", "21010300 0010" UNTAGGED, {R_ERROR, R_ERROR}},
    {"siw 1/2/02", "21020300 0258" UNTAGGED, {R_ERROR, R_ERROR}},
    {"siw 1/2/05", "21050300 0258" UNTAGGED, {R_LENGTH, R_LENGTH}},
    {"siw 0/2/06", "20060000", {R_ERROR, R_ERROR}},
    {"siw 1/2/06", "21060000", {R_ERROR, R_ERROR}},
    {"siw 0/2/07", "20070300 0000" UNTAGGED, {R_ERROR, R_ERROR}},
    {"siw 0/1/09", "10090000", {R_ACCESS, R_ACCESS}},
};

static void terminated_by_peer(const struct row *row, enum hk_role role)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct hk_victim victim;
    struct fx_buf in = fx_buf_make(&kit.node, 64);
    enum raw_result result;

    hk_victim(&kit, &victim, role, &hk_plain);
    fx_recv(victim.ep, &in, 0, 32, 1);
    fx_recv(victim.ep, &in, 32, 32, 2);
    raw_untagged(&ulpdu, RAW_TERMINATE, 2, 1, 0, NULL, 0, true, 0);
    raw_add_hex(&ulpdu, row->payload);
    raw_fpdu(&stream, &ulpdu, true);
    /* A later Send is dropped. */
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "too late", 8, true, 0);
    raw_fpdu(&stream, &ulpdu, true);
    CHECK(raw_send(&victim.peer, &stream));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, row->affiliated[0], row->affiliated[1]);
    fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    EXPECT(fx_is_byte(in.data, in.size, 0));
    /* The only answer is the end of the stream. */
    result = raw_receive_fpdu(&victim.peer, &segment);
    if (result != RAW_EOF && result != RAW_RESET)
        check_note(__FILE__, __LINE__, "%s comes back", raw_result_name(result));
    hk_quiet(&kit);
    hk_victim_close(&victim);
    fx_buf_free(&in);
}

Test(hostile_terminate, all_kinds)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_context(rows[i].name);
        terminated_by_peer(&rows[i], (enum hk_role)(i % HK_ROLES));
        hk_healthy(&kit);
    }
    check_context(NULL);
    check_done();
}

/* A Read that the peer refuses with a Terminate fails with REMOTE_ACCESS. */
static void read_refused(const char *head)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    struct hk_victim victim;
    struct fx_buf sink = fx_buf_make(&kit.node, 64);
    it_lmr_triplet_t local = fx_seg(&sink, 0, 16);

    check_context(head);
    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 1, FX_QUIET, 0x1000, 0x99));
    CHECK_OK(it_post_send(victim.ep, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 3, FX_SIGNAL, 0x2000, 0x99));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_READ_REQUEST, segment.op);
    raw_untagged(&ulpdu, RAW_TERMINATE, 2, 1, 0, NULL, 0, true, 0);
    raw_add_hex(&ulpdu, head);
    raw_add_be16(&ulpdu, (unsigned)segment.ulpdu_len);
    raw_add(&ulpdu, segment.ulpdu, segment.ulpdu_len);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
            IT_DTO_ERR_REMOTE_ACCESS);
    /* The Send left before; its completion waited for the Read. */
    {
        it_event_t event = fx_next(kit.node.request_evd);

        EXPECT_EQ(2, event.dto_cmpl.cookie);
        EXPECT(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
               event.dto_cmpl.dto_status == IT_DTO_SUCCESS);
    }
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, R_ACCESS, R_ACCESS);
    hk_victim_close(&victim);
    fx_buf_free(&sink);
    check_context(NULL);
}

Test(hostile_terminate, read_refused)
{
    read_refused("0100e000");
    read_refused("0102e000");
    read_refused("10000700"); /* siw */
    check_done();
}

/* The Terminate comes one octet at a time. Then the peer keeps the connection open. */
Test(hostile_terminate, slow)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    struct hk_victim victim;

    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    raw_terminate(&ulpdu, 1, 2, 2, 0, NULL, 0, NULL, 0);
    raw_fpdu(&stream, &ulpdu, true);
    for (size_t i = 0; i < stream.len; i++)
        CHECK(raw_send_part(&victim.peer, stream.data + i, 1));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, R_ERROR, R_ERROR);
    CHECK_EQ(RAW_EOF, raw_drain(&victim.peer));
    hk_victim_close(&victim);
}
