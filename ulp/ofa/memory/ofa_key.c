/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/ofa_key.h"

#include <errno.h>
#include <stdlib.h>

#define NO_PLACE UINT32_MAX

/* The table of a context; what is not atomic, with its lock. */
struct ofa_key_table {
    pthread_mutex_t lock;
    uint32_t first_free;
    uint32_t used; /* chunks */
};

static struct ofa_key *key_at(const struct ofa_context *context, uint32_t place)
{
    struct ofa_key *chunk =
        atomic_load_explicit(&context->keys[place / OFA_KEY_CHUNK], memory_order_acquire);

    return chunk + place % OFA_KEY_CHUNK;
}

int ofa_key_open(struct ofa_context *context)
{
    struct ofa_key_table *table = calloc(1, sizeof(*table));

    context->keys = calloc(OFA_KEY_CHUNKS, sizeof(*context->keys));
    if (!table || !context->keys) {
        free(table);
        free(context->keys);
        context->keys = NULL;
        return ENOMEM;
    }
    (void)pthread_mutex_init(&table->lock, NULL);
    table->first_free = NO_PLACE;
    context->key_table = table;
    return 0;
}

void ofa_key_close(struct ofa_context *context)
{
    struct ofa_key_table *table = context->key_table;

    if (!table)
        return;
    for (uint32_t i = 0; i < table->used; i++)
        free(atomic_load_explicit(&context->keys[i], memory_order_relaxed));
    free(context->keys);
    (void)pthread_mutex_destroy(&table->lock);
    free(table);
}

/*
 * With the table's lock. Entries of a new chunk are free; place 0 stays unused, so that no lkey is
 * 0.
 */
static int add_chunk(struct ofa_context *context)
{
    struct ofa_key_table *table = context->key_table;
    struct ofa_key *chunk;
    uint32_t base = table->used * OFA_KEY_CHUNK;

    if (table->used == OFA_KEY_CHUNKS)
        return ENOMEM;
    chunk = calloc(OFA_KEY_CHUNK, sizeof(*chunk));
    if (!chunk)
        return ENOMEM;
    if (base == 0)
        atomic_store_explicit(&chunk[0].lkey, UINT32_MAX, memory_order_relaxed);
    for (uint32_t i = OFA_KEY_CHUNK; i-- > (base == 0 ? 1u : 0u);) {
        chunk[i].next_free = table->first_free;
        table->first_free = base + i;
    }
    atomic_store_explicit(&context->keys[table->used], chunk, memory_order_release);
    table->used++;
    return 0;
}

int ofa_key_add(struct ofa_context *context, it_lmr_handle_t lmr, uint64_t shift, uint32_t *lkey)
{
    struct ofa_key_table *table = context->key_table;
    int error = 0;

    (void)pthread_mutex_lock(&table->lock);
    if (table->first_free == NO_PLACE)
        error = add_chunk(context);
    if (error == 0) {
        uint32_t place = table->first_free;
        struct ofa_key *key = key_at(context, place);

        table->first_free = key->next_free;
        key->generation++;
        *lkey = place << 8 | key->generation;
        atomic_store_explicit(&key->lmr, lmr, memory_order_relaxed);
        atomic_store_explicit(&key->shift, shift, memory_order_relaxed);
        atomic_store_explicit(&key->lkey, *lkey, memory_order_release);
    }
    (void)pthread_mutex_unlock(&table->lock);
    return error;
}

void ofa_key_remove(struct ofa_context *context, uint32_t lkey)
{
    struct ofa_key_table *table = context->key_table;
    uint32_t place = lkey >> 8;
    struct ofa_key *key = key_at(context, place);

    (void)pthread_mutex_lock(&table->lock);
    atomic_store_explicit(&key->lkey, 0, memory_order_release);
    key->next_free = table->first_free;
    table->first_free = place;
    (void)pthread_mutex_unlock(&table->lock);
}
