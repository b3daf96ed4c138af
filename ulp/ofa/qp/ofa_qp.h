/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, for the table of a context and for the door. */
#ifndef ITAPI_ULP_OFA_QP_OFA_QP_H
#define ITAPI_ULP_OFA_QP_OFA_QP_H

#include "object/ofa_object.h"

/* ---- What the table of a context takes ------------------------------------------------------ */

struct ibv_qp *ofa_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *ofa_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int ofa_get_srq_num(struct ibv_srq *srq, uint32_t *number);
int ofa_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* ---- What the door takes -------------------------------------------------------------------- */

struct ibv_qp *ofa_qp_find(struct ibv_context *context, uint32_t number);
int ofa_qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state);

/* ---- For the files of this folder ----------------------------------------------------------- */

/* 0, or EINVAL where the standard has no such step, or not with these attributes. */
int ofa_transition_check(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                         int mask);

/* The EP of a queue pair, with its consumer context. Returns 0 or errno. */
int ofa_ep_open(struct ofa_qp *qp);

/*
 * Gives a queue pair that is its own peer an EP for requests: nothing has been posted to the other
 * one but receives. Returns 0 or errno.
 */
int ofa_ep_split(struct ofa_qp *qp);

/*
 * Whatever is posted is gone; nothing of it completes any more. The EP goes, too, or can be
 * connected again. 0 or errno. With no lock held but modify_lock.
 */
int ofa_ep_close(struct ofa_qp *qp);
int ofa_ep_clear(struct ofa_qp *qp);

/* Gives a queue pair its functions for posting by ibv_wr_*. */
void ofa_wr_init(struct ofa_qp *qp, uint64_t operations);

void ofa_wr_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QP_OFA_QP_H */
