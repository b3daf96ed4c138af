/* SPDX-License-Identifier: BSD-2-Clause */
/* Stateless helpers: byte order of 64-bit values and remote addresses. */
#include "it_api.h"

/*
 * Returns the value whose bytes in memory are those of x, most significant first; its own inverse.
 */
static uint64_t swap_to_network(uint64_t x)
{
    union {
        uint64_t value;
        unsigned char bytes[8];
    } out;

    for (unsigned i = 0; i < 8; i++)
        out.bytes[i] = (unsigned char)(x >> (56 - 8 * i));
    return out.value;
}

uint64_t it_hton64(uint64_t hostint)
{
    return swap_to_network(hostint);
}

uint64_t it_ntoh64(uint64_t netint)
{
    return swap_to_network(netint);
}

it_rdma_addr_t it_make_rdma_addr_absolute(void *addr)
{
    return (it_rdma_addr_t)(uintptr_t)addr;
}

it_rdma_addr_t it_make_rdma_addr_relative(it_length_t offset)
{
    return offset;
}
