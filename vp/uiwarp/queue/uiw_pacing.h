/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A post may wait for others: a program that posts faster than it polls is about to post more, and
 * a few requests then share one system call. Time is in base_rough_ticks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* By ual_ep.lock, but for .last_post. */
struct uiw_pacing {
    _Atomic uint64_t last_post; /* its end; any poster */
    unsigned burst;             /* posts in quick succession */
    uint64_t heard;             /* FPDUs of the peer, at the last post */
    bool paused;                /* the last one came behind a pause */
    uint64_t pause;             /* a shorter one does not end a burst */
    unsigned requests;          /* held back since the last that was not */
    uint64_t octets;
};

/*
 * Returns true if this post answers: it is the first since the peer has spoken and not in a burst.
 * It begins none, and the clock need not be read.
 */
bool uiw_pacing_answers(struct uiw_pacing *pacing, uint64_t heard);

/* Returns true if a post at time `now`, which answers nothing, belongs to a burst. */
bool uiw_pacing_in_burst(struct uiw_pacing *pacing, uint64_t now);

/* A request of a burst may wait. Returns false if enough have gathered. */
bool uiw_pacing_gather(struct uiw_pacing *pacing, uint64_t octets);

/* All that has gathered leaves. */
static inline void uiw_pacing_release(struct uiw_pacing *pacing)
{
    pacing->requests = 0;
    pacing->octets = 0;
}

/*
 * The posted requests have left: time spent in a system call is no pause. If two threads post, the
 * time of either will do.
 */
static inline void uiw_pacing_sent(struct uiw_pacing *pacing, uint64_t now)
{
    atomic_store_explicit(&pacing->last_post, now, memory_order_relaxed);
}

#endif
