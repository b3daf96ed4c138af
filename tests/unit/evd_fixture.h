/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA without a provider, for tests of the event layer. Tests wait for conditions and never
 * sleep.
 */
#ifndef ITAPI_TESTS_UNIT_EVD_FIXTURE_H
#define ITAPI_TESTS_UNIT_EVD_FIXTURE_H

#include "evd/loop/evd_loop.h"
#include "evd/queue/evd_object.h"
#include "evd/calls/evd_calls.h"

#include "itx_api.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct evd_ia ia;
};

static inline it_ia_handle_t fixture_start(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    base_lock_init(&fixture->ia.lock);
    fixture->ia.spin_us = ITX_SPIN_DEFAULT;
    if (evd_loop_start(&fixture->ia.loop, "itapi-test") != IT_SUCCESS)
        abort();
    fixture->ia.object.type = IT_HANDLE_TYPE_IA;
    base_object_publish(&fixture->ia.object, &fixture->ia.object);
    return (it_ia_handle_t)(void *)&fixture->ia;
}

static inline void fixture_stop(struct fixture *fixture)
{
    evd_ia_free_all(&fixture->ia);
    base_object_unpublish(&fixture->ia.object);
    evd_loop_stop(fixture->ia.loop);
    base_lock_destroy(&fixture->ia.lock);
}

static inline it_ia_handle_t fixture_handle(struct fixture *fixture)
{
    return (it_ia_handle_t)(void *)&fixture->ia;
}

static inline it_evd_handle_t fixture_evd(struct fixture *fixture, it_event_type_t stream,
                                          size_t size, size_t threshold, unsigned flags, int *fd)
{
    it_evd_handle_t handle;

    if (it_evd_create(fixture_handle(fixture), stream, (it_evd_flags_t)flags, size, threshold, NULL,
                      &handle, fd) != IT_SUCCESS)
        abort();
    return handle;
}

static inline it_evd_handle_t fixture_aevd(struct fixture *fixture, unsigned flags, int *fd)
{
    return fixture_evd(fixture, IT_AEVD_NOTIFICATION_EVENT_STREAM, 0, 0, flags, fd);
}

static inline it_evd_handle_t fixture_member(struct fixture *fixture, it_evd_handle_t aevd,
                                             it_event_type_t stream, size_t threshold)
{
    it_evd_handle_t handle;

    if (it_evd_create(fixture_handle(fixture), stream, (it_evd_flags_t)0, 16, threshold, aevd,
                      &handle, NULL) != IT_SUCCESS)
        abort();
    return handle;
}

/* Pushes a successful completion, which wakes a waiter only if notify is true. */
static inline enum evd_push_result fixture_push_dto(it_evd_handle_t handle, uint64_t cookie,
                                                    bool notify)
{
    struct evd_dto dto = {
        .event_number = IT_DTO_SEND_CMPL_EVENT,
        .status = IT_DTO_SUCCESS,
        .cookie = cookie,
        .length = 7,
        .notify = notify,
    };
    enum evd_push_result result = evd_push_dto(evd_from_handle(handle), &dto);

    if (result != EVD_PUSHED)
        evd_wake(evd_from_handle(handle));
    return result;
}

static inline enum evd_push_result fixture_push_failed(it_evd_handle_t handle, uint64_t cookie)
{
    struct evd_dto dto = {
        .event_number = IT_DTO_SEND_CMPL_EVENT,
        .status = IT_DTO_ERR_FLUSHED,
        .cookie = cookie,
        .length = 7,
    };
    enum evd_push_result result = evd_push_dto(evd_from_handle(handle), &dto);

    if (result != EVD_PUSHED)
        evd_wake(evd_from_handle(handle));
    return result;
}

static inline it_status_t fixture_post(it_evd_handle_t handle, uintptr_t value)
{
    return it_evd_post_se(handle, (const void *)value);
}

/* ---------------------------------------------------------------- a thread in it_evd_wait */

struct fixture_waiter {
    pthread_t thread;
    it_evd_handle_t evd;
    uint64_t timeout;
    it_event_t event;
    size_t nmore;
    it_status_t status;
    _Atomic bool done;
};

static inline void *fixture_waiter_main(void *argument)
{
    struct fixture_waiter *waiter = argument;

    waiter->status = it_evd_wait(waiter->evd, waiter->timeout, &waiter->event, &waiter->nmore);
    atomic_store(&waiter->done, true);
    return NULL;
}

static inline void fixture_waiter_start(struct fixture_waiter *waiter, it_evd_handle_t evd,
                                        uint64_t timeout)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->evd = evd;
    waiter->timeout = timeout;
    if (pthread_create(&waiter->thread, NULL, fixture_waiter_main, waiter) != 0)
        abort();
}

static inline it_status_t fixture_waiter_join(struct fixture_waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
    return waiter->status;
}

static inline unsigned fixture_sleepers(struct evd *evd)
{
    unsigned count = 0;

    base_lock_take(&evd->lock);
    for (int slot = 0; slot < EVD_WAITERS; slot++) {
        if ((evd->waiters_used >> slot & 1) &&
            atomic_load(&evd->waiters[slot].state) == EVD_WAITER_SLEEPING)
            count++;
    }
    base_lock_drop(&evd->lock);
    return count;
}

/* Returns when exactly that many threads sleep in it_evd_wait on the EVD. */
static inline void fixture_await_sleepers(it_evd_handle_t handle, unsigned count)
{
    while (fixture_sleepers(evd_from_handle(handle)) != count)
        sched_yield();
}

#endif
