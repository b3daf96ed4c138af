/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapter/exs_adapter.h"

#include <errno.h>
#include <itx_api.h>
#include <stdlib.h>
#include <string.h>

#define OVER_EVENTS 1u
#define POLLED_MAX  8u /* of one call of exs_adapter_poll */

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct exs_adapter *) opened; /* set with open_lock */
static struct exs_adapter adapter;
static it_evd_handle_t over_evd;

static pthread_mutex_t over_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exs_over *over; /* with over_lock */

/* Outside of the locks of sockets: a poll takes these. */
static pthread_mutex_t poll_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exs_polled *polled_first; /* a list; with poll_lock */
static struct exs_polled *polled_next;  /* the turn goes round */
static size_t polled_count;
static size_t pollers;

/* ---- What is over --------------------------------------------------------------------------- */

static void on_over(it_evd_handle_t evd, void *argument)
{
    struct exs_over *list;
    struct exs_over *next;
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

void exs_adapter_bury(struct exs_over *dead)
{
    bool first;

    (void)pthread_mutex_lock(&over_lock);
    first = over == NULL;
    dead->next = over;
    over = dead;
    (void)pthread_mutex_unlock(&over_lock);
    /* The queue is full if the last event has not been taken: that one is for this, too. */
    if (first)
        (void)it_evd_post_se(over_evd, NULL);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static int errno_of(it_status_t status)
{
    if (status == IT_ERR_INVALID_NAME)
        return ENODEV;
    return status == IT_ERR_NO_PERMISSION ? EACCES : ENOMEM;
}

static it_status_t open_objects(const char *name)
{
    it_evd_handle_t none = NULL;
    it_status_t status = it_ia_create(name, 2, 1, &adapter.ia);

    if (status != IT_SUCCESS)
        return status;
    status = it_pz_create(adapter.ia, &adapter.pz);
    if (status == IT_SUCCESS)
        status = it_evd_create(adapter.ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, OVER_EVENTS,
                               IT_THRESHOLD_DISABLE, none, &over_evd, NULL);
    if (status == IT_SUCCESS)
        status = it_evd_callback_attach(over_evd, on_over, NULL);
    if (status != IT_SUCCESS)
        (void)it_ia_free(adapter.ia);
    return status;
}

static int open_adapter(void)
{
    const char *name = getenv("ITAPI_EXS_INTERFACE");
    const char *crc = getenv("ITAPI_EXS_CRC");
    it_status_t status;

    if (!name || !*name)
        name = "uiwarp";
    status = open_objects(name);
    if (status != IT_SUCCESS)
        return errno_of(status);
    adapter.pins = strncmp(name, "uiwarp", 6) != 0;
    adapter.no_crc = crc && strcmp(crc, "off") == 0;
    atomic_store_explicit(&opened, &adapter, memory_order_release);
    return 0;
}

struct exs_adapter *exs_adapter_get(void)
{
    struct exs_adapter *result = atomic_load_explicit(&opened, memory_order_acquire);

    if (result)
        return result;
    (void)pthread_mutex_lock(&open_lock);
    if (!atomic_load(&opened))
        errno = open_adapter();
    (void)pthread_mutex_unlock(&open_lock);
    return atomic_load(&opened);
}

void exs_adapter_forget(void)
{
    (void)pthread_mutex_init(&open_lock, NULL);
    (void)pthread_mutex_init(&over_lock, NULL);
    (void)pthread_mutex_init(&poll_lock, NULL);
    atomic_store(&opened, NULL);
    over = NULL;
    polled_first = NULL;
    polled_next = NULL;
    polled_count = 0;
    pollers = 0;
}

/* ---- Polling -------------------------------------------------------------------------------- */

void exs_adapter_watch(struct exs_polled *polled)
{
    (void)pthread_mutex_lock(&poll_lock);
    polled->next = polled_first;
    polled->link = &polled_first;
    if (polled_first)
        polled_first->link = &polled->next;
    polled_first = polled;
    polled_count++;
    (void)pthread_mutex_unlock(&poll_lock);
}

void exs_adapter_unwatch(struct exs_polled *polled)
{
    (void)pthread_mutex_lock(&poll_lock);
    polled_count--;
    *polled->link = polled->next;
    if (polled->next)
        polled->next->link = polled->link;
    if (polled_next == polled)
        polled_next = polled->next;
    (void)pthread_mutex_unlock(&poll_lock);
}

/* More than are looked at with each poll need their callbacks. */
void exs_adapter_poll_begin(void)
{
    (void)pthread_mutex_lock(&poll_lock);
    if (pollers++ == 0 && polled_count <= POLLED_MAX)
        for (struct exs_polled *polled = polled_first; polled; polled = polled->next)
            polled->quiet = itx_evd_arm(polled->evd, ITX_EVD_ARM_NONE) == IT_SUCCESS;
    (void)pthread_mutex_unlock(&poll_lock);
}

void exs_adapter_poll_end(void)
{
    (void)pthread_mutex_lock(&poll_lock);
    if (--pollers == 0)
        for (struct exs_polled *polled = polled_first; polled; polled = polled->next)
            if (polled->quiet) {
                polled->quiet = false;
                (void)itx_evd_arm(polled->evd, ITX_EVD_ARM_OFF);
            }
    (void)pthread_mutex_unlock(&poll_lock);
}

bool exs_adapter_poll(void)
{
    bool worked = false;

    if (pthread_mutex_trylock(&poll_lock) != 0)
        return false;
    for (size_t i = 0; i < POLLED_MAX && polled_first; i++) {
        if (!polled_next)
            polled_next = polled_first;
        worked |= polled_next->poll(polled_next);
        polled_next = polled_next->next;
        if (!polled_next)
            break;
    }
    (void)pthread_mutex_unlock(&poll_lock);
    return worked;
}
