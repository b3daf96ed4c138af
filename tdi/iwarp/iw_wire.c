/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_wire.h"

#include "tdi/iwarp/iw_octets.h"

#include <string.h>

/* DDP control octet (RFC 5041 4.2, 4.3). Reserved bits are sent as 0, and ignored. */
#define DDP_TAGGED       0x80u
#define DDP_LAST         0x40u
#define DDP_VERSION_MASK 0x03u
#define DDP_VERSION      0x01u

/* RDMAP control octet (RFC 5040 4.1). */
#define RDMAP_VERSION_MASK 0xc0u
#define RDMAP_VERSION      0x40u
#define RDMAP_OPCODE_MASK  0x0fu

/* Offsets inside the ULPDU (RFC 5041 4.2, 4.3). */
enum {
    DDP_CONTROL = 0,
    RDMAP_CONTROL = 1,
    STAG = 2,
    TO = 6,
    QN = 6,
    MSN = 10,
    MO = 14
};

_Static_assert(TO + 8 == IW_TAGGED_HEADER, "tagged header");
_Static_assert(MO + 4 == IW_UNTAGGED_HEADER, "untagged header");

/* Offsets inside the Read Request header (RFC 5040 4.4). */
enum {
    SINK_STAG = 0,
    SINK_TO = 4,
    READ_LENGTH = 12,
    SOURCE_STAG = 16,
    SOURCE_TO = 20
};

_Static_assert(SOURCE_TO + 8 == IW_READ_REQUEST_HEADER, "Read Request header");

/* Offsets inside the Atomic Request and Response headers (RFC 7306 5). */
enum {
    ATOMIC_CODE = 0,
    ATOMIC_ID = 4,
    ATOMIC_STAG = 8,
    ATOMIC_TO = 12,
    ATOMIC_OPERAND = 20,
    ATOMIC_OPERAND_MASK = 28,
    ATOMIC_COMPARE = 36,
    ATOMIC_COMPARE_MASK = 44,
    RESPONSE_ID = 0,
    RESPONSE_ORIGINAL = 4
};

#define ATOMIC_CODE_MASK 0x0fu /* the other 28 bits are reserved */

_Static_assert(ATOMIC_COMPARE_MASK + 8 == IW_ATOMIC_REQUEST_HEADER, "Atomic Request header");
_Static_assert(RESPONSE_ORIGINAL + 8 == IW_ATOMIC_RESPONSE_HEADER, "Atomic Response header");

/* The form of each opcode (RFC 5040 4.1, RFC 7306 4). */
enum iw_form {
    IW_FORM_NONE, /* an unknown opcode */
    IW_FORM_UNTAGGED,
    IW_FORM_TAGGED
};

struct iw_opcode_rule {
    uint8_t form;
    uint8_t qn;
};

static const struct iw_opcode_rule iw_opcode_rules[16] = {
    [IW_OP_WRITE] = {IW_FORM_TAGGED, 0},
    [IW_OP_READ_REQUEST] = {IW_FORM_UNTAGGED, IW_QN_READ_REQUEST},
    [IW_OP_READ_RESPONSE] = {IW_FORM_TAGGED, 0},
    [IW_OP_SEND] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_SEND_INV] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_SEND_SE] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_SEND_SE_INV] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_TERMINATE] = {IW_FORM_UNTAGGED, IW_QN_TERMINATE},
    [IW_OP_IMMEDIATE] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_IMMEDIATE_SE] = {IW_FORM_UNTAGGED, IW_QN_SEND},
    [IW_OP_ATOMIC_REQUEST] = {IW_FORM_UNTAGGED, IW_QN_READ_REQUEST},
    [IW_OP_ATOMIC_RESPONSE] = {IW_FORM_UNTAGGED, IW_QN_ATOMIC},
};

static uint8_t iw_ddp_control(bool tagged, bool last)
{
    return (uint8_t)((tagged ? DDP_TAGGED : 0) | (last ? DDP_LAST : 0) | DDP_VERSION);
}

