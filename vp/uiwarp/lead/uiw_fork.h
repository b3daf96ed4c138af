/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA across fork(2): each of its connections goes on in one of the two processes. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_FORK_H
#define ITAPI_VP_UIWARP_LEAD_UIW_FORK_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Functions of the provider table. */
it_status_t uiw_fork_freeze(struct ual_ia *ia);
int uiw_fork_thaw(struct ual_ia *ia, bool copy);
it_status_t uiw_fork_claim(struct ual_ep *ep);

/* Called before the EP is destroyed. Leaves a connection not claimed yet to the other process. */
void uiw_fork_leave(struct ual_ep *ep);

#endif
