/* SPDX-License-Identifier: BSD-2-Clause */
/* Data path. Converts the segments of a post from DAT's triplets to those of IT-API. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_SEGMENTS_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_SEGMENTS_H

#include "map/udapl_limit.h"
#include "object/udapl_lmr.h"

/* The converted segments of a post. */
struct udapl_segments {
    size_t count;
    uint64_t length; /* total */
    it_lmr_triplet_t segment[UDAPL_MOST_SEGMENTS];
};

/*
 * Finds the segments. pz: of the queue. Returns DAT_INVALID_PARAMETER for the second or third
 * argument, DAT_PRIVILEGES_VIOLATION if no LMR has the context, DAT_PROTECTION_VIOLATION if it is
 * in another PZ. Empty segments are skipped, since their other members are undefined.
 */
static inline DAT_RETURN udapl_segments_find(const struct udapl_pz *pz, DAT_COUNT count,
                                             const DAT_LMR_TRIPLET *triplets,
                                             struct udapl_segments *segments)
{
    it_lmr_triplet_t *next = segments->segment;
    uint64_t length = 0;

    if (__builtin_expect((unsigned)count > UDAPL_MOST_SEGMENTS, 0))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (__builtin_expect(!triplets && count != 0, 0))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    for (const DAT_LMR_TRIPLET *end = triplets + count; triplets != end; triplets++) {
        const struct udapl_lmr *lmr;

        if (triplets->segment_length == 0)
            continue;
        lmr = udapl_lmr_from(triplets->lmr_context);
        if (__builtin_expect(!lmr, 0))
            return udapl_error(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE);
        if (__builtin_expect(lmr->pz != pz, 0))
            return udapl_error(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
        next->lmr = lmr->it;
        next->addr.rel = triplets->virtual_address;
        next->length = triplets->segment_length;
        length += triplets->segment_length;
        next++;
    }
    segments->count = (size_t)(next - segments->segment);
    segments->length = length;
    return DAT_SUCCESS;
}

#endif
