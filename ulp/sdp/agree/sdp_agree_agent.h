/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread of a process that accepts: it answers for its open sockets, reads prefaces, and is a
 * mapper for other hosts. All functions are called with the lock.
 */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H

#include "agree/sdp_agree_object.h"

#define SDP_OPEN_MAX 256

/* Functions of the upper files that the thread calls for open sockets. */
extern struct sdp_agent_handlers {
    void (*asked)(struct sdp_agreement *agreement);
    enum sdp_agree_verdict (*look)(struct sdp_agreement *agreement);
} sdp_agent_handlers;

/* Makes the thread run. Returns false if it cannot. */
bool sdp_agent_start(void);

/* Records the decision and releases the resources of the agreement. */
enum sdp_agree_verdict sdp_agree_decide(struct sdp_agreement *agreement,
                                        enum sdp_agree_verdict verdict);

/* Announces the port of a listening socket. */
void sdp_agent_announce(uint16_t port);
void sdp_agent_revoke(uint16_t port);

/*
 * Watches the channel of an open socket; the one that has been open longest may become TCP. Returns
 * false without resources.
 */
bool sdp_agent_watch(struct sdp_agreement *agreement);
bool sdp_agent_watch_stream(struct sdp_agreement *agreement);
void sdp_agent_forget(struct sdp_agreement *agreement); /* and closes the channel */

/* Called around fork with the lock: `decided` is not running. */
void sdp_agent_before_fork(void);
void sdp_agent_after_fork_child(void);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_AGENT_H */
