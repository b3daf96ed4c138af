/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC32c of digests: by ISA-L if the library is built with it, otherwise by tables, eight octets at
 * a time.
 */
#include "pdu/iser_pdu.h"

#if ITAPI_CRC_ISAL
#include <isa-l/crc.h>

uint32_t iser_crc32c(uint32_t crc, const void *data, size_t length)
{
    const unsigned char *at = data;

    crc = ~crc;
    while (length > 0) {
        int part = length > 1 << 30 ? 1 << 30 : (int)length;

        crc = crc32_iscsi((unsigned char *)(uintptr_t)at, part, crc);
        at += part;
        length -= (size_t)part;
    }
    return ~crc;
}

#else
#define CRC_POLYNOMIAL 0x82f63b78u

static uint32_t crc_tables[8][256];

__attribute__((constructor)) static void crc_fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
        crc_tables[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (int i = 0; i < 256; i++)
            crc_tables[t][i] =
                crc_tables[t - 1][i] >> 8 ^ crc_tables[0][crc_tables[t - 1][i] & 255];
}

uint32_t iser_crc32c(uint32_t crc, const void *data, size_t length)
{
    const uint8_t *at = data;

    crc = ~crc;
    for (; length >= 8; length -= 8, at += 8) {
        uint32_t next = 0;

        for (int i = 0; i < 4; i++)
            next ^= crc_tables[7 - i][(crc >> 8 * i & 255) ^ at[i]] ^ crc_tables[3 - i][at[4 + i]];
        crc = next;
    }
    for (; length > 0; length--)
        crc = crc >> 8 ^ crc_tables[0][(crc ^ *at++) & 255];
    return ~crc;
}
#endif
