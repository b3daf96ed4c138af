/* SPDX-License-Identifier: BSD-2-Clause */
/* A look at the sockets. Leader only. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_ROUND_H
#define ITAPI_VP_UIWARP_LEAD_UIW_ROUND_H

#include "vp/uiwarp/queue/uiw_ep.h"

#include <sys/epoll.h>

#define UIW_ROUND_EVENTS 64

/* One look, which does not block. Octets read. */
size_t uiw_round_run(struct uiw_progress *progress, bool ask_epoll);

/* Events of the poll set are acted on. Octets read. */
size_t uiw_round_handle(struct uiw_progress *progress, const struct epoll_event *events, int count);
void uiw_round_drain_kick(struct uiw_progress *progress);

/* EPs that are going away are forgotten. False: events collected earlier may name one. */
bool uiw_round_purge(struct uiw_progress *progress);

/* Only the leader writes .rounds and .stints: no read-modify-write is needed. */
static inline void uiw_round_end(struct uiw_progress *progress)
{
    uint32_t rounds = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    atomic_store_explicit(&progress->rounds, rounds + 1, memory_order_release);
}

#endif
