/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether a post is deferred. A program that posts in quick succession is about to post
 * more, and several requests can share one system call. Times are in base_rough_ticks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Guarded by ual_ep.lock, except .last_post. */
struct uiw_pacing {
    _Atomic uint64_t last_post; /* when the last post ended; any poster writes it */
    unsigned burst;             /* posts in quick succession */
    uint64_t heard;             /* FPDUs received before the last post */
    bool paused;                /* the last post followed a pause */
    uint64_t pause;             /* shorter pauses belong to the burst */
    unsigned requests;          /* number of deferred requests */
    uint64_t octets;            /* in them */
};

/*
 * Returns true if this post answers the peer: it is the first since an FPDU came, and not in a
 * burst. Such a post begins no burst, and the clock need not be read.
 */
bool uiw_pacing_answers(struct uiw_pacing *pacing, uint64_t heard);

/* Returns true if a post at time `now`, which is no answer, belongs to a burst. */
bool uiw_pacing_in_burst(struct uiw_pacing *pacing, uint64_t now);

/* Counts a request of a burst. Returns true if it may wait; false if enough have gathered. */
bool uiw_pacing_gather(struct uiw_pacing *pacing, uint64_t octets);

/* Forgets the gathered requests, which are sent now. */
static inline void uiw_pacing_release(struct uiw_pacing *pacing)
{
    pacing->requests = 0;
    pacing->octets = 0;
}

/*
 * Notes when a post has ended, so that the time of its system call does not count as a pause. If
 * two threads post, either time will do.
 */
static inline void uiw_pacing_sent(struct uiw_pacing *pacing, uint64_t now)
{
    atomic_store_explicit(&pacing->last_post, now, memory_order_relaxed);
}

#endif
