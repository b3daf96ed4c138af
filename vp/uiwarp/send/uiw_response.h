/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to Reads and atomics of the peer become FPDUs. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_RESPONSE_H
#define ITAPI_VP_UIWARP_SEND_UIW_RESPONSE_H

#include "vp/uiwarp/send/uiw_frame.h"

/*
 * Adds the next FPDU of the response at the batch's cursor. Returns false if the batch has no
 * buffer left for it, or its memory is gone.
 */
bool uiw_response_add(struct uiw_ep *ep, struct uiw_batch *batch);

#endif
