/* SPDX-License-Identifier: BSD-2-Clause */
/* One sendmsg(2): whose turn it is, and how much fits. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_BATCH_H
#define ITAPI_VP_UIWARP_SEND_UIW_BATCH_H

#include "vp/uiwarp/send/uiw_frame.h"

void uiw_batch_begin(struct uiw_batch *batch, const struct uiw_cursor *cursor);

/*
 * Builds FPDUs until the batch is full or nothing more may be sent now. A request or response that
 * cannot be executed ends the batch in front of it and leaves its reason (uiw_failure.h).
 */
void uiw_batch_fill(struct uiw_ep *ep, struct uiw_batch *batch);

/* An empty batch begins with an FPDU of no octets: what the peer has sent is here. */
void uiw_batch_acknowledge(struct uiw_ep *ep, struct uiw_batch *batch);

/* Unpins. The memory the batch points to is not needed any more. */
void uiw_batch_end(struct uiw_ep *ep, struct uiw_batch *batch);

#endif
