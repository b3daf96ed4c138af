/* SPDX-License-Identifier: BSD-2-Clause */
/* A short message with nothing around it. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_SINGLE_H
#define ITAPI_VP_UIWARP_SEND_UIW_SINGLE_H

#include "vp/uiwarp/send/uiw_out.h"

/* Is such a message all there is to send? */
bool uiw_single_is_next(const struct uiw_ep *ep);

/* After uiw_single_is_next. MORE: it is left to the batch. */
enum uiw_out_state uiw_single_send(struct uiw_ep *ep);

#endif
