/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/rdma.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_PAGE 4096u

unsigned char *memory_allocate(size_t length)
{
    size_t room = (length / MEMORY_PAGE + 1) * MEMORY_PAGE;
    unsigned char *memory = aligned_alloc(MEMORY_PAGE, room);

    /* Touched here and now, as a device's registration would do, not while data arrives. */
    if (memory != NULL)
        memset(memory, 0, room);
    return memory;
}

bool region_create(struct region *region, it_pz_handle_t pz, unsigned char *memory, size_t length,
                   it_mem_priv_t privileges)
{
    memset(region, 0, sizeof(*region));
    if (!succeeded(it_lmr_create(pz, memory, NULL, length > 0 ? length : 1, IT_ADDR_MODE_ABSOLUTE,
                                 privileges, IT_LMR_FLAG_NONE, 0, &region->lmr, &region->key),
                   "it_lmr_create"))
        return false;
    region->memory = memory;
    region->length = length;
    return true;
}

void region_free(struct region *region)
{
    if (region->lmr != NULL)
        (void)succeeded(it_lmr_free(region->lmr), "it_lmr_free");
    memset(region, 0, sizeof(*region));
}

it_lmr_triplet_t region_segment(const struct region *region, size_t offset, size_t length)
{
    it_lmr_triplet_t segment;

    segment.lmr = region->lmr;
    segment.addr.abs = region->memory + offset;
    segment.length = length;
    return segment;
}
