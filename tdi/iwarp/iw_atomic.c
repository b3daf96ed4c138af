/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_atomic.h"

bool iw_atomic_is_known(const struct iw_atomic_request *request)
{
    return request->code == IW_ATOMIC_FETCH_ADD || request->code == IW_ATOMIC_CMP_SWAP;
}

/*
 * Each bit of the mask is the top of a field, and no carry leaves its field: the lower bits are
 * added without the tops, which then take the carry that arrives and give none away.
 */
static uint64_t iw_atomic_add(uint64_t original, uint64_t add, uint64_t tops)
{
    return ((original & ~tops) + (add & ~tops)) ^ ((original ^ add) & tops);
}

uint64_t iw_atomic_result(const struct iw_atomic_request *request, uint64_t original)
{
    uint64_t mask = request->operand_mask;

    if (request->code == IW_ATOMIC_FETCH_ADD)
        return iw_atomic_add(original, request->operand, mask);
    if (((request->compare ^ original) & request->compare_mask) != 0)
        return original;
    return (original & ~mask) | (request->operand & mask);
}
