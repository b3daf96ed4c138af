/* SPDX-License-Identifier: BSD-2-Clause */
#include "hostile/hostile_rows.h"

static void frame(struct hostile_attack *attack)
{
    raw_fpdu(&attack->stream, &attack->ulpdu, attack->crc);
}

static void untagged(struct hostile_attack *attack, unsigned op, uint32_t qn, uint32_t msn,
                     uint32_t mo, size_t len)
{
    raw_untagged(&attack->ulpdu, (enum raw_op)op, qn, msn, mo, bed_xs, len, true, 0);
}

static void good_send(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0, 16);
}

static void good_write(struct hostile_attack *attack)
{
    raw_tagged(&attack->ulpdu, RAW_WRITE, bed_stag(&attack->bed->writable),
               fx_addr(&attack->bed->writable, 0), bed_xs, 16, true);
}

static void write_to(struct hostile_attack *attack, uint32_t to_stag, uint64_t to, size_t len)
{
    raw_tagged(&attack->ulpdu, RAW_WRITE, to_stag, to, bed_xs, len, true);
    frame(attack);
}

static void read_from(struct hostile_attack *attack, uint32_t from_stag, uint64_t from,
                      uint32_t msn)
{
    raw_read_request(&attack->ulpdu, msn, 0xaabbcc01, 0, 8, from_stag, from);
    frame(attack);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void payload_bit_flipped(struct hostile_attack *attack)
{
    good_send(attack);
    frame(attack);
    attack->stream.data[attack->stream.len - 14] ^= 1;
}

static void ulpdu_length_0(struct hostile_attack *attack)
{
    raw_reset(&attack->ulpdu);
    frame(attack);
}

static void ulpdu_length_1(struct hostile_attack *attack)
{
    good_send(attack);
    attack->ulpdu.len = 1;
    frame(attack);
}

static void tagged_header_short(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.len = 10;
    frame(attack);
}

static void tagged_header_13(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.len = 13;
    frame(attack);
}

static void untagged_header_17(struct hostile_attack *attack)
{
    good_send(attack);
    attack->ulpdu.len = 17;
    frame(attack);
}

static void terminate_short(struct hostile_attack *attack)
{
    raw_terminate(&attack->ulpdu, 1, 1, 0, 0, NULL, 0, NULL, 0);
    attack->ulpdu.len = 20;
    frame(attack);
}

static void ddp_version_0_tagged(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[0] = 0xc0;
    frame(attack);
}

static void ddp_version_2_untagged(struct hostile_attack *attack)
{
    good_send(attack);
    attack->ulpdu.data[0] = 0x42;
    frame(attack);
}

static void rdmap_version_0(struct hostile_attack *attack)
{
    good_send(attack);
    attack->ulpdu.data[1] = 0x03;
    frame(attack);
}

static void opcode_c(struct hostile_attack *attack)
{
    untagged(attack, 0xc, 0, 1, 0, 16);
    frame(attack);
}

static void opcode_f_tagged(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x4f;
    frame(attack);
}

static void send_tagged(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x43;
    frame(attack);
}

static void read_request_tagged(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x41;
    frame(attack);
}

static void write_untagged(struct hostile_attack *attack)
{
    untagged(attack, RAW_WRITE, 0, 1, 0, 16);
    frame(attack);
}

static void read_response_untagged(struct hostile_attack *attack)
{
    untagged(attack, RAW_READ_RESPONSE, 0, 1, 0, 16);
    frame(attack);
}

static void send_on_queue_1(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 1, 1, 0, 28);
    frame(attack);
}

static void send_on_queue_2(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 2, 1, 0, 28);
    frame(attack);
}

static void read_request_on_queue_0(struct hostile_attack *attack)
{
    untagged(attack, RAW_READ_REQUEST, 0, 1, 0, 28);
    frame(attack);
}

static void terminate_on_queue_0(struct hostile_attack *attack)
{
    untagged(attack, RAW_TERMINATE, 0, 1, 0, 4);
    frame(attack);
}

