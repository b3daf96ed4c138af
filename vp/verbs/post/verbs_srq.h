/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#ifndef ITAPI_VP_VERBS_POST_VERBS_SRQ_H
#define ITAPI_VP_VERBS_POST_VERBS_SRQ_H

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

it_status_t verbs_srq_create(struct ual_srq *ual);
void verbs_srq_destroy(struct ual_srq *ual);
it_status_t verbs_srq_modify(struct ual_srq *ual, it_srq_param_mask_t mask,
                             const it_srq_param_t *params);
void verbs_srq_is_low(struct verbs_srq *srq);

#endif
