/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds a stream of FPDUs to the receiver. First octet: 1: CRC on; 2: CRCs stay as they are
 * (otherwise each is corrected, so that later octets are reached); 4: a Read is open; the rest is
 * the seed of the cuts. Whatever the cuts, the same must be reported.
 */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_rx.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    CRC = 1,
    CRC_AS_IT_COMES = 2,
    READ = 4
};

static struct iw_model model;
static struct iw_rx rx;
static char first[IW_MODEL_LOG_MAX];

static void mend_crcs(uint8_t *stream, size_t length)
{
    size_t at = 0;

    while (length - at >= IW_LENGTH_FIELD) {
        uint32_t ulpdu = (uint32_t)stream[at] << 8 | stream[at + 1];
        size_t covered = IW_LENGTH_FIELD + ulpdu + iw_pad(ulpdu);

        if (length - at < covered + IW_CRC_FIELD)
            return;
        iw_encode_trailer(stream + at + covered, 0,
                          iw_crc_final(iw_crc_update(IW_CRC_INIT, stream + at, covered)));
        at += covered + IW_CRC_FIELD;
    }
}

static void start(unsigned flags)
{
    iw_model_init(&model, 300, 3);
    model.regions[0].rights |= IW_MODEL_ATOMIC;
    model.atomics = 2;
    model.atomic_id = 0x01010101;
    model.ird = 2;
    if (flags & READ)
        iw_model_post_read(&model, 0xaabbcc01, 0x7f0000001000, 260);
    iw_rx_init(&rx, iw_model_ops(), &model, flags & CRC);
}

static void finish(enum iw_error error)
{
    iw_model_end(&model, &rx, error);
    if (!iw_model_intact(&model))
        abort();
}

static void compare(unsigned flags, const uint8_t *stream, size_t length, size_t longest,
                    bool direct)
{
    start(flags);
    finish(iw_model_feed(&rx, stream, length, longest, direct, flags));
    if (strcmp(model.log, first) != 0) {
        fprintf(stderr, "pieces of %zu, direct %d:\n%s\nat once:\n%s\n", longest, direct, model.log,
                first);
        abort();
    }
}

/* Single octets take long, so the fuzzer has them for one of 16 seeds, and one cut for others. */
static void compare_cuts(unsigned flags, const uint8_t *stream, size_t length)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    bool all = flags >> 4 == 0;
#else
    bool all = true;
#endif

    if (all)
        compare(flags, stream, length, 1, false);
    if (all || (flags & 8))
        compare(flags, stream, length, 1 + flags, true);
    if (all || !(flags & 8))
        compare(flags, stream, length, 1 + flags / 4, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned flags;
    uint8_t *stream;

    if (size < 2)
        return 0;
    flags = data[0];
    stream = malloc(size - 1);
    if (!stream)
        abort();
    memcpy(stream, data + 1, size - 1);
    if (!(flags & CRC_AS_IT_COMES))
        mend_crcs(stream, size - 1);
    start(flags);
    finish(iw_rx_consume(&rx, stream, size - 1));
    strcpy(first, model.log);
    compare_cuts(flags, stream, size - 1);
    free(stream);
    return 0;
}
