/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the processes in which a socket is undecided, in memory that forked processes share. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H

#include <stdbool.h>

#define SDP_SHARE_NONE (-1)

bool sdp_share_start(void);
bool sdp_share_fork(int *share); /* adds a process; false: no counter is left */
void sdp_share_leave(int share); /* removes a process */
bool sdp_share_alone(int share);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_SHARE_H */
