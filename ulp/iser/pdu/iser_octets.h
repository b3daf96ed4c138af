/* SPDX-License-Identifier: BSD-2-Clause */
/* Integers in network order, at any address. */
#ifndef ITAPI_ULP_ISER_PDU_ISER_OCTETS_H
#define ITAPI_ULP_ISER_PDU_ISER_OCTETS_H

#include <stdint.h>

static inline uint32_t iser_get(const uint8_t *at, unsigned octets)
{
    uint32_t value = 0;

    while (octets-- > 0)
        value = value << 8 | *at++;
    return value;
}

static inline void iser_put(uint8_t *at, uint32_t value, unsigned octets)
{
    while (octets-- > 0) {
        at[octets] = (uint8_t)value;
        value >>= 8;
    }
}

static inline uint16_t iser_get16(const uint8_t *at)
{
    return (uint16_t)iser_get(at, 2);
}

static inline uint32_t iser_get24(const uint8_t *at)
{
    return iser_get(at, 3);
}

static inline uint32_t iser_get32(const uint8_t *at)
{
    return iser_get(at, 4);
}

static inline uint64_t iser_get64(const uint8_t *at)
{
    return (uint64_t)iser_get(at, 4) << 32 | iser_get(at + 4, 4);
}

static inline void iser_put16(uint8_t *at, uint16_t value)
{
    iser_put(at, value, 2);
}

static inline void iser_put24(uint8_t *at, uint32_t value)
{
    iser_put(at, value, 3);
}

static inline void iser_put32(uint8_t *at, uint32_t value)
{
    iser_put(at, value, 4);
}

static inline void iser_put64(uint8_t *at, uint64_t value)
{
    iser_put(at, (uint32_t)(value >> 32), 4);
    iser_put(at + 4, (uint32_t)value, 4);
}

#endif
