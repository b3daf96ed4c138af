/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_DRAIN_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_DRAIN_H

#include "object/udapl_ep.h"

/*
 * Waits until the EP's requests are done, the connection has ended, or there is no progress. The EP
 * is DISCONNECT_PENDING during that time.
 */
void udapl_ep_drain(struct udapl_ep *ep);

#endif
