/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/udapl_slab.h"

#include <stdlib.h>
#include <string.h>

static size_t chunk_objects(size_t chunk)
{
    return (size_t)1 << (UDAPL_SLAB_FIRST_BITS + chunk);
}

/* Returns the chunk of the next object that was never used. */
static size_t last_chunk(const struct udapl_slab *slab)
{
    return (size_t)(31 - __builtin_clz(slab->count + (1u << UDAPL_SLAB_FIRST_BITS))) -
           UDAPL_SLAB_FIRST_BITS;
}

/* With the lock held. Takes an object that was never used. */
static struct udapl_slab_entry *take_new(struct udapl_slab *slab)
{
    size_t chunk = last_chunk(slab);
    struct udapl_slab_entry *entry;
    char *memory;

    if (chunk >= UDAPL_SLAB_CHUNKS)
        return NULL;
    memory = atomic_load_explicit(&slab->chunk[chunk], memory_order_relaxed);
    if (!memory) {
        memory = calloc(chunk_objects(chunk), slab->size);
        if (!memory)
            return NULL;
        /* Pairs with the acquire loads of lookups. */
        atomic_store_explicit(&slab->chunk[chunk], memory, memory_order_release);
    }
    entry = udapl_slab_at(slab, slab->size, slab->count);
    entry->index = slab->count++;
    return entry;
}

/* With the lock held. Takes the object that was freed first. */
static struct udapl_slab_entry *take_oldest(struct udapl_slab *slab)
{
    struct udapl_slab_entry *entry = slab->oldest;

    slab->oldest = entry->next;
    if (!slab->oldest)
        slab->newest = NULL;
    return entry;
}

void *udapl_slab_get(struct udapl_slab *slab)
{
    struct udapl_slab_entry *entry;
    size_t chunk;

    pthread_mutex_lock(&slab->lock);
    chunk = last_chunk(slab);
    /* Prefers freed objects over a new chunk. */
    if (slab->oldest && (chunk >= UDAPL_SLAB_CHUNKS || !slab->chunk[chunk]))
        entry = take_oldest(slab);
    else
        entry = take_new(slab);
    pthread_mutex_unlock(&slab->lock);
    if (!entry)
        return NULL;
    entry->generation++;
    memset(entry + 1, 0, slab->size - sizeof(*entry));
    return entry;
}

void udapl_slab_put(struct udapl_slab *slab, void *object)
{
    struct udapl_slab_entry *entry = object;

    entry->next = NULL;
    pthread_mutex_lock(&slab->lock);
    if (slab->newest)
        slab->newest->next = entry;
    else
        slab->oldest = entry;
    slab->newest = entry;
    pthread_mutex_unlock(&slab->lock);
}

void *udapl_slab_find(struct udapl_slab *slab, const void *any)
{
    for (size_t i = 0; i < UDAPL_SLAB_CHUNKS; i++) {
        char *chunk = atomic_load_explicit(&slab->chunk[i], memory_order_acquire);
        size_t offset = (uintptr_t)any - (uintptr_t)chunk;

        if (!chunk)
            return NULL;
        if (offset < chunk_objects(i) * slab->size)
            return offset % slab->size == 0 ? chunk + offset : NULL;
    }
    return NULL;
}

void udapl_slab_clear(struct udapl_slab *slab)
{
    pthread_mutex_lock(&slab->lock);
    for (size_t i = 0; i < UDAPL_SLAB_CHUNKS; i++) {
        free(slab->chunk[i]);
        slab->chunk[i] = NULL;
    }
    slab->count = 0;
    slab->oldest = slab->newest = NULL;
    pthread_mutex_unlock(&slab->lock);
}
