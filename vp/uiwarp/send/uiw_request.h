/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of ours become FPDUs. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_REQUEST_H
#define ITAPI_VP_UIWARP_SEND_UIW_REQUEST_H

#include "vp/uiwarp/send/uiw_frame.h"

/*
 * Adds the next FPDU of the request at the batch's cursor. Returns false if the request may not
 * start yet (fence, ORD) or cannot be executed.
 */
bool uiw_request_add(struct uiw_ep *ep, struct uiw_batch *batch);

#endif
