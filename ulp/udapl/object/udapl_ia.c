/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/udapl_ia.h"

#include "object/udapl_evd.h"

/* Exported by libdat2 without a declaration. Converts a handle to its number, and back. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *found);

DAT_IA_HANDLE udapl_ia_handle(const struct udapl_ia *ia)
{
    DAT_IA_HANDLE own = (DAT_IA_HANDLE)(uintptr_t)ia, number;

    return dats_get_ia_handle(own, &number) == DAT_SUCCESS ? number : own;
}

struct udapl_ia *udapl_ia_new(const struct udapl_provider *provider)
{
    struct udapl_ia *ia = udapl_slab_get(&udapl_slabs[DAT_HANDLE_TYPE_IA]);

    if (!ia)
        return NULL;
    ia->object.entry.first = &provider->table;
    ia->object.type = DAT_HANDLE_TYPE_IA;
    ia->object.ia = ia;
    ia->provider = provider;
    pthread_mutex_init(&ia->lock, NULL);
    return ia;
}

void udapl_ia_start(struct udapl_ia *ia)
{
    /* Pairs with the acquire load in udapl_is. */
    atomic_store_explicit(&ia->object.magic, UDAPL_MAGIC + DAT_HANDLE_TYPE_IA,
                          memory_order_release);
}

void udapl_ia_end(struct udapl_ia *ia)
{
    atomic_store_explicit(&ia->object.magic, 0, memory_order_release);
    pthread_mutex_destroy(&ia->lock);
    udapl_object_discard(ia);
}

bool udapl_ia_is_used(struct udapl_ia *ia)
{
    bool used = false;

    pthread_mutex_lock(&ia->lock);
    for (size_t type = 0; type < UDAPL_TYPES; type++)
        for (struct udapl_object *object = ia->objects[type]; object; object = object->next)
            used = used || !ia->async_evd || object != &ia->async_evd->object;
    pthread_mutex_unlock(&ia->lock);
    return used;
}
