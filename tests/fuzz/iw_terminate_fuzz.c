/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Terminate header. One that was decoded in the RFC's order of bits is the same after encoding.
 * The same octets also serve as the header of a faulty segment.
 */
#include "tdi/iwarp/iw_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Encodes the header in an FPDU and decodes it again. */
static void check_round_trip(const struct iw_terminate *terminate)
{
    uint8_t *fpdu = malloc(IW_TERMINATE_FPDU_MAX);
    struct iw_terminate again;
    struct iw_segment segment;
    size_t header;
    size_t length;
    uint32_t ulpdu;

    require(fpdu);
    length = iw_encode_terminate_fpdu(fpdu, terminate, true);
    ulpdu = (uint32_t)fpdu[0] << 8 | fpdu[1];
    require(length == IW_LENGTH_FIELD + ulpdu + iw_pad(ulpdu) + IW_CRC_FIELD);
    require(iw_decode_header(fpdu + IW_LENGTH_FIELD, ulpdu, ulpdu, &segment, &header) == IW_OK);
    require(segment.opcode == IW_OP_TERMINATE && segment.length <= IW_TERMINATE_MAX);
    require(iw_decode_terminate(fpdu + IW_LENGTH_FIELD + header, segment.length, true, &again) ==
            IW_OK);
    /* Without flags an unknown code may be a known one in the other order of nibbles. */
    if (!again.little_endian_nibbles)
        require(memcmp(&again, terminate, sizeof(again)) == 0);
    free(fpdu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iw_terminate terminate;
    enum iw_error error;

    if (size < 1)
        return 0;
    error = iw_decode_terminate(data + 1, size - 1, data[0] & 1, &terminate);
    require((error == IW_OK) == (size - 1 >= 4));
    if (error == IW_OK && !terminate.little_endian_nibbles)
        check_round_trip(&terminate);
    iw_terminate_fill(&terminate, (enum iw_error)IW_CODE(data[0] >> 4 & 3, data[0] >> 2 & 3, 2),
                      data + 1, size - 1, (uint32_t)size);
    check_round_trip(&terminate);
    return 0;
}
