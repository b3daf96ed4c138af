/* SPDX-License-Identifier: BSD-2-Clause */
/* it_evd_wait on simple EVDs: ready rule, threshold, timeouts, waiters. */
#include "evd/queue/evd.h"
#include "base/base_clock.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>

static it_event_t event;
static size_t nmore;

TestSuite(evd_wait, .init = fixture_init, .fini = fixture_fini);

static it_evd_handle_t make(it_event_type_t stream, size_t threshold)
{
    return fixture_evd(&fixture, stream, 16, threshold, 0, NULL);
}

static it_status_t poll_once(it_evd_handle_t handle)
{
    return it_evd_wait(handle, 0, &event, &nmore);
}

/* ---------------------------------------------------------------- arguments and state */

Test(evd_wait, arguments)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);

    cr_assert_eq(it_evd_wait(NULL, 0, &event, NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_wait(handle, 0, NULL, NULL), IT_ERR_FAULT);
    cr_assert_eq(fixture_post(member, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(member, 0, &event, NULL), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(it_evd_wait(member, IT_TIMEOUT_INFINITE, &event, NULL), IT_ERR_INVALID_EVD_STATE);
    nmore = 77;
    cr_assert_eq(it_evd_wait(handle, 0, &event, &nmore), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(nmore, 77);
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_SUCCESS);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(it_evd_wait(handle, IT_TIMEOUT_INFINITE, &event, NULL), IT_ERR_IA_CATASTROPHE);
}

static void some_callback(it_evd_handle_t handle, void *argument)
{
    (void)handle;
    (void)argument;
}

Test(evd_wait, refused_with_a_callback)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);

    cr_assert_eq(it_evd_callback_attach(handle, some_callback, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_CALLBACK_EXISTS);
    cr_assert_eq(it_evd_wait(handle, IT_TIMEOUT_INFINITE, &event, NULL), IT_ERR_CALLBACK_EXISTS);
    cr_assert_eq(it_evd_callback_detach(handle), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
}

Test(evd_wait, takes_in_order_and_counts_the_rest)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);

    for (uintptr_t i = 0; i < 3; i++)
        cr_assert_eq(fixture_post(handle, i), IT_SUCCESS);
    for (uintptr_t i = 0; i < 3; i++) {
        cr_assert_eq(it_evd_wait(handle, IT_TIMEOUT_INFINITE, &event, &nmore), IT_SUCCESS);
        cr_assert_eq(event.sw.event_number, IT_SOFTWARE_EVENT);
        cr_assert_eq(event.sw.evd, handle);
        cr_assert_eq(event.sw.data, (void *)i);
        cr_assert_eq(nmore, 2 - i);
    }
}

/* ---------------------------------------------------------------- notification and threshold */

/*
 * A wait finds a completion that is no notification event at its entry, but such a completion wakes
 * no sleeper.
 */
Test(evd_wait, plain_completion_serves_who_comes_but_wakes_nobody)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 0);
    struct fixture_waiter waiter;

    cr_assert_eq(fixture_push_dto(handle, 1, false), EVD_PUSHED);
    cr_assert_eq(poll_once(handle), IT_SUCCESS);

    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    cr_assert_eq(fixture_push_dto(handle, 2, false), EVD_PUSHED);
    cr_assert_eq(fixture_sleepers(evd_from_handle(handle)), 1);
    cr_assert_eq(fixture_push_dto(handle, 3, true), EVD_PUSHED_WAKE);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
    cr_assert_eq(waiter.event.dto_cmpl.cookie, 2);
    cr_assert_eq(waiter.nmore, 1);
}

Test(evd_wait, threshold_and_notification_both_needed)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 3);
    struct fixture_waiter waiter;

    cr_assert_eq(fixture_push_dto(handle, 1, true), EVD_PUSHED);
    cr_assert_eq(poll_once(handle), IT_ERR_TIMEOUT_EXPIRED);
    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    cr_assert_eq(fixture_push_dto(handle, 2, false), EVD_PUSHED);
    cr_assert_eq(fixture_push_dto(handle, 3, false), EVD_PUSHED_WAKE);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
    cr_assert_eq(waiter.event.dto_cmpl.cookie, 1);
    cr_assert_eq(waiter.nmore, 2);
    /*
     * The number of events is below the threshold again. The threshold does not apply to
     * it_evd_dequeue.
     */
    cr_assert_eq(poll_once(handle), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
}

Test(evd_wait, failure_overrides_the_threshold)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 5);
    struct fixture_waiter waiter;

    cr_assert_eq(fixture_push_dto(handle, 1, false), EVD_PUSHED);
    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    cr_assert_eq(fixture_push_failed(handle, 2), EVD_PUSHED_WAKE);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
    cr_assert_eq(waiter.event.dto_cmpl.cookie, 1);
    cr_assert_eq(poll_once(handle), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.dto_status, IT_DTO_ERR_FLUSHED);
    cr_assert_eq(event.dto_cmpl.transferred_length, 0);
}

