/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a stream ends, as its peer and its consumer are told. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_VERDICT_H
#define ITAPI_VP_UIWARP_STREAM_UIW_VERDICT_H

#include "vp/uiwarp/receive/uiw_reader.h"
#include "vp/uiwarp/send/uiw_sender.h"

void uiw_verdict_refused(struct ual_ep *ual, enum iw_error error);
void uiw_verdict_terminated(struct ual_ep *ual);
void uiw_verdict_closed(struct ual_ep *ual, enum uiw_read_state state, int lost);
void uiw_verdict_unsendable(struct ual_ep *ual, const struct uiw_failure *failure, bool reader);

#endif
