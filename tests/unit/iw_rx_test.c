/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams of messages of all kinds, whole and damaged. */
#include "iw_rx_bed.h"

#include <criterion/criterion.h>

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

/*
 * One wrong bit anywhere never causes a wrong report, and the result does not depend on how the
 * stream was cut.
 */
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

static uint32_t octets_taken, solicited_taken;

static bool take(void *context, const uint8_t *payload, uint32_t length, bool solicited)
{
    (void)context;
    (void)payload;
    octets_taken += length;
    solicited_taken += solicited;
    return true;
}

/*
 * The short path takes neither an empty Send, nor one of two segments, nor one with an unexpected
 * MSN.
 */
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
    cr_assert(rx.segment.last && rx.segment.opcode == IW_OP_SEND); /* no message is unfinished */
    cr_assert_eq(iw_rx_consume(&rx, stream + first, builder.length - first), IW_OK);
    cr_assert(octets_taken == 64 + 1 + 32 && solicited_taken == 1);
    cr_assert(rx.fpdus == 8 && rx.next_msn[IW_QN_SEND] == builder.msn);
    builder = (struct builder){.crc = true, .msn = builder.msn + 1};
    build_send(&builder, IW_OP_SEND, true, 0, 0, 16);
    cr_assert_eq(iw_rx_consume(&rx, stream, builder.length), IW_ERR_DDP_MSN_RANGE);
    cr_assert_eq(octets_taken, 64 + 1 + 32);
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
