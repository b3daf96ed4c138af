/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of bad FPDUs, each against a fresh connection in each of the four roles: the Terminate
 * on the wire, the affiliated event, one BROKEN event, posted work flushed, nothing placed or
 * delivered behind the bad FPDU, and all other connections unharmed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "hostile/hostile_kit.h"

#define REGION 64u

/* Any other than IT_DTO_SUCCESS. */
#define NOT_GOOD ((it_dto_status_t)99)

struct bed {
    struct hk kit;
    it_pz_handle_t other_pz;
    struct fx_buf in;       /* receives */
    struct fx_buf writable; /* for the peer */
    struct fx_buf readable;
    struct fx_buf foreign; /* in another protection zone */
};

/* What a row sends; the last ULPDU is the one the Terminate is about. */
struct attack {
    const struct bed *bed;
    struct raw_bytes stream;
    struct raw_bytes ulpdu;
    bool crc;
};

struct row {
    const char *name;
    void (*build)(struct attack *attack);
    unsigned codes[2];
    it_event_type_t affiliated[2];
    it_dto_status_t first; /* of the first receive */
};

static const unsigned char xs[128] =
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

static uint32_t stag(const struct fx_buf *buf)
{
    return (uint32_t)buf->key;
}

static void frame(struct attack *attack)
{
    raw_fpdu(&attack->stream, &attack->ulpdu, attack->crc);
}

static void untagged(struct attack *attack, unsigned op, uint32_t qn, uint32_t msn, uint32_t mo,
                     size_t len)
{
    raw_untagged(&attack->ulpdu, (enum raw_op)op, qn, msn, mo, xs, len, true, 0);
}

static void good_send(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0, 16);
}

static void good_write(struct attack *attack)
{
    raw_tagged(&attack->ulpdu, RAW_WRITE, stag(&attack->bed->writable),
               fx_addr(&attack->bed->writable, 0), xs, 16, true);
}

static void write_to(struct attack *attack, uint32_t to_stag, uint64_t to, size_t len)
{
    raw_tagged(&attack->ulpdu, RAW_WRITE, to_stag, to, xs, len, true);
    frame(attack);
}

static void read_from(struct attack *attack, uint32_t from_stag, uint64_t from, uint32_t msn)
{
    raw_read_request(&attack->ulpdu, msn, 0xaabbcc01, 0, 8, from_stag, from);
    frame(attack);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void payload_bit_flipped(struct attack *attack)
{
    good_send(attack);
    frame(attack);
    attack->stream.data[attack->stream.len - 14] ^= 1;
}

static void ulpdu_length_0(struct attack *attack)
{
    raw_reset(&attack->ulpdu);
    frame(attack);
}

static void ulpdu_length_1(struct attack *attack)
{
    good_send(attack);
    attack->ulpdu.len = 1;
    frame(attack);
}

static void tagged_header_short(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.len = 10;
    frame(attack);
}

static void tagged_header_13(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.len = 13;
    frame(attack);
}

static void untagged_header_17(struct attack *attack)
{
    good_send(attack);
    attack->ulpdu.len = 17;
    frame(attack);
}

static void terminate_short(struct attack *attack)
{
    raw_terminate(&attack->ulpdu, 1, 1, 0, 0, NULL, 0, NULL, 0);
    attack->ulpdu.len = 20;
    frame(attack);
}

static void ddp_version_0_tagged(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[0] = 0xc0;
    frame(attack);
}

static void ddp_version_2_untagged(struct attack *attack)
{
    good_send(attack);
    attack->ulpdu.data[0] = 0x42;
    frame(attack);
}

static void rdmap_version_0(struct attack *attack)
{
    good_send(attack);
    attack->ulpdu.data[1] = 0x03;
    frame(attack);
}

static void opcode_c(struct attack *attack)
{
    untagged(attack, 0xc, 0, 1, 0, 16);
    frame(attack);
}

static void opcode_f_tagged(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x4f;
    frame(attack);
}

static void send_tagged(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x43;
    frame(attack);
}

static void read_request_tagged(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x41;
    frame(attack);
}

static void write_untagged(struct attack *attack)
{
    untagged(attack, RAW_WRITE, 0, 1, 0, 16);
    frame(attack);
}

static void read_response_untagged(struct attack *attack)
{
    untagged(attack, RAW_READ_RESPONSE, 0, 1, 0, 16);
    frame(attack);
}

static void send_on_queue_1(struct attack *attack)
{
    untagged(attack, RAW_SEND, 1, 1, 0, 28);
    frame(attack);
}

static void send_on_queue_2(struct attack *attack)
{
    untagged(attack, RAW_SEND, 2, 1, 0, 28);
    frame(attack);
}

static void read_request_on_queue_0(struct attack *attack)
{
    untagged(attack, RAW_READ_REQUEST, 0, 1, 0, 28);
    frame(attack);
}

static void terminate_on_queue_0(struct attack *attack)
{
    untagged(attack, RAW_TERMINATE, 0, 1, 0, 4);
    frame(attack);
}

static void send_on_queue_7(struct attack *attack)
{
    untagged(attack, RAW_SEND, 7, 1, 0, 16);
    frame(attack);
}

static void send_on_queue_huge(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0xffffffff, 1, 0, 16);
    frame(attack);
}

