/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream ends: its peer and its consumer are told why. The reader token is held. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_VERDICT_H
#define ITAPI_VP_UIWARP_STREAM_UIW_VERDICT_H

#include "vp/uiwarp/receive/uiw_reader.h"
#include "vp/uiwarp/send/uiw_sender.h"

/* The peer broke the protocol. */
void uiw_verdict_refused(struct ual_ep *ual, enum iw_error error);

/* The peer has sent a Terminate: ep->rx.terminate. */
void uiw_verdict_terminated(struct ual_ep *ual);

/* The peer has closed the connection, or it is lost (UIW_READ_LOST) with this errno. */
void uiw_verdict_closed(struct ual_ep *ual, enum uiw_read_state state, int lost);

/*
 * The sender has stopped: for a request (rule P6), for a Read of the peer whose source is gone, or
 * for neither (no memory, an event that was lost). reader: the caller holds the reader token. It
 * does not hold the send token.
 */
void uiw_verdict_unsendable(struct ual_ep *ual, const struct uiw_failure *failure, bool reader);

#endif
