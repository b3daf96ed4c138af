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

/* ---- Frames by their arguments -------------------------------------------------------------- */

/* Makes a Send or a Write of only this length. */
static void short_send(struct hostile_attack *attack, const uint64_t *arg)
{
    good_send(attack);
    attack->ulpdu.len = arg[0];
    frame(attack);
}

static void short_write(struct hostile_attack *attack, const uint64_t *arg)
{
    good_write(attack);
    attack->ulpdu.len = arg[0];
    frame(attack);
}

/* Does the same with one octet changed. Arguments: which one, to what. */
static void other_send(struct hostile_attack *attack, const uint64_t *arg)
{
    good_send(attack);
    attack->ulpdu.data[arg[0]] = (unsigned char)arg[1];
    frame(attack);
}

static void other_write(struct hostile_attack *attack, const uint64_t *arg)
{
    good_write(attack);
    attack->ulpdu.data[arg[0]] = (unsigned char)arg[1];
    frame(attack);
}

/* Arguments: opcode, queue, MSN, MO, length. */
static void message(struct hostile_attack *attack, const uint64_t *arg)
{
    untagged(attack, (unsigned)arg[0], (uint32_t)arg[1], (uint32_t)arg[2], (uint32_t)arg[3],
             arg[4]);
    frame(attack);
}

enum {
    WRITABLE,
    READABLE,
    FOREIGN
};

static const struct fx_buf *region(const struct hostile_attack *attack, uint64_t number)
{
    const struct fx_buf *const regions[] = {&attack->bed->writable, &attack->bed->readable,
                                            &attack->bed->foreign};

    return regions[number];
}

/* Arguments: region, change of its STag, offset, length. */
static void write_at(struct hostile_attack *attack, const uint64_t *arg)
{
    const struct fx_buf *buf = region(attack, arg[0]);

    write_to(attack, bed_stag(buf) ^ (uint32_t)arg[1], fx_addr(buf, 0) + arg[2], arg[3]);
}

/* Arguments: region, offset, MSN. */
static void read_at(struct hostile_attack *attack, const uint64_t *arg)
{
    const struct fx_buf *buf = region(attack, arg[0]);

    read_from(attack, bed_stag(buf), fx_addr(buf, 0) + arg[1], (uint32_t)arg[2]);
}

/* ---- Frames of their own -------------------------------------------------------------------- */

static void payload_bit_flipped(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    good_send(attack);
    frame(attack);
    attack->stream.data[attack->stream.len - 14] ^= 1;
}

static void ulpdu_length_0(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_reset(&attack->ulpdu);
    frame(attack);
}

static void terminate_short(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_terminate(&attack->ulpdu, 1, 1, 0, 0, NULL, 0, NULL, 0);
    attack->ulpdu.len = 20;
    frame(attack);
}

static void send_second_mo_wrong(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 16, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 15, 16);
    frame(attack);
}

/* An empty segment begins a message and fixes its opcode and STag. */
static void send_changes_opcode(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, NULL, 0, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND_SE, 0, 1, 0, 16);
    frame(attack);
}

static void send_changes_stag(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, NULL, 0, false, 0x11223300);
    frame(attack);
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, NULL, 0, true,
                 bed_stag(&attack->bed->writable));
    frame(attack);
}

static void send_too_long_in_two(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 40, false, 0);
    frame(attack);
    untagged(attack, RAW_SEND, 0, 1, 40, BED_REGION - 39);
    frame(attack);
}

static void third_send(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    for (uint32_t msn = 1; msn <= 3; msn++) {
        untagged(attack, RAW_SEND, 0, msn, 0, 16);
        frame(attack);
    }
}

static void write_unknown(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    write_to(attack, bed_stag(&attack->bed->writable) ^ 0x5a5a5a00u, 0, 1);
}

static void write_stag_0(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    write_to(attack, 0, fx_addr(&attack->bed->writable, 0), 1);
}

static void write_wraps(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    write_to(attack, bed_stag(&attack->bed->writable), UINT64_MAX, 2);
}

static void read_unknown(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    read_from(attack, bed_stag(&attack->bed->readable) ^ 0x5a5a5a00u, 0, 1);
}

static void read_wraps(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    read_from(attack, bed_stag(&attack->bed->readable), UINT64_MAX - 3, 1);
}

static void read_request_short(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_not_last(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[0] = 0x01;
    attack->ulpdu.len -= 4;
    frame(attack);
}

static void read_request_with_mo(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_read_request(&attack->ulpdu, 1, 1, 0, 8, bed_stag(&attack->bed->readable),
                     fx_addr(&attack->bed->readable, 0));
    attack->ulpdu.data[17] = 4;
    frame(attack);
}

static void invalidate_unknown(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND_INV, 0, 1, 0, bed_xs, 16, true,
                 bed_stag(&attack->bed->writable) ^ 0x5a5a5a00u);
    frame(attack);
}

