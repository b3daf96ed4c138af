/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second queue of a CQ: completions that have left the SEVD, or never were in it. With
 * ofa_cq.lock.
 */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_STASH_H
#define ITAPI_ULP_OFA_QUEUE_OFA_STASH_H

#include "object/ofa_object.h"

/* False: out of memory. */
bool ofa_stash_push_locked(struct ofa_cq *cq, const struct ofa_completion *completion);

uint32_t ofa_stash_pop_locked(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc);

/* Takes out those of a queue pair. */
void ofa_stash_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_STASH_H */
