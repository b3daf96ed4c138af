/* SPDX-License-Identifier: BSD-2-Clause */
/* The event layer's part of an IA: objects, EVDs of asynchronous streams, time to poll. */
#include "evd/queue/evd_object.h"

#include "base/base_clock.h"

#include "itx_api.h"

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

/* ---------------------------------------------------------------- reliance on the loop */

/* An AEVD may have members for completions later. */
static unsigned ia_reliance(const struct evd *evd)
{
    return evd_is_aggregate(evd) || evd_carries(evd, IT_DTO_EVENT_STREAM) ? 1 : 0;
}

void evd_rely(struct evd *evd)
{
    atomic_fetch_add_explicit(&evd->ia->reliant, ia_reliance(evd), memory_order_relaxed);
}

void evd_rely_no_more(struct evd *evd)
{
    atomic_fetch_sub_explicit(&evd->ia->reliant, ia_reliance(evd), memory_order_relaxed);
}

/* ---------------------------------------------------------------- asynchronous streams */

it_status_t evd_ia_register(struct evd *evd)
{
    bool affiliated = evd_carries(evd, IT_ASYNC_AFF_EVENT_STREAM);
    bool unaffiliated = evd_carries(evd, IT_ASYNC_UNAFF_EVENT_STREAM);
    struct evd_ia *ia = evd->ia;
    it_status_t status = IT_SUCCESS;

    if (!affiliated && !unaffiliated)
        return IT_SUCCESS;
    base_lock_take(&ia->lock);
    if (affiliated && ia->affiliated)
        status = IT_ERR_ASYNC_AFF_EVD_EXISTS;
    else if (unaffiliated && ia->unaffiliated)
        status = IT_ERR_ASYNC_UNAFF_EVD_EXISTS;
    if (status == IT_SUCCESS && affiliated)
        ia->affiliated = evd;
    if (status == IT_SUCCESS && unaffiliated)
        ia->unaffiliated = evd;
    base_lock_drop(&ia->lock);
    return status;
}

void evd_ia_unregister(struct evd *evd)
{
    struct evd_ia *ia = evd->ia;

    if (!evd_carries(evd, IT_ASYNC_AFF_EVENT_STREAM) &&
        !evd_carries(evd, IT_ASYNC_UNAFF_EVENT_STREAM))
        return;
    base_lock_take(&ia->lock);
    if (ia->affiliated == evd)
        ia->affiliated = NULL;
    if (ia->unaffiliated == evd)
        ia->unaffiliated = NULL;
    base_lock_drop(&ia->lock);
}

struct evd *evd_ia_enter_stream(struct evd_ia *ia, it_event_type_t stream)
{
    struct evd *evd;

    base_lock_take(&ia->lock);
    evd = stream == IT_ASYNC_AFF_EVENT_STREAM ? ia->affiliated : ia->unaffiliated;
    if (evd)
        evd_pin(evd); /* cannot be dying: it is unregistered before */
    base_lock_drop(&ia->lock);
    return evd;
}

/* ---------------------------------------------------------------- polling */

/* A limit, because a thread that polls is not interrupted by signals. */
#define SPIN_MAX_US UINT64_C(10000)

uint64_t evd_ia_spin_ns(const struct evd_ia *ia, uint64_t usual_ns)
{
    uint64_t spin_us = atomic_load_explicit(&ia->spin_us, memory_order_relaxed);

    if (spin_us == ITX_SPIN_DEFAULT)
        return usual_ns;
    return (spin_us < SPIN_MAX_US ? spin_us : SPIN_MAX_US) * BASE_NS_PER_US;
}
