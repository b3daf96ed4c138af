/* SPDX-License-Identifier: BSD-2-Clause */
/* Encoders and decoders of all headers. No struct is ever laid over wire octets. */
#ifndef ITAPI_TDI_IWARP_IW_WIRE_H
#define ITAPI_TDI_IWARP_IW_WIRE_H

#include "tdi/iwarp/iw.h"

/* Octets of padding that make 2 + ulpdu_length + pad a multiple of 4. */
static inline unsigned iw_pad(uint32_t ulpdu_length)
{
    return (0u - (IW_LENGTH_FIELD + ulpdu_length)) & 3u;
}

/*
 * FPDU header: ULPDU_Length, DDP header, RDMAP control octet. dst has room for
 * IW_LENGTH_FIELD + IW_UNTAGGED_HEADER octets; payload_length is what follows the header in the
 * ULPDU (for a Read Request: its 28 octets). Returns the octets written.
 */
size_t iw_encode_tagged(uint8_t *dst, enum iw_opcode opcode, bool last, uint32_t stag, uint64_t to,
                        uint32_t payload_length);
size_t iw_encode_untagged(uint8_t *dst, enum iw_opcode opcode, bool last, uint32_t invalidate_stag,
                          uint32_t qn, uint32_t msn, uint32_t mo, uint32_t payload_length);

/* 28 octets. */
size_t iw_encode_read_request(uint8_t *dst, const struct iw_read_request *request);
void iw_decode_read_request(const uint8_t *src, struct iw_read_request *request);

/* 52 and 12 octets (RFC 7306 5). */
size_t iw_encode_atomic_request(uint8_t *dst, const struct iw_atomic_request *request);
void iw_decode_atomic_request(const uint8_t *src, struct iw_atomic_request *request);
size_t iw_encode_atomic_response(uint8_t *dst, const struct iw_atomic_response *response);
void iw_decode_atomic_response(const uint8_t *src, struct iw_atomic_response *response);

/* 8 octets (RFC 7306 6), which this library takes for a number in network order. */
size_t iw_encode_immediate(uint8_t *dst, uint64_t value);
uint64_t iw_decode_immediate(const uint8_t *src);

/* Returns the length of a DDP header with RDMAP control octet, by the T bit in its first octet. */
static inline size_t iw_header_length(const uint8_t *header)
{
    return header[0] & 0x80 ? IW_TAGGED_HEADER : IW_UNTAGGED_HEADER;
}

/*
 * Decodes DDP header and RDMAP control octet of a ULPDU of ulpdu_length octets whose first
 * `available` are at src. Returns IW_OK with *header_length (14 or 18) and segment->length =
 * ulpdu_length - header (for control messages: - their RDMAP header too is NOT taken off), or the
 * error: too short, DDP version, RDMAP version, opcode unknown or on the wrong kind of segment,
 * queue number. available must be at least the header's length, or ulpdu_length if that is less.
 */
enum iw_error iw_decode_header(const uint8_t *src, size_t available, uint32_t ulpdu_length,
                               struct iw_segment *segment, size_t *header_length);

/*
 * Is this the header of the usual Send: all of a message, that message's number, nothing to
 * invalidate? False also for one with reserved bits. src has IW_UNTAGGED_HEADER octets.
 */
bool iw_is_usual_send(const uint8_t *src, uint32_t msn, bool *solicited);

/* The trailer of an FPDU: pad octets (0) and the CRC, least significant octet first. */
size_t iw_encode_trailer(uint8_t *dst, unsigned pad, uint32_t crc);

/* A Terminate message as one whole FPDU (RFC 5040 layout), CRC as asked. Returns its length. */
#define IW_TERMINATE_FPDU_MAX                                                                      \
    (IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + IW_TERMINATE_MAX + IW_TRAILER_MAX)
size_t iw_encode_terminate_fpdu(uint8_t *dst, const struct iw_terminate *terminate, bool crc);

/*
 * Fills a Terminate for an error caused by a segment whose DDP (and, for a Read Request, RDMAP)
 * header octets are at header: the M, D, R bits by the table of RFC 5040 4.8. header_length 0:
 * none known.
 */
void iw_terminate_fill(struct iw_terminate *terminate, enum iw_error error, const uint8_t *header,
                       size_t header_length, uint32_t ulpdu_length);

/*
 * Decodes the Terminate header (payload behind the DDP header), RFC or siw bit order. startup: no
 * FPDU of this peer came before it, so that the errors of RFC 6581 are possible. Header copies that
 * are cut off are left out.
 */
enum iw_error iw_decode_terminate(const uint8_t *src, size_t length, bool startup,
                                  struct iw_terminate *terminate);

#endif
