/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_rx.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"
#include "vectors/iw_model.h"

#include <criterion/criterion.h>

#define ROOM 262144
#define SINK 0xaabbcc01

static struct iw_model model;
static struct iw_rx rx;
static uint8_t stream[ROOM];
static char want[IW_MODEL_LOG_MAX];

/* What the receiver is before the stream arrives. */
struct setup {
    uint32_t size;
    unsigned receives;
    bool crc;
    uint32_t read_length; /* with read_posted */
    bool read_posted;
    unsigned ird;
    uint32_t read_stag;
    uint64_t read_to;
    uint64_t atomic_value; /* not 0: what the peer's atomics find at 22334455:40 */
    unsigned atomics;      /* of ours, unanswered */
    uint32_t atomic_id;
};

static void put_atomic_region(uint64_t value)
{
    struct iw_model_region *region = &model.regions[0];

    region->stag = 0x22334455;
    region->base = 0;
    region->rights = IW_MODEL_ATOMIC;
    memcpy(region->buffer.octets + IW_MODEL_CANARY + 0x40, &value, sizeof(value));
}

static void start(const struct setup *setup)
{
    iw_model_init(&model, setup->size, setup->receives);
    model.ird = setup->ird;
    model.atomics = setup->atomics;
    model.atomic_id = setup->atomic_id;
    if (setup->atomic_value)
        put_atomic_region(setup->atomic_value);
    if (setup->read_posted)
        iw_model_post_read(&model, setup->read_stag, setup->read_to, setup->read_length);
    iw_rx_init(&rx, iw_model_ops(), &model, setup->crc);
}

static void finish(enum iw_error error)
{
    iw_model_end(&model, &rx, error);
    cr_assert(iw_model_intact(&model));
}

static void run_pieces(const struct setup *setup, size_t length, size_t longest, bool direct,
                       uint32_t seed)
{
    start(setup);
    finish(iw_model_feed(&rx, stream, length, longest, direct, seed));
    cr_assert_str_eq(model.log, want, "longest %zu direct %d", longest, direct);
}

static void run_cut(const struct setup *setup, size_t length, size_t cut, bool direct)
{
    enum iw_error error;

    start(setup);
    error = iw_rx_consume(&rx, stream, cut);
    if (error == IW_OK)
        error = iw_model_feed(&rx, stream + cut, length - cut, length, direct, 0);
    finish(error);
    cr_assert_str_eq(model.log, want, "cut at %zu direct %d", cut, direct);
}

/* Whole, octet by octet, in two pieces cut at every octet, in random pieces, by direct reads. */
static void run_all_ways(const struct setup *setup, size_t length)
{
    start(setup);
    finish(iw_rx_consume(&rx, stream, length));
    strcpy(want, model.log);
    run_pieces(setup, length, 1, false, 1);
    run_pieces(setup, length, 1, true, 1);
    for (size_t cut = 0; cut <= length; cut++) {
        run_cut(setup, length, cut, false);
        run_cut(setup, length, cut, true);
    }
    for (uint32_t seed = 0; seed < 50; seed++) {
        run_pieces(setup, length, 1 + seed * 7, false, seed);
        run_pieces(setup, length, 1 + seed * 7, true, seed);
    }
}

static void run_golden(char connection, char from, const struct setup *setup, const char *expected)
{
    size_t length = iw_golden_stream(connection, from, stream, sizeof(stream));

    cr_assert_gt(length, 0);
    run_all_ways(setup, length);
    cr_assert_str_eq(want, expected);
}

/* ---- Golden connections ---------------------------------------------------- */

Test(iw_rx, golden_a_at_responder)
{
    const struct setup setup = {.size = 128, .receives = 5, .crc = true, .ird = 1};

    run_golden('A', 'I', &setup,
               "3 1/0+33 ~0 =30add279\n"
               "0 11223344:10002000+15 =8dc1ed9f\n"
               "read 55667788:40+10 to aabbcc01:7f0000001000\n"
               "4 2/0+2a ~55667788 =efcd8ac5\n"
               "3- 3/0+40 ~0 =7b7d69c5\n"
               "3 3/40+24 ~0 =bc5be365\n"
               "0 0:0+0 =00000000\n"
               "0- 11223344:10002000+20 =0b2ae445\n"
               "0 11223344:10002020+8 =9be17165\n"
               "3 4/0+2f ~0 =1f163443\n"
               "end 1100 fpdus 10 boundary 1\n"
               "headers 1 1 0 length 30 =e54958e0 =f5cbf9f5\n");
}

