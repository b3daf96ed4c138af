/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/object/ual_object.h"

void *ual_object_new(struct ual_ia *ia, it_handle_type_enum_t type)
{
    struct base_object *object = base_pool_get(&ia->pools[type]);

    if (object)
        object->ia = &ia->evd.object; /* the provider's create function needs it already */
    return object;
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
