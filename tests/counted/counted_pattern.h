/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual patterns of traffic. One thread drives both ends, so nothing depends on the scheduler.
 */
#ifndef ITAPI_TESTS_COUNTED_PATTERN_H
#define ITAPI_TESTS_COUNTED_PATTERN_H

#include "support/it_fixture.h"

enum counted_operation {
    COUNTED_PING_PONG,
    COUNTED_WAITING,  /* the same with it_evd_wait, which polls before it sleeps */
    COUNTED_SLEEPING, /* the same with it_evd_wait, which sleeps at once */
    COUNTED_WRITE,
    COUNTED_SEND,
    COUNTED_READ
};

enum counted_pace {
    COUNTED_FAST,     /* one post after the other */
    COUNTED_APART,    /* with counted_pause between posts, so that each is a system call */
    COUNTED_COALESCED /* with IT_COALESCE_WR_FLAG on all but the last post of a window */
};

struct counted_pattern {
    const char *name;
    enum counted_operation operation;
    uint32_t octets;
    uint32_t window; /* requests at a time, at most COUNTED_DEPTH; 1 for a ping-pong */
    bool crc;
    enum counted_pace pace;
};

#define COUNTED_DEPTH 64u

/* Two connected IAs of this process, each with memory for one window. */
struct counted_bed {
    const struct counted_pattern *pattern;
    struct fx_pair pair;
    struct fx_buf a;
    struct fx_buf b;
};

void counted_open(struct counted_bed *bed, const struct counted_pattern *pattern);
void counted_close(struct counted_bed *bed);
/*
 * Holds the schedule. While it was not held, the IAs' threads may have read enough answers that the
 * next post of each side stays (queue/uiw_stay.h): it polls for an answer that the thread itself
 * would have to send. So this exchanges messages until later posts do not stay.
 */
void counted_settle(struct counted_bed *bed);
/* Sends messages in one direction. In a ping-pong each message answers the one before. */
void counted_run(struct counted_bed *bed, unsigned messages);
/* Does the same, but counted_instructions.sh does not count it. */
void counted_warm_up(struct counted_bed *bed, unsigned messages);

#endif
