/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs and the CQs of their EVDs. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_JOIN_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_JOIN_H

#include "vp/verbs/device/verbs_ep.h"

extern const struct evd_source_ops verbs_source_ops;

/* ---- Without. */
void verbs_source_close(void *context);
void verbs_source_give_room(struct verbs_ep *ep);

/* Both queues of the EP have their CQs; need: how many completions they may have. */
it_status_t verbs_source_join(struct verbs_ep *ep);

#endif
