/* SPDX-License-Identifier: BSD-2-Clause */
/* The receive queue of an EP. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_RQ_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_RQ_H

#include "vp/uiwarp/queue/uiw_ep.h"

it_status_t uiw_rq_post(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
                        it_dto_cookie_t cookie, it_dto_flags_t flags);
void uiw_rq_fill(struct uiw_rqe *rqe, const it_lmr_triplet_t *segments, size_t count,
                 it_dto_cookie_t cookie, it_dto_flags_t flags);
/* With ual_ep.lock, when no reader is left. Returns true when evd_wake is due. */
bool uiw_rq_flush_locked(struct uiw_ep *ep, it_dto_status_t first_status);
/* Reader. Completes the oldest receive. */
void uiw_rq_complete(struct uiw_ep *ep, uint32_t length, bool solicited, it_handle_t unlinked);
/* The same with an immediate value for the event. */
void uiw_rq_complete_immediate(struct uiw_ep *ep, uint32_t length, uint64_t value, bool solicited);

#endif
