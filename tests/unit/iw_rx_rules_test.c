/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of messages and their segments: each violation has its error, and nothing follows the
 * error.
 */
#include "vectors/iw_golden.h"

#include "iw_rx_bed.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

static void expect_error(size_t length, enum iw_error error)
{
    struct setup setup = mix_setup;

    setup.ird = 8;
    run_all_ways(&setup, length);
    start(&setup);
    cr_assert_eq(iw_rx_consume(&rx, stream, length), error);
    cr_assert_eq(rx.state, IW_RX_DEAD);
    /* Later octets have no effect. */
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

/*
 * The opcode and the STag to invalidate of the empty segment hold for the message, and no other
 * message comes in between.
 */
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

/*
 * Control messages of every length: only those of the right length are parsed, and all fit the
 * carry buffer.
 */
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

/*
 * Every ULPDU_Length with every opcode on both kinds of segment may be an error, but never crashes.
 */
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

/* The FPDU is refused when only its length is known. Its CRC is still checked. */
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

/* The octets that mean insufficient IRD at startup mean siw's unexpected opcode later. */
Test(iw_rx, terminate_after_startup)
{
    struct builder builder = {.crc = true, .msn = 1};

    build_tagged(&builder, IW_OP_WRITE, true, 0, 0, 0);
    iw_golden_frame('H', 144, stream + builder.length, ROOM - builder.length);
    run_all_ways(&mix_setup, builder.length + 28);
    cr_assert_str_eq(want, "0 0:0+0 =00000000\nterminate 206 siw\nend 0 fpdus 1 boundary 1\n");
}

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

static enum iw_error refuse_done(void *context, const struct iw_segment *segment)
{
    (void)context;
    (void)segment;
    return IW_ERR_RDMAP_CANNOT_INVALIDATE;
}

/* A late refusal counts as much as an early one and does not change the order of messages. */
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
