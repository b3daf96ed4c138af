/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues, for the floors above. */
#ifndef ITAPI_ULP_OFA_QUEUE_OFA_QUEUE_H
#define ITAPI_ULP_OFA_QUEUE_OFA_QUEUE_H

#include "object/ofa_object.h"

/* ---- Functions for the table of a context --------------------------------------------------- */

int ofa_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int ofa_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *ofa_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* ---- Completions ---------------------------------------------------------------------------- */

/* Takes up to `room` (at least 1) completions, oldest first. Returns their number. */
uint32_t ofa_cq_take(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc);

/*
 * Adds a completion of this layer behind all others. Raises an event if the CQ is armed for such a
 * completion.
 */
void ofa_cq_complete(struct ofa_cq *cq, const struct ofa_completion *completion, bool solicited);

/*
 * The same for a request that failed, which moves its queue pair to ERR. Receives that are flushed
 * by that complete behind it.
 */
void ofa_cq_fail(struct ofa_cq *cq, const struct ofa_completion *completion);

/* Returns true if the program may be asleep until there is a completion. */
bool ofa_cq_is_armed(struct ofa_cq *cq);

/* Looks for completions that need an event, after a queue pair has entered ERR. */
void ofa_cq_look(struct ofa_cq *cq);

/* Moves the completions of the SEVD to the stash. Returns how many the program can poll. */
uint32_t ofa_cq_collect(struct ofa_cq *cq);

/*
 * Raises the event of an armed CQ that still has completions from before it was armed. Returns true
 * if it did.
 */
bool ofa_cq_report_left(struct ofa_cq *cq);

/* The CQs of a channel. */
void ofa_channel_add(struct ibv_comp_channel *channel, struct ofa_cq *cq);
void ofa_channel_remove(struct ibv_comp_channel *channel, struct ofa_cq *cq);

/* Drops the completions of a queue pair whose EP was freed or cleared. */
void ofa_cq_forget(struct ofa_cq *cq, const struct ofa_qp *qp);

/* Sets the CQ's functions for extended polling. */
void ofa_cq_ex_init(struct ofa_cq *cq, uint64_t wc_flags);

#endif /* ITAPI_ULP_OFA_QUEUE_OFA_QUEUE_H */
