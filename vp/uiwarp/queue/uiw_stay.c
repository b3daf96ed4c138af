/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/queue/uiw_stay.h"

#define STAY_TRUST 4u  /* from here on posts stay */
#define STAY_SURE  16u /* the maximum */
#define STAY_DOUBT 2u  /* lost by an answer that was not prompt */
/*
 * A reaction faster than this is prompt. The IA's thread reads a message of up to 64 KiB, possibly
 * on the processor of the program, and the program answers: four to forty microseconds.
 */
#define STAY_PROMPT UINT64_C(100000)
/* A peer's answer within this time is prompt. It suffices even if threads of IAs must be woken. */
#define STAY_ANSWER UINT64_C(400000)
/* Longer times are ignored: another process had the processor. */
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