Test(iw_rx, golden_a_at_initiator)
{
    const struct setup setup = {.size = 64,
                                .receives = 2,
                                .crc = true,
                                .ird = 1,
                                .read_posted = true,
                                .read_stag = SINK,
                                .read_to = 0x7f0000001000,
                                .read_length = 16};
    struct iw_model_region *sink;

    /* Send SE, Read Response; the invalidated STag is none of the model's. */
    run_golden('A', 'R', &setup,
               "5 1/0+28 ~0 =20a34e25\n"
               "2 aabbcc01:7f0000001000+10 =b209b501\n"
               "end 109 fpdus 2 boundary 1\n"
               "headers 1 1 0 length 60 =fd844c38 =f5cbf9f5\n");
    /* Once it is, the Terminate behind it comes through. */
    start(&setup);
    sink = &model.regions[0];
    sink->stag = SINK;
    cr_assert_eq(iw_rx_consume(&rx, stream, iw_golden_stream('A', 'R', stream, ROOM)), IW_OK);
    cr_assert(strstr(model.log, "6 2/0+2a ~aabbcc01"));
    cr_assert(strstr(model.log, "terminate 1100\n"));
    cr_assert(rx.state == IW_RX_DEAD && rx.fpdus == 3 && sink->stag == 0);
}

Test(iw_rx, golden_b)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = true, .ird = 1};

    run_golden('B', 'I', &setup,
               "3 1/0+2c ~0 =0e3f4901\n"
               "end 100 fpdus 1 boundary 1\n"
               "headers 1 1 1 length 46 =09841287 =56ce23a1\n");
    run_golden('B', 'R', &setup,
               "3 1/0+2c ~0 =56be1eee\n"
               "terminate 102\n"
               "end 0 fpdus 1 boundary 1\n");
}

Test(iw_rx, golden_c)
{
    const struct setup responder = {.size = 64, .receives = 1, .crc = true, .ird = 1};
    const struct setup initiator = {.size = 64,
                                    .receives = 1,
                                    .crc = true,
                                    .read_posted = true,
                                    .read_stag = SINK,
                                    .read_length = 0};

    run_golden('C', 'I', &responder,
               "read 0:0+0 to 0:0\n"
               "end 0 fpdus 1 boundary 1\n");
    run_golden('C', 'R', &initiator,
               "2 0:0+0 =00000000\n"
               "3 1/0+2c ~0 =c9d501c8\n"
               "end 0 fpdus 2 boundary 1\n");
}

Test(iw_rx, golden_e_without_crc)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = false};

    run_golden('E', 'I', &setup,
               "3 1/0+2c ~0 =bd7b08d1\n"
               "end 0 fpdus 1 boundary 1\n");
}

Test(iw_rx, golden_g_at_responder)
{
    const struct setup setup = {
        .size = 128, .receives = 2, .crc = true, .ird = 2, .atomic_value = 0x1000};

    run_golden('G', 'I', &setup,
               "atomic 0 1010101 22334455:40 1000 to 1005\n"
               "atomic 2 1010102 22334455:40 1005 to 77\n"
               "immediate 1122334455667788\n"
               "immediate se 99aabbccddeeff00\n"
               "end 0 fpdus 4 boundary 1\n");
}

Test(iw_rx, golden_g_at_initiator)
{
    const struct setup setup = {
        .size = 64, .receives = 1, .crc = true, .atomics = 2, .atomic_id = 0x01010101};

    run_golden('G', 'R', &setup,
               "original 1010101 1000\n"
               "original 1010102 1005\n"
               "end 0 fpdus 2 boundary 1\n");
}

Test(iw_rx, golden_h_terminate_at_startup)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = true, .ird = 1};

    run_golden('H', 'I', &setup, "terminate 2006\nend 0 fpdus 0 boundary 1\n");
}

Test(iw_rx, golden_siw_terminate)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = false};
    size_t length;

    length = iw_golden_frame('s', 12, stream, sizeof(stream));
    run_all_ways(&setup, length);
    cr_assert_str_eq(want, "terminate 1202 siw\nend 0 fpdus 0 boundary 1\n");
}

/* ---- Built streams --------------------------------------------------------- */

struct builder {
    size_t length;
    bool crc;
    uint32_t msn;
    uint32_t read_msn;
};

