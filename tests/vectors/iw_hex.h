/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the vectors' hexadecimal text to octets. */
#ifndef ITAPI_TESTS_VECTORS_IW_HEX_H
#define ITAPI_TESTS_VECTORS_IW_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned iw_hex_digit(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a') + 10;
}

/*
 * Converts the text; blanks between octets are skipped. Returns the number of octets. Ends the
 * program if dst is too small.
 */
static inline size_t iw_hex(const char *hex, uint8_t *dst, size_t room)
{
    size_t length = 0;

    while (*hex) {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        if (length == room || !hex[1])
            abort();
        dst[length++] = (uint8_t)(iw_hex_digit(hex[0]) << 4 | iw_hex_digit(hex[1]));
        hex += 2;
    }
    return length;
}

/*
 * Writes all FPDUs that one side of a connection of iw_golden sends. iw_golden.h must be included
 * before this header.
 */
#ifdef ITAPI_TESTS_VECTORS_IW_GOLDEN_H
static inline size_t iw_golden_stream(char connection, char from, uint8_t *dst, size_t room)
{
    size_t length = 0;

    for (size_t i = 0; i < sizeof(iw_golden) / sizeof(iw_golden[0]); i++) {
        const struct iw_golden *row = &iw_golden[i];

        if (row->connection == connection && row->from == from && !strstr(row->what, "MPA Re"))
            length += iw_hex(row->hex, dst + length, room - length);
    }
    return length;
}

static inline size_t iw_golden_frame(char connection, unsigned frame, uint8_t *dst, size_t room)
{
    for (size_t i = 0; i < sizeof(iw_golden) / sizeof(iw_golden[0]); i++) {
        if (iw_golden[i].connection == connection && iw_golden[i].frame == frame)
            return iw_hex(iw_golden[i].hex, dst, room);
    }
    abort();
}
#endif

#endif
