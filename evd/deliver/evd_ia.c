/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

/* ---------------------------------------------------------------- the IA's list of objects */

void evd_ia_link(struct evd_ia *ia, struct base_object *object)
{
    struct base_object **newest = &ia->objects[object->type];

    base_lock_take(&ia->lock);
    object->prev = NULL;
    object->next = *newest;
    if (*newest)
        (*newest)->prev = object;
    *newest = object;
    base_lock_drop(&ia->lock);
}

void evd_ia_unlink(struct evd_ia *ia, struct base_object *object)
{
    base_lock_take(&ia->lock);
    if (object->prev)
        object->prev->next = object->next;
    else
        ia->objects[object->type] = object->next;
    if (object->next)
        object->next->prev = object->prev;
    object->prev = NULL;
    object->next = NULL;
    base_lock_drop(&ia->lock);
}

/*
 * The live EVD after this one, which is left, or the first; the result has been entered, so it stays
 * in the list. NULL: there is none.
 */
static struct evd *evd_ia_next(struct evd_ia *ia, struct evd *evd)
{
    struct base_object *object;

    base_lock_take(&ia->lock);
    object = evd ? evd->object.next : ia->objects[IT_HANDLE_TYPE_EVD];
    while (object && !evd_enter((struct evd *)object))
        object = object->next;
    base_lock_drop(&ia->lock);
    if (evd)
        evd_leave(evd);
    return (struct evd *)object;
}

/* From now on each post looks closer, and finds the flag. */
static void evd_ia_fail_eps(struct evd_ia *ia)
{
    base_lock_take(&ia->lock);
    for (struct base_object *ep = ia->objects[IT_HANDLE_TYPE_EP]; ep; ep = ep->next)
        base_object_set_entries(ep, ia->failed_entries);
    base_lock_drop(&ia->lock);
}

void evd_ia_fail(struct evd_ia *ia)
{
    struct evd *evd = NULL;

    atomic_store(&ia->failed, true);
    evd_ia_fail_eps(ia);
    /* The lock of each EVD, taken here, makes later looks at it find the flag. */
    while ((evd = evd_ia_next(ia, evd)) != NULL) {
        base_object_set_entries(&evd->object, &evd_entries);
        evd_wake_all(evd);
        evd_wake(evd);
    }
}

void evd_ia_stop(struct evd_ia *ia)
{
    struct evd *evd = NULL;

    /* First all waiters: a callback may be one of them. */
    atomic_store_explicit(&ia->closing, true, memory_order_relaxed);
    while ((evd = evd_ia_next(ia, evd)) != NULL)
        evd_wake_all(evd);
    while ((evd = evd_ia_next(ia, evd)) != NULL)
        (void)evd_callback_stop(evd);
}

/* Simple EVDs first: they leave their AEVDs. */
static struct evd *evd_ia_pick(struct evd_ia *ia)
{
    struct base_object *object;

    base_lock_take(&ia->lock);
    object = ia->objects[IT_HANDLE_TYPE_EVD];
    while (object && object->next && evd_is_aggregate((struct evd *)object))
        object = object->next;
    base_lock_drop(&ia->lock);
    return (struct evd *)object;
}

void evd_ia_free_all(struct evd_ia *ia)
{
    struct evd *evd;

    while ((evd = evd_ia_pick(ia)) != NULL)
        evd_destroy(evd);
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
static struct evd *evd_ia_enter_stream(struct evd_ia *ia, it_event_type_t stream)
{
    struct evd *evd;

    base_lock_take(&ia->lock);
    evd = *evd_ia_stream(ia, stream);
    if (evd)
        evd_pin(evd); /* not dying yet: it is unregistered before */
    base_lock_drop(&ia->lock);
    return evd;
}

/* ---------------------------------------------------------------- raising */

static void evd_raise_affiliated(struct evd_ia *ia, const it_affiliated_event_t *news)
{
    struct evd *evd = evd_ia_enter_stream(ia, IT_ASYNC_AFF_EVENT_STREAM);
    it_event_t event;

    if (!evd)
        return;
    event.aff_async = *news;
    (void)evd_deliver(evd, &event); /* a loss is reported by the EVD itself */
    evd_leave(evd);
}

void evd_raise_affiliated_ep(struct evd_ia *ia, it_event_type_t number, it_ep_handle_t ep)
{
    it_affiliated_event_t news = {.event_number = number, .cause.ep = ep};

    evd_raise_affiliated(ia, &news);
}

void evd_raise_affiliated_srq(struct evd_ia *ia, it_event_type_t number, it_srq_handle_t srq)
{
    it_affiliated_event_t news = {.event_number = number, .cause.srq = srq};

    evd_raise_affiliated(ia, &news);
}

void evd_raise_unaffiliated_spigot(struct evd_ia *ia, it_event_type_t number, size_t spigot_id)
{
    struct evd *evd = evd_ia_enter_stream(ia, IT_ASYNC_UNAFF_EVENT_STREAM);
    it_event_t event;

    if (!evd)
        return;
    event.unaff_async = (it_unaffiliated_event_t){
        .event_number = number,
        .ia = (it_ia_handle_t)(void *)ia,
        .spigot_id = spigot_id,
    };
    (void)evd_deliver(evd, &event); /* a loss is reported by the EVD itself */
    evd_leave(evd);
}

static bool evd_ia_raise_affiliated(struct evd *lost)
{
    struct evd *evd = evd_ia_enter_stream(lost->ia, IT_ASYNC_AFF_EVENT_STREAM);
    it_event_t event;

    if (!evd)
        return false;
    if (evd != lost) {
        event.aff_async = (it_affiliated_event_t){
            .event_number = IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE,
            .cause.sevd = evd_handle(lost),
        };
        /* When this is lost too, its own overflow goes to the unaffiliated EVD. */
        (void)evd_deliver(evd, &event);
    }
    evd_leave(evd);
    return evd != lost;
}

/*
 * Ends: delivering here may overflow the asynchronous EVDs themselves, but each enters that
 * condition, and so comes here, once.
 */
void evd_ia_raise_overflow(struct evd *lost)
{
    struct evd *evd;
    it_event_t event;

    if (evd_ia_raise_affiliated(lost))
        return;
    evd = evd_ia_enter_stream(lost->ia, IT_ASYNC_UNAFF_EVENT_STREAM);
    if (!evd)
        return;
    if (evd != lost) {
        event.unaff_async = (it_unaffiliated_event_t){
            .event_number = IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE,
            .ia = (it_ia_handle_t)(void *)lost->ia,
        };
        (void)evd_deliver(evd, &event);
    }
    evd_leave(evd);
}
