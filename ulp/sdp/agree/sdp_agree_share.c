/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_share.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define COUNTERS 4096

/*
 * 0: free. A process that is killed never leaves its counters: the other processes stay with TCP.
 */
static atomic_int *counters;

bool sdp_share_start(void)
{
    void *memory;

    if (counters)
        return true;
    memory = mmap(NULL, COUNTERS * sizeof(*counters), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    counters = memory;
    return true;
}

bool sdp_share_fork(int *share)
{
    if (*share != SDP_SHARE_NONE) {
        (void)atomic_fetch_add(&counters[*share], 1);
        return true;
    }
    for (int i = 0; i < COUNTERS; i++) {
        int none = 0;

        if (!atomic_compare_exchange_strong(&counters[i], &none, 2))
            continue;
        *share = i;
        return true;
    }
    return false;
}

void sdp_share_leave(int share)
{
    if (share != SDP_SHARE_NONE)
        (void)atomic_fetch_sub(&counters[share], 1);
}

bool sdp_share_alone(int share)
{
    return share == SDP_SHARE_NONE || atomic_load(&counters[share]) == 1;
}
