/* SPDX-License-Identifier: BSD-2-Clause */
/* Aggregate EVDs, both flavours. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

static it_event_t event;
static size_t nmore;

TestSuite(evd_aggregate, .init = fixture_init, .fini = fixture_fini);

static it_evd_handle_t software_member(it_evd_handle_t aevd)
{
    return fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
}

static it_status_t poll_once(it_evd_handle_t handle)
{
    return it_evd_wait(handle, 0, &event, &nmore);
}

Test(evd_aggregate, members_take_turns)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t a = software_member(aevd);
    it_evd_handle_t b = software_member(aevd);
    it_evd_handle_t expected[] = {a, b, a, b, a, a};

    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
    for (uintptr_t i = 0; i < 4; i++)
        cr_assert_eq(fixture_post(a, i), IT_SUCCESS);
    for (uintptr_t i = 0; i < 2; i++)
        cr_assert_eq(fixture_post(b, i), IT_SUCCESS);
    for (size_t i = 0; i < 6; i++) {
        if (i % 2)
            cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
        else
            cr_assert_eq(it_evd_wait(aevd, IT_TIMEOUT_INFINITE, &event, &nmore), IT_SUCCESS);
        cr_assert_eq(event.any.evd, expected[i]);
        cr_assert_eq(nmore, 5 - i + i % 2);
    }
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
}

/* A wake-up would take three locks, for nobody: a consumer that polls finds the member listed. */
Test(evd_aggregate, nobody_is_woken_where_nobody_listens)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 0);
    int fd;
    it_evd_handle_t heard = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &fd);
    it_evd_handle_t other = fixture_member(&fixture, heard, IT_DTO_EVENT_STREAM, 0);

    cr_assert_eq(fixture_push_dto(member, 1, true), EVD_PUSHED);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    cr_assert_eq(fixture_push_dto(other, 2, true), EVD_PUSHED_WAKE);
    cr_assert_eq(it_evd_dequeue(heard, &event), IT_SUCCESS);
}

/* A disabled member keeps its events from the AEVD until it is enabled again. */
Test(evd_aggregate, a_disabled_member_is_polled_by_itself)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 0);
    it_evd_param_t params = {.evd_enabled = IT_FALSE};

    (void)fixture_push_dto(member, 1, true);
    cr_assert_eq(it_evd_modify(member, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
    (void)fixture_push_dto(member, 2, true);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(it_evd_dequeue(member, &event), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 1);
    params.evd_enabled = IT_TRUE;
    cr_assert_eq(it_evd_modify(member, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 2);
}

/* *nmore is the number of further calls that would succeed. */
Test(evd_aggregate, nmore_counts_what_can_be_taken)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t dto = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 3);
    it_evd_handle_t sw = software_member(aevd);

    for (uint64_t i = 0; i < 5; i++)
        (void)fixture_push_dto(dto, i, i == 1);
    cr_assert_eq(fixture_post(sw, 1), IT_SUCCESS);
    /* Two of the completions count: no notification event follows the second. */
    for (size_t left = 3; left-- > 0;) {
        cr_assert_eq(poll_once(aevd), IT_SUCCESS);
        cr_assert_eq(nmore, left);
    }
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(it_evd_dequeue(dto, &event), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 2);
}

Test(evd_aggregate, member_counts_up_to_its_threshold)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t dto = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 3);

    for (uint64_t i = 0; i < 3; i++) {
        cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
        (void)fixture_push_dto(dto, i, true);
    }
    cr_assert_eq(poll_once(aevd), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 0);
}

Test(evd_aggregate, failed_completion_counts_past_the_threshold)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t dto = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 9);

    (void)fixture_push_dto(dto, 1, false);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    (void)fixture_push_failed(dto, 2);
    cr_assert_eq(poll_once(aevd), IT_SUCCESS);
    cr_assert_eq(nmore, 1);
    cr_assert_eq(poll_once(aevd), IT_SUCCESS);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
}

Test(evd_aggregate, member_may_be_dequeued_directly)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = software_member(aevd);

    cr_assert_eq(fixture_post(member, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(member, &event), IT_SUCCESS);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
}

Test(evd_aggregate, waiters_are_woken_by_members)
{
    static const unsigned flags[] = {0, IT_EVD_DEQUEUE_NOTIFICATIONS};

    for (int i = 0; i < 2; i++) {
        it_evd_handle_t aevd = fixture_aevd(&fixture, flags[i], NULL);
        struct fixture_waiter waiters[3];
        it_evd_handle_t members[3];

        for (int j = 0; j < 3; j++) {
            members[j] = software_member(aevd);
            fixture_waiter_start(&waiters[j], aevd, IT_TIMEOUT_INFINITE);
        }
        fixture_await_sleepers(aevd, 3);
        for (int j = 0; j < 3; j++)
            cr_assert_eq(fixture_post(members[j], 1), IT_SUCCESS);
        for (int j = 0; j < 3; j++)
            cr_assert_eq(fixture_waiter_join(&waiters[j]), IT_SUCCESS);
        cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    }
}