static void send_msn_2(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 2, 0, 16);
    frame(attack);
}

static void send_msn_0(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 0, 0, 16);
    frame(attack);
}

static void send_msn_huge(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 0xffffffff, 0, 16);
    frame(attack);
}

static void send_mo_4(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 4, 16);
    frame(attack);
}

static void send_mo_huge(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0xfffffff8, 16);
    frame(attack);
}

static void send_second_mo_wrong(struct attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, xs, 16, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 15, 16);
    frame(attack);
}

static void send_too_long(struct attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0, REGION + 1);
    frame(attack);
}

static void send_too_long_in_two(struct attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, xs, 40, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 40, REGION - 39);
    frame(attack);
}

static void third_send(struct attack *attack)
{
    for (uint32_t msn = 1; msn <= 3; msn++) {
        untagged(attack, RAW_SEND, 0, msn, 0, 16);
        frame(attack);
    }
}

static void write_unknown(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable) ^ 0x5a5a5a00u, 0, 1);
}

static void write_wrong_key(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable) ^ 1u, fx_addr(&attack->bed->writable, 0), 1);
}

static void write_stag_0(struct attack *attack)
{
    write_to(attack, 0, fx_addr(&attack->bed->writable, 0), 1);
}

static void write_below(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable), fx_addr(&attack->bed->writable, 0) - 1, 2);
}

static void write_past(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable), fx_addr(&attack->bed->writable, REGION - 1), 2);
}

static void write_behind(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable), fx_addr(&attack->bed->writable, REGION), 1);
}

static void write_wraps(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->writable), UINT64_MAX, 2);
}

static void write_foreign(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->foreign), fx_addr(&attack->bed->foreign, 0), 1);
}

static void write_read_only(struct attack *attack)
{
    write_to(attack, stag(&attack->bed->readable), fx_addr(&attack->bed->readable, 0), 1);
}

static void read_unknown(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->readable) ^ 0x5a5a5a00u, 0, 1);
}

static void read_past(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->readable), fx_addr(&attack->bed->readable, REGION - 4), 1);
}

static void read_write_only(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->writable), fx_addr(&attack->bed->writable, 0), 1);
}

static void read_foreign(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->foreign), fx_addr(&attack->bed->foreign, 0), 1);
}

static void read_wraps(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->readable), UINT64_MAX - 3, 1);
}

static void read_msn_2(struct attack *attack)
{
    read_from(attack, stag(&attack->bed->readable), fx_addr(&attack->bed->readable, 0), 2);
}

static void read_request_short(struct attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_not_last(struct attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[0] = 0x01;
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_with_mo(struct attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[17] = 4;
    frame(attack);
}

static void read_response_unasked(struct attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x42;
    frame(attack);
}

static void invalidate_unknown(struct attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, xs, 16, true,
                 stag(&attack->bed->writable) ^ 0x5a5a5a00u);
    frame(attack);
}

static void invalidate_foreign(struct attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND_SE_INV, 0, 1, 0, xs, 16, true,
                 stag(&attack->bed->foreign));
    frame(attack);
}

static void immediate_of_4(struct attack *attack)
{
    untagged(attack, RAW_IMMEDIATE, 0, 1, 0, 4);
    frame(attack);
}