size_t iw_encode_tagged(uint8_t *dst, enum iw_opcode opcode, bool last, uint32_t stag, uint64_t to,
                        uint32_t payload_length)
{
    uint8_t *ulpdu = dst + IW_LENGTH_FIELD;

    iw_store16(dst, (uint16_t)(IW_TAGGED_HEADER + payload_length));
    ulpdu[DDP_CONTROL] = iw_ddp_control(true, last);
    ulpdu[RDMAP_CONTROL] = (uint8_t)(RDMAP_VERSION | (unsigned)opcode);
    iw_store32(ulpdu + STAG, stag);
    iw_store64(ulpdu + TO, to);
    return IW_LENGTH_FIELD + IW_TAGGED_HEADER;
}

size_t iw_encode_untagged(uint8_t *dst, enum iw_opcode opcode, bool last, uint32_t invalidate_stag,
                          uint32_t qn, uint32_t msn, uint32_t mo, uint32_t payload_length)
{
    uint8_t *ulpdu = dst + IW_LENGTH_FIELD;

    iw_store16(dst, (uint16_t)(IW_UNTAGGED_HEADER + payload_length));
    ulpdu[DDP_CONTROL] = iw_ddp_control(false, last);
    ulpdu[RDMAP_CONTROL] = (uint8_t)(RDMAP_VERSION | (unsigned)opcode);
    iw_store32(ulpdu + STAG, invalidate_stag);
    iw_store32(ulpdu + QN, qn);
    iw_store32(ulpdu + MSN, msn);
    iw_store32(ulpdu + MO, mo);
    return IW_LENGTH_FIELD + IW_UNTAGGED_HEADER;
}

size_t iw_encode_read_request(uint8_t *dst, const struct iw_read_request *request)
{
    iw_store32(dst + SINK_STAG, request->sink_stag);
    iw_store64(dst + SINK_TO, request->sink_to);
    iw_store32(dst + READ_LENGTH, request->length);
    iw_store32(dst + SOURCE_STAG, request->source_stag);
    iw_store64(dst + SOURCE_TO, request->source_to);
    return IW_READ_REQUEST_HEADER;
}

void iw_decode_read_request(const uint8_t *src, struct iw_read_request *request)
{
    request->sink_stag = iw_load32(src + SINK_STAG);
    request->sink_to = iw_load64(src + SINK_TO);
    request->length = iw_load32(src + READ_LENGTH);
    request->source_stag = iw_load32(src + SOURCE_STAG);
    request->source_to = iw_load64(src + SOURCE_TO);
}

size_t iw_encode_atomic_request(uint8_t *dst, const struct iw_atomic_request *request)
{
    iw_store32(dst + ATOMIC_CODE, request->code & ATOMIC_CODE_MASK);
    iw_store32(dst + ATOMIC_ID, request->id);
    iw_store32(dst + ATOMIC_STAG, request->stag);
    iw_store64(dst + ATOMIC_TO, request->to);
    iw_store64(dst + ATOMIC_OPERAND, request->operand);
    iw_store64(dst + ATOMIC_OPERAND_MASK, request->operand_mask);
    iw_store64(dst + ATOMIC_COMPARE, request->compare);
    iw_store64(dst + ATOMIC_COMPARE_MASK, request->compare_mask);
    return IW_ATOMIC_REQUEST_HEADER;
}

void iw_decode_atomic_request(const uint8_t *src, struct iw_atomic_request *request)
{
    request->code = iw_load32(src + ATOMIC_CODE) & ATOMIC_CODE_MASK;
    request->id = iw_load32(src + ATOMIC_ID);
    request->stag = iw_load32(src + ATOMIC_STAG);
    request->to = iw_load64(src + ATOMIC_TO);
    request->operand = iw_load64(src + ATOMIC_OPERAND);
    request->operand_mask = iw_load64(src + ATOMIC_OPERAND_MASK);
    request->compare = iw_load64(src + ATOMIC_COMPARE);
    request->compare_mask = iw_load64(src + ATOMIC_COMPARE_MASK);
}

size_t iw_encode_atomic_response(uint8_t *dst, const struct iw_atomic_response *response)
{
    iw_store32(dst + RESPONSE_ID, response->id);
    iw_store64(dst + RESPONSE_ORIGINAL, response->original);
    return IW_ATOMIC_RESPONSE_HEADER;
}