static void send_on_queue_7(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 7, 1, 0, 16);
    frame(attack);
}

static void send_on_queue_huge(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0xffffffff, 1, 0, 16);
    frame(attack);
}

static void send_msn_2(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 2, 0, 16);
    frame(attack);
}

static void send_msn_0(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 0, 0, 16);
    frame(attack);
}

static void send_msn_huge(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 0xffffffff, 0, 16);
    frame(attack);
}

static void send_mo_4(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 4, 16);
    frame(attack);
}

static void send_mo_huge(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0xfffffff8, 16);
    frame(attack);
}

static void send_second_mo_wrong(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 16, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 15, 16);
    frame(attack);
}

/* An empty segment begins a message, whose opcode and STag stay. */
static void send_changes_opcode(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, NULL, 0, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND_SE, 0, 1, 0, 16);
    frame(attack);
}

static void send_changes_stag(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, NULL, 0, false, 0x11223300);
    frame(attack);
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, NULL, 0, true,
                 bed_stag(&attack->bed->writable));
    frame(attack);
}

static void send_too_long(struct hostile_attack *attack)
{
    untagged(attack, RAW_SEND, 0, 1, 0, BED_REGION + 1);
    frame(attack);
}

static void send_too_long_in_two(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 40, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 40, BED_REGION - 39);
    frame(attack);
}

static void third_send(struct hostile_attack *attack)
{
    for (uint32_t msn = 1; msn <= 3; msn++) {
        untagged(attack, RAW_SEND, 0, msn, 0, 16);
        frame(attack);
    }
}

static void write_unknown(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable) ^ 0x5a5a5a00u, 0, 1);
}

static void write_wrong_key(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable) ^ 1u, fx_addr(&attack->bed->writable, 0), 1);
}

static void write_stag_0(struct hostile_attack *attack)
{
    write_to(attack, 0, fx_addr(&attack->bed->writable, 0), 1);
}

static void write_below(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable), fx_addr(&attack->bed->writable, 0) - 1, 2);
}

static void write_past(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable),
             fx_addr(&attack->bed->writable, BED_REGION - 1), 2);
}

static void write_behind(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable), fx_addr(&attack->bed->writable, BED_REGION),
             1);
}

static void write_wraps(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->writable), UINT64_MAX, 2);
}

static void write_foreign(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->foreign), fx_addr(&attack->bed->foreign, 0), 1);
}

static void write_read_only(struct hostile_attack *attack)
{
    write_to(attack, bed_stag(&attack->bed->readable), fx_addr(&attack->bed->readable, 0), 1);
}

static void read_unknown(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->readable) ^ 0x5a5a5a00u, 0, 1);
}

static void read_past(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->readable),
              fx_addr(&attack->bed->readable, BED_REGION - 4), 1);
}

static void read_write_only(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->writable), fx_addr(&attack->bed->writable, 0), 1);
}

static void read_foreign(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->foreign), fx_addr(&attack->bed->foreign, 0), 1);
}

static void read_wraps(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->readable), UINT64_MAX - 3, 1);
}

static void read_msn_2(struct hostile_attack *attack)
{
    read_from(attack, bed_stag(&attack->bed->readable), fx_addr(&attack->bed->readable, 0), 2);
}

static void read_request_short(struct hostile_attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_not_last(struct hostile_attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[0] = 0x01;
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_with_mo(struct hostile_attack *attack)
{
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[17] = 4;
    frame(attack);
}

static void read_response_unasked(struct hostile_attack *attack)
{
    good_write(attack);
    attack->ulpdu.data[1] = 0x42;
    frame(attack);
}

static void invalidate_unknown(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, bed_xs, 16, true,
                 bed_stag(&attack->bed->writable) ^ 0x5a5a5a00u);
    frame(attack);
}

static void invalidate_foreign(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_SEND_SE_INV, 0, 1, 0, bed_xs, 16, true,
                 bed_stag(&attack->bed->foreign));
    frame(attack);
}

