/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/pattern.h"

#include <inttypes.h>

#include "support/check.h"

#define PER_PLACE UINT64_C(0x9E3779B97F4A7C15)
#define PER_SEED  UINT64_C(0xD1B54A32D192ED03)

static unsigned char octet_at(uint64_t position, uint64_t seed)
{
    return (unsigned char)(((position + 1) * PER_PLACE + seed * PER_SEED) >> 56);
}

void pattern_fill(void *memory, size_t length, uint64_t from, uint64_t seed)
{
    unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++)
        octets[i] = octet_at(from + i, seed);
}

void pattern_check_at(const char *file, int line, const void *memory, size_t length, uint64_t from,
                      uint64_t seed)
{
    const unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++) {
        if (octets[i] != octet_at(from + i, seed))
            check_fail(file, line,
                       "octet %zu of %zu is 0x%02x instead of 0x%02x (pattern %" PRIu64
                       " from position %" PRIu64 ")",
                       i, length, octets[i], octet_at(from + i, seed), seed, from);
    }
}
