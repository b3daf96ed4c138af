/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Immediate values. DAT has 32 bits. If the transport carries 64, the upper half is the length of
 * the RDMA Write, which DAT reports to the peer and iWARP does not carry.
 */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_IMMEDIATE_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_IMMEDIATE_H

#include <dat2/udat.h>

static inline uint64_t udapl_immediate(uint32_t bits, DAT_UINT32 immediate, uint64_t length)
{
    return bits < 64 ? immediate : length << 32 | immediate;
}

/* Returns the length for a receive; length: as the transport reports it. */
static inline DAT_SEG_LENGTH udapl_immediate_length(uint32_t bits, uint64_t value,
                                                    DAT_SEG_LENGTH length)
{
    return bits < 64 ? length : (DAT_SEG_LENGTH)(value >> 32);
}

#endif
