/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects of an IA, and its EVDs of asynchronous streams. */
#include "evd/queue/evd_object.h"

/* ---------------------------------------------------------------- the IA's list of objects */

void evd_ia_link(struct evd_ia *ia, struct base_object *object)
{
    base_lock_take(&ia->lock);
    base_list_prepend(&ia->objects[object->type], &object->link);
    base_lock_drop(&ia->lock);
}

void evd_ia_unlink(struct evd_ia *ia, struct base_object *object)
{
    base_lock_take(&ia->lock);
    base_list_remove(&ia->objects[object->type], &object->link);
    base_lock_drop(&ia->lock);
}

/* ---------------------------------------------------------------- asynchronous streams */

static struct evd **evd_ia_stream(struct evd_ia *ia, it_event_type_t stream)
{
    if (stream == IT_ASYNC_AFF_EVENT_STREAM)
        return &ia->affiliated;
    if (stream == IT_ASYNC_UNAFF_EVENT_STREAM)
        return &ia->unaffiliated;
    return NULL;
}

it_status_t evd_ia_register(struct evd *evd)
{
    struct evd **place = evd_ia_stream(evd->ia, evd->stream);
    bool taken;

    if (!place)
        return IT_SUCCESS;
    base_lock_take(&evd->ia->lock);
    taken = *place != NULL;
    if (!taken)
        *place = evd;
    base_lock_drop(&evd->ia->lock);
    if (!taken)
        return IT_SUCCESS;
    return evd->stream == IT_ASYNC_AFF_EVENT_STREAM ? IT_ERR_ASYNC_AFF_EVD_EXISTS
                                                    : IT_ERR_ASYNC_UNAFF_EVD_EXISTS;
}

void evd_ia_unregister(struct evd *evd)
{
    struct evd **place = evd_ia_stream(evd->ia, evd->stream);

    if (!place)
        return;
    base_lock_take(&evd->ia->lock);
    if (*place == evd)
        *place = NULL;
    base_lock_drop(&evd->ia->lock);
}

/* The EVD of an asynchronous stream, pinned, or NULL. */
struct evd *evd_ia_enter_stream(struct evd_ia *ia, it_event_type_t stream)
{
    struct evd *evd;

    base_lock_take(&ia->lock);
    evd = *evd_ia_stream(ia, stream);
    if (evd)
        evd_pin(evd); /* not dying yet: it is unregistered before */
    base_lock_drop(&ia->lock);
    return evd;
}
