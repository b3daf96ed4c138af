/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stash, the second queue of a CQ: completions that were taken from the SEVD or never were in
 * it. Guarded by ofa_cq.lock.
 */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_STASH_H
#define ITAPI_ULP_OFA_QUEUE_OFA_STASH_H

#include "object/ofa_object.h"

/* Makes room for as many completions as the CQ has, so that none is lost. Returns 0 or ENOMEM. */
int ofa_stash_reserve_locked(struct ofa_cq *cq, uint32_t room);

/*
 * Returns true if another completion fits. Returns false only if the program lets the CQ overrun
 * and memory runs out.
 */
bool ofa_stash_has_room_locked(struct ofa_cq *cq);

/* Returns false without room. */
bool ofa_stash_push_locked(struct ofa_cq *cq, const struct ofa_completion *completion);

uint32_t ofa_stash_pop_locked(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc);

/* Removes the completions of a queue pair. */
void ofa_stash_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_STASH_H */
