/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds a stream of FPDUs to the receiver. First octet: 1: CRC on; 2: CRCs stay as they are
 * (otherwise each is corrected, so that later octets are reached); 4: a Read is open; the rest is
 * the seed of the cuts. Whatever the cuts, the same must be reported.
 */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"

#include "iw_rx_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct iw_rx_run at_once;
static struct iw_rx_run cut;

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

static void compare(unsigned flags, const uint8_t *stream, size_t length, size_t longest,
                    bool direct)
{
    iw_rx_run_cut(&cut, flags, stream, length, longest, direct);
    if (cut.model.log_length != at_once.model.log_length ||
        memcmp(cut.model.log, at_once.model.log, cut.model.log_length) != 0) {
        fprintf(stderr, "pieces of %zu, direct %d:\n%s\nat once:\n%s\n", longest, direct,
                cut.model.log, at_once.model.log);
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
    if (!(flags & IW_RX_RUN_CRC_AS_IT_COMES))
        mend_crcs(stream, size - 1);
    iw_rx_run_start(&at_once, flags);
    iw_rx_run_finish(&at_once, iw_rx_consume(&at_once.rx, stream, size - 1));
    compare_cuts(flags, stream, size - 1);
    free(stream);
    return 0;
}
