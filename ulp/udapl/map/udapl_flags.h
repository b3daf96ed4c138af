/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion flags of posts. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_FLAGS_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_FLAGS_H

#include "it_api.h"

#include <dat2/udat.h>

/* The flags that each kind of post accepts. */
#define UDAPL_FLAGS_REQUEST                                                                        \
    ((unsigned)DAT_COMPLETION_SUPPRESS_FLAG | (unsigned)DAT_COMPLETION_UNSIGNALLED_FLAG |          \
     (unsigned)DAT_COMPLETION_BARRIER_FENCE_FLAG | (unsigned)DAT_COMPLETION_EVD_THRESHOLD_FLAG)
#define UDAPL_FLAGS_SEND (UDAPL_FLAGS_REQUEST | (unsigned)DAT_COMPLETION_SOLICITED_WAIT_FLAG)
#define UDAPL_FLAGS_BIND (UDAPL_FLAGS_REQUEST | (unsigned)DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG)
#define UDAPL_FLAGS_RECV                                                                           \
    ((unsigned)DAT_COMPLETION_UNSIGNALLED_FLAG | (unsigned)DAT_COMPLETION_EVD_THRESHOLD_FLAG)

#define UDAPL_FLAGS_COUNT 64 /* all combinations of the six */

extern const unsigned char udapl_flags_table[UDAPL_FLAGS_COUNT];

/* Converts the flags of a request, which were checked against a kind above. */
static inline it_dto_flags_t udapl_flags(DAT_COMPLETION_FLAGS flags)
{
    return (it_dto_flags_t)udapl_flags_table[(unsigned)flags & (UDAPL_FLAGS_COUNT - 1)];
}

/*
 * Converts the flags of a receive, whose completion is always reported. The endpoint decides which
 * ones wake a waiter: all, or with SOLICITED_WAIT those that the peer has solicited.
 */
static inline it_dto_flags_t udapl_flags_recv(DAT_COMPLETION_FLAGS of_ep,
                                              DAT_COMPLETION_FLAGS flags)
{
    unsigned quiet = ((unsigned)of_ep & (unsigned)DAT_COMPLETION_SOLICITED_WAIT_FLAG) |
                     ((unsigned)flags & (unsigned)DAT_COMPLETION_UNSIGNALLED_FLAG);

    return quiet ? IT_COMPLETION_FLAG : (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG);
}

#endif
