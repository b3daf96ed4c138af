/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_IB_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_IB_H

#include "object/udapl_ep.h"

/*
 * Turns a completion into an event of the IB extension, if it is one of an atomic operation or has
 * to do with an immediate. What a completion of DAT has is filled in.
 */
void udapl_deliver_ib(struct udapl_ep *ep, const it_event_t *event, DAT_EVENT *out);

#endif