/* The header is at stream + length; adds payload, pad and CRC. */
static void build_rest(struct builder *builder, size_t header, uint32_t payload)
{
    uint8_t *fpdu = stream + builder->length;
    size_t at = header + payload;
    unsigned pad = iw_pad((uint32_t)at - IW_LENGTH_FIELD);

    for (size_t i = header; i < at; i++)
        fpdu[i] = (uint8_t)(i * 13 + builder->length);
    at += iw_encode_trailer(fpdu + at, pad, 0);
    if (builder->crc)
        iw_encode_trailer(fpdu + at - IW_CRC_FIELD, 0,
                          iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, at - IW_CRC_FIELD)));
    else
        memset(fpdu + at - IW_CRC_FIELD, 0x5e, IW_CRC_FIELD);
    builder->length += at;
}

static void build_send(struct builder *builder, enum iw_opcode opcode, bool last, uint32_t stag,
                       uint32_t mo, uint32_t payload)
{
    build_rest(builder,
               iw_encode_untagged(stream + builder->length, opcode, last, stag, IW_QN_SEND,
                                  builder->msn, mo, payload),
               payload);
    if (last)
        builder->msn++;
}

static void build_tagged(struct builder *builder, enum iw_opcode opcode, bool last, uint32_t stag,
                         uint64_t to, uint32_t payload)
{
    build_rest(builder, iw_encode_tagged(stream + builder->length, opcode, last, stag, to, payload),
               payload);
}

static uint32_t control_length(enum iw_opcode opcode)
{
    if (opcode == IW_OP_ATOMIC_REQUEST)
        return IW_ATOMIC_REQUEST_HEADER;
    if (opcode == IW_OP_ATOMIC_RESPONSE)
        return IW_ATOMIC_RESPONSE_HEADER;
    if (opcode == IW_OP_IMMEDIATE || opcode == IW_OP_IMMEDIATE_SE)
        return IW_IMMEDIATE_DATA;
    return 28; /* a Read Request's; legal for a Terminate */
}

static void build_control(struct builder *builder, enum iw_opcode opcode, bool last, uint32_t qn,
                          uint32_t msn, uint32_t mo)
{
    uint32_t length = control_length(opcode);

    build_rest(builder,
               iw_encode_untagged(stream + builder->length, opcode, last, 0, qn, msn, mo, length),
               length);
}

/* All kinds, long and short, Writes and a Read Response between the segments of a Send. */
static size_t build_mix(bool crc)
{
    struct builder builder = {.crc = crc, .msn = 1};

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 300);
    build_send(&builder, IW_OP_SEND, false, 0, 0, 501);
    build_tagged(&builder, IW_OP_WRITE, false, 0x11223344, 0x10002001, 99);
    build_tagged(&builder, IW_OP_READ_RESPONSE, false, SINK, 0x1000, 402);
    build_send(&builder, IW_OP_SEND, false, 0, 501, 100);
    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002064, 1);
    build_tagged(&builder, IW_OP_READ_RESPONSE, true, SINK, 0x1192, 203);
    build_send(&builder, IW_OP_SEND, true, 0, 601, 3);
    build_send(&builder, IW_OP_SEND_SE, true, 0, 0, 0);
    build_tagged(&builder, IW_OP_WRITE, true, 7, 8, 0);
    build_send(&builder, IW_OP_SEND_INV, false, 0x55667788, 0, 128);
    build_send(&builder, IW_OP_SEND_INV, true, 0x55667788, 128, 77);
    return builder.length;
}

static const struct setup mix_setup = {.size = 1024,
                                       .receives = 3,
                                       .crc = true,
                                       .read_posted = true,
                                       .read_stag = SINK,
                                       .read_to = 0x1000,
                                       .read_length = 605};

Test(iw_rx, mixed_stream)
{
    struct setup setup = mix_setup;
    char with_crc[IW_MODEL_LOG_MAX];

    run_all_ways(&setup, build_mix(true));
    cr_assert(strstr(want, "end 0 fpdus 12 boundary 1"), "%s", want);
    strcpy(with_crc, want);
    setup.crc = false;
    run_all_ways(&setup, build_mix(false));
    cr_assert(strstr(want, "end 0 fpdus 12 boundary 1"), "%s", want);
}

Test(iw_rx, longest_fpdu)
{
    struct builder builder = {.crc = true, .msn = 1};
    const struct setup setup = {.size = 70000, .receives = 1, .crc = true};

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 65535 - 14);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 65535 - 18);
    start(&setup);
    finish(iw_rx_consume(&rx, stream, builder.length));
    strcpy(want, model.log);
    cr_assert(strstr(want, "end 0 fpdus 2"));
    for (uint32_t seed = 0; seed < 100; seed++) {
        run_pieces(&setup, builder.length, 1 + seed * seed * 3, true, seed);
        run_pieces(&setup, builder.length, 1 + seed * seed * 3, false, seed);
    }
}

