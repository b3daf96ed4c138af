/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of an EVD: CQs, with the device's completions and those that the provider makes. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_COMPLETE_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_COMPLETE_H

#include "vp/verbs/device/verbs_ep.h"

/*
 * The EPs of one S-RQ on a CQ. Together they have at most as many completions as the S-RQ has
 * receives.
 */
struct verbs_share {
    struct verbs_share *next;
    const struct ual_srq *srq;
    uint32_t eps;
};

/* A CQ of an EVD, with room for the completions of all queues on it. Guarded by the EVD's lock. */
struct verbs_cq {
    struct verbs_cq *next;
    struct ibv_cq *cq;
    uint32_t capacity;
    uint32_t used; /* guarded by the IA's attach_lock, as is shares */
    struct verbs_share *shares;
    /*
     * Completions polled, or made by the provider, and not yet taken. From .held to .stash: early
     * receives (verbs_early.c); from .stash_first to .stash_end: those to take. Has room for all
     * possible ones.
     */
    struct ibv_wc *held, *stash, *stash_first, *stash_end;
    struct ibv_wc *unsorted; /* with .reads_overtaken: buffer for a polled batch; otherwise NULL */
};

#define VERBS_BY_QP 64u /* a power of two */

/* The source of an EVD. */
struct verbs_source {
    struct evd_source_view view; /* first; immutable, as are the members up to channel */
    struct verbs_ia *ia;
    it_evd_handle_t evd;
    struct ibv_comp_channel *channel;
    /* Guarded by the EVD's lock. */
    struct verbs_cq *cqs; /* the first one is polled first; the order changes */
    uint32_t empty_looks;
    struct verbs_ep *by_qp[VERBS_BY_QP]; /* EPs with an S-RQ, hashed by QP number */
};

#define VERBS_SOURCE_BATCH 32u /* completions taken by one poll */

/* ---- The EVD's lock is held. */
/* Polls at most a batch into the stash, after its completions. Returns how many the device had. */
uint32_t verbs_source_poll_batch(struct verbs_cq *cq);
/* Polls everything into the stash, after the completions already there; there is room for it. */
void verbs_source_poll_all(struct verbs_cq *cq);
/* Flushes the rest once all completions of the device are in the stash or taken. */
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

/* ---------------------------------------------------------------- verbs_early.c: early receives */

/* ---- The EVD's lock is held. */
/* Returns true if the EP's connection has not been reported, and the receive is of it. */
bool verbs_source_is_early(const struct verbs_ep *ep, const struct ibv_wc *wc);
/* Holds this completion of an early receive, which is the last one that left the stash. */
void verbs_source_hold(struct verbs_ep *ep, const struct ibv_wc *wc);
/* Puts all held completions in front of the stash. */
void verbs_source_put_back(struct verbs_cq *cq);
/* There will be no connection: completions of early receives become flushed ones. */
void verbs_source_refuse_early_locked(struct verbs_ep *ep);

/* ---- The EVD's lock is not held. */
void verbs_source_refuse_early(struct verbs_ep *ep);
/* Called when the connection has been reported: shows early receives, and holds no more. */
void verbs_source_show_early(struct verbs_ep *ep);

/* ---------------------------------------------------------------- verbs_grh.c: datagrams */

#define UD_HEADER 40u

/* A part of a receive in which a part of the header arrives. */
struct verbs_ud_piece {
    const unsigned char *addr;
    size_t length;
};

/* The datagram part of a UD endpoint. */
struct verbs_ud {
    uint8_t port;       /* immutable, as are the next two */
    bool on_ethernet;   /* every datagram has a header */
    size_t piece_count; /* per receive */
    /* Indexed by slot. While a receive is posted: */
    struct verbs_ud_piece *pieces;
    /* From its completion until its event is dequeued: */
    struct evd_datagram *datagrams;
};

/* With the queue's lock. Notes where a datagram's header will lie in this slot's receive. */
void verbs_ud_note(struct verbs_queue *queue, const struct verbs_slot *slot,
                   const it_lmr_triplet_t *segments, size_t count);

/* The EVD's lock is held. Fills in the source of the datagram from its completion. */
void verbs_ud_tell(struct verbs_ep *ep, const struct verbs_slot *slot, const struct ibv_wc *wc,
                   struct evd_dto *dto);

/* ---------------------------------------------------------------- verbs_join.c */

extern const struct evd_source_ops verbs_source_ops;

/* ---- The EVD's lock is not held. */
void verbs_source_give_room(struct verbs_ep *ep);

/* Gives both queues of the EP a CQ and reserves room there for all their completions. */
it_status_t verbs_source_join(struct verbs_ep *ep);

/* ---------------------------------------------------------------- verbs_flush.c */

void verbs_source_leave(struct verbs_ep *ep);

/*
 * Called when the QP has failed or was destroyed. Flushes, in order, the posts that the device does
 * not complete: all posts without a completion if `lost` is true, otherwise those from .local_from
 * on.
 */
void verbs_source_flush(struct verbs_ep *ep, struct verbs_queue *queue, bool lost);

/* Called after a flush, when nothing is posted any more: the posts to come are for a new QP. */
void verbs_source_renew(struct verbs_ep *ep, struct verbs_queue *queue);

/* Called after a post that does not reach the device. */
void verbs_source_post_local(struct verbs_ep *ep, struct verbs_queue *queue);

/* With .reads_overtaken: returns true if a request of the consumer has failed on this QP. */
bool verbs_source_request_failed(struct verbs_ep *ep);

/* Polls, so that slots of completed posts without events become free. */
void verbs_source_reap(struct verbs_ep *ep, struct verbs_queue *queue);

/*
 * For an EP with an S-RQ: from now on completions of this QP belong to the EP. NULL: no completions
 * do.
 */
void verbs_source_name(struct verbs_ep *ep, const struct ibv_qp *qp);

#endif