static void invalidate_foreign(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
    raw_untagged(&attack->ulpdu, RAW_SEND_SE_INV, 0, 1, 0, bed_xs, 16, true,
                 bed_stag(&attack->bed->foreign));
    frame(attack);
}

static void atomic_misaligned(struct hostile_attack *attack, const uint64_t *unused)
{
    (void)unused;
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

/*
 * A row: its name, the frame with arguments, the Terminate codes, the affiliated events. Both
 * receives are flushed.
 */
#define ROW(name, build, codes, events, ...)                                                       \
    {                                                                                              \
        name, build, {__VA_ARGS__}, {codes}, {events}, FLUSHED, FLUSHED, false                     \
    }
/* The same, but the receives end with these statuses. */
#define ROW_THAT_ENDS(name, build, codes, events, first, second, ...)                              \
    {                                                                                              \
        name, build, {__VA_ARGS__}, {codes}, {events}, first, second, false                        \
    }
#define EITHER(one, other) one, other
#define TWICE(x)           x, x

const struct hostile_row hostile_rows[] = {
    {"CRC wrong", payload_bit_flipped, {0}, {TWICE(0x2002)}, {TWICE(LLP)}, FLUSHED, FLUSHED, true},
    ROW("ULPDU_Length 0", ulpdu_length_0, TWICE(0x2003), EITHER(LLP, TRANSPORT), 0),
    ROW("ULPDU_Length 1", short_send, TWICE(0x2003), EITHER(LLP, TRANSPORT), 1),
    ROW("tagged header short", short_write, TWICE(0x2003), EITHER(LLP, TRANSPORT), 10),
    ROW("tagged header of 13", short_write, TWICE(0x2003), EITHER(LLP, TRANSPORT), 13),
    ROW("untagged header of 17", short_send, TWICE(0x2003), EITHER(LLP, TRANSPORT), 17),
    ROW("Terminate cut short", terminate_short, TWICE(0x2003), EITHER(LLP, TRANSPORT), 0),
    ROW("DDP version 0, tagged", other_write, TWICE(0x1104), TWICE(TRANSPORT), 0, 0xc0),
    ROW("DDP version 2, untagged", other_send, TWICE(0x1206), TWICE(TRANSPORT), 0, 0x42),
    ROW("RDMAP version 0", other_send, TWICE(0x0205), TWICE(TRANSPORT), 1, 0x03),
    ROW("opcode 0xC", message, TWICE(0x0206), TWICE(OPCODE), 0xc, 0, 1, 0, 16),
    ROW("opcode 0xF, tagged", other_write, TWICE(0x0206), TWICE(OPCODE), 1, 0x4f),
    ROW("Send, tagged", other_write, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), 1, 0x43),
    ROW("Read Request, tagged", other_write, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), 1, 0x41),
    ROW("Write, untagged", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), RAW_WRITE, 0, 1, 0,
        16),
    ROW("Response, untagged", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), RAW_READ_RESPONSE,
        0, 1, 0, 16),
    ROW("Send on queue 1", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), RAW_SEND, 1, 1, 0,
        28),
    ROW("Send on queue 2", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), RAW_SEND, 2, 1, 0,
        28),
    ROW("Read Request on queue 0", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT),
        RAW_READ_REQUEST, 0, 1, 0, 28),
    ROW("Terminate on queue 0", message, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), RAW_TERMINATE, 0,
        1, 0, 4),
    ROW("Send on queue 7", message, TWICE(0x1201), TWICE(TRANSPORT), RAW_SEND, 7, 1, 0, 16),
    ROW("Send on queue 2^32-1", message, TWICE(0x1201), TWICE(TRANSPORT), RAW_SEND, 0xffffffff, 1,
        0, 16),
    ROW("Send MSN 2 first", message, EITHER(0x1203, 0x1202), EITHER(TRANSPORT, RECEIVE), RAW_SEND,
        0, 2, 0, 16),
    ROW("Send MSN 0", message, TWICE(0x1203), TWICE(TRANSPORT), RAW_SEND, 0, 0, 0, 16),
    ROW("Send MSN 2^32-1", message, TWICE(0x1203), TWICE(TRANSPORT), RAW_SEND, 0, 0xffffffff, 0,
        16),
    ROW_THAT_ENDS("Send MO 4 first", message, TWICE(0x1204), TWICE(TRANSPORT), HOSTILE_NOT_GOOD,
                  FLUSHED, RAW_SEND, 0, 1, 4, 16),
    ROW_THAT_ENDS("Send MO huge", message, TWICE(0x1204), TWICE(TRANSPORT), HOSTILE_NOT_GOOD,
                  FLUSHED, RAW_SEND, 0, 1, 0xfffffff8, 16),
    ROW_THAT_ENDS("Send, second MO wrong", send_second_mo_wrong, TWICE(0x1204), TWICE(TRANSPORT),
                  HOSTILE_NOT_GOOD, FLUSHED, 0),
    ROW("Send changes its opcode behind an empty segment", send_changes_opcode, TWICE(0x0206),
        TWICE(OPCODE), 0),
    ROW("Send changes its STag behind an empty segment", send_changes_stag, TWICE(0x0206),
        TWICE(OPCODE), 0),
    ROW_THAT_ENDS("Send too long", message, TWICE(0x1205), EITHER(TRANSPORT, RECEIVE),
                  IT_DTO_ERR_LOCAL_LENGTH, FLUSHED, RAW_SEND, 0, 1, 0, BED_REGION + 1),
    ROW_THAT_ENDS("Send too long in its second half", send_too_long_in_two, TWICE(0x1205),
                  EITHER(TRANSPORT, RECEIVE), IT_DTO_ERR_LOCAL_LENGTH, FLUSHED, 0),
    ROW_THAT_ENDS("a Send without a receive", third_send, TWICE(0x1202), EITHER(TRANSPORT, RECEIVE),
                  IT_DTO_SUCCESS, IT_DTO_SUCCESS, 0),
    ROW("Write to unknown STag", write_unknown, TWICE(0x1100), TWICE(WRITE), 0),
    ROW("Write with wrong key", write_at, TWICE(0x1100), TWICE(WRITE), WRITABLE, 1, 0, 1),
    ROW("Write to STag 0", write_stag_0, TWICE(0x1100), TWICE(WRITE), 0),
    ROW("Write below the base", write_at, TWICE(0x1101), TWICE(WRITE), WRITABLE, 0, UINT64_MAX, 2),
    ROW("Write past the end", write_at, TWICE(0x1101), TWICE(WRITE), WRITABLE, 0, BED_REGION - 1,
        2),
    ROW("Write behind the end", write_at, TWICE(0x1101), TWICE(WRITE), WRITABLE, 0, BED_REGION, 1),
    ROW("Write with TO wrap", write_wraps, TWICE(0x1103), TWICE(WRITE), 0),
    ROW("Write to another zone", write_at, TWICE(0x1102), TWICE(WRITE), FOREIGN, 0, 0, 1),
    ROW("Write to read-only STag", write_at, TWICE(0x0102), TWICE(WRITE), READABLE, 0, 0, 1),
    ROW("Read of unknown STag", read_unknown, TWICE(0x0100), TWICE(READ), 0),
    ROW("Read past the end", read_at, TWICE(0x0101), TWICE(READ), READABLE, BED_REGION - 4, 1),
    ROW("Read of write-only STag", read_at, TWICE(0x0102), TWICE(READ), WRITABLE, 0, 1),
    ROW("Read in another zone", read_at, TWICE(0x0103), TWICE(READ), FOREIGN, 0, 1),
    ROW("Read with TO wrap", read_wraps, TWICE(0x0104), TWICE(READ), 0),
    ROW("Read Request MSN 2 first", read_at, TWICE(0x1203), TWICE(TRANSPORT), READABLE, 0, 2),
    ROW("Read Request 4 short", read_request_short, EITHER(0x2003, 0x02ff), EITHER(LLP, TRANSPORT),
        0),
    ROW("Read Request not last", read_request_not_last, EITHER(0x2003, 0x02ff),
        EITHER(LLP, TRANSPORT), 0),
    ROW("Read Request with MO", read_request_with_mo, EITHER(0x1204, 0x02ff),
        EITHER(TRANSPORT, LLP), 0),
    ROW("Response nobody asked for", other_write, TWICE(0x0206), EITHER(OPCODE, TRANSPORT), 1,
        0x42),
    ROW_THAT_ENDS("Invalidate of unknown STag", invalidate_unknown, TWICE(0x0109),
                  EITHER(ACCESS, TRANSPORT), HOSTILE_NOT_GOOD, FLUSHED, 0),
    ROW_THAT_ENDS("Invalidate in another zone", invalidate_foreign, TWICE(0x0109),
                  EITHER(ACCESS, TRANSPORT), HOSTILE_NOT_GOOD, FLUSHED, 0),
    ROW("Immediate Data of 4", message, EITHER(0x02ff, 0x0206), EITHER(TRANSPORT, OPCODE),
        RAW_IMMEDIATE, 0, 1, 0, 4),
    ROW("atomic on a misaligned TO", atomic_misaligned, EITHER(0x0207, 0x0206),
        EITHER(TRANSPORT, OPCODE), 0),
};

const size_t hostile_row_count = sizeof(hostile_rows) / sizeof(hostile_rows[0]);

void hostile_add_good(struct hostile_attack *attack)
{
    good_write(attack);
    frame(attack);
}