/* One bit wrong anywhere: never a wrong report, and the same one however the stream was cut. */
Test(iw_rx, any_bit_flipped)
{
    struct builder builder = {.crc = true, .msn = 1};
    const struct setup setup = {.size = 1024, .receives = 2, .crc = true};

    build_send(&builder, IW_OP_SEND, true, 0, 0, 150);
    for (size_t bit = 16; bit < builder.length * 8; bit++) {
        stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
        start(&setup);
        finish(iw_rx_consume(&rx, stream, builder.length));
        cr_assert(strncmp(model.log, "end 2002 fpdus 0", 16) == 0, "bit %zu: %s", bit, model.log);
        strcpy(want, model.log);
        run_pieces(&setup, builder.length, 1, false, 0);
        run_pieces(&setup, builder.length, 40, true, (uint32_t)bit);
        stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 16; bit++) { /* the length: an error or a wait, never a report */
        stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
        start(&setup);
        finish(iw_rx_consume(&rx, stream, builder.length));
        cr_assert(strstr(model.log, "fpdus 0"), "bit %zu", bit);
        stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

Test(iw_rx, whole_bad_fpdu_is_not_placed)
{
    struct builder builder = {.crc = true, .msn = 1};
    const struct setup setup = {.size = 1024, .receives = 1, .crc = true};

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    stream[200] ^= 4;
    start(&setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_ERR_MPA_CRC);
    for (size_t i = 0; i < 1024; i++)
        cr_assert_eq(model.regions[0].buffer.octets[IW_MODEL_CANARY + i], IW_MODEL_CANARY_OCTET);
}

Test(iw_rx, wrong_crc_is_ignored_when_off)
{
    struct builder builder = {.crc = false, .msn = 1};
    const struct setup setup = {.size = 1024, .receives = 2, .crc = false};

    build_send(&builder, IW_OP_SEND, true, 0, 0, 40);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 401);
    run_all_ways(&setup, builder.length);
    cr_assert(strstr(want, "end 0 fpdus 2 boundary 1"));
}

/* ---- Rules of the core ----------------------------------------------------- */

static void expect_error(size_t length, enum iw_error error)
{
    struct setup setup = mix_setup;

    setup.ird = 8;
    run_all_ways(&setup, length);
    start(&setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, length), error);
    cr_assert_eq(rx.state, IW_RX_DEAD);
    /* Whatever comes now has no effect. */
    model.log_length = 0;
    cr_assert_eq(iw_rx_consume(&rx, stream, length), IW_OK);
    cr_assert_eq(model.log_length, 0);
    cr_assert(iw_rx_at_boundary(&rx) && iw_rx_direct_wanted(&rx) == 0);
}

Test(iw_rx, segments_of_a_send_agree)
{
    for (uint32_t longer = 0; longer <= 200; longer += 200) {
        struct builder builder = {.crc = true, .msn = 1};

        build_send(&builder, IW_OP_SEND, false, 0, 0, 20 + longer);
        build_send(&builder, IW_OP_SEND_SE, true, 0, 20 + longer, 20 + longer);
        expect_error(builder.length, IW_ERR_RDMAP_OPCODE);
        builder = (struct builder){.crc = true, .msn = 1};
        build_send(&builder, IW_OP_SEND_INV, false, 0x11223344, 0, 20 + longer);
        build_send(&builder, IW_OP_SEND_INV, true, 0x55667788, 20 + longer, 20 + longer);
        expect_error(builder.length, IW_ERR_RDMAP_OPCODE);
        builder = (struct builder){.crc = true, .msn = 1};
        build_send(&builder, IW_OP_SEND, false, 0, 0, 20 + longer);
        build_send(&builder, IW_OP_SEND, true, 0, 0, 20 + longer);
        expect_error(builder.length, IW_ERR_DDP_INVALID_MO);
        builder = (struct builder){.crc = true, .msn = 1};
        build_send(&builder, IW_OP_SEND, false, 0, 0, 20 + longer);
        builder.msn++;
        build_send(&builder, IW_OP_SEND, true, 0, 0, 20 + longer);
        expect_error(builder.length, IW_ERR_DDP_MSN_RANGE);
    }
}