Test(evd_wait, threshold_of_zero_and_one_are_alike)
{
    for (size_t threshold = 0; threshold < 2; threshold++) {
        it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, threshold);

        cr_assert_eq(poll_once(handle), IT_ERR_TIMEOUT_EXPIRED);
        cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
        cr_assert_eq(poll_once(handle), IT_SUCCESS);
    }
}

static void set_enabled(it_evd_handle_t handle, it_boolean_t enabled)
{
    it_evd_param_t params = {.evd_enabled = enabled};

    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
}

Test(evd_wait, disabled_evd_keeps_waiters_asleep)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct fixture_waiter waiter;

    set_enabled(handle, IT_FALSE);
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(handle, 2), IT_SUCCESS);
    cr_assert_eq(poll_once(handle), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    set_enabled(handle, IT_TRUE);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
    cr_assert_eq(waiter.event.sw.data, (void *)2);
}

Test(evd_wait, lower_threshold_releases)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 2);
    it_evd_param_t params = {.sevd_threshold = 1};
    struct fixture_waiter waiter;

    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_THRESHOLD, &params), IT_SUCCESS);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
}

/* ---------------------------------------------------------------- time and signals */

Test(evd_wait, timeout_in_microseconds)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);
    uint64_t before = base_now_ns();

    cr_assert_eq(it_evd_wait(handle, 3000, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_geq(base_now_ns() - before, 3 * BASE_NS_PER_MS);
    cr_assert_eq(evd_from_handle(handle)->waiters_used, 0);
}

Test(evd_wait, long_timeouts_do_not_wrap)
{
    static const uint64_t timeouts[] = {
        IT_TIMEOUT_INFINITE,      IT_TIMEOUT_INFINITE - 1,      UINT64_MAX / 1000,
        UINT64_MAX / 1000 + 1,    (uint64_t)INT64_MAX,          (uint64_t)INT64_MAX / 1000 + 1,
        UINT64_MAX / 1000 - 1000, UINT64_C(31536000) * 1000000,
    };
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);

    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        struct fixture_waiter waiter;

        fixture_waiter_start(&waiter, handle, timeouts[i]);
        fixture_await_sleepers(handle, 1);
        cr_assert_eq(fixture_post(handle, i), IT_SUCCESS);
        cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS, "timeout %zu", i);
    }
}

static void handle_signal(int number)
{
    (void)number;
}

Test(evd_wait, signal_handler_interrupts)
{
    static const int flags[] = {0, SA_RESTART};
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);

    for (int i = 0; i < 2; i++) {
        struct sigaction action = {.sa_handler = handle_signal, .sa_flags = flags[i]};
        struct fixture_waiter waiter;

        cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
        fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
        fixture_await_sleepers(handle, 1);
        /*
         * A signal may come before the thread is in the kernel, so it is sent until the wait has
         * ended.
         */
        while (!atomic_load(&waiter.done)) {
            (void)pthread_kill(waiter.thread, SIGUSR1);
            sched_yield();
        }
        cr_assert_eq(fixture_waiter_join(&waiter), IT_ERR_INTERRUPT);
    }
    cr_assert_eq(evd_from_handle(handle)->waiters_used, 0);
}

/* ---------------------------------------------------------------- several waiters */

Test(evd_wait, waiter_limit)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct fixture_waiter waiters[EVD_WAITERS];

    for (int i = 0; i < EVD_WAITERS; i++)
        fixture_waiter_start(&waiters[i], handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, EVD_WAITERS);
    cr_assert_eq(it_evd_wait(handle, 1000, &event, NULL), IT_ERR_WAITER_LIMIT);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
    for (int i = 0; i < EVD_WAITERS; i++)
        cr_assert_eq(fixture_post(handle, (uintptr_t)i), IT_SUCCESS);
    for (int i = 0; i < EVD_WAITERS; i++)
        cr_assert_eq(fixture_waiter_join(&waiters[i]), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_QUEUE_EMPTY);
}

/* One wake serves three events: each waiter that takes one wakes the next. */
Test(evd_wait, waiters_wake_each_other)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 0);
    struct evd *evd = evd_from_handle(handle);
    struct fixture_waiter waiters[3];

    for (int i = 0; i < 3; i++)
        fixture_waiter_start(&waiters[i], handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 3);
    for (uint64_t i = 0; i < 3; i++) {
        struct evd_dto dto = {.status = IT_DTO_SUCCESS, .cookie = i, .notify = true};

        cr_assert_eq(evd_push_dto(evd, &dto), EVD_PUSHED_WAKE);
    }
    evd_wake(evd);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(fixture_waiter_join(&waiters[i]), IT_SUCCESS);
}

