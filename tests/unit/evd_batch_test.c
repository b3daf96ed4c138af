/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_evd_dequeue_n and itx_evd_wait_n: many events by one call. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include "itx_api.h"

#include <criterion/criterion.h>

#include <poll.h>

#define MANY 64

static it_event_t events[MANY];
static size_t count;
static size_t nmore;

static void setup(void)
{
    fixture_start(&fixture);
    count = 77;
    nmore = 78;
}

TestSuite(evd_batch, .init = setup, .fini = fixture_fini);

static it_evd_handle_t make(it_event_type_t stream, size_t threshold)
{
    return fixture_evd(&fixture, stream, MANY, threshold, 0, NULL);
}

static void post(it_evd_handle_t evd, uintptr_t first, uintptr_t end)
{
    for (uintptr_t i = first; i < end; i++)
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
}

static it_status_t take(it_evd_handle_t evd, size_t max)
{
    return itx_evd_dequeue_n(evd, max, events, &count);
}

/* ---------------------------------------------------------------- arguments */

Test(evd_batch, arguments)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);

    post(evd, 0, 3);
    post(member, 0, 3);
    cr_assert_eq(itx_evd_dequeue_n(NULL, 1, events, &count), IT_ERR_INVALID_EVD);
    cr_assert_eq(itx_evd_dequeue_n(evd, 1, NULL, &count), IT_ERR_FAULT);
    cr_assert_eq(itx_evd_dequeue_n(evd, 1, events, NULL), IT_ERR_FAULT);
    cr_assert_eq(itx_evd_dequeue_n(evd, 0, events, &count), IT_ERR_INVALID_LENGTH);
    cr_assert_eq(itx_evd_wait_n(NULL, 0, 1, events, &count, &nmore), IT_ERR_INVALID_EVD);
    cr_assert_eq(itx_evd_wait_n(evd, 0, 1, NULL, &count, &nmore), IT_ERR_FAULT);
    cr_assert_eq(itx_evd_wait_n(evd, 0, 1, events, NULL, &nmore), IT_ERR_FAULT);
    cr_assert_eq(itx_evd_wait_n(evd, 0, 0, events, &count, &nmore), IT_ERR_INVALID_LENGTH);
    cr_assert_eq(itx_evd_wait_n(member, 0, 1, events, &count, &nmore), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(count, 77);
    cr_assert_eq(nmore, 78);
    cr_assert_eq(itx_evd_wait_n(evd, 0, 1, events, &count, NULL), IT_SUCCESS);
    cr_assert_eq(count, 1);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(take(evd, 1), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(itx_evd_wait_n(evd, 0, 1, events, &count, &nmore), IT_ERR_IA_CATASTROPHE);
}

/* The calls with other implementations' names succeed with no events when the queue is empty. */
Test(evd_batch, nothing_is_a_success_elsewhere)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    int taken = 77;

    cr_assert_eq(it_evd_dequeue_n(member, MANY, events, &taken), IT_SUCCESS);
    cr_assert_eq(taken, 0);
    for (uint64_t timeout_us = 0; timeout_us <= 1000; timeout_us += 1000) {
        count = 77;
        cr_assert_eq(itx_aevd_wait(aevd, timeout_us, MANY, events, &count), IT_SUCCESS);
        cr_assert_eq(count, 0);
    }
    post(member, 0, 3);
    cr_assert_eq(it_evd_dequeue_n(member, 2, events, &taken), IT_SUCCESS);
    cr_assert_eq(taken, 2);
    cr_assert_eq(itx_aevd_wait(aevd, 0, MANY, events, &count), IT_SUCCESS);
    cr_assert_eq(count, 1);
}

/* ---------------------------------------------------------------- simple EVDs */

Test(evd_batch, dequeues_in_order_what_fits)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);

    post(evd, 0, 10);
    events[4].sw.data = &fixture;
    cr_assert_eq(take(evd, 4), IT_SUCCESS);
    cr_assert_eq(count, 4);
    cr_assert_eq(events[4].sw.data, &fixture);
    for (uintptr_t i = 0; i < 4; i++) {
        cr_assert_eq(events[i].event_number, IT_SOFTWARE_EVENT);
        cr_assert_eq(events[i].sw.evd, evd);
        cr_assert_eq(events[i].sw.data, (void *)i);
    }
    cr_assert_eq(take(evd, MANY), IT_SUCCESS);
    cr_assert_eq(count, 6);
    cr_assert_eq(events[5].sw.data, (void *)9);
    count = 77;
    cr_assert_eq(take(evd, MANY), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(count, 77);
}

