/* SPDX-License-Identifier: BSD-2-Clause */
/* A Local Memory Region, and finding it by its lmr_context. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_LMR_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_LMR_H

#include "object/udapl_object.h"
#include "object/udapl_pz.h"

/* Referenced by RMRs that are bound to it. */
struct udapl_lmr {
    struct udapl_object object;
    it_lmr_handle_t it;
    DAT_LMR_CONTEXT lmr_context; /* 0 unless registered */
    DAT_RMR_CONTEXT rmr_context;
    struct udapl_pz *pz;
    DAT_MEM_TYPE mem_type;
    DAT_REGION_DESCRIPTION region; /* as the consumer gave it */
    char shared_id[DAT_LMR_COOKIE_SIZE];
    void *address;
    DAT_VLEN length;
    DAT_MEM_PRIV_FLAGS privileges;
    DAT_VA_TYPE va_type;
};

/* An lmr_context: low bits are the place in the slab, high bits the generation; never 0. */
#define UDAPL_LMR_PLACE_BITS 21

static inline DAT_LMR_CONTEXT udapl_lmr_context(const struct udapl_lmr *lmr)
{
    uint32_t generations = (1u << (32 - UDAPL_LMR_PLACE_BITS)) - 1;

    return lmr->object.entry.index | (lmr->object.entry.generation % generations + 1)
                                         << UDAPL_LMR_PLACE_BITS;
}

/* Returns the LMR of a segment, or NULL. */
static inline struct udapl_lmr *udapl_lmr_from(DAT_LMR_CONTEXT context)
{
    struct udapl_lmr *lmr =
        udapl_slab_at(&udapl_slabs[DAT_HANDLE_TYPE_LMR], sizeof(struct udapl_lmr),
                      context & ((1u << UDAPL_LMR_PLACE_BITS) - 1));

    return lmr && lmr->lmr_context == context ? lmr : NULL;
}

#endif
