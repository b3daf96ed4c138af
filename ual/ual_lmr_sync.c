/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_lmr_flush_to_mem and it_lmr_refresh_from_mem. Memory is coherent for every provider in user
 * space: what remains to be done is a barrier.
 */
#include "ual/ual.h"

/* No operation has anywhere near as many segments: a count beyond is a mistake. */
#define UAL_LMR_SYNC_MAX 65536u

static it_status_t ual_lmr_check_segment(const it_lmr_triplet_t *segment)
{
    const struct ual_lmr *lmr = ual_lmr_from(segment->lmr);
    uint64_t offset;

    if (!lmr)
        return IT_ERR_INVALID_LMR;
    if (ual_ia_failed(ual_ia_of(&lmr->object)))
        return IT_ERR_IA_CATASTROPHE;
    offset = lmr->addr_mode == IT_ADDR_MODE_RELATIVE
                 ? segment->addr.rel
                 : (uintptr_t)segment->addr.abs - (uintptr_t)lmr->addr; /* below: huge */
    if (offset > lmr->length || segment->length > lmr->length - offset)
        return IT_ERR_RANGE;
    return IT_SUCCESS;
}

static it_status_t ual_lmr_sync(const it_lmr_triplet_t *segments, size_t count)
{
    if (!segments && count > 0)
        return IT_ERR_FAULT;
    if (count > UAL_LMR_SYNC_MAX)
        return IT_ERR_INVALID_NUM_SEGMENTS;
    for (size_t i = 0; i < count; i++) {
        it_status_t status = ual_lmr_check_segment(&segments[i]);

        if (status != IT_SUCCESS)
            return status;
    }
    atomic_thread_fence(memory_order_seq_cst);
    return IT_SUCCESS;
}

it_status_t it_lmr_flush_to_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    return ual_lmr_sync(local_segments, num_segments);
}

it_status_t it_lmr_refresh_from_mem(const it_lmr_triplet_t *local_segments, size_t num_segments)
{
    return ual_lmr_sync(local_segments, num_segments);
}
