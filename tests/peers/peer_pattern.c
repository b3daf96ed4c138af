/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_pattern.h"

#define PATTERN_STEP UINT64_C(0x9E3779B97F4A7C15)
#define PATTERN_SEED UINT64_C(0xD1B54A32D192ED03)

void peer_pattern_fill(uint8_t *octets, size_t len, uint64_t first, uint64_t seed)
{
    uint64_t value = first * PATTERN_STEP + seed * PATTERN_SEED;

    for (size_t i = 0; i < len; i++) {
        value += PATTERN_STEP;
        octets[i] = (uint8_t)(value >> 56);
    }
}

size_t peer_pattern_match(const uint8_t *octets, size_t len, uint64_t first, uint64_t seed,
                          uint8_t *want)
{
    uint64_t value = first * PATTERN_STEP + seed * PATTERN_SEED;

    for (size_t i = 0; i < len; i++) {
        value += PATTERN_STEP;
        if (octets[i] != (uint8_t)(value >> 56)) {
            *want = (uint8_t)(value >> 56);
            return i;
        }
    }
    return len;
}
