/* SPDX-License-Identifier: BSD-2-Clause */
/* The end that calls connect: it asks, and it begins. Called with the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_CLIENT_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_CLIENT_H

#include "agree/sdp_agree_object.h"

/* Returns false if the socket stays TCP, since the query is impossible or its answer is known. */
bool sdp_client_connecting(struct sdp_agreement *agreement, const struct sockaddr *peer,
                           socklen_t length);
enum sdp_agree_verdict sdp_client_step(struct sdp_agreement *agreement,
                                       struct sdp_agree_wait *wait);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_CLIENT_H */
