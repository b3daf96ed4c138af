/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_object.h"

#include <stdlib.h>
#include <string.h>

#define POOL_SLAB_OBJECTS 16

struct base_pool_slab {
    struct base_pool_slab *next;
    _Alignas(64) unsigned char objects[];
};

bool base_object_is_any(const void *handle)
{
    for (unsigned type = 0; type < BASE_OBJECT_TYPES; type++) {
        if (base_object_is(handle, (it_handle_type_enum_t)type))
            return true;
    }
    return false;
}

void base_pool_init(struct base_pool *pool, it_handle_type_enum_t type, size_t object_size)
{
    memset(pool, 0, sizeof(*pool));
    base_lock_init(&pool->lock);
    pool->type = type;
    pool->object_size = (object_size + 63) & ~(size_t)63;
}

void base_pool_renew(struct base_pool *pool)
{
    base_lock_init(&pool->lock);
    memset(&pool->unused, 0, sizeof(pool->unused));
}

static bool pool_grow_locked(struct base_pool *pool)
{
    size_t bytes = sizeof(struct base_pool_slab) + POOL_SLAB_OBJECTS * pool->object_size;
    struct base_pool_slab *slab = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

    if (!slab)
        return false;
    slab->next = pool->slabs;
    pool->slabs = slab;
    for (size_t i = 0; i < POOL_SLAB_OBJECTS; i++) {
        struct base_object *object = (void *)(slab->objects + i * pool->object_size);

        memset(object, 0, pool->object_size);
        atomic_init(&object->entries, &base_no_entries);
        base_list_append(&pool->unused, &object->link);
    }
    return true;
}

void *base_pool_get(struct base_pool *pool)
{
    struct base_object *object = NULL;

    base_lock_take(&pool->lock);
    if (!base_list_is_empty(&pool->unused) || pool_grow_locked(pool))
        object = BASE_LIST_ITEM(base_list_take(&pool->unused), struct base_object, link);
    base_lock_drop(&pool->lock);
    if (!object)
        return NULL;
    /* The members before it stay: a thread may still read them through the old handle. */
    memset((unsigned char *)object + offsetof(struct base_object, ia), 0,
           pool->object_size - offsetof(struct base_object, ia));
    object->type = pool->type;
    return object;
}

void base_pool_put(struct base_pool *pool, void *object)
{
    base_lock_take(&pool->lock);
    base_list_append(&pool->unused, &((struct base_object *)object)->link);
    base_lock_drop(&pool->lock);
}

void base_object_publish(struct base_object *object, struct base_object *ia)
{
    object->ia = ia;
    if (!atomic_load_explicit(&object->entries, memory_order_relaxed)) /* of no pool */
        atomic_store_explicit(&object->entries, &base_no_entries, memory_order_relaxed);
    atomic_store_explicit(&object->magic, BASE_OBJECT_MAGIC + (uint32_t)object->type,
                          memory_order_release);
}

void base_object_unpublish(struct base_object *object)
{
    atomic_store_explicit(&object->entries, &base_no_entries, memory_order_relaxed);
    atomic_store_explicit(&object->magic, 0, memory_order_release);
}

bool base_object_hold(struct base_object *parent)
{
    uint32_t count = atomic_load_explicit(&parent->children, memory_order_relaxed);

    do {
        if (count == BASE_OBJECT_DYING)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&parent->children, &count, count + 1,
                                                    memory_order_acq_rel, memory_order_relaxed));
    return true;
}

void base_object_release(struct base_object *parent)
{
    atomic_fetch_sub_explicit(&parent->children, 1, memory_order_acq_rel);
}

bool base_object_claim_free(struct base_object *object)
{
    uint32_t none = 0;

    return atomic_compare_exchange_strong_explicit(&object->children, &none, BASE_OBJECT_DYING,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

void base_object_unclaim(struct base_object *object)
{
    atomic_store_explicit(&object->children, 0, memory_order_release);
}
