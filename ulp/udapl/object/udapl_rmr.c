/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/udapl_rmr.h"

#include "object/udapl_ia.h"

static _Atomic(struct udapl_rmr *) *place_of(struct udapl_ia *ia, DAT_RMR_CONTEXT key)
{
    return &ia->window[(key ^ key >> 8 ^ key >> 16) % UDAPL_IA_WINDOWS];
}

void udapl_rmr_remember(struct udapl_rmr *rmr)
{
    atomic_store_explicit(place_of(rmr->object.ia, rmr->rmr_context), rmr, memory_order_release);
}

/* Returns true if the RMR has the key. Its memory stays valid even if it was freed. */
static bool has_key(const struct udapl_rmr *rmr, const struct udapl_ia *ia, DAT_RMR_CONTEXT key)
{
    return rmr && udapl_is((DAT_HANDLE)(uintptr_t)rmr, DAT_HANDLE_TYPE_RMR) &&
           rmr->object.ia == ia && rmr->rmr_context == key;
}

static struct udapl_rmr *search(struct udapl_ia *ia, DAT_RMR_CONTEXT key)
{
    struct udapl_object *object;

    pthread_mutex_lock(&ia->lock);
    for (object = ia->objects[DAT_HANDLE_TYPE_RMR]; object; object = object->next)
        if (has_key((struct udapl_rmr *)object, ia, key))
            break;
    pthread_mutex_unlock(&ia->lock);
    return (struct udapl_rmr *)object;
}

struct udapl_rmr *udapl_rmr_of_key(struct udapl_ia *ia, DAT_RMR_CONTEXT key)
{
    struct udapl_rmr *rmr = atomic_load_explicit(place_of(ia, key), memory_order_acquire);

    if (has_key(rmr, ia, key))
        return rmr;
    rmr = search(ia, key);
    if (rmr)
        udapl_rmr_remember(rmr);
    return rmr;
}
