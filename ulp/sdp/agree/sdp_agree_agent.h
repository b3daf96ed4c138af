/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread of a process that accepts: it answers for its open sockets, takes prefaces in, and is
 * a mapper for other hosts. With the lock.
 */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H

#include "agree/sdp_agree_object.h"

#define SDP_OPEN_MAX 256

/* What the thread does with open ones: the floor's own upper files. */
extern struct sdp_agent_handlers {
    void (*asked)(struct sdp_agreement *agreement);
    enum sdp_agree_verdict (*look)(struct sdp_agreement *agreement);
} sdp_agent_handlers;

/* Has the thread run. False: it cannot. */
bool sdp_agent_start(void);

/* Decided: the means are given back. */
enum sdp_agree_verdict sdp_agree_decide(struct sdp_agreement *agreement,
                                        enum sdp_agree_verdict verdict);

/* A listening socket's port is announced. */
void sdp_agent_announce(uint16_t port);
void sdp_agent_revoke(uint16_t port);

/* Watches the channel of an open one; the longest open one may become TCP. False: no means. */
bool sdp_agent_watch(struct sdp_agreement *agreement);
bool sdp_agent_watch_stream(struct sdp_agreement *agreement);
void sdp_agent_forget(struct sdp_agreement *agreement); /* and drops the channel */

/* Around fork, with the lock: no `decided` is under way. */
void sdp_agent_before_fork(void);
void sdp_agent_after_fork_child(void);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H */
