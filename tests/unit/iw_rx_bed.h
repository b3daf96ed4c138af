/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver with a model of its user, functions that build streams, and functions that cut them.
 */
#ifndef ITAPI_TESTS_UNIT_IW_RX_BED_H
#define ITAPI_TESTS_UNIT_IW_RX_BED_H

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_rx.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_model.h"

#include <criterion/criterion.h>

#define ROOM 262144
#define SINK 0xaabbcc01

static struct iw_model model;
static struct iw_rx rx;
static uint8_t stream[ROOM];
static char want[IW_MODEL_LOG_MAX];

/* The receiver's settings before the stream arrives. */
struct setup {
    uint32_t size;
    unsigned receives;
    bool crc;
    uint32_t read_length; /* with read_posted */
    bool read_posted;
    unsigned ird;
    uint32_t read_stag;
    uint64_t read_to;
    uint64_t atomic_value; /* not 0: the value at 22334455:40 for the peer's atomics */
    unsigned atomics;      /* number of this side's unanswered atomics */
    uint32_t atomic_id;
};

static inline void put_atomic_region(uint64_t value)
{
    struct iw_model_region *region = &model.regions[0];

    region->stag = 0x22334455;
    region->base = 0;
    region->rights = IW_MODEL_ATOMIC;
    memcpy(region->buffer.octets + IW_MODEL_CANARY + 0x40, &value, sizeof(value));
}

static inline void start(const struct setup *setup)
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

static inline void finish(enum iw_error error)
{
    iw_model_end(&model, &rx, error);
    cr_assert(iw_model_intact(&model));
}

static inline void run_pieces(const struct setup *setup, size_t length, size_t longest, bool direct,
                              uint32_t seed)
{
    start(setup);
    finish(iw_model_feed(&rx, stream, length, longest, direct, seed));
    cr_assert_str_eq(model.log, want, "longest %zu direct %d", longest, direct);
}

static inline void run_cut(const struct setup *setup, size_t length, size_t cut, bool direct)
{
    enum iw_error error;

    start(setup);
    error = iw_rx_consume(&rx, stream, cut);
    if (error == IW_OK)
        error = iw_model_feed(&rx, stream + cut, length - cut, length, direct, 0);
    finish(error);
    cr_assert_str_eq(model.log, want, "cut at %zu direct %d", cut, direct);
}

/*
 * Runs the stream whole, octet by octet, cut in two at every octet, in random pieces, and by direct
 * reads.
 */
static inline void run_all_ways(const struct setup *setup, size_t length)
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

/* ---- Built streams --------------------------------------------------------- */

struct builder {
    size_t length;
    bool crc;
    uint32_t msn;
    uint32_t read_msn;
};

/* Adds payload, pad and CRC. The header is already at stream + length. */
static inline void build_rest(struct builder *builder, size_t header, uint32_t payload)
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

static inline void build_send(struct builder *builder, enum iw_opcode opcode, bool last,
                              uint32_t stag, uint32_t mo, uint32_t payload)
{
    build_rest(builder,
               iw_encode_untagged(stream + builder->length, opcode, last, stag, IW_QN_SEND,
                                  builder->msn, mo, payload),
               payload);
    if (last)
        builder->msn++;
}

static inline void build_tagged(struct builder *builder, enum iw_opcode opcode, bool last,
                                uint32_t stag, uint64_t to, uint32_t payload)
{
    build_rest(builder, iw_encode_tagged(stream + builder->length, opcode, last, stag, to, payload),
               payload);
}

static inline uint32_t control_length(enum iw_opcode opcode)
{
    if (opcode == IW_OP_ATOMIC_REQUEST)
        return IW_ATOMIC_REQUEST_HEADER;
    if (opcode == IW_OP_ATOMIC_RESPONSE)
        return IW_ATOMIC_RESPONSE_HEADER;
    if (opcode == IW_OP_IMMEDIATE || opcode == IW_OP_IMMEDIATE_SE)
        return IW_IMMEDIATE_DATA;
    return 28; /* the length of a Read Request; legal for a Terminate */
}

static inline void build_control(struct builder *builder, enum iw_opcode opcode, bool last,
                                 uint32_t qn, uint32_t msn, uint32_t mo)
{
    uint32_t length = control_length(opcode);

    build_rest(builder,
               iw_encode_untagged(stream + builder->length, opcode, last, 0, qn, msn, mo, length),
               length);
}

/*
 * Builds messages of all kinds, long and short, with Writes and a Read Response between the
 * segments of a Send.
 */
static inline size_t build_mix(bool crc)
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

#endif
