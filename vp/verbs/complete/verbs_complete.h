/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of an EVD: CQs. Completions of the device, and those that it does not give. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_COMPLETE_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_COMPLETE_H

#include "vp/verbs/device/verbs_ep.h"

/* The EPs of one S-RQ on a CQ: together they have no more completions than that has receives. */
struct verbs_share {
    struct verbs_share *next;
    const struct ual_srq *srq;
    uint32_t eps;
};

/* One CQ of an EVD, as large as all queues on it together. Guarded by the EVD's lock. */
struct verbs_cq {
    struct verbs_cq *next;
    struct ibv_cq *cq;
    uint32_t capacity;
    uint32_t used; /* by the attach lock of the IA, as what follows */
    struct verbs_share *shares;
    /* Polled, or made by us, and not yet taken; room for all there can be. */
    struct ibv_wc *stash, *stash_first, *stash_end;
    struct ibv_wc *unsorted; /* with .reads_overtaken: a batch is polled to there; else NULL */
};

#define VERBS_BY_QP 64u /* a power of two */

/* The source of an EVD. */
struct verbs_source {
    struct evd_source_view view; /* first; immutable, as what follows */
    struct verbs_ia *ia;
    it_evd_handle_t evd;
    struct ibv_comp_channel *channel;
    /* By the EVD's lock. */
    struct verbs_cq *cqs; /* the one that is asked first changes */
    uint32_t empty_looks;
    struct verbs_ep *by_qp[VERBS_BY_QP]; /* EPs with an S-RQ, by the number of the QP */
};

#define VERBS_SOURCE_BATCH 32u /* completions taken by one poll */

/* ---- With the EVD's lock. */
/* At most a batch; they go behind what is in the stash. Returns how many the device had. */
uint32_t verbs_source_poll_batch(struct verbs_cq *cq);
/* The completions of the device are in the stash already, or taken: flushes the rest. */
void verbs_source_drained(struct verbs_queue *queue);
void verbs_source_flush_rest(struct verbs_queue *queue);
void verbs_source_arm(void *context, bool failures_only);
void verbs_source_disarm(void *context);

static inline struct verbs_ep **verbs_source_by_qp(struct verbs_source *source, uint32_t number)
{
    return &source->by_qp[number & (VERBS_BY_QP - 1)];
}

size_t verbs_source_take(void *context, it_event_t *events, size_t max);
size_t verbs_source_drain(void *context, struct evd_dto *dtos, size_t max);
it_status_t verbs_source_dequeue(it_evd_handle_t evd, it_event_t *event);

/* ---------------------------------------------------------------- verbs_grh.c: datagrams */

#define UD_HEADER 40u

/* A part of a receive in which a part of the header arrives. */
struct verbs_ud_piece {
    const unsigned char *addr;
    size_t length;
};

/* The part of an EP of datagrams. */
struct verbs_ud {
    uint8_t port;       /* immutable, as what follows */
    bool on_ethernet;   /* there is a header always */
    size_t piece_count; /* per receive */
    /* By the number of the slot. Of a receive while it is posted: */
    struct verbs_ud_piece *pieces;
    /* and from its completion until its event is dequeued: */
    struct evd_datagram *datagrams;
};

/* With the lock of the queue: where the header of what this slot receives will be. */
void verbs_ud_note(struct verbs_queue *queue, const struct verbs_slot *slot,
                   const it_lmr_triplet_t *segments, size_t count);

/* With the lock of the EVD: what a completion says of where the datagram has come from. */
void verbs_ud_tell(struct verbs_ep *ep, const struct verbs_slot *slot, const struct ibv_wc *wc,
                   struct evd_dto *dto);

/* ---------------------------------------------------------------- verbs_join.c */

extern const struct evd_source_ops verbs_source_ops;

/* ---- Without. */
void verbs_source_give_room(struct verbs_ep *ep);

/* Both queues of the EP have their CQs; need: how many completions they may have. */
it_status_t verbs_source_join(struct verbs_ep *ep);

/* ---------------------------------------------------------------- verbs_flush.c */

void verbs_source_leave(struct verbs_ep *ep);

/*
 * The QP has failed, or is gone: what the device does not complete is flushed, in order. lost: that
 * is all of which there is no completion now; else what is posted from .local_from on.
 */
void verbs_source_flush(struct verbs_ep *ep, struct verbs_queue *queue, bool lost);

/* After a flush with nothing left to post: the posts to come are for a new QP. */
void verbs_source_renew(struct verbs_ep *ep, struct verbs_queue *queue);

/* There is a post that does not reach the device. */
void verbs_source_post_local(struct verbs_ep *ep, struct verbs_queue *queue);

/* With .reads_overtaken: a request of the consumer's has failed, on this QP. */
bool verbs_source_request_failed(struct verbs_ep *ep);

/* Takes note of what is done, so that slots without events get free. */
void verbs_source_reap(struct verbs_ep *ep, struct verbs_queue *queue);

/* An EP with an S-RQ: from now on completions of that QP are its. NULL: of none. */
void verbs_source_name(struct verbs_ep *ep, const struct ibv_qp *qp);

#endif
