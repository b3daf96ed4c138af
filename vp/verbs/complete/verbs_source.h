/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of an EVD, shared by verbs_source.c, verbs_join.c and verbs_flush.c. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_SOURCE_H

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

#endif
