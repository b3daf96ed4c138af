/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA whose process is copied by fork(2): its connections go on in one of the two processes. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_FORK_H
#define ITAPI_VP_UIWARP_LEAD_UIW_FORK_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Functions of the provider table. */
it_status_t uiw_fork_freeze(struct ual_ia *ia);
int uiw_fork_thaw(struct ual_ia *ia, bool copy);
it_status_t uiw_fork_claim(struct ual_ep *ep);

/* The EP is going away: the connection, if it is nobody's, is left to the other process. */
void uiw_fork_leave(struct ual_ep *ep);

#endif
