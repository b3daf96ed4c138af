/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pauses between two polls of a stream while a message of many small segments arrives. Each poll
 * takes the socket's lock. The kernel must put a segment that arrives during the poll on the
 * socket's backlog, so a busy leader slows down both sides. While such a message is unfinished, the
 * leader therefore pauses between two polls. The pauses grow with the time that the message takes.
 * A leader that sleeps in the poll set needs no pauses.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PAUSE_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PAUSE_H

#include "base/base_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Used by the reader, which holds rx.token; the leader reads until_ns. */
struct uiw_pause {
    _Atomic uint64_t until_ns; /* no poll before this time; 0: at any time */
    uint64_t since_ns; /* first poll that found the message unfinished; 0: none is unfinished */
    bool wanted;
};

void uiw_pause_begin(struct uiw_pause *pause, bool small_segments);

/* A poll has ended within a message. */
void uiw_pause_extend(struct uiw_pause *pause, uint64_t now_ns);

/* A poll has ended at the end of a message. */
static inline void uiw_pause_end(struct uiw_pause *pause)
{
    if (pause->since_ns == 0)
        return;
    pause->since_ns = 0;
    atomic_store_explicit(&pause->until_ns, 0, memory_order_relaxed);
}

/* Notes the end of a poll, whether it found data or not. */
static inline void uiw_pause_note(struct uiw_pause *pause, bool unfinished)
{
    if (!pause->wanted)
        return;
    if (unfinished)
        uiw_pause_extend(pause, base_now_ns());
    else
        uiw_pause_end(pause);
}

/* Any thread. Returns true while it is too early to poll again. */
static inline bool uiw_pause_waits(const struct uiw_pause *pause)
{
    uint64_t until = atomic_load_explicit(&pause->until_ns, memory_order_relaxed);

    return until != 0 && base_now_ns() < until;
}

#endif
