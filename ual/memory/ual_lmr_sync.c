/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_lmr_flush_to_mem and it_lmr_refresh_from_mem. Memory is coherent for every provider in user
 * space, so a barrier is all that is needed.
 */
#include "ual/object/ual.h"

/* A higher count is a mistake: no operation has anywhere near as many segments. */
#define UAL_LMR_SYNC_MAX 65536u

static it_status_t ual_lmr_check_segment(const char *call, const it_lmr_triplet_t *segment)
{
    const struct ual_lmr *lmr = ual_lmr_from(segment->lmr);
    uint64_t offset;

    if (!lmr)
        return base_refuse_handle(IT_ERR_INVALID_LMR, call, segment->lmr);
    if (ual_ia_failed(ual_ia_of(&lmr->object)))
        return IT_ERR_IA_CATASTROPHE;
    offset = lmr->addr_mode == IT_ADDR_MODE_RELATIVE
                 ? segment->addr.rel
                 : (uintptr_t)segment->addr.abs - (uintptr_t)lmr->addr; /* below the region: huge */
    if (offset > lmr->length || segment->length > lmr->length - offset)
        return base_refuse(IT_ERR_RANGE, call, "segment->length %llu at %#llx of %llu",
                           (unsigned long long)segment->length, (unsigned long long)offset,
                           (unsigned long long)lmr->length);
    return IT_SUCCESS;
}

static it_status_t ual_lmr_sync(const char *call, const it_lmr_triplet_t *local_segments,
                                size_t num_segments)
{
    if (!local_segments && num_segments > 0)
        return base_refuse_null(call, local_segments);
    if (num_segments > UAL_LMR_SYNC_MAX)
        return base_refuse_above(IT_ERR_INVALID_NUM_SEGMENTS, call, num_segments, UAL_LMR_SYNC_MAX);
    for (size_t i = 0; i < num_segments; i++) {
        it_status_t status = ual_lmr_check_segment(call, &local_segments[i]);

        if (status != IT_SUCCESS)
            return status;
    }
    atomic_thread_fence(memory_order_seq_cst);
    return IT_SUCCESS;
}

it_status_t it_lmr_flush_to_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    return ual_lmr_sync(__func__, local_segments, num_segments);
}

it_status_t it_lmr_refresh_from_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    return ual_lmr_sync(__func__, local_segments, num_segments);
}
