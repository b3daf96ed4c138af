/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings of an EP: its two work queues, and ORQ and IRQ. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_RINGS_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_RINGS_H

#include "vp/uiwarp/queue/uiw_ep.h"

struct uiw_ring_sizes {
    size_t requests;
    size_t request_segments;
    size_t receives;
    size_t receive_segments;
    uint32_t ird;
    uint32_t ord;
};

/* Fills *sizes from the attributes. With an S-RQ the RQ has room for one drawn receive. */
void uiw_rings_sizes_of(const struct ual_ep *ual, const it_ep_attributes_t *attr,
                        struct uiw_ring_sizes *sizes);

/*
 * Allocates the rings, or replaces them by others with the same content. Called at creation, or
 * with both tokens and the EP's lock held. The posted requests must fit the new sizes; the number
 * of segments changes only while nothing is posted. Returns false if memory runs out: nothing has
 * changed.
 */
bool uiw_rings_make(struct uiw_ep *ep, const struct uiw_ring_sizes *sizes);
void uiw_rings_free(struct uiw_ep *ep);

#endif
