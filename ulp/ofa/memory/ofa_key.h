/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of local keys of a context. An lkey is the place of a region in the table, and a
 * generation in its low 8 bits. Found without a lock: a chunk of the table never moves.
 */
#ifndef ITAPI_ULP_OFA_MEMORY_OFA_KEY_H
#define ITAPI_ULP_OFA_MEMORY_OFA_KEY_H

#include "object/ofa_object.h"

#define OFA_KEY_CHUNK  1024
#define OFA_KEY_CHUNKS 16384 /* so that any lkey has a place */

struct ofa_key {
    _Atomic(it_lmr_handle_t) lmr;
    _Atomic(uint64_t) shift; /* from the addresses of requests to memory (iova) */
    atomic_uint lkey;        /* 0: free */
    uint32_t next_free;
    uint8_t generation;
};

/* 0 or errno. */
int ofa_key_open(struct ofa_context *context);

/* 0 or errno; *lkey is never 0. */
int ofa_key_add(struct ofa_context *context, it_lmr_handle_t lmr, uint64_t shift, uint32_t *lkey);

void ofa_key_remove(struct ofa_context *context, uint32_t lkey);

void ofa_key_close(struct ofa_context *context);

/* NULL: the key names no region. The adapter is open. */
static inline const struct ofa_key *ofa_key_find(const struct ofa_context *context, uint32_t lkey)
{
    uint32_t place = lkey >> 8;
    struct ofa_key *chunk =
        atomic_load_explicit(&context->keys[place / OFA_KEY_CHUNK], memory_order_acquire);

    if (!chunk)
        return NULL;
    chunk += place % OFA_KEY_CHUNK;
    return atomic_load_explicit(&chunk->lkey, memory_order_acquire) == lkey ? chunk : NULL;
}

#endif /* ITAPI_ULP_OFA_MEMORY_OFA_KEY_H */
