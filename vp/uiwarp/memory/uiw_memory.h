/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of an IA: STags, spare buffers, and the provider's part of PZs, LMRs and RMRs. */
#ifndef ITAPI_VP_UIWARP_MEMORY_UIW_MEMORY_H
#define ITAPI_VP_UIWARP_MEMORY_UIW_MEMORY_H

#include "tdi/iwarp/iw.h"
#include "ual/object/ual_provider.h"
#include "vp/uiwarp/memory/uiw_mr.h"

#define UIW_BOUNCE_SIZE (70u * 1024u) /* holds one FPDU of any size, with markers */

#define UIW_BOUNCE_KEEP 16u

/* Aligned: a copy is a fifth slower if each store touches two cache lines. */
struct uiw_bounce {
    _Alignas(64) uint8_t octets[UIW_BOUNCE_SIZE];
};

/* The first member of an IA's private area. */
struct uiw_memory {
    struct uiw_mr_table mrs;
    _Atomic(struct uiw_bounce *) bounces[UIW_BOUNCE_KEEP]; /* spare buffers; NULL: an empty place */
};

struct uiw_pz {
    _Atomic uint32_t eps; /* EPs of this PZ; the peer of a single one may invalidate STags */
};

/* A local segment, resolved to memory. Its rights are checked when the operation runs. */
struct uiw_segment {
    uint8_t *addr;
    struct uiw_mr *mr; /* local entry of the LMR, or the window */
    uint32_t length;
    uint32_t stag; /* of .mr at the post; no longer valid when the LMR is freed */
};

/* A link or unlink; takes the place of the segments in its request. */
struct uiw_link {
    struct uiw_mr *window; /* NULL: an unlink of the window or region with this .stag */
    struct ual_lmr *lmr;   /* held from the post until the link is superseded; NULL: an unlink */
    uint8_t *addr;
    uint64_t length;
    uint32_t serial; /* of the window at the post; it changes when the RMR is freed */
    uint32_t stag;
    uint8_t privs;
    bool relative;
    bool narrow;
};

#define UIW_LINK_SEGMENTS                                                                          \
    ((sizeof(struct uiw_link) + sizeof(struct uiw_segment) - 1) / sizeof(struct uiw_segment))

/*
 * An LMR has two entries: one for this side's requests, one for peers. So a peer that invalidates
 * the key takes no access from this side, and a peer from which this side reads does not learn the
 * key.
 */
struct uiw_lmr {
    struct uiw_mr *local;
    struct uiw_mr *remote;
    _Atomic uint32_t local_stag; /* of .local */
    uint64_t to_base;            /* tagged offset of the first octet, for peers; immutable */
};

struct uiw_rmr {
    struct uiw_mr *mr;
};

enum uiw_window_result {
    UIW_WINDOW_DONE,
    UIW_WINDOW_LATER,
    UIW_WINDOW_REFUSED
};

static inline struct uiw_memory *uiw_memory_of(struct ual_ia *ia)
{
    return (struct uiw_memory *)(void *)ia->area;
}

static inline struct uiw_pz *uiw_pz_of(struct ual_pz *pz)
{
    return (struct uiw_pz *)(void *)pz->area;
}

static inline struct uiw_lmr *uiw_lmr_of(struct ual_lmr *lmr)
{
    return (struct uiw_lmr *)(void *)lmr->area;
}

static inline struct uiw_rmr *uiw_rmr_of(struct ual_rmr *rmr)
{
    return (struct uiw_rmr *)(void *)rmr->area;
}

/*
 * Executes a link or unlink for this stream of the EP. may_wait: the caller holds no pin. Returns
 * LATER if the entry is in use, DONE if the window was freed, and REFUSED if a narrow window is
 * linked already and the program chooses the key.
 */
enum uiw_window_result uiw_window_run(struct uiw_mr_table *table, const struct uiw_stream_id *by,
                                      struct ual_ep *ual, struct uiw_link *link, bool may_wait);

/* Looks up the window of a Read. Returns false if it is not linked, or not for this stream. */
bool uiw_window_resolve(const struct uiw_stream_id *by, struct uiw_segment *segment);

/*
 * Executes an invalidation that this side has posted: of a window of this stream or of its PZ, or
 * of the key of an LMR of the PZ. LATER: as above. REFUSED: the STag belongs to none of these, or
 * is closed.
 */
enum uiw_window_result uiw_key_invalidate(struct uiw_mr_table *table,
                                          const struct uiw_stream_id *by, uint32_t stag,
                                          bool may_wait);

/* Closes the sink of a finished Read to peers. Returns the LMR or RMR; NULL: it was freed. */
it_handle_t uiw_sink_unlink(struct uiw_mr_table *table, const struct uiw_segment *sink,
                            bool is_window);

/*
 * Executes the invalidation of a peer's Send with Invalidate. On IW_OK no octet moves through the
 * STag any more, and *handle is the LMR or RMR.
 */
enum iw_error uiw_region_invalidate(struct uiw_mr_table *table, const struct uiw_pz *pz,
                                    const struct uiw_stream_id *by, uint32_t stag,
                                    it_handle_t *handle);

/* Sets the STag of the link posted last to `to`, if it is `from`. */
void uiw_window_want(struct uiw_mr *window, uint32_t from, uint32_t to);

/* Called when the IA opens and closes. _close also cleans up after a failed _open. */
bool uiw_bounce_open(struct uiw_memory *memory);
void uiw_bounce_close(struct uiw_memory *memory);
struct uiw_bounce *uiw_bounce_get(struct uiw_memory *memory);
void uiw_bounce_put(struct uiw_memory *memory, struct uiw_bounce *bounce);

it_status_t uiw_pz_create(struct ual_pz *pz);
void uiw_pz_destroy(struct ual_pz *pz);
it_status_t uiw_lmr_create(struct ual_lmr *lmr);
it_status_t uiw_lmr_create_at(struct ual_lmr *lmr, it_rdma_addr_t base);
void uiw_lmr_destroy(struct ual_lmr *lmr);
it_status_t uiw_lmr_modify(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);
it_status_t uiw_lmr_change(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);
it_status_t uiw_rmr_create(struct ual_rmr *rmr);
void uiw_rmr_destroy(struct ual_rmr *rmr);
void uiw_rmr_query(struct ual_rmr *rmr, struct vp_rmr_state *state);
void uiw_rmr_reset(struct ual_rmr *rmr);
it_status_t uiw_rmr_key(struct ual_rmr *rmr, it_rmr_context_t *key);

/* With the token of a closed window. Drops its references to the LMR and the EP. */
void uiw_window_let_go(struct uiw_mr *window);

#endif
