/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on handles of any type, and dat_ia_ha_related. */
#include "ia/udapl_ia_calls.h"
#include "object/udapl_ia.h"

/* Checks the first argument of a call, of any type. Returns the object or NULL. */
static struct udapl_object *any_from(DAT_HANDLE handle)
{
    for (size_t type = 0; type < UDAPL_TYPES; type++)
        if (udapl_is(handle, (DAT_HANDLE_TYPE)type))
            return handle;
    return NULL;
}

DAT_RETURN udapl_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
    struct udapl_object *object = any_from(handle);

    if (!object)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    atomic_store_explicit(&object->context, context.as_64, memory_order_relaxed);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
    struct udapl_object *object = any_from(handle);

    if (!object)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    if (!context)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    context->as_64 = atomic_load_explicit(&object->context, memory_order_relaxed);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
    const struct udapl_object *object = any_from(handle);

    if (!object)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    if (!type)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    *type = (DAT_HANDLE_TYPE)object->type;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ia_ha_related(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR name,
                               DAT_BOOLEAN *related)
{
    if (!udapl_ia_from(ia_handle))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!name)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!related)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    *related = DAT_FALSE;
    return DAT_SUCCESS;
}
