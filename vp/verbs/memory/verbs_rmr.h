/* SPDX-License-Identifier: BSD-2-Clause */
/* RMRs: memory windows of the device. */
#ifndef ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H
#define ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

/* Guarded by verbs_ia.rmr_lock. */
struct verbs_rmr {
    struct base_link link; /* of .ia.rmrs */
    struct ual_rmr *ual;
    struct verbs_ia *ia;
    struct ibv_mw *mw;
    bool wide;             /* immutable */
    struct ibv_mr *ground; /* of a wide one, immutable: what it is linked to when it is closed */
    unsigned char ground_octet;
    uint64_t serial; /* 0: freed */
    /* By what has been posted. */
    uint32_t last_key;
    uint32_t qp_num; /* where it was opened */
    bool is_open;
    bool is_unsure; /* a request that the device had has failed, or it had half of a pair */
    /* By what has been completed: with .state.lmr, that and the EP are held. */
    struct vp_rmr_state state;
    struct verbs_ep *ep;
};

/* The outcome of a link or unlink; of an unlink .state is zero. */
struct verbs_link {
    struct verbs_rmr *rmr; /* NULL: nothing is under way */
    uint64_t serial;
    bool wide;
    struct ibv_mw *mw; /* what it is for; NULL: it is not for the device. Never looked into */
    struct vp_rmr_state state;
};

static inline struct verbs_rmr *verbs_rmr_of(struct ual_rmr *rmr)
{
    return vp_area(verbs_host, VP_RMR, rmr);
}

it_status_t verbs_rmr_create(struct ual_rmr *ual);
void verbs_rmr_destroy(struct ual_rmr *ual);
void verbs_rmr_query(struct ual_rmr *ual, struct vp_rmr_state *state);

/* The QP goes: first the windows that are open on it. */
void verbs_rmr_leave(struct verbs_ia *ia, uint32_t qp_num);

/* A peer has invalidated the key: the RMR that had it, or NULL. */
it_handle_t verbs_rmr_invalidated(struct verbs_ia *ia, uint32_t key);

/* With the queue's lock. No success: nothing is posted. *error: of the device. */
it_status_t verbs_link_request(struct verbs_ep *ep, struct verbs_slot *slot,
                               const struct vp_request *request, int *error);
void verbs_link_done(struct verbs_slot *slot, bool executed);
void verbs_link_drop_all(struct verbs_queue *queue);

#endif
