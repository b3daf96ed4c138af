/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_pause.h"

/* A message that arrives within this time causes no pauses. */
#define PAUSE_SHORT_NS UINT64_C(20000)
/*
 * A pause is this part of the time since the message began to arrive. It is at most the time in
 * which data at 1.6 GB/s fill the staging buffer.
 */
#define PAUSE_PART   4u
#define PAUSE_MAX_NS UINT64_C(40000)

void uiw_pause_begin(struct uiw_pause *pause, bool small_segments)
{
    pause->wanted = small_segments;
    pause->since_ns = 0;
    atomic_store_explicit(&pause->until_ns, 0, memory_order_relaxed);
}

void uiw_pause_extend(struct uiw_pause *pause, uint64_t now_ns)
{
    uint64_t length;

    if (pause->since_ns == 0)
        pause->since_ns = now_ns;
    if (now_ns - pause->since_ns < PAUSE_SHORT_NS)
        return;
    length = (now_ns - pause->since_ns) / PAUSE_PART;
    if (length > PAUSE_MAX_NS)
        length = PAUSE_MAX_NS;
    atomic_store_explicit(&pause->until_ns, now_ns + length, memory_order_relaxed);
}
