/* SPDX-License-Identifier: BSD-2-Clause */
#include "pdu/iser_pdu.h"

#include <string.h>

#define AHS_BIDI 2 /* Bidirectional Read Expected Data Transfer Length */

void iser_pdu_begin(uint8_t bhs[ISER_BHS], enum iser_opcode opcode, uint8_t flags, uint32_t itt)
{
    memset(bhs, 0, ISER_BHS);
    bhs[0] = (uint8_t)opcode;
    bhs[1] = flags;
    iser_put32(bhs + ISER_AT_ITT, itt);
}

/* Rules for each opcode that an initiator may use. */
static const struct {
    bool known, data, ahs, final;
} pdu_rules[ISER_OPCODE + 1] = {
    [ISER_NOP_OUT] = {.known = true, .data = true, .final = true},
    [ISER_SCSI_COMMAND] = {.known = true, .data = true, .ahs = true},
    [ISER_TMF] = {.known = true, .final = true},
    [ISER_LOGIN] = {.known = true, .data = true},
    [ISER_TEXT] = {.known = true, .data = true},
    [ISER_DATA_OUT] = {.known = true, .data = true},
    [ISER_LOGOUT] = {.known = true, .final = true},
    [ISER_SNACK] = {.known = true, .final = true},
};

const char *iser_pdu_fault(const uint8_t bhs[ISER_BHS])
{
    uint8_t opcode = iser_opcode_of(bhs);

    if (!pdu_rules[opcode].known)
        return "an opcode that no initiator has";
    if (bhs[ISER_AT_AHS] > 0 && !pdu_rules[opcode].ahs)
        return "an additional header where none may be";
    if (iser_get24(bhs + ISER_AT_LENGTH) > 0 && !pdu_rules[opcode].data)
        return "data where none may be";
    if (pdu_rules[opcode].final && !(bhs[1] & ISER_FINAL))
        return "no final bit";
    if (opcode == ISER_DATA_OUT && bhs[0] & ISER_IMMEDIATE)
        return "an immediate Data-Out";
    return NULL;
}

/* Additional header segments: length without type and itself, type, then such octets, padded. */
uint32_t iser_pdu_bidi_expected(const struct iser_pdu *pdu)
{
    for (size_t at = 0; pdu->ahs_length - at >= 4;) {
        size_t length = iser_get16(pdu->ahs + at);
        size_t whole = (3 + length + 3) / 4 * 4;

        if (whole > pdu->ahs_length - at)
            break;
        if (pdu->ahs[at + 2] == AHS_BIDI && length == 5)
            return iser_get32(pdu->ahs + at + 4);
        at += whole;
    }
    return 0;
}

/* ---------------------------------------------------------------- iSER */

bool iser_header_decode(const uint8_t *octets, size_t length, struct iser_header *header)
{
    memset(header, 0, sizeof(*header));
    if (length < ISER_HEADER)
        return false;
    header->kind = (enum iser_kind)(octets[0] >> 4);
    switch (header->kind) {
    case ISER_CONTROL:
        header->has_write = (octets[0] & ISER_WSV) != 0;
        header->has_read = (octets[0] & ISER_RSV) != 0;
        if (header->has_write) {
            header->write_stag = iser_get32(octets + 4);
            header->write_base = iser_get64(octets + 8);
        }
        if (header->has_read) {
            header->read_stag = iser_get32(octets + 16);
            header->read_base = iser_get64(octets + 20);
        }
        return length >= ISER_HEADER + ISER_BHS;
    case ISER_HELLO:
    case ISER_HELLO_REPLY:
        header->reject = header->kind == ISER_HELLO_REPLY && octets[0] & ISER_HELLO_REJECT;
        header->max_version = octets[1] >> 4;
        header->version = octets[1] & 15;
        header->depth = iser_get16(octets + 2);
        return length == ISER_HEADER;
    default:
        return false;
    }
}

void iser_header_encode(const struct iser_header *header, uint8_t octets[ISER_HEADER])
{
    memset(octets, 0, ISER_HEADER);
    octets[0] = (uint8_t)(header->kind << 4);
    if (header->kind != ISER_CONTROL) {
        octets[0] |= header->reject ? ISER_HELLO_REJECT : 0;
        octets[1] = (uint8_t)(header->max_version << 4 | header->version);
        iser_put16(octets + 2, header->depth);
        return;
    }
    if (header->has_write) {
        octets[0] |= ISER_WSV;
        iser_put32(octets + 4, header->write_stag);
        iser_put64(octets + 8, header->write_base);
    }
    if (header->has_read) {
        octets[0] |= ISER_RSV;
        iser_put32(octets + 16, header->read_stag);
        iser_put64(octets + 20, header->read_base);
    }
}

bool iser_pdu_decode(const uint8_t *octets, size_t length, struct iser_pdu *pdu)
{
    size_t ahs, data;

    if (length < ISER_BHS)
        return false;
    ahs = (size_t)octets[ISER_AT_AHS] * 4;
    data = iser_get24(octets + ISER_AT_LENGTH);
    if (length - ISER_BHS < ahs || length - ISER_BHS - ahs < data ||
        length - ISER_BHS - ahs - data > 4)
        return false;
    pdu->bhs = octets;
    pdu->ahs = octets + ISER_BHS;
    pdu->ahs_length = ahs;
    pdu->data = pdu->ahs + ahs;
    pdu->length = data;
    return true;
}
