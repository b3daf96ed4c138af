/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PDUs of iSCSI (RFC 7143 11) and the iSER header (RFC 7145 9): the offsets of fields, and checks
 * of their values. Pure.
 */
#ifndef ITAPI_ULP_ISER_PDU_ISER_PDU_H
#define ITAPI_ULP_ISER_PDU_ISER_PDU_H

#include "pdu/iser_octets.h"

#include <stdbool.h>
#include <stddef.h>

#define ISER_BHS        48u
#define ISER_NONE       0xffffffffu /* no task, no transfer */
#define ISER_OPCODE     0x3fu       /* of octet 0 */
#define ISER_IMMEDIATE  0x40u
#define ISER_FINAL      0x80u /* of octet 1; T of login PDUs */
#define ISER_CONTINUE   0x40u /* of octet 1, Login and Text */
#define ISER_LENGTH_MAX 0xffffffu

enum iser_opcode {
    ISER_NOP_OUT = 0x00,
    ISER_SCSI_COMMAND = 0x01,
    ISER_TMF = 0x02,
    ISER_LOGIN = 0x03,
    ISER_TEXT = 0x04,
    ISER_DATA_OUT = 0x05,
    ISER_LOGOUT = 0x06,
    ISER_SNACK = 0x10,
    ISER_NOP_IN = 0x20,
    ISER_SCSI_RESPONSE = 0x21,
    ISER_TMF_RESPONSE = 0x22,
    ISER_LOGIN_RESPONSE = 0x23,
    ISER_TEXT_RESPONSE = 0x24,
    ISER_DATA_IN = 0x25,
    ISER_LOGOUT_RESPONSE = 0x26,
    ISER_R2T = 0x31,
    ISER_ASYNC = 0x32,
    ISER_REJECT = 0x3f
};

/* Offsets in the basic header segment. */
enum iser_field {
    ISER_AT_AHS = 4,
    ISER_AT_LENGTH = 5,
    ISER_AT_LUN = 8,
    ISER_AT_ISID = 8,
    ISER_AT_TSIH = 14,
    ISER_AT_ITT = 16,
    ISER_AT_TTT = 20,
    ISER_AT_EXPECTED = 20, /* SCSI Command */
    ISER_AT_CID = 20,
    ISER_AT_REFERENCED = 20, /* task management */
    ISER_AT_CMD_SN = 24,     /* to the target */
    ISER_AT_EXP_STAT_SN = 28,
    ISER_AT_STAT_SN = 24, /* to the initiator */
    ISER_AT_EXP_CMD_SN = 28,
    ISER_AT_MAX_CMD_SN = 32,
    ISER_AT_CDB = 32,
    ISER_AT_REF_CMD_SN = 32,
    ISER_AT_DATA_SN = 36, /* also R2TSN, ExpDataSN, event code, login status */
    ISER_AT_OFFSET = 40,
    ISER_AT_DESIRED = 44, /* R2T */
    ISER_AT_BIDI_RESIDUAL = 40,
    ISER_AT_RESIDUAL = 44
};

/* SCSI Command, octet 1. */
#define ISER_READS      0x40u
#define ISER_WRITES     0x20u
#define ISER_ATTRIBUTES 0x07u
/* SCSI Response and Data-In, octet 1. */
#define ISER_BIDI_UNDERFLOW 0x08u
#define ISER_OVERFLOW       0x04u
#define ISER_UNDERFLOW      0x02u
#define ISER_STATUS         0x01u /* Data-In: carries the status */

/* A complete PDU. Its memory is valid during the call that gets it. */
struct iser_pdu {
    const uint8_t *bhs;
    const uint8_t *ahs;
    size_t ahs_length;
    const uint8_t *data; /* without padding */
    size_t length;
};

static inline uint8_t iser_opcode_of(const uint8_t *bhs)
{
    return bhs[0] & ISER_OPCODE;
}

/* Serial numbers (RFC 1982): returns true if a comes before b. */
static inline bool iser_sn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static inline uint32_t iser_padding(uint32_t length)
{
    return (4 - length % 4) % 4;
}

/* Clears the header and fills in the fields that all PDUs to an initiator have. */
void iser_pdu_begin(uint8_t bhs[ISER_BHS], enum iser_opcode opcode, uint8_t flags, uint32_t itt);

/* Returns why a PDU of an initiator is illegal; NULL: it is legal. Checks only the header. */
const char *iser_pdu_fault(const uint8_t bhs[ISER_BHS]);

/* ---------------------------------------------------------------- iSER header */

#define ISER_HEADER 28u

enum iser_kind {
    ISER_CONTROL = 1,
    ISER_HELLO = 2,
    ISER_HELLO_REPLY = 3
};

#define ISER_WSV          0x08u
#define ISER_RSV          0x04u
#define ISER_HELLO_REJECT 0x01u

struct iser_header {
    enum iser_kind kind;
    bool has_write, has_read;
    uint32_t write_stag, read_stag;
    uint64_t write_base, read_base;
    /* Hello and HelloReply. */
    uint8_t max_version, version; /* MinVer, CurVer */
    uint16_t depth;               /* IRD of the initiator, ORD of the target */
    bool reject;
};

/*
 * length: of the whole message, which must be ISER_HEADER for a Hello. Returns false for a format
 * error.
 */
bool iser_header_decode(const uint8_t *octets, size_t length, struct iser_header *header);
void iser_header_encode(const struct iser_header *header, uint8_t octets[ISER_HEADER]);

/* Returns the octets that a bidirectional command expects to read; 0: it does not say. */
uint32_t iser_pdu_bidi_expected(const struct iser_pdu *pdu);

/* Decodes what follows the iSER header: header segment, AHS and data, with or without padding. */
bool iser_pdu_decode(const uint8_t *octets, size_t length, struct iser_pdu *pdu);

/* ---------------------------------------------------------------- digests */

uint32_t iser_crc32c(uint32_t crc, const void *data, size_t length);

#endif
