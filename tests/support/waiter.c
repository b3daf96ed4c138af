/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/waiter.h"

#include <string.h>

static void *waiter_main(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, fx_thread_id());
    waiter->status =
        it_evd_wait(waiter->evd, FX_PATIENCE_MS * 1000ull, &waiter->event, &waiter->nmore);
    atomic_store(&waiter->woken, true);
    return NULL;
}

void waiter_begin(struct waiter *waiter, it_evd_handle_t evd)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->evd = evd;
    CHECK(pthread_create(&waiter->thread, NULL, waiter_main, waiter) == 0);
}

void waiter_sleeps(struct waiter *waiter)
{
    FX_WAIT_WHILE(atomic_load(&waiter->id) == 0, "start of the waiter");
    fx_thread_sleeps(atomic_load(&waiter->id));
}

void waiter_start(struct waiter *waiter, it_evd_handle_t evd)
{
    waiter_begin(waiter, evd);
    waiter_sleeps(waiter);
}

void waiter_ends(struct waiter *waiter, it_status_t status)
{
    CHECK(pthread_join(waiter->thread, NULL) == 0);
    CHECK_STATUS(status, waiter->status);
}

void waiter_returns(struct waiter *waiter, it_dto_cookie_t cookie, size_t nmore)
{
    waiter_ends(waiter, IT_SUCCESS);
    CHECK_EQ(cookie, waiter->event.dto_cmpl.cookie);
    CHECK_EQ(nmore, waiter->nmore);
}
