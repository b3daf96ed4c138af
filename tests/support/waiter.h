/* SPDX-License-Identifier: BSD-2-Clause */
/* waiter.h - a thread that takes one event with it_evd_wait. */
#ifndef ITAPI_TESTS_SUPPORT_WAITER_H
#define ITAPI_TESTS_SUPPORT_WAITER_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

struct waiter {
    pthread_t thread;
    it_evd_handle_t evd;
    atomic_int id;
    atomic_bool woken;
    it_status_t status;
    it_event_t event;
    size_t nmore;
};

/* Begins without waiting for it: more than one thread may be on its way to sleep. */
void waiter_begin(struct waiter *waiter, it_evd_handle_t evd);
/* Returns when the thread sleeps inside it_evd_wait. */
void waiter_sleeps(struct waiter *waiter);
/* Both. */
void waiter_start(struct waiter *waiter, it_evd_handle_t evd);

/* The wait returns this status. */
void waiter_ends(struct waiter *waiter, it_status_t status);
/* The wait returns the completion with this cookie, and so many more are there. */
void waiter_returns(struct waiter *waiter, it_dto_cookie_t cookie, size_t nmore);

#endif /* ITAPI_TESTS_SUPPORT_WAITER_H */
