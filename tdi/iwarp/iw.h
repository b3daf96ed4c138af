/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words shared by the iWARP protocol code: opcodes, errors, limits (RFC 5040, 5041, 5044, 6581,
 * 7306). This folder knows no socket, no handle and no clock: octets go in, octets and calls come
 * out.
 */
#ifndef ITAPI_TDI_IWARP_IW_H
#define ITAPI_TDI_IWARP_IW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IW_CODE(layer, type, code) (0x10000 | (layer) << 12 | (type) << 8 | (code))

/* IW_OK, or what a Terminate message says: layer, error type, error code. */
enum iw_error {
    IW_OK = 0,

    IW_ERR_RDMAP_LOCAL = IW_CODE(0, 0, 0x00),
    IW_ERR_RDMAP_INVALID_STAG = IW_CODE(0, 1, 0x00),
    IW_ERR_RDMAP_BOUNDS = IW_CODE(0, 1, 0x01),
    IW_ERR_RDMAP_ACCESS = IW_CODE(0, 1, 0x02),
    IW_ERR_RDMAP_STAG_STREAM = IW_CODE(0, 1, 0x03),
    IW_ERR_RDMAP_TO_WRAP = IW_CODE(0, 1, 0x04),
    IW_ERR_RDMAP_CANNOT_INVALIDATE = IW_CODE(0, 1, 0x09),
    IW_ERR_RDMAP_VERSION = IW_CODE(0, 2, 0x05),
    IW_ERR_RDMAP_OPCODE = IW_CODE(0, 2, 0x06),
    IW_ERR_RDMAP_STREAM = IW_CODE(0, 2, 0x07),
    IW_ERR_RDMAP_GLOBAL = IW_CODE(0, 2, 0x08),
    IW_ERR_RDMAP_UNSPECIFIED = IW_CODE(0, 2, 0xff),

    IW_ERR_DDP_LOCAL = IW_CODE(1, 0, 0x00),
    IW_ERR_DDP_INVALID_STAG = IW_CODE(1, 1, 0x00),
    IW_ERR_DDP_BOUNDS = IW_CODE(1, 1, 0x01),
    IW_ERR_DDP_STAG_STREAM = IW_CODE(1, 1, 0x02),
    IW_ERR_DDP_TO_WRAP = IW_CODE(1, 1, 0x03),
    IW_ERR_DDP_TAGGED_VERSION = IW_CODE(1, 1, 0x04),
    IW_ERR_DDP_INVALID_QN = IW_CODE(1, 2, 0x01),
    IW_ERR_DDP_NO_BUFFER = IW_CODE(1, 2, 0x02),
    IW_ERR_DDP_MSN_RANGE = IW_CODE(1, 2, 0x03),
    IW_ERR_DDP_INVALID_MO = IW_CODE(1, 2, 0x04),
    IW_ERR_DDP_TOO_LONG = IW_CODE(1, 2, 0x05),
    IW_ERR_DDP_UNTAGGED_VERSION = IW_CODE(1, 2, 0x06),

    IW_ERR_MPA_CLOSED = IW_CODE(2, 0, 0x01),
    IW_ERR_MPA_CRC = IW_CODE(2, 0, 0x02),
    IW_ERR_MPA_LENGTH = IW_CODE(2, 0, 0x03), /* markers and ULPDU_Length disagree; too short */
    IW_ERR_MPA_STARTUP = IW_CODE(2, 0, 0x04),
    IW_ERR_MPA_LOCAL = IW_CODE(2, 0, 0x05),
    IW_ERR_MPA_IRD = IW_CODE(2, 0, 0x06),
    IW_ERR_MPA_RTR = IW_CODE(2, 0, 0x07)
};

#define IW_ERROR_LAYER(error) (((unsigned)(error) >> 12) & 0xf)
#define IW_ERROR_TYPE(error)  (((unsigned)(error) >> 8) & 0xf)
#define IW_ERROR_CODE(error)  ((unsigned)(error)&0xff)

enum iw_opcode {
    IW_OP_WRITE = 0x0,
    IW_OP_READ_REQUEST = 0x1,
    IW_OP_READ_RESPONSE = 0x2,
    IW_OP_SEND = 0x3,
    IW_OP_SEND_INV = 0x4,
    IW_OP_SEND_SE = 0x5,
    IW_OP_SEND_SE_INV = 0x6,
    IW_OP_TERMINATE = 0x7,
    IW_OP_IMMEDIATE = 0x8,
    IW_OP_IMMEDIATE_SE = 0x9,
    IW_OP_ATOMIC_REQUEST = 0xa,
    IW_OP_ATOMIC_RESPONSE = 0xb,
    IW_OP_NONE = 0x10 /* no opcode of the wire: the header was not understood */
};

enum iw_queue {
    IW_QN_SEND = 0,
    IW_QN_READ_REQUEST = 1,
    IW_QN_TERMINATE = 2,
    IW_QN_ATOMIC = 3
};

#define IW_TAGGED_HEADER          14 /* a tagged DDP header with the RDMAP control octet */
#define IW_UNTAGGED_HEADER        18 /* the same, untagged */
#define IW_READ_REQUEST_HEADER    28
#define IW_ATOMIC_REQUEST_HEADER  52
#define IW_ATOMIC_RESPONSE_HEADER 12
#define IW_IMMEDIATE_DATA         8
#define IW_LENGTH_FIELD           2 /* ULPDU_Length */
#define IW_CRC_FIELD              4
#define IW_TRAILER_MAX            7 /* pad and CRC */
#define IW_ULPDU_MAX              65535u
#define IW_TERMINATE_MAX          52 /* control 4, length 2, DDP header 18, RDMAP header 28 */

/* One DDP segment, in host order. */
struct iw_segment {
    enum iw_opcode opcode;
    bool tagged;
    bool last;
    uint8_t control; /* the octet that the opcode is a part of */
    uint32_t length; /* payload octets */
    uint32_t stag;   /* tagged: where to; untagged: STag to invalidate, or a value */
    uint64_t to;     /* tagged offset */
    uint32_t qn;
    uint32_t msn;
    uint32_t mo;
};

struct iw_read_request {
    uint32_t sink_stag;
    uint64_t sink_to;
    uint32_t length;
    uint32_t source_stag;
    uint64_t source_to;
};

/* Operations of an Atomic Request (RFC 7306 5). Any other is refused. */
enum iw_atomic_code {
    IW_ATOMIC_FETCH_ADD = 0,
    IW_ATOMIC_CMP_SWAP = 2
};

struct iw_atomic_request {
    unsigned code; /* enum iw_atomic_code, or whatever stood on the wire */
    uint32_t id;   /* chosen by the requester, comes back in the response */
    uint32_t stag;
    uint64_t to;
    uint64_t operand;      /* to add, or to store */
    uint64_t operand_mask; /* add: the top bits of fields; swap: the bits that are stored */
    uint64_t compare;
    uint64_t compare_mask;
};

struct iw_atomic_response {
    uint32_t id;
    uint64_t original; /* what stood there before */
};

struct iw_terminate {
    enum iw_error error; /* unknown combinations are kept: IW_CODE of what stood there */
    bool has_length;     /* M */
    bool has_ddp;        /* D */
    bool has_rdmap;      /* R */
    uint16_t segment_length;
    uint8_t ddp_length; /* 0, 14 or 18 */
    uint8_t ddp[IW_UNTAGGED_HEADER];
    uint8_t rdmap[IW_READ_REQUEST_HEADER];
    bool little_endian_nibbles; /* it came in the bit order that Linux siw uses on such hosts */
};

#endif
