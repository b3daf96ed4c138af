/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pauses between two looks at a message of many small segments. Each look at a socket locks it
 * against the thread that brings in the next segment, which then has to queue it apart: a leader
 * that polls slows both down. So while such a message is unfinished there is a pause between two
 * looks, which grows with the time that it has taken. A leader that sleeps in the poll set needs
 * none of this.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PAUSE_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PAUSE_H

#include "base/base_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Reader, with rx.token; until_ns is read by the leader. */
struct uiw_pause {
    _Atomic uint64_t until_ns; /* no look before; 0: at any time */
    uint64_t since_ns;         /* the first look that left a message unfinished; 0: none is */
    bool wanted;
};

void uiw_pause_begin(struct uiw_pause *pause, bool small_segments);

/* A look has ended within a message. */
void uiw_pause_extend(struct uiw_pause *pause, uint64_t now_ns);

/* A look has ended behind a message. */
static inline void uiw_pause_end(struct uiw_pause *pause)
{
    if (pause->since_ns == 0)
        return;
    pause->since_ns = 0;
    atomic_store_explicit(&pause->until_ns, 0, memory_order_relaxed);
}

/* A look is over, whether it has found something or not. */
static inline void uiw_pause_note(struct uiw_pause *pause, bool unfinished)
{
    if (!pause->wanted)
        return;
    if (unfinished)
        uiw_pause_extend(pause, base_now_ns());
    else
        uiw_pause_end(pause);
}

/* Any thread. Is it too early to look again? */
static inline bool uiw_pause_waits(const struct uiw_pause *pause)
{
    uint64_t until = atomic_load_explicit(&pause->until_ns, memory_order_relaxed);

    return until != 0 && base_now_ns() < until;
}

#endif
