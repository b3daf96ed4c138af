/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An initiator with one outstanding command sends the next one as soon as it gets the response. A
 * sleep and a wake-up for each command take longer than the command itself, especially on two
 * processors. So the thread polls for a short time, like the library's waits: only while no other
 * session or thread needs it, only where sleeps have been short, and it yields the processor each
 * time.
 */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_STAY_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_STAY_H

#include "transfer/iser_link.h"

/* State that all links of a target share. Zeroed, then the first three members are set. */
struct iser_stay {
    bool off;
    /* Returns true if only the one session has work. */
    bool (*is_alone)(const void *portal);
    const void *portal;
    uint64_t ask_ns;  /* how long the next turn polls */
    uint64_t left_ns; /* when the last turn ended */
    unsigned pause;   /* short sleeps until polling is tried again */
};

/* Called when the thread wakes: learns whether the sleep was short. */
void iser_stay_learn(struct iser_stay *stay);
/*
 * Polls for a short time, at the end of a link's turn. take: handles what has arrived, sends the
 * answers, and returns how much that was.
 */
void iser_stay(struct iser_stay *stay, struct iser_link *link,
               size_t (*take)(struct iser_link *link));

#endif
