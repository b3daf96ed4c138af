/* SPDX-License-Identifier: BSD-2-Clause */
/* The end that has accepted: it promises, and answers the beginning. With the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H

#include "agree/sdp_agree_object.h"

enum sdp_agree_verdict sdp_server_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                       struct sdp_agree_wait *wait);

/* Looks at what has come: SDP_WAIT if it decides nothing. */
enum sdp_agree_verdict sdp_server_look(struct sdp_agreement *agreement);

/* Something waits in the channel of an open one. */
void sdp_server_asked(struct sdp_agreement *agreement);

/* Nothing is promised any more to whom has not begun yet: before it is shared or leaves. */
void sdp_server_withdraw(struct sdp_agreement *agreement);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H */
