/* SPDX-License-Identifier: BSD-2-Clause */
/* The usual patterns of traffic, both ends driven by one thread: nothing depends on a scheduler. */
#ifndef ITAPI_TESTS_COUNTED_PATTERN_H
#define ITAPI_TESTS_COUNTED_PATTERN_H

#include "support/it_fixture.h"

enum counted_operation {
    COUNTED_PING_PONG,
    COUNTED_WAITING,  /* the same by it_evd_wait, which polls before it sleeps */
    COUNTED_SLEEPING, /* ... which sleeps at once */
    COUNTED_WRITE,
    COUNTED_SEND,
    COUNTED_READ
};

enum counted_pace {
    COUNTED_FAST,     /* one post after the other */
    COUNTED_APART,    /* with counted_pause between them: each in a system call of its own */
    COUNTED_COALESCED /* with IT_COALESCE_WR_FLAG on all but the last of a window */
};

struct counted_pattern {
    const char *name;
    enum counted_operation operation;
    uint32_t octets;
    uint32_t window; /* requests at a time, at most COUNTED_DEPTH; of a ping-pong 1 */
    bool crc;
    enum counted_pace pace;
};

#define COUNTED_DEPTH 64u

/* Two IAs of this process, connected; memory for one window on either side. */
struct counted_bed {
    const struct counted_pattern *pattern;
    struct fx_pair pair;
    struct fx_buf a;
    struct fx_buf b;
};

void counted_open(struct counted_bed *bed, const struct counted_pattern *pattern);
void counted_close(struct counted_bed *bed);
/* Messages in one direction; of a ping-pong each is an answer to the one before. */
void counted_run(struct counted_bed *bed, unsigned messages);
/* The same, not counted by counted_instructions.sh. */
void counted_warm_up(struct counted_bed *bed, unsigned messages);

#endif
