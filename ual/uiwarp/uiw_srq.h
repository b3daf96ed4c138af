/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared receive queue. An EP has room for one receive of its own: the one that the message
 * which arrives just now has drawn. All else waits in the ring, for whichever EP comes first.
 */
#ifndef ITAPI_UAL_UIWARP_UIW_SRQ_H
#define ITAPI_UAL_UIWARP_UIW_SRQ_H

#include "ual/uiwarp/uiw_ep.h"

/* By ual_srq.lock. Indexes run freely and wrap at 2^32; what waits is in [head, tail). */
struct uiw_srq {
    unsigned char *slots;
    uint32_t stride; /* immutable */
    uint32_t mask;
    uint32_t head;
    uint32_t tail;
};

static inline struct uiw_srq *uiw_srq_of(struct ual_srq *ual)
{
    return (struct uiw_srq *)(void *)ual->area;
}

it_status_t uiw_srq_create(struct ual_srq *ual);
void uiw_srq_destroy(struct ual_srq *ual);
it_status_t uiw_srq_modify(struct ual_srq *ual, it_srq_param_mask_t mask,
                           const it_srq_param_t *params);

/*
 * Reader. A message begins: the oldest receive of the S-RQ becomes the EP's. False when there is
 * none, or when the EP holds as many as its hard watermark allows. The events of watermarks that are
 * crossed are left to uiw_srq_tell.
 */
bool uiw_srq_draw(struct uiw_ep *ep);
/* Reader, no lock held. */
void uiw_srq_tell(struct uiw_ep *ep);
/* Reader, no lock held: the soft watermark was set, perhaps below what the EP holds already. */
void uiw_srq_check_high(struct uiw_ep *ep);

#endif