/* Several events of one member wake several waiters. */
Test(evd_aggregate, one_member_serves_all_waiters)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 0);
    struct evd *evd = evd_from_handle(member);
    struct fixture_waiter waiters[EVD_WAITERS];

    for (int i = 0; i < EVD_WAITERS; i++)
        fixture_waiter_start(&waiters[i], aevd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(aevd, EVD_WAITERS);
    cr_assert_eq(it_evd_wait(aevd, 1000, &event, NULL), IT_ERR_WAITER_LIMIT);
    for (uint64_t i = 0; i < EVD_WAITERS; i++) {
        struct evd_dto dto = {.status = IT_DTO_SUCCESS, .cookie = i, .notify = true};

        cr_assert_eq(evd_push_dto(evd, &dto), i == 0 ? EVD_PUSHED_WAKE : EVD_PUSHED);
    }
    evd_wake(evd);
    for (int i = 0; i < EVD_WAITERS; i++)
        cr_assert_eq(fixture_waiter_join(&waiters[i]), IT_SUCCESS);
}

static void set_enabled(it_evd_handle_t handle, it_boolean_t enabled)
{
    it_evd_param_t params = {.evd_enabled = enabled};

    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
}

Test(evd_aggregate, disabled_member_or_aggregate_is_not_ready)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = software_member(aevd);
    struct fixture_waiter waiter;

    cr_assert_eq(fixture_post(member, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(member, 2), IT_SUCCESS);
    set_enabled(member, IT_FALSE);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    set_enabled(member, IT_TRUE);
    set_enabled(aevd, IT_FALSE);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    fixture_waiter_start(&waiter, aevd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(aevd, 1);
    set_enabled(aevd, IT_TRUE);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);
    cr_assert_eq(waiter.event.sw.data, (void *)2);
}

/* ---------------------------------------------------------------- notification records */

static void assert_record(it_evd_handle_t aevd, it_evd_handle_t member)
{
    cr_assert_eq(event.aevd_notify.event_number, IT_AEVD_NOTIFICATION_EVENT);
    cr_assert_eq(event.aevd_notify.aevd, aevd);
    cr_assert_eq(event.aevd_notify.sevd, member);
}

Test(evd_aggregate, one_record_until_the_member_was_found_empty)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    it_evd_handle_t a = software_member(aevd);
    it_evd_handle_t b = software_member(aevd);

    cr_assert_eq(fixture_post(a, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(a, 2), IT_SUCCESS);
    cr_assert_eq(fixture_post(b, 1), IT_SUCCESS);
    cr_assert_eq(poll_once(aevd), IT_SUCCESS);
    assert_record(aevd, a);
    cr_assert_eq(nmore, 1);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    assert_record(aevd, b);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);

    /* More events, and dequeues that leave events, make no new record. */
    cr_assert_eq(it_evd_dequeue(a, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(a, &event), IT_SUCCESS);
    cr_assert_eq(fixture_post(a, 3), IT_SUCCESS);
    cr_assert_eq(poll_once(aevd), IT_ERR_TIMEOUT_EXPIRED);

    cr_assert_eq(it_evd_dequeue(a, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(a, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(fixture_post(a, 4), IT_SUCCESS);
    cr_assert_eq(poll_once(aevd), IT_SUCCESS);
    assert_record(aevd, a);
    cr_assert_eq(nmore, 0);
}

Test(evd_aggregate, record_of_a_member_that_was_emptied_is_withdrawn)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    it_evd_handle_t member = software_member(aevd);

    cr_assert_eq(fixture_post(member, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(member, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(fixture_post(member, 2), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    assert_record(aevd, member);
}

/* ---------------------------------------------------------------- many members */

#define MEMBERS 500

static void many_members(unsigned flags)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, flags, NULL);
    it_evd_handle_t members[MEMBERS];
    unsigned seen[MEMBERS] = {0};
    it_event_t taken;

    for (unsigned i = 0; i < MEMBERS; i++)
        members[i] = software_member(aevd);
    /* Every third member has two events. */
    for (uintptr_t i = 0; i < MEMBERS; i += 3) {
        cr_assert_eq(fixture_post(members[i], i), IT_SUCCESS);
        cr_assert_eq(fixture_post(members[i], i), IT_SUCCESS);
    }
    /* Members take turns: none is served twice before each was served once. */
    for (unsigned i = 0; i < MEMBERS; i += 3) {
        cr_assert_eq(poll_once(aevd), IT_SUCCESS);
        if (flags & IT_EVD_DEQUEUE_NOTIFICATIONS) {
            cr_assert_eq(event.aevd_notify.sevd, members[i]);
            while (it_evd_dequeue(members[i], &taken) == IT_SUCCESS)
                seen[i]++;
        } else {
            cr_assert_eq(event.sw.evd, members[i]);
            cr_assert_eq(event.sw.data, (void *)(uintptr_t)i);
            seen[i]++;
        }
    }
    while (poll_once(aevd) == IT_SUCCESS)
        seen[(uintptr_t)event.sw.data]++;
    for (unsigned i = 0; i < MEMBERS; i++)
        cr_assert_eq(seen[i], i % 3 ? 0 : 2);
    cr_assert_eq(it_evd_free(aevd), IT_ERR_EVD_BUSY);
    for (unsigned i = 0; i < MEMBERS; i++)
        cr_assert_eq(it_evd_free(members[i]), IT_SUCCESS);
    cr_assert_eq(it_evd_free(aevd), IT_SUCCESS);
}

Test(evd_aggregate, hundreds_of_members)
{
    many_members(0);
    many_members(IT_EVD_DEQUEUE_NOTIFICATIONS);
}