static void immediate_of_4(struct hostile_attack *attack)
{
    untagged(attack, RAW_IMMEDIATE, 0, 1, 0, 4);
    frame(attack);
}

static void atomic_misaligned(struct hostile_attack *attack)
{
    raw_untagged(&attack->ulpdu, RAW_ATOMIC_REQUEST, 1, 1, 0, NULL, 0, true, 0);
    raw_add_be32(&attack->ulpdu, 0);
    raw_add_be32(&attack->ulpdu, 1);
    raw_add_be32(&attack->ulpdu, bed_stag(&attack->bed->writable));
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

const struct hostile_row hostile_rows[] = {
    {"CRC wrong", payload_bit_flipped, TWICE(0x2002), TWICE(LLP), FLUSHED, FLUSHED, true},
    {"ULPDU_Length 0", ulpdu_length_0, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED, FLUSHED, false},
    {"ULPDU_Length 1", ulpdu_length_1, TWICE(0x2003), {LLP, TRANSPORT}, FLUSHED, FLUSHED, false},
    {"tagged header short",
     tagged_header_short,
     TWICE(0x2003),
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"tagged header of 13",
     tagged_header_13,
     TWICE(0x2003),
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"untagged header of 17",
     untagged_header_17,
     TWICE(0x2003),
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Terminate cut short",
     terminate_short,
     TWICE(0x2003),
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"DDP version 0, tagged", ddp_version_0_tagged, TWICE(0x1104), TWICE(TRANSPORT), FLUSHED,
     FLUSHED, false},
    {"DDP version 2, untagged", ddp_version_2_untagged, TWICE(0x1206), TWICE(TRANSPORT), FLUSHED,
     FLUSHED, false},
    {"RDMAP version 0", rdmap_version_0, TWICE(0x0205), TWICE(TRANSPORT), FLUSHED, FLUSHED, false},
    {"opcode 0xC", opcode_c, TWICE(0x0206), TWICE(OPCODE), FLUSHED, FLUSHED, false},
    {"opcode 0xF, tagged", opcode_f_tagged, TWICE(0x0206), TWICE(OPCODE), FLUSHED, FLUSHED, false},
    {"Send, tagged", send_tagged, TWICE(0x0206), {OPCODE, TRANSPORT}, FLUSHED, FLUSHED, false},
    {"Read Request, tagged",
     read_request_tagged,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Write, untagged",
     write_untagged,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Response, untagged",
     read_response_untagged,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Send on queue 1",
     send_on_queue_1,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Send on queue 2",
     send_on_queue_2,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Read Request on queue 0",
     read_request_on_queue_0,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Terminate on queue 0",
     terminate_on_queue_0,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Send on queue 7", send_on_queue_7, TWICE(0x1201), TWICE(TRANSPORT), FLUSHED, FLUSHED, false},
    {"Send on queue 2^32-1", send_on_queue_huge, TWICE(0x1201), TWICE(TRANSPORT), FLUSHED, FLUSHED,
     false},
    {"Send MSN 2 first",
     send_msn_2,
     {0x1203, 0x1202},
     {TRANSPORT, RECEIVE},
     FLUSHED,
     FLUSHED,
     false},
    {"Send MSN 0", send_msn_0, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED, FLUSHED, false},
    {"Send MSN 2^32-1", send_msn_huge, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED, FLUSHED, false},
    {"Send MO 4 first", send_mo_4, TWICE(0x1204), TWICE(TRANSPORT), HOSTILE_NOT_GOOD, FLUSHED,
     false},
    {"Send MO huge", send_mo_huge, TWICE(0x1204), TWICE(TRANSPORT), HOSTILE_NOT_GOOD, FLUSHED,
     false},
    {"Send, second MO wrong", send_second_mo_wrong, TWICE(0x1204), TWICE(TRANSPORT),
     HOSTILE_NOT_GOOD, FLUSHED, false},
    {"Send changes its opcode behind an empty segment", send_changes_opcode, TWICE(0x0206),
     TWICE(OPCODE), FLUSHED, FLUSHED, false},
    {"Send changes its STag behind an empty segment", send_changes_stag, TWICE(0x0206),
     TWICE(OPCODE), FLUSHED, FLUSHED, false},
    {"Send too long",
     send_too_long,
     TWICE(0x1205),
     {TRANSPORT, RECEIVE},
     IT_DTO_ERR_LOCAL_LENGTH,
     FLUSHED,
     false},
    {"Send too long in its second half",
     send_too_long_in_two,
     TWICE(0x1205),
     {TRANSPORT, RECEIVE},
     IT_DTO_ERR_LOCAL_LENGTH,
     FLUSHED,
     false},
    {"a Send without a receive",
     third_send,
     TWICE(0x1202),
     {TRANSPORT, RECEIVE},
     IT_DTO_SUCCESS,
     IT_DTO_SUCCESS,
     false},
    {"Write to unknown STag", write_unknown, TWICE(0x1100), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write with wrong key", write_wrong_key, TWICE(0x1100), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write to STag 0", write_stag_0, TWICE(0x1100), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write below the base", write_below, TWICE(0x1101), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write past the end", write_past, TWICE(0x1101), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write behind the end", write_behind, TWICE(0x1101), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write with TO wrap", write_wraps, TWICE(0x1103), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write to another zone", write_foreign, TWICE(0x1102), TWICE(WRITE), FLUSHED, FLUSHED, false},
    {"Write to read-only STag", write_read_only, TWICE(0x0102), TWICE(WRITE), FLUSHED, FLUSHED,
     false},
    {"Read of unknown STag", read_unknown, TWICE(0x0100), TWICE(READ), FLUSHED, FLUSHED, false},
    {"Read past the end", read_past, TWICE(0x0101), TWICE(READ), FLUSHED, FLUSHED, false},
    {"Read of write-only STag", read_write_only, TWICE(0x0102), TWICE(READ), FLUSHED, FLUSHED,
     false},
    {"Read in another zone", read_foreign, TWICE(0x0103), TWICE(READ), FLUSHED, FLUSHED, false},
    {"Read with TO wrap", read_wraps, TWICE(0x0104), TWICE(READ), FLUSHED, FLUSHED, false},
    {"Read Request MSN 2 first", read_msn_2, TWICE(0x1203), TWICE(TRANSPORT), FLUSHED, FLUSHED,
     false},
    {"Read Request 4 short",
     read_request_short,
     {0x2003, 0x02ff},
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Read Request not last",
     read_request_not_last,
     {0x2003, 0x02ff},
     {LLP, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Read Request with MO",
     read_request_with_mo,
     {0x1204, 0x02ff},
     {TRANSPORT, LLP},
     FLUSHED,
     FLUSHED,
     false},
    {"Response nobody asked for",
     read_response_unasked,
     TWICE(0x0206),
     {OPCODE, TRANSPORT},
     FLUSHED,
     FLUSHED,
     false},
    {"Invalidate of unknown STag",
     invalidate_unknown,
     TWICE(0x0109),
     {ACCESS, TRANSPORT},
     HOSTILE_NOT_GOOD,
     FLUSHED,
     false},
    {"Invalidate in another zone",
     invalidate_foreign,
     TWICE(0x0109),
     {ACCESS, TRANSPORT},
     HOSTILE_NOT_GOOD,
     FLUSHED,
     false},
    {"Immediate Data of 4",
     immediate_of_4,
     {0x02ff, 0x0206},
     {TRANSPORT, OPCODE},
     FLUSHED,
     FLUSHED,
     false},
    {"atomic on a misaligned TO",
     atomic_misaligned,
     {0x0207, 0x0206},
     {TRANSPORT, OPCODE},
     FLUSHED,
     FLUSHED,
     false},
};

const size_t hostile_row_count = sizeof(hostile_rows) / sizeof(hostile_rows[0]);

void hostile_add_good(struct hostile_attack *attack)
{
    good_write(attack);
    frame(attack);
}