static void atomic_misaligned(struct attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_ATOMIC_REQUEST, 1, 1, 0, NULL, 0, true, 0);
    raw_add_be32(&attack->ulpdu, 0);
    raw_add_be32(&attack->ulpdu, 1);
    raw_add_be32(&attack->ulpdu, stag(&attack->bed->writable));
    raw_add_be64(&attack->ulpdu, fx_addr(&attack->bed->writable, 4));
    raw_add_be64(&attack->ulpdu, 1);
    raw_add_be64(&attack->ulpdu, 0);
    raw_add_be64(&attack->ulpdu, 0);
    raw_add_be64(&attack->ulpdu, UINT64_MAX);
    frame(attack);
}

#define TRANSPORT IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR
#define LLP       IT_ASYNC_AFF_EP_L_LLP_ERROR
#define OPCODE    IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE
#define RECEIVE   IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION
#define WRITE     IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION
#define READ      IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION
#define ACCESS    IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION
#define FLUSHED   IT_DTO_ERR_FLUSHED
#define TWICE(x)                                                                                   \
    {                                                                                              \
        x, x                                                                                       \
    }

static const struct row rows[] = {
    {"CRC wrong", payload_bit_flipped, TWICE(0x2002), TWICE(LLP), FLUSHED},
    {"ULPDU_Length 0", ulpdu_length_0, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"ULPDU_Length 1", ulpdu_length_1, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"tagged header short", tagged_header_short, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"tagged header of 13", tagged_header_13, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"untagged header of 17", untagged_header_17, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"Terminate cut short", terminate_short, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED},
    {"DDP version 0, tagged", ddp_version_0_tagged, TWICE(0x1104), TWICE(TRANSPORT), FLUSHED},
    {"DDP version 2, untagged", ddp_version_2_untagged, TWICE(0x1206), TWICE(TRANSPORT), FLUSHED},
    {"RDMAP version 0", rdmap_version_0, TWICE(0x0205), TWICE(TRANSPORT), FLUSHED},
    {"opcode 0xC", opcode_c, TWICE(0x0206), TWICE(OPCODE), FLUSHED},
    {"opcode 0xF, tagged", opcode_f_tagged, TWICE(0x0206), TWICE(OPCODE), FLUSHED},
    {"Send, tagged", send_tagged, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Read Request, tagged", read_request_tagged, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Write, untagged", write_untagged, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Response, untagged", read_response_untagged, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Send on queue 1", send_on_queue_1, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Send on queue 2", send_on_queue_2, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Read Request on queue 0",
     read_request_on_queue_0,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED},
    {"Terminate on queue 0", terminate_on_queue_0, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED},
    {"Send on queue 7", send_on_queue_7, TWICE(0x1201), TWICE(TRANSPORT), FLUSHED},
    {"Send on queue 2^32-1", send_on_queue_huge, TWICE(0x1201), TWICE(TRANSPORT), FLUSHED},
    {"Send MSN 2 first", send_msn_2, {0x1203, 0x1202}, {TRANSPORT, RECEIVE}, FLUSHED},
    {"Send MSN 0", send_msn_0, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED},
    {"Send MSN 2^32-1", send_msn_huge, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED},
    {"Send MO 4 first", send_mo_4, TWICE(0x1204), TWICE(TRANSPORT), NOT_GOOD},
    {"Send MO huge", send_mo_huge, TWICE(0x1204), TWICE(TRANSPORT), NOT_GOOD},
    {"Send, second MO wrong", send_second_mo_wrong, TWICE(0x1204), TWICE(TRANSPORT), NOT_GOOD},
    {"Send too long", send_too_long, TWICE(0x1205), {TRANSPORT, RECEIVE}, IT_DTO_ERR_LOCAL_LENGTH},
    {"Send too long in its second half",
     send_too_long_in_two,
     TWICE(0x1205),
     {TRANSPORT, RECEIVE},
     IT_DTO_ERR_LOCAL_LENGTH},
    {"a Send without a receive", third_send, TWICE(0x1202), {TRANSPORT, RECEIVE}, IT_DTO_SUCCESS},
    {"Write to unknown STag", write_unknown, TWICE(0x1100), TWICE(WRITE), FLUSHED},
    {"Write with wrong key", write_wrong_key, TWICE(0x1100), TWICE(WRITE), FLUSHED},
    {"Write to STag 0", write_stag_0, TWICE(0x1100), TWICE(WRITE), FLUSHED},
    {"Write below the base", write_below, TWICE(0x1101), TWICE(WRITE), FLUSHED},
    {"Write past the end", write_past, TWICE(0x1101), TWICE(WRITE), FLUSHED},
    {"Write behind the end", write_behind, TWICE(0x1101), TWICE(WRITE), FLUSHED},
    {"Write with TO wrap", write_wraps, TWICE(0x1103), TWICE(WRITE), FLUSHED},
    {"Write to another zone", write_foreign, TWICE(0x1102), TWICE(WRITE), FLUSHED},
    {"Write to read-only STag", write_read_only, TWICE(0x0102), TWICE(WRITE), FLUSHED},
    {"Read of unknown STag", read_unknown, TWICE(0x0100), TWICE(READ), FLUSHED},
    {"Read past the end", read_past, TWICE(0x0101), TWICE(READ), FLUSHED},
    {"Read of write-only STag", read_write_only, TWICE(0x0102), TWICE(READ), FLUSHED},
    {"Read in another zone", read_foreign, TWICE(0x0103), TWICE(READ), FLUSHED},
    {"Read with TO wrap", read_wraps, TWICE(0x0104), TWICE(READ), FLUSHED},
    {"Read Request MSN 2 first", read_msn_2, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED},
    {"Read Request 4 short", read_request_short, {0x2003, 0x02ff}, {LLP, TRANSPORT}, FLUSHED},
    {"Read Request not last", read_request_not_last, {0x2003, 0x02ff}, {LLP, TRANSPORT}, FLUSHED},
    {"Read Request with MO", read_request_with_mo, {0x1204, 0x02ff}, {TRANSPORT, LLP}, FLUSHED},
    {"Response nobody asked for",
     read_response_unasked,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED},
    {"Invalidate of unknown STag",
     invalidate_unknown,
     TWICE(0x0109),
     {ACCESS, TRANSPORT},
     NOT_GOOD},
    {"Invalidate in another zone",
     invalidate_foreign,
     TWICE(0x0109),
     {ACCESS, TRANSPORT},
     NOT_GOOD},
    {"Immediate Data of 4", immediate_of_4, {0x02ff, 0x0206}, {TRANSPORT, OPCODE}, FLUSHED},
    {"atomic on a misaligned TO",
     atomic_misaligned,
     {0x0207, 0x0206},
     {TRANSPORT, OPCODE},
     FLUSHED},
};

