/* SPDX-License-Identifier: BSD-2-Clause */
/* The Terminate message (RFC 5040 4.8), and how Linux siw writes it. */
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_octets.h"
#include "tdi/iwarp/iw_wire.h"

#include <string.h>

#define TERMINATE_CONTROL 4     /* layer and type, code, flags, reserved */
#define TERMINATE_MSN     1     /* the only message of its queue */
#define FLAG_LENGTH       0x80u /* M */
#define FLAG_DDP          0x40u /* D */
#define FLAG_RDMAP        0x20u /* R */
#define FLAGS             (FLAG_LENGTH | FLAG_DDP | FLAG_RDMAP)
#define SIW_FLAG_LENGTH   0x01u
#define SIW_FLAG_DDP      0x02u
#define SIW_FLAG_RDMAP    0x04u
#define SIW_FLAGS         (SIW_FLAG_LENGTH | SIW_FLAG_DDP | SIW_FLAG_RDMAP)
#define RDMAP_OPCODE_MASK 0x0fu

/* control, segment length, DDP header, RDMAP header */
_Static_assert(TERMINATE_CONTROL + 2 + IW_UNTAGGED_HEADER + IW_READ_REQUEST_HEADER ==
                   IW_TERMINATE_MAX,
               "Terminate header");

/* Codes that exist: bit n stands for code n; ff of layer 0 type 2 apart. */
static bool iw_terminate_known(unsigned layer, unsigned type, unsigned code)
{
    static const uint16_t codes[3][3] = {
        {0x0001, 0x021f, 0x03e0}, /* RDMAP: local; protection 0-4, 9; operation 5-9 */
        {0x0001, 0x001f, 0x007e}, /* DDP: local; tagged 0-4; untagged 1-6 */
        {0x00fe, 0x0000, 0x0000}, /* MPA: 1-7 */
    };

    if (layer == 0 && type == 2 && code == 0xff)
        return true;
    return layer < 3 && type < 3 && code < 16 && (codes[layer][type] >> code & 1) != 0;
}

/* siw's form of two RDMAP errors, version and opcode, looks like errors of the MPA startup. */
static bool iw_terminate_startup_code(unsigned layer, unsigned type, unsigned code)
{
    return layer == 2 && type == 0 &&
           (code == IW_ERROR_CODE(IW_ERR_MPA_LOCAL) || code == IW_ERROR_CODE(IW_ERR_MPA_IRD));
}

/*
 * siw lays the control word out with C bit-fields, so that on little-endian hosts layer and type
 * change places and the flags stand at the other end of their octet.
 */
static bool iw_terminate_swapped(const uint8_t *src, bool startup)
{
    unsigned high = src[0] >> 4;
    unsigned low = src[0] & 0xfu;

    if ((src[2] & FLAGS) != 0)
        return false;
    if ((src[2] & SIW_FLAGS) != 0)
        return true;
    if (!iw_terminate_known(high, low, src[1]))
        return iw_terminate_known(low, high, src[1]);
    return !startup && iw_terminate_startup_code(high, low, src[1]);
}

/* Incomplete copies of headers are ignored; the error is known without them. */
static void iw_terminate_copies(const uint8_t *src, size_t length, struct iw_terminate *terminate)
{
    size_t at = TERMINATE_CONTROL + 2;
    size_t ddp;

    if (length < at || !(terminate->has_length || terminate->has_ddp)) {
        terminate->has_length = terminate->has_ddp = terminate->has_rdmap = false;
        return;
    }
    if (terminate->has_length) /* D alone has the field too */
        terminate->segment_length = iw_load16(src + TERMINATE_CONTROL);
    ddp = terminate->has_ddp && length > at ? iw_header_length(src + at) : 0;
    if (ddp == 0 || length - at < ddp) {
        terminate->has_ddp = terminate->has_rdmap = false;
        return;
    }
    terminate->ddp_length = (uint8_t)ddp;
    memcpy(terminate->ddp, src + at, ddp);
    at += ddp;
    if (!terminate->has_rdmap || length - at < IW_READ_REQUEST_HEADER) {
        terminate->has_rdmap = false;
        return;
    }
    memcpy(terminate->rdmap, src + at, IW_READ_REQUEST_HEADER);
}

enum iw_error iw_decode_terminate(const uint8_t *src, size_t length, bool startup,
                                  struct iw_terminate *terminate)
{
    bool swapped;
    unsigned flags;
    unsigned layer;
    unsigned type;