/* Its opcode and the STag that it invalidates hold for the rest, and nothing comes in between. */
Test(iw_rx, an_empty_segment_begins_a_message)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_send(&builder, IW_OP_SEND, false, 0, 0, 0);
    build_send(&builder, IW_OP_SEND_SE, true, 0, 0, 20);
    expect_error(builder.length, IW_ERR_RDMAP_OPCODE);
    builder = (struct builder){.crc = true, .msn = 1};
    build_send(&builder, IW_OP_SEND_INV, false, 0x11223344, 0, 0);
    build_send(&builder, IW_OP_SEND_INV, false, 0x55667788, 0, 0);
    expect_error(builder.length, IW_ERR_RDMAP_OPCODE);
    builder = (struct builder){.crc = true, .msn = 1};
    build_send(&builder, IW_OP_SEND, false, 0, 0, 0);
    build_control(&builder, IW_OP_IMMEDIATE, true, IW_QN_SEND, 1, 0);
    expect_error(builder.length, IW_ERR_RDMAP_OPCODE);
    builder = (struct builder){.crc = true, .msn = 1};
    build_send(&builder, IW_OP_SEND, false, 0, 0, 0);
    build_send(&builder, IW_OP_SEND, false, 0, 0, 20);
    build_send(&builder, IW_OP_SEND, true, 0, 20, 0);
    build_send(&builder, IW_OP_SEND_SE, true, 0, 0, 0);
    run_all_ways(&mix_setup, builder.length);
    cr_assert(strstr(want, "end 0 fpdus 4 boundary 1"), "%s", want);
}

Test(iw_rx, message_offset_does_not_wrap)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_send(&builder, IW_OP_SEND, true, 0, UINT32_MAX - 3, 4);
    start(&mix_setup);
    rx.send_open = true;
    rx.send_mo = UINT32_MAX - 3;
    rx.send_opcode = IW_OP_SEND;
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_ERR_DDP_INVALID_MO);
}

Test(iw_rx, msn_wraps)
{
    struct builder builder = {.crc = true, .msn = UINT32_MAX};

    build_send(&builder, IW_OP_SEND, true, 0, 0, 4);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 4);
    start(&mix_setup);
    rx.next_msn[IW_QN_SEND] = UINT32_MAX;
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_OK);
    cr_assert_eq(rx.next_msn[IW_QN_SEND], 1);
}

/* Control messages of every length: only the right ones are looked at, the carry holds them all. */
Test(iw_rx, control_message_lengths)
{
    for (uint32_t payload = 0; payload < 300; payload++) {
        struct builder builder = {.crc = true};
        size_t header;

        header = iw_encode_untagged(stream, IW_OP_READ_REQUEST, true, 0, 1, 1, 0, payload);
        build_rest(&builder, header, payload);
        if (payload != IW_READ_REQUEST_HEADER)
            expect_error(builder.length, IW_ERR_MPA_LENGTH);
        builder.length = 0;
        header = iw_encode_untagged(stream, IW_OP_ATOMIC_REQUEST, true, 0, 1, 1, 0, payload);
        build_rest(&builder, header, payload);
        if (payload != IW_ATOMIC_REQUEST_HEADER)
            expect_error(builder.length, IW_ERR_MPA_LENGTH);
        builder.length = 0;
        header = iw_encode_untagged(stream, IW_OP_ATOMIC_RESPONSE, true, 0, 3, 1, 0, payload);
        build_rest(&builder, header, payload);
        if (payload != IW_ATOMIC_RESPONSE_HEADER)
            expect_error(builder.length, IW_ERR_MPA_LENGTH);
        builder.length = 0;
        header = iw_encode_untagged(stream, IW_OP_IMMEDIATE, true, 0, 0, 1, 0, payload);
        build_rest(&builder, header, payload);
        if (payload != IW_IMMEDIATE_DATA)
            expect_error(builder.length, IW_ERR_RDMAP_UNSPECIFIED);
        builder.length = 0;
        header = iw_encode_untagged(stream, IW_OP_TERMINATE, true, 0, 2, 1, 0, payload);
        build_rest(&builder, header, payload);
        if (payload < 4 || payload > IW_TERMINATE_MAX) {
            expect_error(builder.length, IW_ERR_MPA_LENGTH);
            continue;
        }
        run_all_ways(&mix_setup, builder.length);
        cr_assert(strncmp(want, "terminate ", 10) == 0);
    }
}

