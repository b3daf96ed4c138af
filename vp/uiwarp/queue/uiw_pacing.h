/* SPDX-License-Identifier: BSD-2-Clause */
/* When posts in quick succession wait for each other: the policy is stream/uiw_post.c. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_PACING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* By ual_ep.lock, but for .last_post. */
struct uiw_pacing {
    _Atomic uint64_t last_post; /* base_rough_ticks at its end; any poster */
    unsigned burst;             /* posts in quick succession */
    uint64_t burst_heard;       /* of .rx.fpdus_in, at the last post */
    bool burst_paused;          /* the last one came behind a pause */
    uint64_t burst_pause;       /* that does not end a burst, in the same ticks */
    unsigned gathered_requests; /* held back since the last that was not */
    uint64_t gathered_octets;
};

#endif
