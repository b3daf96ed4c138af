/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

#define EVD_PARAMS_ALL 0xfffu /* all bits of it_evd_param_mask_t */

static it_boolean_t evd_boolean(bool value)
{
    return value ? IT_TRUE : IT_FALSE;
}

static bool evd_is_bound(struct evd *evd)
{
    uint32_t children = atomic_load_explicit(&evd->object.children, memory_order_relaxed);

    return children != 0 && children != BASE_OBJECT_DYING;
}

static void evd_get_fixed(struct evd *evd, unsigned mask, it_evd_param_t *params)
{
    if (mask & IT_EVD_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)evd->ia;
    if (mask & IT_EVD_PARAM_EVENT_NUMBER)
        params->event_number = evd->stream;
    if (mask & IT_EVD_PARAM_FD)
        params->fd = evd->fd;
    if (mask & IT_EVD_PARAM_BOUND)
        params->evd_bound = evd_boolean(evd_is_bound(evd));
}

static void evd_get_locked(struct evd *evd, unsigned mask, it_evd_param_t *params)
{
    base_lock_assert_held(&evd->lock);
    if (mask & IT_EVD_PARAM_FLAG)
        params->evd_flag = (it_evd_flags_t)evd->flags;
    if (mask & IT_EVD_PARAM_QUEUE_SIZE)
        params->sevd_queue_size = evd->queue.size;
    if (mask & IT_EVD_PARAM_THRESHOLD)
        params->sevd_threshold = evd->threshold;
    if (mask & IT_EVD_PARAM_AEVD_HANDLE)
        params->aevd = evd->aevd ? evd_handle(evd->aevd) : NULL;
    if (mask & IT_EVD_PARAM_ENABLED)
        params->evd_enabled = evd_boolean(evd->enabled);
    if (mask & IT_EVD_PARAM_OVERFLOWED)
        params->evd_overflowed = evd_boolean(evd->overflowed);
    if (mask & IT_EVD_PARAM_CALLBACK)
        params->evd_callback = evd_boolean(evd->callback != NULL);
}

it_status_t it_evd_query(it_evd_handle_t handle, it_evd_param_mask_t mask, it_evd_param_t *params)
{
    struct evd *evd = evd_from_handle(handle);
    unsigned selected = (unsigned)mask;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if (selected & ~EVD_PARAMS_ALL)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (selected & IT_EVD_PARAM_ALL)
        selected = EVD_PARAMS_ALL;
    evd_get_fixed(evd, selected, params);
    base_lock_take(&evd->lock);
    evd_get_locked(evd, selected, params);
    base_lock_drop(&evd->lock);
    return IT_SUCCESS;
}