void iw_decode_atomic_response(const uint8_t *src, struct iw_atomic_response *response)
{
    response->id = iw_load32(src + RESPONSE_ID);
    response->original = iw_load64(src + RESPONSE_ORIGINAL);
}

size_t iw_encode_immediate(uint8_t *dst, uint64_t value)
{
    iw_store64(dst, value);
    return IW_IMMEDIATE_DATA;
}

uint64_t iw_decode_immediate(const uint8_t *src)
{
    return iw_load64(src);
}

static void iw_load_tagged(const uint8_t *src, struct iw_segment *segment)
{
    segment->stag = iw_load32(src + STAG);
    segment->to = iw_load64(src + TO);
    segment->qn = 0;
    segment->msn = 0;
    segment->mo = 0;
}

static void iw_load_untagged(const uint8_t *src, struct iw_segment *segment)
{
    segment->stag = iw_load32(src + STAG);
    segment->to = 0;
    segment->qn = iw_load32(src + QN);
    segment->msn = iw_load32(src + MSN);
    segment->mo = iw_load32(src + MO);
}

enum iw_error iw_decode_header(const uint8_t *src, size_t available, uint32_t ulpdu_length,
                               struct iw_segment *segment, size_t *header_length)
{
    const struct iw_opcode_rule *rule;
    bool tagged;
    size_t header;

    segment->opcode = IW_OP_NONE;
    if (ulpdu_length < IW_TAGGED_HEADER || available < IW_TAGGED_HEADER)
        return IW_ERR_MPA_LENGTH;
    tagged = (src[DDP_CONTROL] & DDP_TAGGED) != 0;
    header = tagged ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER;
    if (ulpdu_length < header || available < header)
        return IW_ERR_MPA_LENGTH;
    if ((src[DDP_CONTROL] & DDP_VERSION_MASK) != DDP_VERSION)
        return tagged ? IW_ERR_DDP_TAGGED_VERSION : IW_ERR_DDP_UNTAGGED_VERSION;
    if ((src[RDMAP_CONTROL] & RDMAP_VERSION_MASK) != RDMAP_VERSION)
        return IW_ERR_RDMAP_VERSION;

    segment->control = src[RDMAP_CONTROL];
    segment->opcode = (enum iw_opcode)(segment->control & RDMAP_OPCODE_MASK);
    segment->tagged = tagged;
    segment->last = (src[DDP_CONTROL] & DDP_LAST) != 0;
    segment->length = ulpdu_length - (uint32_t)header;
    rule = &iw_opcode_rules[segment->opcode];
    if (rule->form != (tagged ? IW_FORM_TAGGED : IW_FORM_UNTAGGED))
        return IW_ERR_RDMAP_OPCODE;
    *header_length = header;
    if (tagged) {
        iw_load_tagged(src, segment);
        return IW_OK;
    }
    iw_load_untagged(src, segment);
    if (segment->qn == rule->qn)
        return IW_OK;
    /* Tells an opcode on the wrong queue from a queue that does not exist (RFC 5041 7.1). */
    return segment->qn <= IW_QN_ATOMIC ? IW_ERR_RDMAP_OPCODE : IW_ERR_DDP_INVALID_QN;
}

bool iw_is_usual_send(const uint8_t *src, uint32_t msn, bool *solicited)
{
    uint16_t control = iw_load16(src);
    const unsigned usual = (DDP_LAST | DDP_VERSION) << 8 | RDMAP_VERSION;

    *solicited = control == (usual | IW_OP_SEND_SE);
    return (control == (usual | IW_OP_SEND) || *solicited) && iw_load32(src + QN) == IW_QN_SEND &&
           iw_load32(src + MSN) == msn && iw_load32(src + MO) == 0;
}

size_t iw_encode_trailer(uint8_t *dst, unsigned pad, uint32_t crc)
{
    memset(dst, 0, pad);
    iw_store_crc(dst + pad, crc);
    return pad + IW_CRC_FIELD;
}
