/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on handles of any kind: it_get_handle_type and the consumer's context. */
#include "base/base_object.h"
#include "base/base_refuse.h"

it_status_t it_get_handle_type(it_handle_t handle, it_handle_type_enum_t *type_of_handle)
{
    const struct base_object *object = handle;

    if (!base_object_is_any(handle))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, __func__, handle);
    if (!type_of_handle)
        return base_refuse_null(__func__, type_of_handle);
    *type_of_handle = object->type;
    return IT_SUCCESS;
}

it_status_t it_set_consumer_context(it_handle_t handle, it_context_t context)
{
    struct base_object *object = handle;

    if (!base_object_is_any(handle))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, __func__, handle);
    atomic_store_explicit(&object->context, context.index, memory_order_relaxed);
    /* Pairs with the acquire load in it_get_consumer_context. */
    atomic_store_explicit(&object->has_context, true, memory_order_release);
    return IT_SUCCESS;
}

it_status_t it_get_consumer_context(it_handle_t handle, it_context_t *context)
{
    struct base_object *object = handle;

    if (!base_object_is_any(handle))
        return base_refuse_handle(IT_ERR_INVALID_HANDLE, __func__, handle);
    if (!context)
        return base_refuse_null(__func__, context);
    if (!atomic_load_explicit(&object->has_context, memory_order_acquire))
        return base_refuse_handle(IT_ERR_NO_CONTEXT, __func__, handle);
    context->index = atomic_load_explicit(&object->context, memory_order_relaxed);
    return IT_SUCCESS;
}
