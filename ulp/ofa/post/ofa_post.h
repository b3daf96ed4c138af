/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and receives on their way to the EP. */
#ifndef ITAPI_ULP_OFA_POST_OFA_POST_H
#define ITAPI_ULP_OFA_POST_OFA_POST_H

#include "memory/ofa_key.h"
#include "object/ofa_object.h"

/* ---- Functions for the table of a context --------------------------------------------------- */

int ofa_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ofa_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ofa_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* ---- For the floors above ------------------------------------------------------------------- */

/* Posts a request, or holds it without a connection. With ofa_qp.post_lock. Returns 0 or errno. */
int ofa_post_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/* Returns the errno with which a request is refused whatever its keys and addresses are, or 0. */
int ofa_request_check(const struct ofa_qp *qp, const struct ibv_send_wr *wr);
/* Returns true if binding a window so leaves it without any right: an unlink. */
bool ofa_bind_unlinks(const struct ibv_mw_bind_info *info);
/* Returns true if the region may have this window. */
bool ofa_bind_fits(const struct ibv_mw_bind_info *info);
/* Returns how many requests the send queue has room for. With ofa_qp.post_lock. */
uint32_t ofa_room_locked(struct ofa_qp *qp);
/* Posts a request to the EP. With ofa_qp.post_lock. Returns 0 or errno. */
int ofa_request_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);
/* The same for one that was held: by now the program may read its window's key at any time. */
int ofa_request_held_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/* The window has the key of a bind from when that was taken, posted or held. */
static inline void ofa_window_told(const struct ibv_send_wr *wr)
{
    if (wr->opcode == IBV_WR_BIND_MW && wr->bind_mw.rkey)
        wr->bind_mw.mw->rkey = wr->bind_mw.rkey;
}

/* The same with this segment instead of those in the request. */
int ofa_request_segment_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                               const it_lmr_triplet_t *segment);

/* Converts a segment, whose key was found. */
static inline void ofa_segment_of(const struct ofa_key *key, const struct ibv_sge *sge,
                                  it_lmr_triplet_t *triplet)
{
    triplet->lmr = atomic_load_explicit(&key->lmr, memory_order_relaxed);
    triplet->addr.rel = sge->addr + atomic_load_explicit(&key->shift, memory_order_relaxed);
    triplet->length = sge->length;
}

/*
 * Converts a segment. An unknown key fails when the request runs, as with a device: it is replaced
 * by a region without access.
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
 * Attaches a queue pair to an S-RQ. The first one decides where the receives of the S-RQ are kept.
 * Returns 0, or EOPNOTSUPP if the S-RQ has queue pairs of the other type.
 */
int ofa_srq_attach(struct ofa_srq *srq, enum ibv_qp_type type);

/* Converts a list of at most `limit` segments. Returns 0 or errno. */
int ofa_segments(struct ofa_context *context, const struct ibv_sge *sge, int count, int limit,
                 it_lmr_triplet_t *segments, size_t *used);

/* ---- The usual request: one segment, and the usual flags ------------------------------------ */

/* Flags with which a request takes the slow path. OFA_EACH_REQUEST is always set. */
#define OFA_UNUSUAL_READ  (~(OFA_EACH_REQUEST | IBV_SEND_SIGNALED))
#define OFA_UNUSUAL_WRITE (OFA_UNUSUAL_READ & ~(OFA_UNRELIABLE | IBV_SEND_INLINE))
#define OFA_UNUSUAL_SEND  (OFA_UNUSUAL_WRITE & ~(uint32_t)IBV_SEND_SOLICITED)

/* Converts the flags of a usual request to IT-API. */
static inline it_dto_flags_t ofa_dto_flags(uint32_t flags)
{
    return (it_dto_flags_t)((flags & IBV_SEND_SIGNALED ? IT_COMPLETION_FLAG : 0) |
                            (flags & IBV_SEND_SOLICITED ? IT_SOLICITED_WAIT_FLAG : 0));
}

/* ---- Requests that wait for the connection -------------------------------------------------- */

/* Holds a request. With ofa_qp.post_lock. Returns 0 or errno. */
int ofa_hold_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr);

/* Called when there is a connection. Posts the held requests and holds no more, except in SQD. */
void ofa_hold_release(struct ofa_qp *qp);
/* Returns true if requests are held because there is no connection. */
bool ofa_hold_waits(struct ofa_qp *qp);
/* Called in SQD: holds requests from now on. Those held before are still due. */
void ofa_hold_pause(struct ofa_qp *qp);
/* Returns true if requests that were posted before SQD are held. */
bool ofa_hold_is_due(struct ofa_qp *qp);
/* Called when the queue pair has left SQD. Posts the held requests, if there is a connection. */
void ofa_hold_resume(struct ofa_qp *qp);

/*
 * Called when there will be none. Completes the first held request with `status`, flushes others.
 */
void ofa_hold_flush(struct ofa_qp *qp, enum ibv_wc_status status);

/*
 * Makes the queue pair hold its next request, which then claims the connection: for processes that
 * fork. Returns false if there is no connection, or it is suspended already.
 */
bool ofa_hold_suspend(struct ofa_qp *qp);

bool ofa_hold_is_suspended(struct ofa_qp *qp);

/* Claims the connection for this process, unless the other process has it. */
void ofa_hold_claim(struct ofa_qp *qp);

/* Drops the held requests. */
void ofa_hold_drop(struct ofa_qp *qp);

/* Allocates the room for inline data, for the first request that needs it. Returns 0 or errno. */
int ofa_inline_open_locked(struct ofa_qp *qp);

static inline void ofa_inline_segment(const struct ofa_qp *qp, unsigned char *place, size_t length,
                                      it_lmr_triplet_t *segment)
{
    segment->lmr = qp->inline_lmr;
    segment->addr.abs = place;
    segment->length = length;
}

/* Moves on from the next place, which a request now uses. */
static inline void ofa_inline_advance_locked(struct ofa_qp *qp)
{
    unsigned char *next = qp->inline_place + qp->cap.max_inline_data;

    qp->inline_place = __builtin_expect(next == qp->inline_end, 0) ? qp->inline_room : next;
}

/* Moves back, if the request was not posted after all. */
static inline void ofa_inline_retreat_locked(struct ofa_qp *qp)
{
    if (qp->inline_place == qp->inline_room)
        qp->inline_place = qp->inline_end;
    qp->inline_place -= qp->cap.max_inline_data;
}

void ofa_inline_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_POST_OFA_POST_H */
