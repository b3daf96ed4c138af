/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs of objects of one size, which keep their memory. A freed object stays readable and is
 * reused as late as possible, so a stale handle can be recognized. The first chunk holds 64
 * objects, each later one twice as many.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_SLAB_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_SLAB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define UDAPL_SLAB_FIRST_BITS 6
#define UDAPL_SLAB_CHUNKS     15 /* two million objects */

/* The header of each object. It stays valid while the object is free. */
struct udapl_slab_entry {
    const void *first;             /* the first word behind a handle; for its owner */
    struct udapl_slab_entry *next; /* in the list of free objects */
    uint32_t index;                /* constant place in the slab */
    uint32_t generation;           /* how often the object was taken */
};

struct udapl_slab {
    size_t size;          /* of one object */
    pthread_mutex_t lock; /* guards the rest; chunks may be read without it */
    _Atomic(char *) chunk[UDAPL_SLAB_CHUNKS];
    uint32_t count;                           /* objects used so far */
    struct udapl_slab_entry *oldest, *newest; /* free objects */
};

/* Takes an object, zeroed behind its entry. NULL: no memory, or two million are in use. */
void *udapl_slab_get(struct udapl_slab *slab);

void udapl_slab_put(struct udapl_slab *slab, void *object);

/* Finds the object at an address, which may be any number; it may be free. NULL: none. */
void *udapl_slab_find(struct udapl_slab *slab, const void *any);

/* Frees all memory. */
void udapl_slab_clear(struct udapl_slab *slab);

/* Returns the object at a place, or NULL. size: the slab's, as a compile-time constant. */
static inline void *udapl_slab_at(const struct udapl_slab *slab, size_t size, uint32_t index)
{
    uint32_t place = index + (1u << UDAPL_SLAB_FIRST_BITS);
    uint32_t top = 31u - (uint32_t)__builtin_clz(place);
    char *chunk;

    if (top - UDAPL_SLAB_FIRST_BITS >= UDAPL_SLAB_CHUNKS)
        return NULL;
    /* Pairs with the release store that adds a chunk. */
    chunk = atomic_load_explicit(&slab->chunk[top - UDAPL_SLAB_FIRST_BITS], memory_order_acquire);
    return chunk ? chunk + (place - (1u << top)) * size : NULL;
}

#endif
