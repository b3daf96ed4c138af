/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_stay.h"

/* Of a post that stays; at most; for an answer that was not prompt. */
#define STAY_TRUST 8u
#define STAY_SURE  16u
#define STAY_DOUBT 2u
/*
 * What the IA's thread takes to read a short message, and the program, from which it may have taken
 * the processor, to answer: four to twenty microseconds ...
 */
#define STAY_PROMPT UINT64_C(20000)
/* ... and what the peer's answer takes to come when threads of the IAs have to be woken for it. */
#define STAY_ANSWER UINT64_C(200000)
/* Somebody else had the processor: that tells nothing. */
#define STAY_STOLEN UINT64_C(2000000)

void uiw_stay_doubt(struct uiw_stay *stay)
{
    stay->trust = stay->trust > STAY_DOUBT ? stay->trust - STAY_DOUBT : 0;
}

static void stay_judge(struct uiw_stay *stay, const struct uiw_stay_times *times)
{
    uint64_t answer = times->taken - times->posted;
    uint64_t reaction = times->now - times->taken;

    if (answer >= STAY_STOLEN || reaction >= STAY_STOLEN)
        return;
    if (answer >= STAY_ANSWER || reaction >= STAY_PROMPT)
        uiw_stay_doubt(stay);
    else if (stay->trust < STAY_SURE)
        stay->trust++;
}

enum uiw_stay_order uiw_stay_learn(struct uiw_stay *stay, uint32_t index,
                                   const struct uiw_stay_times *times)
{
    bool alone = index - stay->index == 1; /* no other post since the last answer */
    bool stayed = stay->stays;

    stay->seen = times->taken;
    stay->index = index;
    if (alone)
        stay_judge(stay, times);
    else
        stay->trust = 0;
    stay->stays = stay->trust >= STAY_TRUST;
    if (stay->stays)
        return UIW_STAY;
    return stayed ? UIW_STAY_NO_MORE : UIW_STAY_NOT;
}