/* Like it_evd_dequeue, the call ignores the threshold and notification. */
Test(evd_batch, dequeue_knows_no_threshold)
{
    it_evd_handle_t evd = make(IT_DTO_EVENT_STREAM, 5);
    _Atomic uint32_t retired = 0;
    struct evd_dto dto = {.event_number = IT_DTO_SEND_CMPL_EVENT, .retire = &retired};

    for (uint32_t i = 1; i <= 3; i++) {
        dto.cookie = i;
        dto.retire_value = i;
        cr_assert_eq(evd_push_dto(evd_from_handle(evd), &dto), EVD_PUSHED);
    }
    cr_assert_eq(take(evd, 2), IT_SUCCESS);
    cr_assert_eq(count, 2);
    cr_assert_eq(atomic_load(&retired), 2);
    cr_assert_eq(take(evd, 2), IT_SUCCESS);
    cr_assert_eq(count, 1);
    cr_assert_eq(events[0].dto_cmpl.cookie, 3);
    cr_assert_eq(atomic_load(&retired), 3);
}

Test(evd_batch, wait_takes_all_when_the_threshold_is_met)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 3);

    post(evd, 0, 2);
    cr_assert_eq(itx_evd_wait_n(evd, 0, MANY, events, &count, &nmore), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(itx_evd_wait_n(evd, 1000, MANY, events, &count, &nmore), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(count, 77);
    cr_assert_eq(nmore, 2);
    post(evd, 2, 5);
    cr_assert_eq(itx_evd_wait_n(evd, IT_TIMEOUT_INFINITE, 3, events, &count, &nmore), IT_SUCCESS);
    cr_assert_eq(count, 3);
    cr_assert_eq(nmore, 2);
    cr_assert_eq(events[2].sw.data, (void *)2);
    /* Two events are left, which is below the threshold again. */
    cr_assert_eq(itx_evd_wait_n(evd, 0, MANY, events, &count, &nmore), IT_ERR_TIMEOUT_EXPIRED);
    post(evd, 5, 6);
    cr_assert_eq(itx_evd_wait_n(evd, 0, MANY, events, &count, &nmore), IT_SUCCESS);
    cr_assert_eq(count, 3);
    cr_assert_eq(nmore, 0);
}

struct batch_waiter {
    pthread_t thread;
    it_evd_handle_t evd;
    it_event_t events[4];
    size_t count;
    size_t nmore;
    it_status_t status;
};

static void *batch_waiter_main(void *argument)
{
    struct batch_waiter *waiter = argument;

    waiter->status = itx_evd_wait_n(waiter->evd, IT_TIMEOUT_INFINITE, 4, waiter->events,
                                    &waiter->count, &waiter->nmore);
    return NULL;
}

static void batch_waiter_start(struct batch_waiter *waiter, it_evd_handle_t evd)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->evd = evd;
    cr_assert_eq(pthread_create(&waiter->thread, NULL, batch_waiter_main, waiter), 0);
}

Test(evd_batch, sleeper_is_woken_and_wakes_the_next)
{
    it_evd_handle_t evd = make(IT_DTO_EVENT_STREAM, 2);
    struct batch_waiter waiters[2];

    for (int i = 0; i < 2; i++)
        batch_waiter_start(&waiters[i], evd);
    fixture_await_sleepers(evd, 2);
    for (uint64_t i = 0; i < 8; i++) {
        struct evd_dto dto = {.status = IT_DTO_SUCCESS, .cookie = i, .notify = true};

        (void)evd_push_dto(evd_from_handle(evd), &dto);
    }
    evd_wake(evd_from_handle(evd)); /* one wake for all three */
    for (int i = 0; i < 2; i++) {
        pthread_join(waiters[i].thread, NULL);
        cr_assert_eq(waiters[i].status, IT_SUCCESS);
        cr_assert_eq(waiters[i].count, 4);
    }
    cr_assert_eq(waiters[0].nmore + waiters[1].nmore, 4);
}

Test(evd_batch, sleeper_is_aborted)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct batch_waiter waiter;

    batch_waiter_start(&waiter, evd);
    fixture_await_sleepers(evd, 1);
    cr_assert_eq(it_evd_free(evd), IT_SUCCESS);
    pthread_join(waiter.thread, NULL);
    cr_assert_eq(waiter.status, IT_ERR_ABORT);
    cr_assert_eq(waiter.count, 0);
}

