/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of many small segments. Each look at a socket locks it against whoever brings in the next
 * segment, who then has to queue it apart: a leader that polls slows them both down. So while such a
 * message is unfinished there is a pause between two looks, which grows with the time that it has
 * taken so far. Who sleeps in the poll set needs none of this.
 */
#include "vp/uiwarp/receive/uiw_pause.h"

#include "base/base_clock.h"

/* A message that comes in so soon is waited for as any other. */
#define GATHER_SHORT_NS UINT64_C(20000)
/* Of the time since the message began to come in; at most what fills the staging buffer at 1.6 GB/s. */
#define GATHER_PART     4u
#define GATHER_PAUSE_NS UINT64_C(40000)

void uiw_gather_begin(struct uiw_gather *gather, bool small_segments)
{
    gather->wanted = small_segments;
    gather->since_ns = 0;
    atomic_store_explicit(&gather->until_ns, 0, memory_order_relaxed);
}

static void gather_pause(struct uiw_gather *gather)
{
    uint64_t now = base_now_ns();
    uint64_t pause;

    if (gather->since_ns == 0)
        gather->since_ns = now;
    if (now - gather->since_ns < GATHER_SHORT_NS)
        return;
    pause = (now - gather->since_ns) / GATHER_PART;
    if (pause > GATHER_PAUSE_NS)
        pause = GATHER_PAUSE_NS;
    atomic_store_explicit(&gather->until_ns, now + pause, memory_order_relaxed);
}

void uiw_gather_note(struct uiw_gather *gather, bool unfinished)
{
    if (!gather->wanted)
        return;
    if (unfinished) {
        gather_pause(gather);
    } else if (gather->since_ns != 0) {
        gather->since_ns = 0;
        atomic_store_explicit(&gather->until_ns, 0, memory_order_relaxed);
    }
}

bool uiw_gather_waits(const struct uiw_gather *gather)
{
    uint64_t until = atomic_load_explicit(&gather->until_ns, memory_order_relaxed);

    return until != 0 && base_now_ns() < until;
}