/* A waiter that was woken for an event and finds none passes the wake on. */
Test(evd_wait, wake_up_of_one_that_finds_nothing_is_not_lost)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct fixture_waiter waiter;

    fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(handle, 1);
    for (uintptr_t i = 0; i < 1000; i++) {
        cr_assert_eq(fixture_post(handle, i), IT_SUCCESS);
        if (it_evd_dequeue(handle, &event) != IT_SUCCESS) {
            cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
            fixture_waiter_start(&waiter, handle, IT_TIMEOUT_INFINITE);
        }
    }
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
}

/* ---------------------------------------------------------------- progress by the provider */

static it_evd_handle_t fed;
static int polls;
static int waits;
static int wait_results[4];

static void feed_poll(void *context)
{
    cr_assert_eq(context, &fixture);
    if (++polls == 2)
        (void)fixture_push_dto(fed, 5, false);
}

static int feed_wait(void *context, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    (void)deadline_ns;
    cr_assert_eq(context, &fixture);
    cr_assert_not(evd_waiter_is_woken(waiter));
    if (++waits == 3) {
        /* The waiting thread itself pushes: its waiter is woken without a call of evd_wake. */
        cr_assert_eq(fixture_push_dto(fed, 6, true), EVD_PUSHED);
        cr_assert(evd_waiter_is_woken(waiter));
    }
    return wait_results[waits];
}

static const struct evd_progress_ops feed_ops = {.poll = feed_poll, .wait = feed_wait};

static void feed(void)
{
    fed = make(IT_DTO_EVENT_STREAM, 0);
    fixture.ia.progress = &feed_ops;
    fixture.ia.progress_context = &fixture;
}

Test(evd_wait, zero_timeout_polls_the_provider_once)
{
    feed();
    cr_assert_eq(poll_once(fed), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(polls, 1);
    cr_assert_eq(poll_once(fed), IT_SUCCESS);
    cr_assert_eq(polls, 2);
    cr_assert_eq(waits, 0);
}

Test(evd_wait, provider_may_return_without_reason)
{
    feed();
    cr_assert_eq(it_evd_wait(fed, IT_TIMEOUT_INFINITE, &event, NULL), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 6);
    cr_assert_eq(waits, 3);
    cr_assert_eq(polls, 0);
}

Test(evd_wait, provider_is_interrupted)
{
    feed();
    wait_results[2] = EINTR;
    cr_assert_eq(it_evd_wait(fed, IT_TIMEOUT_INFINITE, &event, NULL), IT_ERR_INTERRUPT);
    cr_assert_eq(waits, 2);
    /* With an event in the queue the signal makes no difference. */
    wait_results[3] = EINTR;
    cr_assert_eq(it_evd_wait(fed, IT_TIMEOUT_INFINITE, &event, NULL), IT_SUCCESS);
}

/* ---------------------------------------------------------------- itx_evd_set_waitable */

Test(evd_wait, ends_where_waiting_is_forbidden)
{
    it_evd_handle_t simple = make(IT_SOFTWARE_EVENT_STREAM, 0);
    const it_evd_handle_t evds[] = {simple, fixture_aevd(&fixture, 0, NULL)};

    for (size_t i = 0; i < 2; i++) {
        struct fixture_waiter waiters[2];

        for (int j = 0; j < 2; j++)
            fixture_waiter_start(&waiters[j], evds[i], IT_TIMEOUT_INFINITE);
        fixture_await_sleepers(evds[i], 2);
        cr_assert_eq(itx_evd_set_waitable(evds[i], IT_FALSE), IT_SUCCESS);
        for (int j = 0; j < 2; j++)
            cr_assert_eq(fixture_waiter_join(&waiters[j]), IT_ERR_INVALID_EVD_STATE);
        cr_assert_eq(it_evd_wait(evds[i], 0, &event, NULL), IT_ERR_INVALID_EVD_STATE);
    }
    cr_assert_eq(itx_evd_set_waitable(NULL, IT_TRUE), IT_ERR_INVALID_EVD);
    /* Events arrive as before, and it_evd_dequeue takes them. */
    cr_assert_eq(fixture_post(simple, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(simple, 2), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(simple, 0, &event, NULL), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(it_evd_dequeue(simple, &event), IT_SUCCESS);
    cr_assert_eq(itx_evd_set_waitable(simple, IT_TRUE), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(simple, 0, &event, NULL), IT_SUCCESS);
    cr_assert_eq((uintptr_t)event.sw.data, 2);
}
