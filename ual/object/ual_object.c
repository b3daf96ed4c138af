/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/object/ual_object.h"

#include "ual/object/ual_extension.h"

void *ual_object_new(struct ual_ia *ia, it_handle_type_enum_t type)
{
    struct base_object *object = base_pool_get(&ia->pools[type]);

    if (object)
        object->ia = &ia->evd.object; /* the provider's create function already needs it */
    return object;
}

void *ual_object_new_child(const char *call, struct ual_ia *ia, it_handle_type_enum_t type,
                           void *parent, it_status_t gone, it_status_t *status)
{
    void *object;

    if (!base_object_hold(parent)) {
        *status = base_refuse(gone, call, "%p is just being freed", parent);
        return NULL;
    }
    object = ual_object_new(ia, type);
    *status = object ? IT_SUCCESS : IT_ERR_RESOURCES;
    if (!object)
        base_object_release(parent);
    return object;
}

void ual_object_discard_child(struct base_object *object, void *parent)
{
    ual_object_discard(object);
    base_object_release(parent);
}

void ual_object_discard(struct base_object *object)
{
    base_pool_put(&ual_ia_of(object)->pools[object->type], object);
}

void ual_object_start(struct base_object *object)
{
    evd_ia_link(&ual_ia_of(object)->evd, object);
    base_object_publish(object, object->ia);
}

void ual_object_end(struct base_object *object)
{
    evd_ia_unlink(&ual_ia_of(object)->evd, object);
    ual_object_discard(object);
}

it_status_t ual_object_free(const char *call, const char *name, void *handle,
                            it_handle_type_enum_t type, it_status_t invalid, it_status_t busy,
                            void (*destroy)(struct base_object *object))
{
    if (!base_object_is(handle, type))
        return base_refuse(invalid, call, "%s %p", name, handle);
    if (!base_object_claim_free(handle))
        return base_refuse(busy, call, "%s %p", name, handle);
    destroy(handle);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- destroying what tii creates */

void ual_listen_destroy(struct base_object *object)
{
    struct ual_listen *listen = (struct ual_listen *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->listen_stop(listen);
    evd_release(listen->connect_evd);
    ual_object_end(object);
}

void ual_address_destroy(struct base_object *object)
{
    struct ual_address *address = (struct ual_address *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->address_destroy(address);
    base_object_release(&address->pz->object);
    base_lock_destroy(&address->lock);
    ual_object_end(object);
}

/* ---------------------------------------------------------------- structs that may grow */

it_status_t ual_extension_check(const char *call, const char *name, const void *callers,
                                size_t smallest)
{
    size_t size;

    if (!callers)
        return base_refuse(IT_ERR_FAULT, call, "%s is NULL", name);
    memcpy(&size, callers, sizeof(size));
    if (size < smallest)
        return base_refuse(IT_ERR_INVALID_LENGTH, call, "%s->size %zu, at least %zu", name, size,
                           smallest);
    return IT_SUCCESS;
}
