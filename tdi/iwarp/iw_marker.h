/* SPDX-License-Identifier: BSD-2-Clause */
/* Markers (RFC 5044 4.3), for a peer that asks for them; this side never does. */
#ifndef ITAPI_TDI_IWARP_IW_MARKER_H
#define ITAPI_TDI_IWARP_IW_MARKER_H

#include "tdi/iwarp/iw.h"

/*
 * Copies an FPDU (ULPDU_Length .. pad, without its CRC field) to dst with the markers due, and
 * appends the CRC field over all of it (0 when crc is false). position: octets of this direction
 * sent before it, markers included. Returns the octets at dst.
 */
size_t iw_marker_insert(uint64_t position, const uint8_t *fpdu, size_t length, bool crc,
                        uint8_t *dst);

/* MULPDU for a given EMSS (RFC 5044 A.8), at least 128 and at most IW_ULPDU_MAX. */
uint32_t iw_mulpdu(uint32_t emss, bool markers);

#endif
