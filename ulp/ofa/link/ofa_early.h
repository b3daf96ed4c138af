/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests and knocks (link/ofa_knock.h) that arrive before the program has told the queue pair its
 * peer. Anyone can send one to a guessed number, so several are kept, and the right one is found
 * among them later. Guarded by ofa_context.lock.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_EARLY_H
#define ITAPI_ULP_OFA_LINK_OFA_EARLY_H

#include "object/ofa_object.h"

/*
 * Appends one. A full list drops the oldest of the address that has most of them. Returns the
 * dropped request, which must be rejected; 0: none.
 */
it_cn_est_identifier_t ofa_early_put_locked(struct ofa_early_list *list,
                                            const struct ofa_early *early);

/*
 * Removes the newest that matches: an older attempt of the peer has ended. One that has the peer's
 * PSN is preferred. Returns false if there is none.
 */
bool ofa_early_take_locked(struct ofa_early_list *list, const struct ofa_qp *qp,
                           bool (*matches)(const struct ofa_qp *qp,
                                           const struct ofa_greeting *greeting),
                           struct ofa_early *found);

/* Removes and returns all. */
struct ofa_early_list ofa_early_take_all_locked(struct ofa_early_list *list);

/* Rejects the removed requests. Without the lock. */
void ofa_early_reject(const struct ofa_early_list *taken);

/* Removes and rejects all. Without the lock. */
void ofa_early_drop(struct ofa_context *context, struct ofa_early_list *list);

#endif /* ITAPI_ULP_OFA_LINK_OFA_EARLY_H */