Test(iw_rx, control_message_order)
{
    static const struct {
        enum iw_opcode opcode;
        bool last;
        uint32_t qn, msn, mo;
        enum iw_error error;
    } cases[] = {
        {IW_OP_ATOMIC_REQUEST, true, 1, 0, 0, IW_ERR_DDP_MSN_RANGE},
        {IW_OP_ATOMIC_REQUEST, true, 1, 1, 8, IW_ERR_DDP_INVALID_MO},
        {IW_OP_ATOMIC_REQUEST, false, 1, 1, 0, IW_ERR_RDMAP_UNSPECIFIED},
        {IW_OP_ATOMIC_REQUEST, true, 0, 1, 0, IW_ERR_RDMAP_OPCODE},
        {IW_OP_ATOMIC_REQUEST, true, 3, 1, 0, IW_ERR_RDMAP_OPCODE},
        {IW_OP_ATOMIC_REQUEST, true, 4, 1, 0, IW_ERR_DDP_INVALID_QN},
        {IW_OP_ATOMIC_RESPONSE, true, 3, 2, 0, IW_ERR_DDP_MSN_RANGE},
        {IW_OP_ATOMIC_RESPONSE, true, 3, 1, 1, IW_ERR_DDP_INVALID_MO},
        {IW_OP_ATOMIC_RESPONSE, false, 3, 1, 0, IW_ERR_RDMAP_UNSPECIFIED},
        {IW_OP_ATOMIC_RESPONSE, true, 1, 1, 0, IW_ERR_RDMAP_OPCODE},
        {IW_OP_ATOMIC_RESPONSE, true, 3, 1, 0, IW_ERR_RDMAP_OPCODE}, /* nobody asked */
        {IW_OP_IMMEDIATE, true, 0, 2, 0, IW_ERR_DDP_MSN_RANGE},
        {IW_OP_IMMEDIATE_SE, true, 0, 1, 8, IW_ERR_DDP_INVALID_MO},
        {IW_OP_IMMEDIATE, false, 0, 1, 0, IW_ERR_RDMAP_UNSPECIFIED},
        {IW_OP_IMMEDIATE, true, 2, 1, 0, IW_ERR_RDMAP_OPCODE},
        {IW_OP_READ_REQUEST, true, 3, 1, 0, IW_ERR_RDMAP_OPCODE},
        {IW_OP_READ_REQUEST, true, 1, 0, 0, IW_ERR_DDP_MSN_RANGE},
        {IW_OP_READ_REQUEST, true, 1, 1, 4, IW_ERR_DDP_INVALID_MO},
        {IW_OP_READ_REQUEST, false, 1, 1, 0, IW_ERR_RDMAP_UNSPECIFIED},
        {IW_OP_TERMINATE, true, 2, 2, 0, IW_ERR_DDP_MSN_RANGE},
        {IW_OP_TERMINATE, true, 2, 1, 1, IW_ERR_DDP_INVALID_MO},
        {IW_OP_TERMINATE, true, 1, 1, 0, IW_ERR_RDMAP_OPCODE},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct builder builder = {.crc = true};

        build_control(&builder, cases[i].opcode, cases[i].last, cases[i].qn, cases[i].msn,
                      cases[i].mo);
        expect_error(builder.length, cases[i].error);
    }
}

/* Every ULPDU_Length with every opcode on both kinds of segment: an error or not, never a crash. */
Test(iw_rx, every_length_and_opcode)
{
    const struct setup setup = {.size = 70000, .receives = 1, .crc = true, .ird = 1};

    for (uint32_t length = 0; length <= IW_ULPDU_MAX; length += length < 200 ? 1 : 2111) {
        for (unsigned control = 0; control < 32; control++) {
            size_t total = IW_LENGTH_FIELD + length + iw_pad(length) + IW_CRC_FIELD;
            uint32_t crc;

            memset(stream, 0, total);
            stream[0] = (uint8_t)(length >> 8);
            stream[1] = (uint8_t)length;
            if (length > 1) {
                stream[2] = control & 16 ? 0xc1 : 0x41;
                stream[3] = (uint8_t)(0x40 | (control & 15));
            }
            crc = iw_crc_final(iw_crc_update(IW_CRC_INIT, stream, total - IW_CRC_FIELD));
            iw_encode_trailer(stream + total - IW_CRC_FIELD, 0, crc);
            start(&setup);
            finish(iw_rx_consume(&rx, stream, total));
            strcpy(want, model.log);
            run_pieces(&setup, total, 1 + length / 5, true, control);
            run_pieces(&setup, total, 21, false, control);
            cr_assert_eq(iw_rx_at_boundary(&rx), true);
        }
    }
}

