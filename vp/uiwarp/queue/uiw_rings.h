/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings of an EP: its two work queues and the Reads that are open in either direction. */
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

/* As the attributes say. With an S-RQ: room for the one receive that is drawn from it. */
void uiw_rings_sizes_of(const struct ual_ep *ual, const it_ep_attributes_t *attr,
                        struct uiw_ring_sizes *sizes);

/*
 * Makes the rings, or others with the same content. At creation, or with both tokens and the EP's
 * lock held. What is posted fits the new sizes; segments change only while nothing is posted. False
 * without memory: all is as before.
 */
bool uiw_rings_make(struct uiw_ep *ep, const struct uiw_ring_sizes *sizes);
void uiw_rings_free(struct uiw_ep *ep);

#endif