/* ---- One attack ----------------------------------------------------------------------------- */

static void bed_open(struct bed *bed)
{
    it_mem_priv_t writable = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE);
    it_mem_priv_t readable = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ);

    memset(bed, 0, sizeof(*bed));
    hk_open(&bed->kit);
    CHECK_OK(it_pz_create(bed->kit.node.ia, &bed->other_pz));
    bed->in = fx_buf_make(&bed->kit.node, 2 * REGION);
    bed->writable = fx_buf_make_as(bed->kit.node.pz, REGION, writable, IT_ADDR_MODE_ABSOLUTE);
    bed->readable = fx_buf_make_as(bed->kit.node.pz, REGION, readable, IT_ADDR_MODE_ABSOLUTE);
    bed->foreign = fx_buf_make_as(bed->other_pz, REGION, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
}

static void bed_close(struct bed *bed)
{
    fx_buf_free(&bed->in);
    fx_buf_free(&bed->writable);
    fx_buf_free(&bed->readable);
    fx_buf_free(&bed->foreign);
    CHECK_OK(it_pz_free(bed->other_pz));
    hk_close(&bed->kit);
}

static void receive_is(struct hk_victim *victim, it_dto_cookie_t cookie, it_dto_status_t want)
{
    it_event_t event = fx_next(victim->kit->node.recv_evd);

    EXPECT_EQ(cookie, event.dto_cmpl.cookie);
    if (want == NOT_GOOD)
        EXPECT(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
    else
        EXPECT_EQ(want, event.dto_cmpl.dto_status);
}

static void attack_once(struct bed *bed, const struct row *row, enum hk_role role,
                        const struct hk_startup *startup)
{
    struct attack attack = {.bed = bed};
    struct raw_bytes offender = {0};
    struct hk_victim victim;
    unsigned code;

    hk_victim(&bed->kit, &victim, role, startup);
    fx_recv(victim.ep, &bed->in, 0, REGION, 1);
    fx_recv(victim.ep, &bed->in, REGION, REGION, 2);
    attack.crc = victim.peer.crc;
    row->build(&attack);
    raw_add(&offender, attack.ulpdu.data, attack.ulpdu.len);
    /* Behind it, one that would be good. */
    good_write(&attack);
    frame(&attack);
    CHECK(raw_send(&victim.peer, &attack.stream));

    code = hk_terminated(&victim, &offender);
    if (code != row->codes[0] && code != row->codes[1])
        check_note(__FILE__, __LINE__, "Terminate %04x instead of %04x", code, row->codes[0]);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, row->affiliated[0], row->affiliated[1]);
    receive_is(&victim, 1, row->first);
    receive_is(&victim, 2, row->build == third_send ? IT_DTO_SUCCESS : FLUSHED);
    EXPECT(fx_is_byte(bed->writable.data, REGION, 0));
    EXPECT(fx_is_byte(bed->foreign.data, REGION, 0));
    raw_close(&victim.peer);
    hk_healthy(&bed->kit);
    hk_quiet(&bed->kit);
    hk_victim_close(&victim);
    raw_free(&attack.stream);
    raw_free(&attack.ulpdu);
    raw_free(&offender);
}