    memset(terminate, 0, sizeof(*terminate));
    if (length < TERMINATE_CONTROL)
        return IW_ERR_MPA_LENGTH;
    swapped = iw_terminate_swapped(src, startup);
    layer = swapped ? src[0] & 0xfu : src[0] >> 4;
    type = swapped ? src[0] >> 4 : src[0] & 0xfu;
    flags = src[2];
    terminate->little_endian_nibbles = swapped;
    terminate->error = (enum iw_error)IW_CODE(layer, type, src[1]);
    terminate->has_length = (flags & (swapped ? SIW_FLAG_LENGTH : FLAG_LENGTH)) != 0;
    terminate->has_ddp = (flags & (swapped ? SIW_FLAG_DDP : FLAG_DDP)) != 0;
    terminate->has_rdmap = (flags & (swapped ? SIW_FLAG_RDMAP : FLAG_RDMAP)) != 0;
    iw_terminate_copies(src, length, terminate);
    return IW_OK;
}

/* RFC 5040 4.8: returns true for errors that carry the header of the segment at fault. */
static bool iw_terminate_carries_ddp(enum iw_error error, unsigned opcode)
{
    switch (IW_ERROR_LAYER(error)) {
    case 0:
        if (error == IW_ERR_RDMAP_VERSION)
            return false;
        if (error == IW_ERR_RDMAP_OPCODE) /* an unknown opcode has an unknown layout */
            return opcode <= IW_OP_ATOMIC_RESPONSE;
        return IW_ERROR_TYPE(error) != 0;
    case 1:
        return error != IW_ERR_DDP_TAGGED_VERSION && error != IW_ERR_DDP_UNTAGGED_VERSION;
    default:
        return false;
    }
}

void iw_terminate_fill(struct iw_terminate *terminate, enum iw_error error, const uint8_t *header,
                       size_t header_length, uint32_t ulpdu_length)
{
    unsigned opcode;
    size_t ddp;

    memset(terminate, 0, sizeof(*terminate));
    terminate->error = error;
    if (header_length < IW_TAGGED_HEADER)
        return;
    ddp = iw_header_length(header);
    opcode = header[1] & RDMAP_OPCODE_MASK;
    if (header_length < ddp || !iw_terminate_carries_ddp(error, opcode))
        return;
    terminate->has_length = true;
    terminate->has_ddp = true;
    terminate->segment_length = (uint16_t)ulpdu_length;
    terminate->ddp_length = (uint8_t)ddp;
    memcpy(terminate->ddp, header, ddp);
    if (IW_ERROR_LAYER(error) != 0 || IW_ERROR_TYPE(error) != 1)
        return;
    if (ddp != IW_UNTAGGED_HEADER || opcode != IW_OP_READ_REQUEST ||
        header_length - ddp < IW_READ_REQUEST_HEADER)
        return;
    terminate->has_rdmap = true;
    memcpy(terminate->rdmap, header + ddp, IW_READ_REQUEST_HEADER);
}

static size_t iw_encode_terminate(uint8_t *dst, const struct iw_terminate *terminate)
{
    size_t at = TERMINATE_CONTROL;

    dst[0] = (uint8_t)(IW_ERROR_LAYER(terminate->error) << 4 | IW_ERROR_TYPE(terminate->error));
    dst[1] = (uint8_t)IW_ERROR_CODE(terminate->error);
    dst[2] =
        (uint8_t)((terminate->has_length ? FLAG_LENGTH : 0) | (terminate->has_ddp ? FLAG_DDP : 0) |
                  (terminate->has_rdmap ? FLAG_RDMAP : 0));
    dst[3] = 0;
    if (terminate->has_length || terminate->has_ddp) {
        iw_store16(dst + at, terminate->segment_length);
        at += 2;
    }
    if (terminate->has_ddp) {
        memcpy(dst + at, terminate->ddp, terminate->ddp_length);
        at += terminate->ddp_length;
    }
    if (terminate->has_rdmap) {
        memcpy(dst + at, terminate->rdmap, IW_READ_REQUEST_HEADER);
        at += IW_READ_REQUEST_HEADER;
    }
    return at;
}

size_t iw_encode_terminate_fpdu(uint8_t *dst, const struct iw_terminate *terminate, bool crc)
{
    uint8_t *payload = dst + IW_LENGTH_FIELD + IW_UNTAGGED_HEADER;
    size_t length = iw_encode_terminate(payload, terminate);
    unsigned pad = iw_pad(IW_UNTAGGED_HEADER + (uint32_t)length);
    size_t at;

    iw_encode_untagged(dst, IW_OP_TERMINATE, true, 0, IW_QN_TERMINATE, TERMINATE_MSN, 0,
                       (uint32_t)length);
    at = IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + length;
    iw_encode_trailer(dst + at, pad, 0);
    at += pad;
    if (crc)
        iw_encode_trailer(dst + at, 0, iw_crc_final(iw_crc_update(IW_CRC_INIT, dst, at)));
    return at + IW_CRC_FIELD;
}
