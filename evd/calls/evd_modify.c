/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_evd_modify changes all or nothing: it checks the arguments and gets memory first, then checks
 * and changes the state under the EVD's lock.
 */
#include "evd/deliver/evd_deliver_private.h"

#define EVD_MODIFY_SIMPLE                                                                          \
    ((unsigned)IT_EVD_PARAM_QUEUE_SIZE | (unsigned)IT_EVD_PARAM_THRESHOLD |                        \
     (unsigned)IT_EVD_PARAM_AEVD_HANDLE)
#define EVD_MODIFY_ANY                                                                             \
    ((unsigned)IT_EVD_PARAM_ENABLED | (unsigned)IT_EVD_PARAM_OVERFLOWED |                          \
     (unsigned)IT_EVD_PARAM_FLAG)

#define EVD_MODIFY "it_evd_modify"

struct evd_change {
    unsigned mask;
    const it_evd_param_t *params;
    struct evd *aevd;       /* the AEVD to join, with a hold on it; or NULL */
    struct evd *left;       /* the former AEVD, still to be released */
    struct evd_queue queue; /* the new memory; after the exchange the old */
};

static it_status_t evd_modify_check(struct evd *evd, struct evd_change *change)
{
    const it_evd_param_t *params = change->params;
    unsigned allowed = evd_is_aggregate(evd) ? EVD_MODIFY_ANY : EVD_MODIFY_ANY | EVD_MODIFY_SIMPLE;

    if (change->mask & ~allowed)
        return base_refuse(IT_ERR_INVALID_MASK, EVD_MODIFY, "mask %#x", change->mask);
    if ((change->mask & IT_EVD_PARAM_AEVD_HANDLE) && params->aevd) {
        change->aevd = evd_aggregate_from_handle(evd->ia, params->aevd);
        if (!change->aevd)
            return base_refuse_handle(IT_ERR_INVALID_AEVD, EVD_MODIFY, params->aevd);
    }
    if (change->mask & IT_EVD_PARAM_QUEUE_SIZE) {
        if (params->sevd_queue_size == 0)
            return base_refuse_number(IT_ERR_INVALID_QUEUE_SIZE, EVD_MODIFY,
                                      params->sevd_queue_size);
        if (params->sevd_queue_size > EVD_QUEUE_MAX)
            return base_refuse_above(IT_ERR_RESOURCE_QUEUE_SIZE, EVD_MODIFY,
                                     params->sevd_queue_size, EVD_QUEUE_MAX);
    }
    return IT_SUCCESS;
}

/* Acquires what the change needs. Afterwards change->aevd is held, or NULL. */
static it_status_t evd_modify_prepare(struct evd *evd, struct evd_change *change)
{
    struct evd *aevd = change->aevd;

    change->aevd = NULL;
    if (aevd && !evd_hold(aevd))
        return base_refuse(IT_ERR_INVALID_AEVD, EVD_MODIFY, "%p is just being freed", (void *)aevd);
    change->aevd = aevd;
    if (aevd && !evd_source_rely(evd))
        return IT_ERR_RESOURCES;
    if ((change->mask & IT_EVD_PARAM_QUEUE_SIZE) &&
        !evd_queue_init(&change->queue, change->params->sevd_queue_size, evd->queue.record_size))
        return IT_ERR_RESOURCES;
    return IT_SUCCESS;
}

