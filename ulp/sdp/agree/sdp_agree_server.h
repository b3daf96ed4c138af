/* SPDX-License-Identifier: BSD-2-Clause */
/* The end that has accepted: it promises, and answers the beginning. Called with the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H

#include "agree/sdp_agree_object.h"

enum sdp_agree_verdict sdp_server_step(struct sdp_agreement *agreement, enum sdp_agree_call call,
                                       struct sdp_agree_wait *wait);

/* Peeks at the octets that have arrived. Returns SDP_WAIT if they decide nothing. */
enum sdp_agree_verdict sdp_server_look(struct sdp_agreement *agreement);

/* Called when a question waits in the channel of an open socket. */
void sdp_server_asked(struct sdp_agreement *agreement);

/*
 * Withdraws promises to clients that have not begun: called before the socket is shared or escapes.
 */
void sdp_server_withdraw(struct sdp_agreement *agreement);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_SERVER_H */