/* Refused before anything of it is known but its length: the CRC is found all the same. */
Test(iw_rx, long_fpdu_of_another_version)
{
    static const struct {
        size_t octet;
        uint8_t value;
        enum iw_error error;
    } cases[] = {
        {2, 0xc0, IW_ERR_DDP_TAGGED_VERSION},
        {2, 0x42, IW_ERR_DDP_UNTAGGED_VERSION},
        {3, 0x80, IW_ERR_RDMAP_VERSION},
        {3, 0x4f, IW_ERR_RDMAP_OPCODE},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct builder builder = {.crc = true, .msn = 1};
        size_t covered;

        build_send(&builder, IW_OP_SEND, true, 0, 0, 11);
        covered = builder.length;
        build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 301);
        stream[covered + cases[i].octet] = cases[i].value;
        iw_encode_trailer(stream + builder.length - IW_CRC_FIELD, 0,
                          iw_crc_final(iw_crc_update(IW_CRC_INIT, stream + covered,
                                                     builder.length - IW_CRC_FIELD - covered)));
        expect_error(builder.length, cases[i].error);
    }
}

/* Octets that mean insufficient IRD at startup are siw's unexpected opcode later on. */
Test(iw_rx, terminate_after_startup)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_tagged(&builder, IW_OP_WRITE, true, 0, 0, 0);
    iw_golden_frame('H', 144, stream + builder.length, ROOM - builder.length);
    run_all_ways(&mix_setup, builder.length + 28);
    cr_assert_str_eq(want, "0 0:0+0 =00000000\nterminate 206 siw\nend 0 fpdus 1 boundary 1\n");
}

/* ---- Refusals, memory that goes away --------------------------------------- */

Test(iw_rx, refusal_waits_for_the_crc)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_tagged(&builder, IW_OP_WRITE, true, 0xdeadbeef, 0, 200);
    start(&mix_setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length - 1), IW_OK);
    cr_assert(rx.state == IW_RX_TRAILER && !iw_rx_at_boundary(&rx));
    cr_assert_eq(iw_rx_consume(&rx, stream + builder.length - 1, 1), IW_ERR_DDP_INVALID_STAG);
    stream[100] ^= 1;
    start(&mix_setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length - 1), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
    cr_assert_eq(iw_rx_consume(&rx, stream + builder.length - 1, 1), IW_ERR_MPA_CRC);
}

Test(iw_rx, refusal_is_immediate_without_crc)
{
    struct builder builder = {.crc = false, .msn = 1};
    struct setup setup = mix_setup;

    setup.crc = false;
    build_tagged(&builder, IW_OP_WRITE, true, 0xdeadbeef, 0, 200);
    start(&setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, 15), IW_OK);
    cr_assert_eq(iw_rx_consume(&rx, stream + 15, 1), IW_ERR_DDP_INVALID_STAG);
}

Test(iw_rx, memory_goes_away)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count = 1;
    uint32_t wanted = 50;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    for (unsigned maps = 0; maps < 3; maps++) {
        start(&mix_setup);
        model.maps_left = maps;
        cr_assert_eq(iw_model_feed(&rx, stream, builder.length, 20, false, maps), IW_ERR_DDP_LOCAL);
        cr_assert(rx.state == IW_RX_DEAD && model.log_length == 0 && iw_model_intact(&model));
    }
    start(&mix_setup);
    model.maps_left = 1;
    cr_assert_eq(iw_rx_consume(&rx, stream, 100), IW_OK);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_ERR_DDP_LOCAL);
    cr_assert_eq(count, 0);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
}

static enum iw_error refuse_done(void *context, const struct iw_segment *segment)
{
    (void)context;
    (void)segment;
    return IW_ERR_RDMAP_CANNOT_INVALIDATE;
}

/* A late refusal counts as much as an early one, and leaves the order of messages alone. */
Test(iw_rx, whole_fpdu_refused_late)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iw_rx_ops ops = *iw_model_ops();

    build_send(&builder, IW_OP_SEND, true, 0, 0, 500);
    start(&mix_setup);
    model.maps_left = 0;
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_ERR_DDP_LOCAL);
    cr_assert(rx.state == IW_RX_DEAD && rx.fpdus == 0);
    ops.done = refuse_done;
    for (size_t piece = 1; piece <= builder.length; piece += builder.length - 1) {
        start(&mix_setup);
        rx.ops = &ops;
        cr_assert_eq(iw_model_feed(&rx, stream, builder.length, piece, false, 0),
                     IW_ERR_RDMAP_CANNOT_INVALIDATE);
        cr_assert(rx.state == IW_RX_DEAD && rx.fpdus == 0 && rx.next_msn[0] == 1);
    }
}

