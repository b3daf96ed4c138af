/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs in the hands of a service point or a request. */
#ifndef ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_HOLD_H
#define ITAPI_ULP_UDAPL_CONNECT_UDAPL_EP_HOLD_H

#include "object/udapl_ep.h"

/* size_argument: the number of the argument; the pointer is the next one. */
DAT_RETURN udapl_private_data_check(DAT_COUNT size, const void *data, size_t most,
                                    DAT_RETURN_SUBTYPE size_argument);

/* DAT_INVALID_STATE unless the call is legal in the EP's state, or nothing has to be done. */
DAT_RETURN udapl_ep_check(const struct udapl_ep *ep, enum udapl_ep_call call);

/* The consumer's EP has a holder from now on, if the call is legal: it cannot be freed. */
DAT_RETURN udapl_hold_take(struct udapl_ep *ep, enum udapl_ep_call call, enum udapl_ep_hold hold);

/* It is the consumer's again; one that the provider has made is freed. */
void udapl_hold_return(struct udapl_ep *ep, bool made);

#endif
