/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that polls memory makes no call while it waits for the answer to what it has posted:
 * the IA's thread has to be woken for each, and to get a processor. Where the program answers as
 * soon as that thread has taken in what it waited for, again and again, posts stay until the next
 * answer has come: the poster reads it itself. Time is in base_rough_ticks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_STAY_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_STAY_H

#include <stdbool.h>
#include <stdint.h>

/* By ual_ep.lock. */
struct uiw_stay {
    uint64_t seen;  /* uiw_progress.taken at the last post that was an answer */
    uint32_t index; /* of that one in the send queue */
    unsigned trust; /* grows with prompt answers to prompt answers */
    bool stays;     /* that one was told to */
};

/* When things have happened, in the order of a post that stays. */
struct uiw_stay_times {
    uint64_t posted; /* the post before has left */
    uint64_t taken;  /* what came last was taken in, by the IA's thread or by a post that stayed */
    uint64_t now;    /* the post leaves */
};

enum uiw_stay_order {
    UIW_STAY_NOT,
    UIW_STAY,
    UIW_STAY_NO_MORE /* the IA's thread has to read again */
};

/* The post of this index follows something that was taken in. */
enum uiw_stay_order uiw_stay_learn(struct uiw_stay *stay, uint32_t index,
                                   const struct uiw_stay_times *times);

/* The answer did not come in time, or was not alone. */
void uiw_stay_doubt(struct uiw_stay *stay);

#endif
