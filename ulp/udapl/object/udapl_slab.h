/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of one size that keep their memory: what was put back stays readable, and is given out
 * again as late as possible. So a handle to it can be recognised as stale. Chunks grow: the first
 * holds 64 objects, each further one twice as many.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_SLAB_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_SLAB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define UDAPL_SLAB_FIRST_BITS 6
#define UDAPL_SLAB_CHUNKS     15 /* two million objects */

/* The beginning of each object; it survives while nobody has the object. */
struct udapl_slab_entry {
    const void *first;             /* the first word of a handle: its owner's */
    struct udapl_slab_entry *next; /* of those to give out */
    uint32_t index;                /* its place in the slab, for ever */
    uint32_t generation;           /* how often it was given out */
};

struct udapl_slab {
    size_t size;          /* of one object */
    pthread_mutex_t lock; /* guards the rest; chunks may be read without */
    _Atomic(char *) chunk[UDAPL_SLAB_CHUNKS];
    uint32_t count;                           /* objects that were ever given out */
    struct udapl_slab_entry *oldest, *newest; /* those that came back */
};

/* An object with all behind its entry zero. NULL: no memory, or two million are out. */
void *udapl_slab_get(struct udapl_slab *slab);

void udapl_slab_put(struct udapl_slab *slab, void *object);

/* Any number: one of the slab's objects, out or not, or NULL. */
void *udapl_slab_find(struct udapl_slab *slab, const void *any);

/* Gives all memory back. */
void udapl_slab_clear(struct udapl_slab *slab);

/* The object of a place, or NULL where there is none. size is that of the slab, as a constant. */
static inline void *udapl_slab_at(const struct udapl_slab *slab, size_t size, uint32_t index)
{
    uint32_t place = index + (1u << UDAPL_SLAB_FIRST_BITS);
    uint32_t top = 31u - (uint32_t)__builtin_clz(place);
    char *chunk;

    if (top - UDAPL_SLAB_FIRST_BITS >= UDAPL_SLAB_CHUNKS)
        return NULL;
    /* Pairs with the release store of who has added the chunk. */
    chunk = atomic_load_explicit(&slab->chunk[top - UDAPL_SLAB_FIRST_BITS], memory_order_acquire);
    return chunk ? chunk + (place - (1u << top)) * size : NULL;
}

#endif
