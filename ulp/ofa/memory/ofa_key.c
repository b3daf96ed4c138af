/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/ofa_key.h"

#include <errno.h>
#include <stdlib.h>

#define PLACES      (UINT32_C(1) << OFA_KEY_PLACE_BITS)
#define GENERATIONS ((UINT32_C(1) << OFA_KEY_GENERATION_BITS) - 1)

_Static_assert(OFA_MAX_MR == PLACES, "as many regions as places");
_Static_assert(OFA_KEY_PLACE_BITS + OFA_KEY_GENERATION_BITS == 32, "any lkey has a place");

/* The table's state; guarded by its lock. */
struct ofa_key_table {
    pthread_mutex_t lock;
    uint32_t first_free; /* 0: places from .used on are free */
    uint32_t used;
    uint32_t seed; /* the generation of new places: the keys of another context do not fit */
};

#define SEED_STEP 0x9e3u /* odd, so that contexts have different seeds for long */

/* calloc gives unused places addresses but no memory. */
int ofa_key_open(struct ofa_context *context)
{
    static atomic_uint opened;
    struct ofa_key_table *table = calloc(1, sizeof(*table));

    context->keys = calloc(PLACES, sizeof(*context->keys));
    if (!table || !context->keys) {
        free(table);
        free(context->keys);
        context->keys = NULL;
        return ENOMEM;
    }
    (void)pthread_mutex_init(&table->lock, NULL);
    /* A free place has lkey 0, so place 0 must never match lkey 0: it stays unused. */
    table->used = 1;
    table->seed = SEED_STEP * atomic_fetch_add(&opened, 1);
    atomic_store_explicit(&context->keys[0].lkey, UINT32_MAX, memory_order_relaxed);
    context->key_table = table;
    return 0;
}

void ofa_key_close(struct ofa_context *context)
{
    struct ofa_key_table *table = context->key_table;

    if (!table)
        return;
    free(context->keys);
    (void)pthread_mutex_destroy(&table->lock);
    free(table);
}

/* With the table's lock. Returns a free place; 0: none. */
static uint32_t take_place(struct ofa_context *context)
{
    struct ofa_key_table *table = context->key_table;
    uint32_t place = table->first_free;

    if (place != 0)
        table->first_free = context->keys[place].next_free;
    else if (table->used < PLACES) {
        place = table->used++;
        context->keys[place].generation = table->seed & GENERATIONS;
    }
    return place;
}

int ofa_key_add(struct ofa_context *context, it_lmr_handle_t lmr, uint64_t shift,
                const struct ofa_mr *mr, uint32_t *lkey)
{
    struct ofa_key_table *table = context->key_table;
    uint32_t place;

    (void)pthread_mutex_lock(&table->lock);
    place = take_place(context);
    if (place != 0) {
        struct ofa_key *key = &context->keys[place];

        key->generation++;
        *lkey = place << OFA_KEY_GENERATION_BITS | key->generation;
        key->mr = mr;
        atomic_store_explicit(&key->lmr, lmr, memory_order_relaxed);
        atomic_store_explicit(&key->shift, shift, memory_order_relaxed);
        atomic_store_explicit(&key->lkey, *lkey, memory_order_release);
    }
    (void)pthread_mutex_unlock(&table->lock);
    return place != 0 ? 0 : ENOMEM;
}

void ofa_key_remove(struct ofa_context *context, uint32_t lkey)
{
    struct ofa_key_table *table = context->key_table;
    uint32_t place = lkey >> OFA_KEY_GENERATION_BITS;
    struct ofa_key *key = &context->keys[place];

    (void)pthread_mutex_lock(&table->lock);
    atomic_store_explicit(&key->lkey, 0, memory_order_release);
    key->next_free = table->first_free & (PLACES - 1);
    table->first_free = place;
    (void)pthread_mutex_unlock(&table->lock);
}
