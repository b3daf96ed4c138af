/* SPDX-License-Identifier: BSD-2-Clause */
/* RMRs: memory windows of the device. */
#ifndef ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H
#define ITAPI_VP_VERBS_MEMORY_VERBS_RMR_H

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

/* Guarded by verbs_ia.rmr_lock. */
struct verbs_rmr {
    struct base_link link; /* in .ia.rmrs */
    struct ual_rmr *ual;
    struct verbs_ia *ia;
    struct ibv_mw *mw;
    bool wide;             /* immutable */
    struct ibv_mr *ground; /* wide windows only, immutable: closed ones are linked to it */
    unsigned char ground_octet;
    uint64_t serial; /* 0: freed */
    /* As of the last post: */
    uint32_t last_key;
    uint32_t qp_num; /* the QP on which it was opened */
    bool is_open;
    bool is_unsure; /* a request has failed on the device, or only half of a pair was posted */
    /* As of the last completion; .state.lmr and ep, if set, are held: */
    struct vp_rmr_state state;
    struct verbs_ep *ep;
};

/* The outcome of a link or unlink; .state is zero for an unlink. */
struct verbs_link {
    struct verbs_rmr *rmr; /* NULL: no request is pending */
    uint64_t serial;
    bool wide;
    struct ibv_mw *mw; /* never dereferenced; NULL: the device does not have the request */
    struct vp_rmr_state state;
};

static inline struct verbs_rmr *verbs_rmr_of(struct ual_rmr *rmr)
{
    return vp_area(verbs_host, VP_RMR, rmr);
}

it_status_t verbs_rmr_create(struct ual_rmr *ual);
void verbs_rmr_destroy(struct ual_rmr *ual);
void verbs_rmr_query(struct ual_rmr *ual, struct vp_rmr_state *state);

/* Called before the QP goes: drops the windows that are open on it. */
void verbs_rmr_leave(struct verbs_ia *ia, uint32_t qp_num);

/* A peer has invalidated the key. Returns the RMR that had it, or NULL. */
it_handle_t verbs_rmr_invalidated(struct verbs_ia *ia, uint32_t key);

/* With the queue's lock. Posts nothing unless it returns success. *error: the device's errno. */
it_status_t verbs_link_request(struct verbs_ep *ep, struct verbs_slot *slot,
                               const struct vp_request *request, int *error);
void verbs_link_done(struct verbs_slot *slot, bool executed);
void verbs_link_drop_all(struct verbs_queue *queue);

#endif
