/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_set_event_base. */
#include "evd/queue/evd_object.h"

#include "itx_api.h"

it_status_t itx_ia_set_event_base(it_ia_handle_t ia_handle, struct event_base *base)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!base)
        return base_refuse_null(__func__, base);
    if (atomic_load_explicit(&ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (evd_loop_is_inside(ia->loop))
        return base_refuse(IT_ERR_EVD_BUSY, __func__, "ia_handle %p from a callback", (void *)ia);
    return base_refuse(evd_loop_adopt(ia->loop, base), __func__,
                       "ia_handle %p is being moved already", (void *)ia);
}
