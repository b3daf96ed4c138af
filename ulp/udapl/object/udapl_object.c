/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/udapl_object.h"

#include "object/udapl_cno.h"
#include "object/udapl_cr.h"
#include "object/udapl_ep.h"
#include "object/udapl_error.h"
#include "object/udapl_evd.h"
#include "object/udapl_ia.h"
#include "object/udapl_lmr.h"
#include "object/udapl_pz.h"
#include "object/udapl_rmr.h"
#include "object/udapl_sp.h"
#include "object/udapl_srq.h"

#define SLAB(type)                                                                                 \
    {                                                                                              \
        .size = sizeof(struct type), .lock = PTHREAD_MUTEX_INITIALIZER                             \
    }

struct udapl_slab udapl_slabs[UDAPL_TYPES] = {
    [DAT_HANDLE_TYPE_CR] = SLAB(udapl_cr),   [DAT_HANDLE_TYPE_EP] = SLAB(udapl_ep),
    [DAT_HANDLE_TYPE_EVD] = SLAB(udapl_evd), [DAT_HANDLE_TYPE_IA] = SLAB(udapl_ia),
    [DAT_HANDLE_TYPE_LMR] = SLAB(udapl_lmr), [DAT_HANDLE_TYPE_PSP] = SLAB(udapl_sp),
    [DAT_HANDLE_TYPE_PZ] = SLAB(udapl_pz),   [DAT_HANDLE_TYPE_RMR] = SLAB(udapl_rmr),
    [DAT_HANDLE_TYPE_RSP] = SLAB(udapl_sp),  [DAT_HANDLE_TYPE_CNO] = SLAB(udapl_cno),
    [DAT_HANDLE_TYPE_SRQ] = SLAB(udapl_srq), [DAT_HANDLE_TYPE_CSP] = SLAB(udapl_sp),
    [UDAPL_TYPE_SSP] = SLAB(udapl_sp),       [UDAPL_TYPE_ERROR] = SLAB(udapl_error),
};

void *udapl_find(const struct udapl_ia *ia, DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
    struct udapl_object *object = udapl_slab_find(&udapl_slabs[type], handle);

    return object && udapl_is(object, type) && object->ia == ia ? object : NULL;
}

void *udapl_object_new(struct udapl_ia *ia, DAT_HANDLE_TYPE type)
{
    struct udapl_object *object = udapl_slab_get(&udapl_slabs[type]);

    if (!object)
        return NULL;
    object->entry.first = &ia->provider->table;
    object->type = (uint32_t)type;
    object->ia = ia;
    return object;
}

void udapl_object_start(void *any)
{
    struct udapl_object *object = any;
    struct udapl_ia *ia = object->ia;
    struct udapl_object **first = &ia->objects[object->type];

    pthread_mutex_lock(&ia->lock);
    object->next = *first;
    if (object->next)
        object->next->prev = object;
    *first = object;
    pthread_mutex_unlock(&ia->lock);
    /* Pairs with the acquire load in udapl_is. */
    atomic_store_explicit(&object->magic, UDAPL_MAGIC + object->type, memory_order_release);
}

void udapl_object_discard(void *any)
{
    struct udapl_object *object = any;

    udapl_slab_put(&udapl_slabs[object->type], object);
}

bool udapl_object_hold(void *any)
{
    struct udapl_object *object = any;
    uint32_t references;

    if (!object)
        return true;
    references = atomic_load(&object->references);
    do {
        if (references == UDAPL_RETIRED)
            return false;
    } while (!atomic_compare_exchange_weak(&object->references, &references, references + 1));
    return true;
}

void udapl_object_release(void *any)
{
    struct udapl_object *object = any;

    if (object)
        atomic_fetch_sub(&object->references, 1);
}

bool udapl_object_retire(void *any)
{
    struct udapl_object *object = any;
    uint32_t none = 0;

    return atomic_compare_exchange_strong(&object->references, &none, UDAPL_RETIRED);
}

void udapl_object_unretire(void *any)
{
    struct udapl_object *object = any;

    atomic_store(&object->references, 0);
}

void udapl_object_end(void *any)
{
    struct udapl_object *object = any;
    struct udapl_ia *ia = object->ia;

    atomic_store_explicit(&object->magic, 0, memory_order_release);
    pthread_mutex_lock(&ia->lock);
    if (object->prev)
        object->prev->next = object->next;
    else
        ia->objects[object->type] = object->next;
    if (object->next)
        object->next->prev = object->prev;
    pthread_mutex_unlock(&ia->lock);
    udapl_object_discard(object);
}
