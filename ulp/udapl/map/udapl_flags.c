/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/udapl_flags.h"

/*
 * Computes an entry from its index. Success is reported unless SUPPRESS is set, and wakes a waiter
 * unless UNSIGNALLED is set. Each of the other flags maps to one flag.
 */
#define FLAG(index, dat, it) (((index) & (unsigned)(dat)) ? (unsigned)(it) : 0u)
#define ENTRY(index)                                                                               \
    (unsigned char)((FLAG(~(index), DAT_COMPLETION_SUPPRESS_FLAG, IT_COMPLETION_FLAG)) |           \
                    (FLAG(index, DAT_COMPLETION_SUPPRESS_FLAG, 1)                                  \
                         ? 0u                                                                      \
                         : FLAG(~(index), DAT_COMPLETION_UNSIGNALLED_FLAG, IT_NOTIFY_FLAG)) |      \
                    FLAG(index, DAT_COMPLETION_SOLICITED_WAIT_FLAG, IT_SOLICITED_WAIT_FLAG) |      \
                    FLAG(index, DAT_COMPLETION_BARRIER_FENCE_FLAG, IT_BARRIER_FENCE_FLAG) |        \
                    FLAG(index, DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG, IT_UNLINK_FENCE_FLAG))
#define ENTRIES4(index) ENTRY(index), ENTRY(index + 1u), ENTRY(index + 2u), ENTRY(index + 3u)
#define ENTRIES16(index)                                                                           \
    ENTRIES4(index), ENTRIES4(index + 4u), ENTRIES4(index + 8u), ENTRIES4(index + 12u)

const unsigned char udapl_flags_table[UDAPL_FLAGS_COUNT] = {ENTRIES16(0u), ENTRIES16(16u),
                                                            ENTRIES16(32u), ENTRIES16(48u)};
