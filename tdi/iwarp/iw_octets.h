/* SPDX-License-Identifier: BSD-2-Clause */
/* Integers in network order at any address. The shifts compile to one load or store and a swap. */
#ifndef ITAPI_TDI_IWARP_IW_OCTETS_H
#define ITAPI_TDI_IWARP_IW_OCTETS_H

#include <stdint.h>

static inline uint16_t iw_load16(const uint8_t *src)
{
    return (uint16_t)((unsigned)src[0] << 8 | src[1]);
}

static inline uint32_t iw_load32(const uint8_t *src)
{
    return (uint32_t)src[0] << 24 | (uint32_t)src[1] << 16 | (uint32_t)src[2] << 8 | src[3];
}

static inline uint64_t iw_load64(const uint8_t *src)
{
    return (uint64_t)iw_load32(src) << 32 | iw_load32(src + 4);
}

/* The CRC alone goes least significant octet first (RFC 5044 4.4). */
static inline uint32_t iw_load_crc(const uint8_t *src)
{
    return (uint32_t)src[3] << 24 | (uint32_t)src[2] << 16 | (uint32_t)src[1] << 8 | src[0];
}

static inline void iw_store16(uint8_t *dst, uint16_t value)
{
    dst[0] = (uint8_t)(value >> 8);
    dst[1] = (uint8_t)value;
}

static inline void iw_store32(uint8_t *dst, uint32_t value)
{
    dst[0] = (uint8_t)(value >> 24);
    dst[1] = (uint8_t)(value >> 16);
    dst[2] = (uint8_t)(value >> 8);
    dst[3] = (uint8_t)value;
}

static inline void iw_store64(uint8_t *dst, uint64_t value)
{
    iw_store32(dst, (uint32_t)(value >> 32));
    iw_store32(dst + 4, (uint32_t)value);
}

static inline void iw_store_crc(uint8_t *dst, uint32_t value)
{
    dst[0] = (uint8_t)value;
    dst[1] = (uint8_t)(value >> 8);
    dst[2] = (uint8_t)(value >> 16);
    dst[3] = (uint8_t)(value >> 24);
}

#endif