Test(evd_batch, overflow_ends_when_room_is_made)
{
    it_evd_handle_t evd =
        fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, IT_EVD_OVERFLOW_AUTO_RESET, NULL);

    for (uint64_t i = 0; i < 4; i++)
        cr_assert_eq(fixture_push_dto(evd, i, true), EVD_PUSHED);
    cr_assert_eq(fixture_push_dto(evd, 4, true), EVD_LOST);
    cr_assert(evd_is_overflowed(evd_from_handle(evd)));
    cr_assert_eq(take(evd, 3), IT_SUCCESS);
    cr_assert_eq(count, 3);
    cr_assert_not(evd_is_overflowed(evd_from_handle(evd)));
    cr_assert_eq(fixture_push_dto(evd, 5, true), EVD_PUSHED);
}

Test(evd_batch, descriptor_falls_when_all_is_taken)
{
    int fd;
    it_evd_handle_t evd =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, MANY, 3, IT_EVD_CREATE_FD, &fd);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    post(evd, 0, 5);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    cr_assert_eq(take(evd, 2), IT_SUCCESS);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    cr_assert_eq(take(evd, 1), IT_SUCCESS);
    cr_assert_eq(poll(&poll_fd, 1, 0), 0); /* below the threshold */
    post(evd, 5, 6);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    cr_assert_eq(itx_evd_wait_n(evd, 0, MANY, events, &count, NULL), IT_SUCCESS);
    cr_assert_eq(count, 3);
    cr_assert_eq(poll(&poll_fd, 1, 0), 0);
}

/* ---------------------------------------------------------------- aggregates */

Test(evd_batch, aggregate_gives_the_events_of_all_members)
{
    int fd;
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &fd);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    it_evd_handle_t members[3];
    unsigned of[3] = {0, 0, 0};

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(it_evd_create(fixture_handle(&fixture), IT_SOFTWARE_EVENT_STREAM,
                                   (it_evd_flags_t)0, MANY, 0, aevd, &members[i], NULL),
                     IT_SUCCESS);
        post(members[i], 0, i == 0 ? 40 : 5);
    }
    cr_assert_eq(take(aevd, 30), IT_SUCCESS);
    cr_assert_eq(count, 30);
    for (size_t i = 0; i < count; i++) {
        for (int m = 0; m < 3; m++) {
            if (events[i].sw.evd == members[m])
                cr_assert_eq(events[i].sw.data, (void *)(uintptr_t)of[m]++);
        }
    }
    /* The member with many events does not delay the others' turns. */
    cr_assert_eq(of[0], 20);
    cr_assert_eq(of[1], 5);
    cr_assert_eq(of[2], 5);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    cr_assert_eq(itx_evd_wait_n(aevd, IT_TIMEOUT_INFINITE, 7, events, &count, &nmore), IT_SUCCESS);
    cr_assert_eq(count, 7);
    cr_assert_eq(nmore, 13);
    cr_assert_eq(itx_evd_wait_n(aevd, 0, MANY, events, &count, &nmore), IT_SUCCESS);
    cr_assert_eq(count, 13);
    cr_assert_eq(nmore, 0);
    cr_assert_eq(poll(&poll_fd, 1, 0), 0);
    cr_assert_eq(take(aevd, MANY), IT_ERR_QUEUE_EMPTY);
}

Test(evd_batch, aggregate_gives_one_record_per_member)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    it_evd_handle_t members[3];

    for (int i = 0; i < 3; i++) {
        members[i] = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
        post(members[i], 0, 4);
    }
    cr_assert_eq(itx_evd_wait_n(aevd, 0, MANY, events, &count, &nmore), IT_SUCCESS);
    cr_assert_eq(count, 3);
    cr_assert_eq(nmore, 0);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(events[i].event_number, IT_AEVD_NOTIFICATION_EVENT);
        cr_assert_eq(events[i].aevd_notify.aevd, aevd);
        cr_assert_eq(events[i].aevd_notify.sevd, members[i]);
    }
    /* Events of the first member are left, so there is no new record. */
    cr_assert_eq(take(members[0], 4), IT_SUCCESS);
    post(members[0], 4, 5);
    cr_assert_eq(take(aevd, MANY), IT_ERR_QUEUE_EMPTY);
    /* The call returns fewer events than it has room for, so it has found the queue empty. */
    cr_assert_eq(take(members[1], 5), IT_SUCCESS);
    cr_assert_eq(count, 4);
    post(members[1], 4, 5);
    cr_assert_eq(take(aevd, MANY), IT_SUCCESS);
    cr_assert_eq(count, 1);
    cr_assert_eq(events[0].aevd_notify.sevd, members[1]);
}
