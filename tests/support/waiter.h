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

/* Starts the thread and returns at once, so that several threads can be about to sleep. */
void waiter_begin(struct waiter *waiter, it_evd_handle_t evd);
/* Returns when the thread sleeps inside it_evd_wait. */
void waiter_sleeps(struct waiter *waiter);
/* Calls both. */
void waiter_start(struct waiter *waiter, it_evd_handle_t evd);

/* Checks that the wait returns this status. */
void waiter_ends(struct waiter *waiter, it_status_t status);
/* Checks that the wait returns the completion with this cookie, and this nmore. */
void waiter_returns(struct waiter *waiter, it_dto_cookie_t cookie, size_t nmore);

#endif /* ITAPI_TESTS_SUPPORT_WAITER_H */
