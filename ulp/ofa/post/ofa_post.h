/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and receives on their way to the EP. */
#ifndef ITAPI_ULP_OFA_POST_OFA_POST_H
#define ITAPI_ULP_OFA_POST_OFA_POST_H

#include "memory/ofa_key.h"
#include "object/ofa_object.h"

/* ---- What the table of a context takes ------------------------------------------------------ */

int ofa_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ofa_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ofa_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* ---- For the floors above ------------------------------------------------------------------- */

/* One request, held while there is no connection. 0 or errno. With ofa_qp.post_lock. */
int ofa_post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/* Straight to the EP. 0 or errno. With ofa_qp.post_lock. */
int ofa_request_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/*
 * A key that names nothing is found out when the request runs, as with a device: it stands for a
 * region that may not be used.
 */
static inline void ofa_segment(const struct ofa_context *context, const struct ibv_sge *sge,
                               it_lmr_triplet_t *triplet)
{
    const struct ofa_key *key = ofa_key_find(context, sge->lkey);

    triplet->length = sge->length;
    if (!key) {
        triplet->lmr = context->nobody_lmr;
        triplet->addr.rel = sge->addr;
        return;
    }
    triplet->lmr = atomic_load_explicit(&key->lmr, memory_order_relaxed);
    triplet->addr.rel = sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed);
}

/* 0 or errno; more segments than the queue pair was made for are refused. */
int ofa_segments(struct ofa_context *context, const struct ibv_sge *sge, int count, int limit,
                 it_lmr_triplet_t *segments, size_t *used);

/* ---- Requests that wait for the connection -------------------------------------------------- */

/* 0 or errno. With ofa_qp.post_lock. */
int ofa_hold_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/* The connection is there: what was held goes out, and nothing is held any more. */
void ofa_hold_release(struct ofa_qp *qp);

/* There will be none: the first that is held completes with "status", the others are flushed. */
void ofa_hold_flush(struct ofa_qp *qp, enum ibv_wc_status status);

/*
 * A queue pair that posts straight to its EP holds its next request, which claims the connection:
 * for processes that fork. False: there is none, or it does so already.
 */
bool ofa_hold_suspend(struct ofa_qp *qp);

/* Goes on with the connection in this process, unless the other one does. */
void ofa_hold_claim(struct ofa_qp *qp);

/* What is held is forgotten. */
void ofa_hold_drop(struct ofa_qp *qp);

/* The room for inline data, made with the first request that has some. 0 or errno. */
int ofa_inline_open_locked(struct ofa_qp *qp);

/* A request has used the place that comes next. */
static inline void ofa_inline_advance_locked(struct ofa_qp *qp)
{
    if (++qp->inline_next == qp->inline_places)
        qp->inline_next = 0;
}

/* It has not, after all. */
static inline void ofa_inline_retreat_locked(struct ofa_qp *qp)
{
    if (qp->inline_next == 0)
        qp->inline_next = qp->inline_places;
    qp->inline_next--;
}

void ofa_inline_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_POST_OFA_POST_H */
