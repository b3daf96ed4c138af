/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared receive queue. Receives wait in its ring for the first EP that needs one. An EP has
 * room for a single receive, which it draws for the message that is arriving.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_SRQ_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_SRQ_H

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_SRQ_LIMIT_NS (30 * BASE_NS_PER_S) /* default of itx_srq_set_message_timeout */

/* Guarded by ual_srq.lock. Indexes run freely and wrap at 2^32; receives are in [head, tail). */
struct uiw_srq {
    unsigned char *slots;
    uint32_t stride; /* immutable */
    uint32_t mask;
    uint32_t head;
    uint32_t tail;
    _Atomic uint64_t limit_ns; /* time limit of a message that makes no progress; set at any time */
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
 * Reader. Moves the oldest receive of the S-RQ to the EP, for a message that begins. Returns false
 * if there is none, or if the EP holds as many as its hard watermark allows. uiw_srq_tell raises
 * the events of watermarks that this crosses.
 */
bool uiw_srq_draw(struct uiw_ep *ep);
/* Reader, no lock held. Raises the events of crossed watermarks; watches an unfinished message. */
void uiw_srq_tell(struct uiw_ep *ep);
/* Reader, no lock held. Checks a new soft watermark against the receives that the EP holds. */
void uiw_srq_check_high(struct uiw_ep *ep);

/* ---- Messages that make no progress: uiw_srq_watch.c ---- */

it_status_t uiw_srq_set_message_timeout(struct ual_srq *ual, uint64_t timeout_us);
/* Reader, no lock held. Watches the message that has drawn a receive, if it is unfinished. */
void uiw_srq_watch(struct uiw_ep *ep);
/* Looks at such a message, elapsed_ns after the last look. Returns true if its time is over. */
bool uiw_srq_watch_is_over(struct uiw_drawn *drawn, uint32_t message, uint32_t arrived,
                           uint64_t elapsed_ns, uint64_t limit_ns);

/* Reader. Puts the EP on the agenda; the loop looks at it soon. */
void uiw_srq_watch_enter(struct uiw_ep *ep);

/* Reader. Returns true if a message has drawn a receive and is not complete. */
bool uiw_srq_is_unfinished(const struct uiw_ep *ep);

#endif
