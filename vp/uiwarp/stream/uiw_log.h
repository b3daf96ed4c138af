/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the log for an operator: why a connection has failed or ended. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_LOG_H
#define ITAPI_VP_UIWARP_STREAM_UIW_LOG_H

#include "vp/uiwarp/queue/uiw_ep.h"
#include "vp/uiwarp/net/uiw_net.h"

/* Reader, while the stream is still there. An FPDU of the peer is refused. */
void uiw_log_refused(struct ual_ep *ual, enum iw_error error);
/* The peer has refused an FPDU of ours by a Terminate. */
void uiw_log_terminated(struct ual_ep *ual, const struct iw_terminate *terminate);
/* A Read of the peer whose memory has gone while it was answered. Any thread. */
void uiw_log_gone(struct ual_ep *ual, enum iw_error error);
/* The connection has gone. error: errno, 0: closed in the middle of an FPDU. */
void uiw_log_lost(struct ual_ep *ual, int error);

/* The address of the peer. Returns false if the stream does not know it. */
bool uiw_log_peer_of(int fd, struct uiw_net_text *text);

#endif
