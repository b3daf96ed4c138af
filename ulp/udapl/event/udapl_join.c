/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IAs that share the EVD of another opening for asynchronous errors. Their errors arrive at a
 * private EVD, whose callback forwards them to the shared EVD as software events.
 */
#include "event/udapl_join.h"

#include "deliver/udapl_deliver.h"
#include "event/udapl_event.h"
#include "object/udapl_error.h"

#include "itx_api.h"

#define ERRORS 64

/*
 * Guards .joined and .next_joined. Together with udapl_ia.lock, which is taken after it, it guards
 * .errors_evd of a joined IA. It is held across it_evd_post_se, which does not wait.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- forwarding errors */

/* The lock is held, so the EVD stays. An EVD that is full loses the error. */
static void pass_on_locked(const struct udapl_evd *evd, const DAT_EVENT *event)
{
    struct udapl_error *error = udapl_slab_get(&udapl_slabs[UDAPL_TYPE_ERROR]);

    if (!error)
        return;
    error->number = event->event_number;
    error->data = event->event_data.asynch_error_event_data;
    if (it_evd_post_se(evd->it, error) != IT_SUCCESS)
        udapl_slab_put(&udapl_slabs[UDAPL_TYPE_ERROR], error);
}

/* Forwards errors. Runs on the IA's thread. */
static void take_on(it_evd_handle_t own, void *argument)
{
    struct udapl_ia *ia = argument;
    it_event_t event;
    DAT_EVENT out;

    while (it_evd_dequeue(own, &event) == IT_SUCCESS) {
        if (!udapl_deliver_async(ia, &event, &out))
            continue;
        pthread_mutex_lock(&lock);
        if (ia->errors_evd)
            pass_on_locked(ia->errors_evd, &out);
        pthread_mutex_unlock(&lock);
    }
}

bool udapl_join_is_error(const it_event_t *event)
{
    return udapl_slab_find(&udapl_slabs[UDAPL_TYPE_ERROR], event->sw.data) != NULL;
}

void udapl_join_deliver(const it_event_t *event, DAT_EVENT *out)
{
    struct udapl_error *error = event->sw.data;

    out->event_number = error->number;
    out->event_data.asynch_error_event_data = error->data;
    udapl_slab_put(&udapl_slabs[UDAPL_TYPE_ERROR], error);
}

/* ---------------------------------------------------------------- joining and leaving */

/* Finds an EVD for errors, of any IA, by a handle that may be any number; adds a reference. */
static struct udapl_evd *hold_shared(DAT_EVD_HANDLE handle)
{
    struct udapl_evd *evd = udapl_slab_find(&udapl_slabs[DAT_HANDLE_TYPE_EVD], handle);

    if (!evd || !udapl_is(evd, DAT_HANDLE_TYPE_EVD) ||
        !((unsigned)evd->flags & (unsigned)DAT_EVD_ASYNC_FLAG) || !udapl_object_hold(evd))
        return NULL;
    return evd;
}

DAT_RETURN udapl_evd_join_async(struct udapl_ia *ia, DAT_EVD_HANDLE handle)
{
    const uint32_t streams = (uint32_t)ITX_STREAM_ASYNC_AFF | (uint32_t)ITX_STREAM_ASYNC_UNAFF;
    struct udapl_evd *evd = hold_shared(handle);
    it_evd_handle_t own;
    it_status_t status;

    if (!evd)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
    status = itx_evd_create_mixed(ia->it, streams, (it_evd_flags_t)0, ERRORS, IT_THRESHOLD_DISABLE,
                                  NULL, &own, NULL);
    if (status == IT_SUCCESS)
        status = it_evd_callback_attach(own, take_on, ia); /* freed with the IA, like own */
    if (status != IT_SUCCESS) {
        udapl_object_release(evd);
        return udapl_return(status);
    }
    pthread_mutex_lock(&lock);
    ia->errors_evd = evd;
    ia->next_joined = evd->joined;
    evd->joined = ia;
    pthread_mutex_unlock(&lock);
    return DAT_SUCCESS;
}

static void leave_locked(struct udapl_ia *ia)
{
    struct udapl_evd *evd = ia->errors_evd;
    struct udapl_ia **link = &evd->joined;

    while (*link && *link != ia)
        link = &(*link)->next_joined;
    if (!*link)
        return; /* the IA's own EVD */
    *link = ia->next_joined;
    pthread_mutex_lock(&ia->lock);
    ia->errors_evd = NULL;
    pthread_mutex_unlock(&ia->lock);
    udapl_object_release(evd);
}

static void send_away_locked(struct udapl_evd *evd)
{
    while (evd->joined)
        leave_locked(evd->joined);
}

void udapl_join_end(struct udapl_ia *ia)
{
    pthread_mutex_lock(&lock);
    if (ia->errors_evd)
        leave_locked(ia);
    /* The IA is being closed: no other thread creates or frees its objects. */
    for (struct udapl_object *object = ia->objects[DAT_HANDLE_TYPE_EVD]; object;
         object = object->next)
        send_away_locked((struct udapl_evd *)object);
    pthread_mutex_unlock(&lock);
}
