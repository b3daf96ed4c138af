/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared receive queue. An EP has room for one receive of its own: the one that the message
 * which arrives just now has drawn. All else waits in the ring, for whichever EP comes first.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_SRQ_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_SRQ_H

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_SRQ_LIMIT_NS (30 * BASE_NS_PER_S) /* unless itx_srq_set_message_timeout says another */

/* By ual_srq.lock. Indexes run freely and wrap at 2^32; what waits is in [head, tail). */
struct uiw_srq {
    unsigned char *slots;
    uint32_t stride; /* immutable */
    uint32_t mask;
    uint32_t head;
    uint32_t tail;
    _Atomic uint64_t limit_ns; /* for a message that does not go on; set at any time */
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
 * none, or when the EP holds as many as its hard watermark allows. The events of watermarks that
 * are crossed are left to uiw_srq_tell.
 */
bool uiw_srq_draw(struct uiw_ep *ep);
/* Reader, no lock held. Watermarks that were crossed; a message that is not whole yet. */
void uiw_srq_tell(struct uiw_ep *ep);
/* Reader, no lock held: the soft watermark was set, perhaps below what the EP holds already. */
void uiw_srq_check_high(struct uiw_ep *ep);

/* ---- Messages that do not go on: uiw_srq_watch.c ---- */

it_status_t uiw_srq_set_message_timeout(struct ual_srq *ual, uint64_t timeout_us);
/* Reader, no lock held. A message has drawn a receive: is it unfinished? Then it is watched. */
void uiw_srq_watch(struct uiw_ep *ep);
/* A look at such a message, elapsed_ns after the last one. True: its time is over. */
bool uiw_srq_watch_is_over(struct uiw_drawn *drawn, uint32_t message, uint32_t arrived,
                           uint64_t elapsed_ns, uint64_t limit_ns);

/* Reader. The EP is noted down, and the loop looks at it soon. */
void uiw_srq_watch_enter(struct uiw_ep *ep);

/* Reader. Returns true if a message has drawn a receive and is not whole. */
bool uiw_srq_is_unfinished(const struct uiw_ep *ep);

#endif