static uint32_t octets_taken, solicited_taken;

static bool take(void *context, const uint8_t *payload, uint32_t length, bool solicited)
{
    (void)context;
    (void)payload;
    octets_taken += length;
    solicited_taken += solicited;
    return true;
}

/* Not the empty one, nor that of two segments, nor one that is not the next. */
Test(iw_rx, usual_sends_are_taken)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iw_rx_ops ops = *iw_model_ops();
    size_t first;

    ops.take = take;
    build_send(&builder, IW_OP_SEND, true, 0, 0, 64);
    first = builder.length;
    build_send(&builder, IW_OP_SEND_SE, true, 0, 0, 1);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 0);
    build_send(&builder, IW_OP_SEND, false, 0, 0, 300);
    build_send(&builder, IW_OP_SEND, true, 0, 300, 100);
    build_send(&builder, IW_OP_SEND, false, 0, 0, 0);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 7);
    build_send(&builder, IW_OP_SEND, true, 0, 0, 32);
    start(&mix_setup);
    rx.ops = &ops;
    cr_assert_eq(iw_rx_consume(&rx, stream, first), IW_OK);
    cr_assert(rx.segment.last && rx.segment.opcode == IW_OP_SEND); /* no unfinished message */
    cr_assert_eq(iw_rx_consume(&rx, stream + first, builder.length - first), IW_OK);
    cr_assert(octets_taken == 64 + 1 + 32 && solicited_taken == 1);
    cr_assert(rx.fpdus == 8 && rx.next_msn[IW_QN_SEND] == builder.msn);
    builder = (struct builder){.crc = true, .msn = builder.msn + 1};
    build_send(&builder, IW_OP_SEND, true, 0, 0, 16);
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_ERR_DDP_MSN_RANGE);
    cr_assert_eq(octets_taken, 64 + 1 + 32);
}

Test(iw_rx, direct_reads)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count = 7;
    uint32_t wanted = 10;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    start(&mix_setup);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert(count == 0 && wanted == 0 && !model.mapped);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_consume(&rx, stream, 16), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 500);
    /* Nothing arrives; then more is asked for than there is. */
    wanted = 10;
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert(model.mapped && count == 3 && wanted == 10);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 500);
    wanted = UINT32_MAX;
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert_eq(wanted, 500);
    cr_assert_eq(iov[0].iov_len + iov[1].iov_len + iov[2].iov_len, 500);
    memcpy(iov[0].iov_base, stream + 16, 500); /* the model's pieces lie side by side */
    cr_assert_eq(iw_rx_direct_end(&rx, UINT32_MAX), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
    cr_assert_eq(rx.state, IW_RX_TRAILER);
    cr_assert_eq(rx.fpdus, 0);
    cr_assert_eq(iw_rx_consume(&rx, stream + 516, builder.length - 516), IW_OK);
    cr_assert_eq(rx.fpdus, 1);
}

/* Memory in more pieces than fit is handed out bit by bit. */
Test(iw_rx, short_maps)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count;
    uint32_t wanted = 500;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    for (uint32_t most = 1; most <= 501; most += 50) {
        for (unsigned direct = 0; direct < 2; direct++) {
            for (size_t longest = 1; longest <= builder.length; longest += 97) {
                start(&mix_setup);
                model.map_most = most;
                cr_assert_eq(iw_model_feed(&rx, stream, builder.length, longest, direct, most),
                             IW_OK);
                cr_assert(rx.fpdus == 1 && iw_model_intact(&model));
                cr_assert_eq(
                    memcmp(model.regions[0].buffer.octets + IW_MODEL_CANARY, stream + 16, 500), 0);
            }
        }
    }
    start(&mix_setup);
    model.map_most = 99;
    cr_assert_eq(iw_rx_consume(&rx, stream, 16), IW_OK);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert_eq(wanted, 99);
    cr_assert_eq(iw_rx_direct_end(&rx, 500), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 401);
}

Test(iw_rx, boundary)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_send(&builder, IW_OP_SEND, true, 0, 0, 200);
    start(&mix_setup);
    cr_assert(iw_rx_at_boundary(&rx));
    for (size_t i = 0; i + 1 < builder.length; i++) {
        cr_assert_eq(iw_rx_consume(&rx, stream + i, 1), IW_OK);
        cr_assert_not(iw_rx_at_boundary(&rx));
    }
    cr_assert_eq(iw_rx_consume(&rx, stream + builder.length - 1, 1), IW_OK);
    cr_assert(iw_rx_at_boundary(&rx));
}
