/* SPDX-License-Identifier: BSD-2-Clause */
/* The first device, and queue pairs that are connected by hand. */
#ifndef ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H
#define ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H

#include "support/check.h"

#include <infiniband/verbs.h>

struct verbs_kit {
    struct ibv_context *context;
    struct ibv_pd *pd;
};

extern struct verbs_kit verbs_kit;

void verbs_kit_open(void);
void verbs_kit_close(void);

/* From RESET to RTS; the peer is a queue pair of this process, or the same one. */
void verbs_kit_bring_up(struct ibv_qp *qp, uint32_t peer);

/* One of the type UD, from RESET to RTS. */
void verbs_kit_bring_up_ud(struct ibv_qp *qp, uint32_t qkey);

/* The next completion, which comes soon. */
struct ibv_wc verbs_kit_completion(struct ibv_cq *cq);

#endif /* ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H */
