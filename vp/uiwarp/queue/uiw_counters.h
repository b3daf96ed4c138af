/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters have one writer and are read by any thread. */
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

/* The EP goes away, what it has counted stays with its IA. */
void uiw_ep_retire_counters(struct uiw_ep *ep);

#endif
