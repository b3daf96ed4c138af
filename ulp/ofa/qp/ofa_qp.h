/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, for the table of a context and for the door. */
#ifndef ITAPI_ULP_OFA_QP_OFA_QP_H
#define ITAPI_ULP_OFA_QP_OFA_QP_H

#include "object/ofa_object.h"

/* ---- Functions for the table of a context --------------------------------------------------- */

struct ibv_qp *ofa_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *ofa_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int ofa_get_srq_num(struct ibv_srq *srq, uint32_t *number);
int ofa_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* ---- Functions for the door ----------------------------------------------------------------- */

struct ibv_qp *ofa_qp_find(struct ibv_context *context, uint32_t number);
int ofa_qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state);
void ofa_qp_show_state(struct ibv_context *context, uint32_t number);

/* ---- For the files of this folder ----------------------------------------------------------- */

/* Returns 0, or EINVAL if the standard has no such transition with these attributes. */
int ofa_transition_check(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                         int mask);

/* Creates the EP of a queue pair, with its consumer context. Returns 0 or errno. */
int ofa_ep_open(struct ofa_qp *qp);

/*
 * Creates an EP for the requests of a queue pair that is its own peer. Only receives were posted to
 * the first EP so far. Returns 0 or errno.
 */
int ofa_ep_split(struct ofa_qp *qp);

/*
 * Drop all posted work without completions, and free the EP, or clear it so that it can be
 * connected again. No lock is held but modify_lock. Return 0 or errno.
 */
int ofa_ep_close(struct ofa_qp *qp);
int ofa_ep_clear(struct ofa_qp *qp);

/* Sets the queue pair's functions for posting by ibv_wr_*. */
void ofa_wr_init(struct ofa_qp *qp, uint64_t operations);

void ofa_wr_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QP_OFA_QP_H */