static void attack_all(enum hk_role role, const struct hk_startup *startup)
{
    struct bed bed;
    char context[128];

    bed_open(&bed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((startup->flags & RAW_MPA_C) == 0 && rows[i].build == payload_bit_flipped)
            continue;
        (void)snprintf(context, sizeof(context), "%s, %s", rows[i].name, hk_role_name(role));
        check_context(context);
        attack_once(&bed, &rows[i], role, startup);
    }
    check_context(NULL);
    bed_close(&bed);
    check_done();
}

Test(hostile_negative, listener, .timeout = 60)
{
    attack_all(HK_LISTEN, &hk_plain);
}

Test(hostile_negative, connect, .timeout = 60)
{
    attack_all(HK_CONNECT, &hk_plain);
}

Test(hostile_negative, convert_responder, .timeout = 60)
{
    attack_all(HK_CONVERT_RESPONDER, &hk_plain);
}

Test(hostile_negative, convert_initiator, .timeout = 60)
{
    attack_all(HK_CONVERT_INITIATOR, &hk_plain);
}

Test(hostile_negative, connect_revision_2, .timeout = 60)
{
    static const struct hk_startup startup = {2, RAW_MPA_C, 8u << 16 | 8u};

    attack_all(HK_CONNECT, &startup);
}

/* Our Terminates to a peer that wants markers and no CRC. */
Test(hostile_negative, connect_with_markers, .timeout = 60)
{
    static const struct hk_startup startup = {1, RAW_MPA_M, 0};

    attack_all(HK_CONNECT, &startup);
}

/* ---- What looks bad and is not -------------------------------------------------------------- */

static void answered(struct hk_victim *victim, const struct bed *bed)
{
    static struct raw_segment segment;
    struct raw_bytes ulpdu = {0};

    raw_read_request(&ulpdu, 1, 0xaabbcc01, 0x1122334455667788, 8, stag(&bed->readable),
                     fx_addr(&bed->readable, 3));
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    if (raw_receive_fpdu(&victim->peer, &segment) != RAW_OK)
        CHECK_FAIL("no answer: %s", victim->peer.error);
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
    CHECK(segment.last);
    CHECK_EQ(0xaabbcc01, segment.stag);
    CHECK_EQ(0x1122334455667788, segment.to);
    CHECK_EQ(8, segment.len);
    fx_check_same(bed->readable.data + 3, segment.payload, 8);
    raw_free(&ulpdu);
}

static void harmless(struct bed *bed, void (*act)(struct hk_victim *, struct bed *),
                     enum hk_role role)
{
    struct hk_victim victim;

