/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Integers in network order at any address: one load or store and a swap. Written with shifts,
 * neighbouring stores are joined by gcc 12 in ways that take three times as many instructions.
 */
#ifndef ITAPI_TDI_IWARP_IW_OCTETS_H
#define ITAPI_TDI_IWARP_IW_OCTETS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t iw_load16(const uint8_t *src)
{
    uint16_t value;

    memcpy(&value, src, sizeof(value));
    return be16toh(value);
}

static inline uint32_t iw_load32(const uint8_t *src)
{
    uint32_t value;

    memcpy(&value, src, sizeof(value));
    return be32toh(value);
}

static inline uint64_t iw_load64(const uint8_t *src)
{
    uint64_t value;

    memcpy(&value, src, sizeof(value));
    return be64toh(value);
}

/* Only the CRC is sent least significant octet first (RFC 5044 4.4). */
static inline uint32_t iw_load_crc(const uint8_t *src)
{
    uint32_t value;

    memcpy(&value, src, sizeof(value));
    return le32toh(value);
}

static inline void iw_store16(uint8_t *dst, uint16_t value)
{
    value = htobe16(value);
    memcpy(dst, &value, sizeof(value));
}

static inline void iw_store32(uint8_t *dst, uint32_t value)
{
    value = htobe32(value);
    memcpy(dst, &value, sizeof(value));
}

static inline void iw_store64(uint8_t *dst, uint64_t value)
{
    value = htobe64(value);
    memcpy(dst, &value, sizeof(value));
}

static inline void iw_store_crc(uint8_t *dst, uint32_t value)
{
    value = htole32(value);
    memcpy(dst, &value, sizeof(value));
}

/*
 * Copies length > 0 octets of payload, the last one last: programs poll for that octet of an RDMA
 * Write and look at the others then. memcpy makes no such promise.
 */
static inline void iw_copy_payload(void *dst, const void *src, size_t length)
{
    uint8_t *last = (uint8_t *)dst + length - 1;

    memcpy(dst, src, length - 1);
    __atomic_store_n(last, ((const uint8_t *)src)[length - 1], __ATOMIC_RELEASE);
}

#endif
