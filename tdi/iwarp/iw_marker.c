/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_marker.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_octets.h"

#include <string.h>

#define MARKER             4
#define INTERVAL           512u
#define ROOM               (INTERVAL - MARKER) /* octets of FPDUs between markers */
#define MULPDU_MIN         128u
#define MULPDU_MARKERS_MAX 64768u /* a marker's pointer has 16 bits (RFC 5044 A.4) */

/* Returns the number of octets until a marker is due; 0: now. */
static size_t iw_marker_distance(uint64_t position)
{
    return (size_t)(-position % INTERVAL);
}

size_t iw_marker_insert(uint64_t position, const uint8_t *fpdu, size_t length, bool crc,
                        uint8_t *dst)
{
    size_t at = 0;
    size_t start = iw_marker_distance(position) == 0 ? MARKER : 0; /* where ULPDU_Length goes */
    uint32_t value;

    /* FPDUs are multiples of 4 octets, so a marker never falls inside the CRC. */
    for (;;) {
        size_t part = iw_marker_distance(position + at);

        if (part == 0) {
            iw_store16(dst + at, 0);
            iw_store16(dst + at + 2, (uint16_t)(at < start ? 0 : at - start));
            at += MARKER;
            part = ROOM;
        }
        if (length == 0)
            break;
        if (part > length)
            part = length;
        memcpy(dst + at, fpdu, part);
        fpdu += part;
        length -= part;
        at += part;
    }
    value = crc ? iw_crc_final(iw_crc_update(IW_CRC_INIT, dst, at)) : 0;
    iw_store_crc(dst + at, value);
    return at + IW_CRC_FIELD;
}

uint32_t iw_mulpdu(uint32_t emss, bool markers)
{
    uint32_t most = markers ? MULPDU_MARKERS_MAX : IW_ULPDU_MAX;
    uint32_t overhead = IW_LENGTH_FIELD + IW_CRC_FIELD + emss % 4;

    if (markers)
        overhead += MARKER * (emss / INTERVAL + (emss % INTERVAL != 0));
    if (emss < MULPDU_MIN + overhead)
        return MULPDU_MIN;
    return emss - overhead < most ? emss - overhead : most;
}