    hk_victim(&bed->kit, &victim, role, &hk_plain);
    act(&victim, bed);
    answered(&victim, bed);
    hk_quiet(&bed->kit);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_healthy(&bed->kit);
    hk_victim_close(&victim);
}

static void empty_write(struct hk_victim *victim, struct bed *bed)
{
    struct raw_bytes ulpdu = {0};

    (void)bed;
    raw_tagged(&ulpdu, RAW_WRITE, 0xdeadbeef, 5, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, 0, UINT64_MAX, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_free(&ulpdu);
}

static void reserved_bits(struct hk_victim *victim, struct bed *bed)
{
    struct raw_bytes ulpdu = {0};

    fx_recv(victim->ep, &bed->in, 0, REGION, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, xs, 16, true, 0xfeedf00d);
    ulpdu.data[0] |= 0x3c;
    ulpdu.data[1] |= 0x30;
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    fx_done_len(victim->kit->node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 16);
    raw_free(&ulpdu);
}

/* A tagged message between the segments of an untagged one, and writes in any order of offsets. */
static void interleaved(struct hk_victim *victim, struct bed *bed)
{
    struct raw_bytes ulpdu = {0};

    fx_recv(victim->ep, &bed->in, 0, REGION, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, xs, 16, false, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, stag(&bed->writable), fx_addr(&bed->writable, 32), xs, 16, false);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, stag(&bed->writable), fx_addr(&bed->writable, 0), xs, 16, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 16, xs, 10, true, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    fx_done_len(victim->kit->node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 26);
    CHECK(fx_is_byte(bed->writable.data, 16, 'x') && fx_is_byte(bed->writable.data + 32, 16, 'x'));
    CHECK(fx_is_byte(bed->writable.data + 16, 16, 0));
    memset(bed->writable.data, 0, REGION);
    raw_free(&ulpdu);
}

static void all_harmless(struct bed *bed, enum hk_role role)
{
    harmless(bed, empty_write, role);
    harmless(bed, reserved_bits, role);
    harmless(bed, interleaved, role);
}

Test(hostile_negative, harmless, .timeout = 60)
{
    struct bed bed;

    bed_open(&bed);
    fx_fill(bed.readable.data, REGION, 5);
    for (int role = 0; role < HK_ROLES; role++)
        all_harmless(&bed, (enum hk_role)role);
    bed_close(&bed);
}

/* A Read of no octets gets a Response of no octets, whatever it names. */
Test(hostile_negative, read_of_nothing, .timeout = 60)
{
    static struct raw_segment segment;
    struct bed bed;
    struct hk_victim victim;
    struct raw_bytes ulpdu = {0};

    bed_open(&bed);
    hk_victim(&bed.kit, &victim, HK_LISTEN, &hk_plain);
    raw_read_request(&ulpdu, 1, 0xaabbcc01, 77, 0, 0xdeadbeef, 9);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
    CHECK(segment.last && segment.len == 0);
    CHECK_EQ(0xaabbcc01, segment.stag);
    CHECK_EQ(77, segment.to);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
    raw_free(&ulpdu);
    bed_close(&bed);
}

/* The largest ULPDU there is, as Send and as Write. */
Test(hostile_negative, largest_ulpdu, .timeout = 60)
{
    struct bed bed;
    struct hk_victim victim;
    struct raw_bytes ulpdu = {0};
    struct fx_buf big;
    static unsigned char payload[65535];

    bed_open(&bed);
    big = fx_buf_make(&bed.kit.node, sizeof(payload));
    fx_fill(payload, sizeof(payload), 3);
    hk_victim(&bed.kit, &victim, HK_LISTEN, &hk_plain);
    fx_recv(victim.ep, &big, 0, big.size, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, payload, 65535 - 18, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 65535 - 18);
    fx_check_same(payload, big.data, 65535 - 18);
    memset(big.data, 0, big.size);
    fx_recv(victim.ep, &big, 0, 0, 2);
    raw_tagged(&ulpdu, RAW_WRITE, stag(&big), fx_addr(&big, 0), payload, 65535 - 14, true);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    raw_untagged(&ulpdu, RAW_SEND_SE, 0, 2, 0, NULL, 0, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    fx_check_same(payload, big.data, 65535 - 14);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
    fx_buf_free(&big);
    raw_free(&ulpdu);
    bed_close(&bed);
}
