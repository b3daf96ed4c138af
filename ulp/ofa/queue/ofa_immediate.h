/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Immediate data of verbs have 32 bits, an immediate value of IT-API 64. The upper half
 * is for the receiver's completion: whether the message was an RDMA Write, and its length.
 */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_IMMEDIATE_H
#define ITAPI_ULP_OFA_QUEUE_OFA_IMMEDIATE_H

#include <stdbool.h>
#include <stdint.h>

#define OFA_IMMEDIATE_WRITE (UINT64_C(1) << 63)

/* data is in host byte order; length is below 2^31. */
static inline uint64_t ofa_immediate_of_write(uint32_t data, uint32_t length)
{
    return OFA_IMMEDIATE_WRITE | (uint64_t)(length & 0x7fffffffu) << 32 | data;
}

static inline bool ofa_immediate_is_write(uint64_t value)
{
    return (value & OFA_IMMEDIATE_WRITE) != 0;
}

static inline uint32_t ofa_immediate_length(uint64_t value)
{
    return (uint32_t)(value >> 32) & 0x7fffffffu;
}

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_IMMEDIATE_H */
