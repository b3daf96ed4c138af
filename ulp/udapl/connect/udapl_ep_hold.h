/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs held by a service point or a request. */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_HOLD_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_HOLD_H

#include "object/udapl_ep.h"

/* Checks private data. size_argument: number of the size's argument; the pointer is the next. */
DAT_RETURN udapl_private_data_check(DAT_COUNT size, const void *data, size_t most,
                                    DAT_RETURN_SUBTYPE size_argument);

/* Returns DAT_INVALID_STATE unless the call is legal, or a no-op, in the EP's state. */
DAT_RETURN udapl_ep_check(const struct udapl_ep *ep, enum udapl_ep_call call);

/* Holds the consumer's EP, if the call is legal, so that it cannot be freed. */
DAT_RETURN udapl_hold_take(struct udapl_ep *ep, enum udapl_ep_call call, enum udapl_ep_hold hold);

/* Returns the EP to the consumer, or frees it if the provider has made it. */
void udapl_hold_return(struct udapl_ep *ep, bool made);

#endif
