/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides when a post stays, which means that the posting thread itself reads the answer before it
 * returns. A program that polls memory makes no call while it waits for an answer. For each answer
 * the IA's thread must then be woken and get a processor. Posts stay once the program has reacted
 * promptly to several answers in a row. Times are in base_rough_ticks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_STAY_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_STAY_H

#include <stdbool.h>
#include <stdint.h>

/* Guarded by ual_ep.lock. */
struct uiw_stay {
    uint64_t seen;  /* uiw_progress.taken at the last post that was an answer */
    uint32_t index; /* of that post in the send queue */
    unsigned trust; /* grows with each prompt exchange */
    bool stays;     /* that post was told to stay */
};

/* Times of one exchange, in order. */
struct uiw_stay_times {
    uint64_t posted; /* the last post has left */
    uint64_t taken;  /* the IA's thread, or a post that stayed, read the answer */
    uint64_t now;    /* this post leaves */
};

enum uiw_stay_order {
    UIW_STAY_NOT,
    UIW_STAY,
    UIW_STAY_NO_MORE /* posts stayed so far; the IA's thread must read again */
};

/* Judges the post with this index, the first since an answer was read. */
enum uiw_stay_order uiw_stay_learn(struct uiw_stay *stay, uint32_t index,
                                   const struct uiw_stay_times *times);

/* Lowers the trust: a post stayed and got no answer in time, or other streams were active. */
void uiw_stay_doubt(struct uiw_stay *stay);

#endif
