/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection/sdp_adapter.h"

#include "connection/sdp_connection.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define NAME_MAX_OCTETS 64u

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static char interface_name[NAME_MAX_OCTETS] = "uiwarp"; /* with open_lock */
static struct sdp_adapter adapter;
static _Atomic(struct sdp_adapter *) opened; /* set with open_lock */

static pthread_mutex_t over_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdp_over *over; /* with over_lock */

/* ---- What is over --------------------------------------------------------------------------- */

static void on_over(it_evd_handle_t evd, void *argument)
{
    struct sdp_over *list;
    struct sdp_over *next;
    it_event_t event;

    (void)argument;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
    }
    (void)pthread_mutex_lock(&over_lock);
    list = over;
    over = NULL;
    (void)pthread_mutex_unlock(&over_lock);
    for (; list; list = next) {
        next = list->next;
        list->reap(list);
    }
}

void sdp_adapter_bury(struct sdp_over *dead)
{
    bool first;

    (void)pthread_mutex_lock(&over_lock);
    first = over == NULL;
    dead->next = over;
    over = dead;
    (void)pthread_mutex_unlock(&over_lock);
    /* The queue is full if the last event has not been taken: that one is for this, too. */
    if (first)
        (void)it_evd_post_se(adapter.over_evd, NULL);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static it_status_t open_objects(void)
{
    it_evd_handle_t none = NULL;
    it_status_t status = it_ia_create(interface_name, 2, 1, &adapter.ia);

    if (status != IT_SUCCESS)
        return status;
    status = it_pz_create(adapter.ia, &adapter.pz);
    if (status == IT_SUCCESS)
        status = it_evd_create(adapter.ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 1,
                               IT_THRESHOLD_DISABLE, none, &adapter.over_evd, NULL);
    if (status == IT_SUCCESS)
        status = it_evd_callback_attach(adapter.over_evd, on_over, NULL);
    if (status != IT_SUCCESS)
        (void)it_ia_free(adapter.ia);
    return status;
}

static int open_adapter(void)
{
    it_status_t status = open_objects();

    if (status == IT_ERR_INVALID_NAME)
        return ENODEV;
    if (status != IT_SUCCESS)
        return status == IT_ERR_NO_PERMISSION ? EACCES : ENOMEM;
    atomic_store_explicit(&opened, &adapter, memory_order_release);
    return 0;
}

struct sdp_adapter *sdp_adapter_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_acquire);
}

struct sdp_adapter *sdp_adapter_get(void)
{
    struct sdp_adapter *result = sdp_adapter_opened();

    if (result)
        return result;
    (void)pthread_mutex_lock(&open_lock);
    if (!sdp_adapter_opened())
        errno = open_adapter();
    (void)pthread_mutex_unlock(&open_lock);
    return sdp_adapter_opened();
}

int sdp_use_interface(const char *name)
{
    size_t length = 0;

    if (!name)
        name = "uiwarp";
    (void)pthread_mutex_lock(&open_lock);
    while (name[length] && length < NAME_MAX_OCTETS - 1) {
        interface_name[length] = name[length];
        length++;
    }
    interface_name[length] = '\0';
    (void)pthread_mutex_unlock(&open_lock);
    return sdp_adapter_get() ? 0 : -errno;
}
