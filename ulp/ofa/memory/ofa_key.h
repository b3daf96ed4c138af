/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of local keys of a context. An lkey has the place of a region in the table, and a
 * generation in its low bits. Every 32-bit value has a place, so a lookup needs neither a lock nor
 * a bounds check.
 */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_KEY_H
#define ITAPI_ULP_OFA_MEMORY_OFA_KEY_H

#include "object/ofa_object.h"

#define OFA_KEY_PLACE_BITS      20 /* OFA_MAX_MR places */
#define OFA_KEY_GENERATION_BITS 12

struct ofa_key {
    _Atomic(it_lmr_handle_t) lmr;
    _Atomic(uint64_t) shift; /* added to the addresses of requests (iova) to get memory */
    const struct ofa_mr *mr; /* guarded by ofa_context.datagram_lock */
    atomic_uint lkey;        /* 0: free */
    uint32_t generation : OFA_KEY_GENERATION_BITS;
    uint32_t next_free : OFA_KEY_PLACE_BITS; /* 0: none */
};

/* Returns 0 or errno. */
int ofa_key_open(struct ofa_context *context);

/* Adds a region. Returns 0 or errno; *lkey is never 0. */
int ofa_key_add(struct ofa_context *context, it_lmr_handle_t lmr, uint64_t shift,
                const struct ofa_mr *mr, uint32_t *lkey);

void ofa_key_remove(struct ofa_context *context, uint32_t lkey);

void ofa_key_close(struct ofa_context *context);

/* Finds the region of a key; NULL: none. The adapter is open. */
static inline const struct ofa_key *ofa_key_find(const struct ofa_context *context, uint32_t lkey)
{
    const struct ofa_key *key = &context->keys[lkey >> OFA_KEY_GENERATION_BITS];

    if (atomic_load_explicit(&key->lkey, memory_order_acquire) != lkey)
        return NULL;
    if (!key)
        __builtin_unreachable(); /* so that callers need not look */
    return key;
}

#endif /* ITAPI_ULP_OFA_MEMORY_OFA_KEY_H */
