/* SPDX-License-Identifier: BSD-2-Clause */
/* PZs and LMRs. */
#ifndef ITAPI_VP_VERBS_MEMORY_VERBS_MEMORY_H
#define ITAPI_VP_VERBS_MEMORY_VERBS_MEMORY_H

#include "vp/verbs/device/verbs.h"

struct verbs_pz {
    struct ibv_pd *pd;
    struct ibv_mr *empty_mr; /* with .zero_segments: registers .empty */
    unsigned char empty[8];
};

/* lkey comes first: each segment needs it. */
struct verbs_lmr {
    uint32_t lkey;
    /* For inline data, which the post reads and the device does not check. */
    uintptr_t addr;
    uint64_t length;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    bool has_windows; /* windows can be linked to it */
};

static inline struct verbs_lmr *verbs_lmr_of(it_lmr_handle_t handle)
{
    return vp_area(verbs_host, VP_LMR, handle);
}

static inline struct verbs_pz *verbs_pz_of(struct ual_pz *pz)
{
    return vp_area(verbs_host, VP_PZ, pz);
}

#define VERBS_LIMIT_TEXT 64

/* After a shortage: returns the limit of locked memory, if any, as a suffix for the error text. */
const char *verbs_limit_text(int error, char text[VERBS_LIMIT_TEXT]);
it_status_t verbs_pz_create(struct ual_pz *ual);
void verbs_pz_destroy(struct ual_pz *ual);
it_status_t verbs_lmr_create(struct ual_lmr *ual);
void verbs_lmr_destroy(struct ual_lmr *ual);
it_status_t verbs_lmr_modify(struct ual_lmr *ual, struct ual_pz *pz, it_mem_priv_t privs);

#endif
