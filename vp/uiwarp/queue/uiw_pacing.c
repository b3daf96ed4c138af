/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_pacing.h"

/* Posts that follow the end of the one before within a microsecond or two make a burst ... */
#define PACING_GAP UINT64_C(4000)
/* ... which lasts until there is a longer pause: what sends and polls between two posts take. */
#define PACING_KEEP UINT64_C(100000)
/*
 * A thread that fills the queues of many endpoints in turn comes back to each after at most this.
 */
#define PACING_PAUSE_MAX UINT64_C(4000000)

/* The first posts of a burst go out one by one. Later ones may wait for company ... */
#define PACING_EAGER 4u
/* ... until this number of requests or octets has gathered. */
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
 * The first post behind a pause belongs to no burst, and from then on pauses up to twice as long
 * are part of the burst. Two posts in a row that each come behind a pause end it.
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
