/* SPDX-License-Identifier: BSD-2-Clause */
/* In how many processes a socket is undecided: counters in memory that forked processes share. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H

#include <stdbool.h>

#define SDP_SHARE_NONE (-1)

bool sdp_share_start(void);
bool sdp_share_fork(int *share); /* one process more; false: there is no counter left */
void sdp_share_leave(int share); /* one less */
bool sdp_share_alone(int share);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H */
