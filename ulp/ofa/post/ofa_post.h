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

/* The same with the only segment in the terms of IT-API, whatever the request says. */
int ofa_request_segment_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                               const it_lmr_triplet_t *segment);

/* With the key of the segment. */
static inline void ofa_segment_of(const struct ofa_key *key, const struct ibv_sge *sge,
                                  it_lmr_triplet_t *triplet)
{
    triplet->lmr = atomic_load_explicit(&key->lmr, memory_order_relaxed);
    triplet->addr.rel = sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed);
    triplet->length = sge->length;
}

/*
 * A key that names nothing is found out when the request runs, as with a device: it stands for a
 * region that may not be used.
 */
static inline void ofa_segment(const struct ofa_context *context, const struct ibv_sge *sge,
                               it_lmr_triplet_t *triplet)
{
    const struct ofa_key *key = ofa_key_find(context, sge->lkey);

    if (key) {
        ofa_segment_of(key, sge, triplet);
        return;
    }
    triplet->lmr = context->nobody_lmr;
    triplet->addr.rel = sge->addr;
    triplet->length = sge->length;
}

/*
 * Receives of an S-RQ go where queue pairs of this type find them, from the first queue pair on. 0
 * or EOPNOTSUPP: it is one of the other kind.
 */
int ofa_srq_attach(struct ofa_srq *srq, enum ibv_qp_type type);

/* 0 or errno; more segments than the queue pair was made for are refused. */
int ofa_segments(struct ofa_context *context, const struct ibv_sge *sge, int count, int limit,
                 it_lmr_triplet_t *segments, size_t *used);

/* ---- The usual request: one segment, and what most ask for ---------------------------------- */

/* The flags with which a request goes the long way. OFA_EACH_REQUEST is always there. */
#define OFA_UNUSUAL_READ  (~(OFA_EACH_REQUEST | IBV_SEND_SIGNALED))
#define OFA_UNUSUAL_WRITE (OFA_UNUSUAL_READ & ~(OFA_UNRELIABLE | IBV_SEND_INLINE))
#define OFA_UNUSUAL_SEND  (OFA_UNUSUAL_WRITE & ~(uint32_t)IBV_SEND_SOLICITED)

/* Of those flags, those that IT-API has. */
static inline it_dto_flags_t ofa_dto_flags(uint32_t flags)
{
    return (it_dto_flags_t)((flags & IBV_SEND_SIGNALED ? IT_COMPLETION_FLAG : 0) |
                            (flags & IBV_SEND_SOLICITED ? IT_SOLICITED_WAIT_FLAG : 0));
}

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

/* The room for inline data, made with the first request that has some. Returns 0 or errno. */
int ofa_inline_open_locked(struct ofa_qp *qp);

static inline void ofa_inline_segment(const struct ofa_qp *qp, unsigned char *place, size_t length,
                                      it_lmr_triplet_t *segment)
{
    segment->lmr = qp->inline_lmr;
    segment->addr.abs = place;
    segment->length = length;
}

/* A request uses the place that comes next, which is free. */
static inline void ofa_inline_advance_locked(struct ofa_qp *qp)
{
    unsigned char *next = qp->inline_place + qp->cap.max_inline_data;

    qp->inline_place = __builtin_expect(next == qp->inline_end, 0) ? qp->inline_room : next;
}

/* It has not, after all. */
static inline void ofa_inline_retreat_locked(struct ofa_qp *qp)
{
    if (qp->inline_place == qp->inline_room)
        qp->inline_place = qp->inline_end;
    qp->inline_place -= qp->cap.max_inline_data;
}

void ofa_inline_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_POST_OFA_POST_H */
