/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of local keys of a context. An lkey is the place of a region in the table, and a
 * generation in its low bits. Any lkey has a place, so one is found without a lock and without a
 * look at bounds.
 */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_KEY_H
#define ITAPI_ULP_OFA_MEMORY_OFA_KEY_H

#include "object/ofa_object.h"

#define OFA_KEY_PLACE_BITS      20 /* OFA_MAX_MR places */
#define OFA_KEY_GENERATION_BITS 12

struct ofa_key {
    _Atomic(it_lmr_handle_t) lmr;
    _Atomic(uint64_t) shift; /* from the addresses of requests to memory (iova) */
    const struct ofa_mr *mr; /* with ofa_context.datagram_lock */
    atomic_uint lkey;        /* 0: free */
    uint32_t generation : OFA_KEY_GENERATION_BITS;
    uint32_t next_free : OFA_KEY_PLACE_BITS; /* 0: there is none */
};

/* 0 or errno. */
int ofa_key_open(struct ofa_context *context);

/* 0 or errno; *lkey is never 0. */
int ofa_key_add(struct ofa_context *context, it_lmr_handle_t lmr, uint64_t shift,
                const struct ofa_mr *mr, uint32_t *lkey);

void ofa_key_remove(struct ofa_context *context, uint32_t lkey);

void ofa_key_close(struct ofa_context *context);

/* NULL: the key names no region. The adapter is open. */
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
