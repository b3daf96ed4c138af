/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registered memory by STag. Lookups take no lock: an entry is pinned by a counter, then its STag
 * compared; a free clears the STag first and then waits until nobody has the entry pinned. What a
 * pin protects is one memcpy or one non-blocking system call.
 */
#ifndef ITAPI_UAL_UIWARP_UIW_MR_H
#define ITAPI_UAL_UIWARP_UIW_MR_H

#include "base/base_lock.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UIW_MR_CHUNK  1024u
#define UIW_MR_CHUNKS 16384u /* 24 bits of index */

struct uiw_mr {
    _Atomic uint32_t stag; /* 0: free */
    _Atomic uint32_t pins;
    _Atomic bool remote_closed; /* invalidated by a peer: local use goes on */
    /* Immutable while stag is set. */
    uint8_t *addr;
    uint64_t length;
    uint64_t to_base; /* tagged offset of the first octet */
    it_mem_priv_t privs;
    const void *pz;
    it_handle_t handle; /* LMR, for events */
    uint32_t index;
    uint8_t key;              /* by the table's lock */
    struct uiw_mr *next_free; /* by the table's lock */
};

struct uiw_mr_table {
    uint32_t secret[4];               /* immutable: makes STags unpredictable */
    _Atomic(struct uiw_mr *) *chunks; /* UIW_MR_CHUNKS pointers, each set once */
    struct base_lock lock;            /* guards what follows */
    uint32_t used;                    /* entries ever handed out */
    struct uiw_mr *oldest_free, *newest_free;
};

/* Why an access is refused; the caller turns it into the code of its layer. */
enum uiw_mr_verdict {
    UIW_MR_OK,
    UIW_MR_INVALID, /* unknown, freed, wrong key */
    UIW_MR_STREAM,  /* another protection zone */
    UIW_MR_ACCESS,  /* a right is missing */
    UIW_MR_BOUNDS,
    UIW_MR_WRAP /* to + length exceeds 64 bits */
};

bool uiw_mr_table_init(struct uiw_mr_table *table);
void uiw_mr_table_fini(struct uiw_mr_table *table);

/* NULL without memory or STags. */
struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, void *addr, uint64_t length,
                               uint64_t to_base, it_mem_priv_t privs, const void *pz,
                               it_handle_t handle);
/* Returns when no octet moves in the region any more. */
void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr);

static inline void uiw_mr_unpin(struct uiw_mr *mr)
{
    atomic_fetch_sub_explicit(&mr->pins, 1, memory_order_release);
}

/* Pins an entry while it carries this STag. False when it does not any more. */
static inline bool uiw_mr_pin_entry(struct uiw_mr *mr, uint32_t stag)
{
    atomic_fetch_add_explicit(&mr->pins, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&mr->stag, memory_order_seq_cst) == stag)
        return true;
    uiw_mr_unpin(mr);
    return false;
}

/* Pins the entry of a live STag; NULL when there is none. */
struct uiw_mr *uiw_mr_pin(struct uiw_mr_table *table, uint32_t stag);

/*
 * Pins and checks [to, to + length) for a peer (rights: IT_PRIV_REMOTE_READ or _WRITE). On
 * UIW_MR_OK *mr_out is pinned and *addr_out the first octet.
 */
enum uiw_mr_verdict uiw_mr_pin_remote(struct uiw_mr_table *table, uint32_t stag, uint64_t to,
                                      uint64_t length, it_mem_priv_t right, const void *pz,
                                      struct uiw_mr **mr_out, uint8_t **addr_out);
/*
 * Pins and checks a local segment (IT_PRIV_LOCAL_READ or _WRITE) of the region that had this STag
 * when it was posted. Entries stay valid memory, so no lookup is needed. False: refused.
 */
bool uiw_mr_pin_local(struct uiw_mr *mr, uint32_t stag, const uint8_t *addr, uint64_t length,
                      it_mem_priv_t right, const void *pz);

/*
 * Send with Invalidate: closes the STag to peers. False when it is unknown, of another PZ, or
 * closed already. *handle_out: the LMR.
 */
bool uiw_mr_invalidate(struct uiw_mr_table *table, uint32_t stag, const void *pz,
                       it_handle_t *handle_out);

#endif
