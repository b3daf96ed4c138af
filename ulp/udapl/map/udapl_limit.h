/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of IT-API, 64 bits wide, in the narrower types of DAT. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_LIMIT_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_LIMIT_H

#include <dat2/udat.h>

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Segments of one request: a post has room for so many on its stack. */
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

/* A power of two, at most DAT_OPTIMAL_ALIGNMENT: what consumers align their buffers to. */
static inline DAT_UINT32 udapl_limit_alignment(DAT_UINT32 hint)
{
    DAT_UINT32 alignment = 1;

    while (alignment < hint && alignment < DAT_OPTIMAL_ALIGNMENT)
        alignment *= 2;
    return alignment;
}

#endif
