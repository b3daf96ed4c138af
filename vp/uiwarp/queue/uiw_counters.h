/* SPDX-License-Identifier: BSD-2-Clause */
/* A counter has one writer; any thread reads it. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_COUNTERS_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_COUNTERS_H

#include "vp/uiwarp/queue/uiw_ep.h"

static inline void uiw_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void uiw_ep_counters(struct ual_ep *ual, struct itx_ep_counters *counters);
void uiw_ia_counters(struct ual_ia *ual, struct itx_counters *counters); /* of all EPs ever */

/* Adds the EP's counters to those of its IA, before the EP is destroyed. */
void uiw_ep_retire_counters(struct uiw_ep *ep);

#endif
