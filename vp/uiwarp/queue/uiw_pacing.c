/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_pacing.h"

/* Posts less than this apart, a microsecond or two, make a burst. */
#define PACING_GAP UINT64_C(4000)
/* A gap this long is a pause and may end the burst. Sends and polls between posts take less. */
#define PACING_KEEP UINT64_C(100000)
/* This gap always ends the burst. A thread that fills many EPs in turn returns to each sooner. */
#define PACING_PAUSE_MAX UINT64_C(4000000)

/* This many posts of a burst leave one by one. */
#define PACING_EAGER 4u
/* Later ones are deferred until this many requests or octets have gathered. */
#define PACING_REQUESTS 64u
#define PACING_OCTETS   UINT64_C(262144)

bool uiw_pacing_answers(struct uiw_pacing *pacing, uint64_t heard)
{
    bool answers = pacing->burst == 0 && heard != pacing->heard;

    pacing->heard = heard;
    return answers;
}

static void pacing_end_burst(struct uiw_pacing *pacing)
{
    pacing->burst = 0;
    pacing->pause = 0;
    pacing->paused = false;
}

/*
 * Returns true if a post `gap` after the last one belongs to the burst. The first post after a
 * pause does not, and from then on pauses of up to twice that length do. Two posts in a row that
 * each follow a pause end the burst.
 */
static bool pacing_lasts(struct uiw_pacing *pacing, uint64_t gap)
{
    bool alone = pacing->paused;

    pacing->paused = gap >= PACING_KEEP;
    if (!pacing->paused)
        return true;
    if (alone || gap >= PACING_PAUSE_MAX) {
        pacing_end_burst(pacing);
        return false;
    }
    if (gap < pacing->pause)
        return true;
    pacing->pause = 2 * gap;
    return false;
}

bool uiw_pacing_in_burst(struct uiw_pacing *pacing, uint64_t now)
{
    uint64_t gap = now - atomic_load_explicit(&pacing->last_post, memory_order_relaxed);

    uiw_pacing_sent(pacing, now);
    if (pacing->burst >= PACING_EAGER)
        return pacing_lasts(pacing, gap);
    pacing->burst = gap < PACING_GAP ? pacing->burst + 1 : 0;
    return pacing->burst >= PACING_EAGER;
}

bool uiw_pacing_gather(struct uiw_pacing *pacing, uint64_t octets)
{
    pacing->requests++;
    pacing->octets += octets;
    return pacing->requests < PACING_REQUESTS && pacing->octets < PACING_OCTETS;
}
