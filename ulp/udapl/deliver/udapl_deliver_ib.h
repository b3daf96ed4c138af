/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_IB_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_DELIVER_IB_H

#include "object/udapl_ep.h"

/*
 * Turns a completion into an event of the IB extension if it is that of an atomic operation or has
 * an immediate. The members of a DAT completion are filled in already.
 */
void udapl_deliver_ib(struct udapl_ep *ep, const it_event_t *event, DAT_EVENT *out);

#endif
