/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts limits of IT-API, of 64 bits, to the narrower types of DAT. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_LIMIT_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_LIMIT_H

#include <dat2/udat.h>

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum segments of a request, which a post has on its stack. */
#define UDAPL_MOST_SEGMENTS 64

static inline DAT_COUNT udapl_limit_count(size_t most)
{
    return most > INT_MAX ? INT_MAX : (DAT_COUNT)most;
}

static inline DAT_COUNT udapl_limit_segments(size_t most)
{
    return most > UDAPL_MOST_SEGMENTS ? UDAPL_MOST_SEGMENTS : (DAT_COUNT)most;
}

static inline DAT_SEG_LENGTH udapl_limit_length(DAT_UINT64 most)
{
    return most > UINT32_MAX ? UINT32_MAX : (DAT_SEG_LENGTH)most;
}

/* Returns the alignment for buffers: a power of two, at most DAT_OPTIMAL_ALIGNMENT. */
static inline DAT_UINT32 udapl_limit_alignment(DAT_UINT32 hint)
{
    DAT_UINT32 alignment = 1;

    while (alignment < hint && alignment < DAT_OPTIMAL_ALIGNMENT)
        alignment *= 2;
    return alignment;
}

#endif
