/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What peers have asked for before the program has told the queue pair which peer it is to have:
 * requests, and knocks (link/ofa_knock.h). Anybody can send one to a number that he guesses, so a
 * few are kept, and the right one is found among them later. With ofa_context.lock.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_EARLY_H
#define ITAPI_ULP_OFA_LINK_OFA_EARLY_H

#include "object/ofa_object.h"

/*
 * Keeps one, behind all others. Where there is no place, the oldest of the address that has most of
 * them goes: an address displaces its own. The request that is to be rejected for that; 0: none.
 */
it_cn_est_identifier_t ofa_early_put_locked(struct ofa_early_list *list,
                                            const struct ofa_early *early);

/*
 * Takes out the newest that "matches" says is meant: of two attempts of the peer the first is over.
 * One that tells the peer's PSN comes before those that do not.
 * False: there is none.
 */
bool ofa_early_take_locked(struct ofa_early_list *list, const struct ofa_qp *qp,
                           bool (*matches)(const struct ofa_qp *qp,
                                           const struct ofa_greeting *greeting),
                           struct ofa_early *found);

/* All that is kept, out of the list. */
struct ofa_early_list ofa_early_take_all_locked(struct ofa_early_list *list);

/* Rejects what was taken out. Without the lock. */
void ofa_early_reject(const struct ofa_early_list *taken);

/* Both. Without the lock. */
void ofa_early_drop(struct ofa_context *context, struct ofa_early_list *list);

#endif /* ITAPI_ULP_OFA_LINK_OFA_EARLY_H */