static it_status_t evd_modify_check_locked(struct evd *evd, const struct evd_change *change)
{
    const it_evd_param_t *params = change->params;
    bool resize = (change->mask & IT_EVD_PARAM_QUEUE_SIZE) != 0;
    bool rethreshold = (change->mask & IT_EVD_PARAM_THRESHOLD) != 0;
    size_t size = resize ? params->sevd_queue_size : evd->queue.size;
    size_t threshold = rethreshold ? params->sevd_threshold : evd->threshold;

    /* Only the flags of overflow may change; others may be repeated or left out. */
    if ((change->mask & IT_EVD_PARAM_FLAG) &&
        ((unsigned)params->evd_flag & ~(evd->flags | EVD_FLAGS_OVERFLOW)))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, EVD_MODIFY, params->evd_flag);
    if (resize && size < evd_queue_count(&evd->queue))
        return base_refuse_below(IT_ERR_INVALID_QUEUE_SIZE, EVD_MODIFY, params->sevd_queue_size,
                                 evd_queue_count(&evd->queue));
    if ((resize || rethreshold) && threshold > size)
        return base_refuse(IT_ERR_INVALID_THRESHOLD, EVD_MODIFY,
                           "sevd_threshold %zu, sevd_queue_size %zu", threshold, size);
    if (change->aevd && change->aevd != evd->aevd &&
        (evd->callback || evd->fd >= 0 || evd->waiters_used != 0))
        return base_refuse(IT_ERR_INVALID_EVD_STATE, EVD_MODIFY,
                           "params->aevd %p: the EVD has a callback, a descriptor or waiters",
                           (void *)params->aevd);
    /* A consumer may end the overflow condition, but not cause it. */
    if ((change->mask & IT_EVD_PARAM_OVERFLOWED) && params->evd_overflowed && !evd->overflowed)
        return base_refuse_number(IT_ERR_INVALID_EVD_STATE, EVD_MODIFY, params->evd_overflowed);
    return IT_SUCCESS;
}

static void evd_modify_commit_locked(struct evd *evd, struct evd_change *change)
{
    const it_evd_param_t *params = change->params;

    if (change->mask & IT_EVD_PARAM_QUEUE_SIZE)
        evd_queue_move(&evd->queue, &change->queue);
    if (change->mask & IT_EVD_PARAM_THRESHOLD)
        evd->threshold = params->sevd_threshold;
    if (change->mask & IT_EVD_PARAM_FLAG)
        evd->flags =
            (evd->flags & ~EVD_FLAGS_OVERFLOW) | ((unsigned)params->evd_flag & EVD_FLAGS_OVERFLOW);
    if ((change->mask & IT_EVD_PARAM_OVERFLOWED) && !params->evd_overflowed)
        evd->overflowed = false;
    /* A dequeue that makes room ends the overflow; it may have run before this call. */
    if (evd->overflowed && (evd->flags & IT_EVD_OVERFLOW_AUTO_RESET) &&
        !evd_queue_is_full(&evd->queue))
        evd->overflowed = false;
    if (change->mask & IT_EVD_PARAM_ENABLED)
        evd->enabled = params->evd_enabled != IT_FALSE;
    if ((change->mask & IT_EVD_PARAM_AEVD_HANDLE) && change->aevd != evd->aevd) {
        change->left = evd_member_change_locked(evd, change->aevd);
        change->aevd = NULL; /* the member owns the hold now */
    } else if (evd->aevd) {
        (void)evd_member_update_locked(evd); /* the caller wakes consumers anyway */
    }
}

/* Releases the former AEVD, the old memory, and what a failed change did not use. */
static void evd_modify_finish(struct evd_change *change)
{
    evd_aggregate_left(change->left);
    if (change->aevd)
        evd_release(change->aevd);
    evd_queue_destroy(&change->queue);
}

it_status_t it_evd_modify(it_evd_handle_t handle, it_evd_param_mask_t mask,
                          const it_evd_param_t *params)
{
    struct evd *evd = evd_from_handle(handle);
    struct evd_change change = {.mask = (unsigned)mask, .params = params};
    it_status_t status;

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if (atomic_load_explicit(&evd->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    status = evd_modify_check(evd, &change);
    if (status != IT_SUCCESS)
        return status;
    status = evd_modify_prepare(evd, &change);
    if (status == IT_SUCCESS) {
        base_lock_take(&evd->lock);
        status = evd_modify_check_locked(evd, &change);
        if (status == IT_SUCCESS)
            evd_modify_commit_locked(evd, &change);
        base_lock_drop(&evd->lock);
    }
    evd_modify_finish(&change);
    if (status == IT_SUCCESS)
        evd_wake(evd);
    return status;
}
