/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair that sends, and is not the one that connects, tells its peer that it is ready: by a
 * connection request that is always rejected, on an EP of its own. So the peer connects although it
 * may never send itself, and an end whose peer is not there learns of that.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_KNOCK_H
#define ITAPI_ULP_OFA_LINK_OFA_KNOCK_H

#include "object/ofa_object.h"

/* 0 or errno. If nobody answers, the link of the queue pair goes down. */
int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer, const void *greeting,
              size_t length, uint64_t timeout_us);

#endif /* ITAPI_ULP_OFA_LINK_OFA_KNOCK_H */
