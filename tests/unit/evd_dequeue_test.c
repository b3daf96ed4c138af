/* SPDX-License-Identifier: BSD-2-Clause */
/* it_evd_dequeue, it_evd_post_se, and the producers of evd.h, overflow included. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

static it_event_t event;

TestSuite(evd_dequeue, .init = fixture_init, .fini = fixture_fini);
TestSuite(evd_post_se, .init = fixture_init, .fini = fixture_fini);
TestSuite(evd_overflow, .init = fixture_init, .fini = fixture_fini);
TestSuite(evd_ia, .init = fixture_init, .fini = fixture_fini);

static it_evd_handle_t make(it_event_type_t stream, size_t size, unsigned flags)
{
    return fixture_evd(&fixture, stream, size, 0, flags, NULL);
}

static bool overflowed(it_evd_handle_t handle)
{
    it_evd_param_t params;

    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_OVERFLOWED, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_overflowed == IT_TRUE, evd_is_overflowed(evd_from_handle(handle)));
    return params.evd_overflowed == IT_TRUE;
}

static size_t drain(it_evd_handle_t handle)
{
    size_t count = 0;

    while (it_evd_dequeue(handle, &event) == IT_SUCCESS)
        count++;
    return count;
}

/* ---------------------------------------------------------------- dequeue */

Test(evd_dequeue, arguments)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 4, 0);

    cr_assert_eq(it_evd_dequeue(NULL, &event), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_dequeue((it_evd_handle_t)(void *)&fixture.ia, &event), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_dequeue(handle, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_IA_CATASTROPHE);
}

Test(evd_dequeue, completion_fills_its_fields_and_no_more)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 4, 0);
    _Atomic uint32_t retired = 0;
    struct evd_dto dto = {
        .event_number = IT_DTO_RC_RECV_CMPL_EVENT,
        .status = IT_DTO_SUCCESS,
        .ep = (it_ep_handle_t)(uintptr_t)0x1000,
        .cookie = 0x123456789abcdef0,
        .unlinked = (it_handle_t)(uintptr_t)0x2000,
        .length = 4711,
        .retire = &retired,
        .retire_value = 9,
    };
    const unsigned char *bytes = (const unsigned char *)&event;

    cr_assert_eq(evd_push_dto(evd_from_handle(handle), &dto), EVD_PUSHED);
    memset(&event, 0xee, sizeof(event));
    cr_assert_eq(atomic_load(&retired), 0);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(atomic_load(&retired), 9);
    cr_assert_eq(event.event_number, IT_DTO_RC_RECV_CMPL_EVENT);
    cr_assert_eq(event.any.evd, handle);
    cr_assert_eq(event.dto_cmpl.ep, dto.ep);
    cr_assert_eq(event.dto_cmpl.cookie, dto.cookie);
    cr_assert_eq(event.dto_cmpl.dto_status, IT_DTO_SUCCESS);
    cr_assert_eq(event.dto_cmpl.transferred_length, 4711);
    cr_assert_eq(event.dto_cmpl.unlinked_mr_handle, dto.unlinked);
    cr_assert_eq(event.all_dto_cmpl.flags, 0);
    cr_assert_eq(event.all_dto_cmpl.ud_ep_id, 0);
    for (size_t i = sizeof(it_all_dto_cmpl_event_t); i < sizeof(event); i++)
        cr_assert_eq(bytes[i], 0xee);
}

Test(evd_dequeue, other_events_come_out_as_they_went_in)
{
    it_evd_handle_t handle = make(IT_CM_MSG_EVENT_STREAM, 4, 0);
    it_event_t sent;

    memset(&sent, 0x37, sizeof(sent));
    sent.conn.event_number = IT_CM_MSG_CONN_ESTABLISHED_EVENT;
    cr_assert(evd_deliver(evd_from_handle(handle), &sent));
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(event.conn.evd, handle);
    sent.conn.evd = handle;
    cr_assert_eq(memcmp(&event, &sent, sizeof(event)), 0);
}

Test(evd_dequeue, disowned_completions_stay_but_retire_nothing)
{
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 8, 0);
    _Atomic uint32_t retired[2] = {0, 0};

    for (uint32_t i = 0; i < 6; i++) {
        struct evd_dto dto = {
            .ep = (it_ep_handle_t)(uintptr_t)(0x1000 + i % 2),
            .cookie = i,
            .retire = &retired[i % 2],
            .retire_value = i + 1,
        };

        cr_assert_eq(evd_push_dto(evd_from_handle(handle), &dto), EVD_PUSHED);
    }
    evd_disown_dto(evd_from_handle(handle), (it_ep_handle_t)(uintptr_t)0x1000);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
        cr_assert_eq(event.dto_cmpl.cookie, i);
        cr_assert_eq(event.all_dto_cmpl.flags, i % 2 == 0 ? ITX_DTO_EP_FREED : 0);
    }
    cr_assert_eq(atomic_load(&retired[0]), 0);
    cr_assert_eq(atomic_load(&retired[1]), 6);
}

static it_evd_handle_t fed;
static int polls;

static void feed_poll(void *context)
{
    (void)context;
    if (++polls == 2)
        (void)fixture_push_dto(fed, 1, false);
}

Test(evd_dequeue, progress_only_when_empty)
{
    static const struct evd_progress_ops ops = {.poll = feed_poll};

    fed = make(IT_DTO_EVENT_STREAM, 4, 0);
    fixture.ia.progress = &ops;
    cr_assert_eq(it_evd_dequeue(fed, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_eq(polls, 1);
    cr_assert_eq(it_evd_dequeue(fed, &event), IT_SUCCESS);
    cr_assert_eq(polls, 2);
    (void)fixture_push_dto(fed, 2, false);
    cr_assert_eq(it_evd_dequeue(fed, &event), IT_SUCCESS);
    cr_assert_eq(polls, 2);
}

/* ---------------------------------------------------------------- software events */

Test(evd_post_se, all_outcomes)
{
    it_evd_handle_t handle = make(IT_SOFTWARE_EVENT_STREAM, 2, 0);

    cr_assert_eq(it_evd_post_se(NULL, NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_post_se(make(IT_DTO_EVENT_STREAM, 2, 0), NULL), IT_ERR_INVALID_SOFT_EVD);
    cr_assert_eq(it_evd_post_se(fixture_aevd(&fixture, 0, NULL), NULL), IT_ERR_INVALID_SOFT_EVD);
    cr_assert_eq(it_evd_post_se(handle, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_post_se(handle, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_post_se(handle, NULL), IT_ERR_EVD_QUEUE_FULL);
    cr_assert_not(overflowed(handle));
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_null(event.sw.data);
    cr_assert_eq(it_evd_post_se(handle, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(event.sw.event_number, IT_SOFTWARE_EVENT);
    cr_assert_eq(event.sw.evd, handle);
    cr_assert_eq(event.sw.data, &event);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(it_evd_post_se(handle, NULL), IT_ERR_IA_CATASTROPHE);
}

/* ---------------------------------------------------------------- overflow */

static void clear_overflow(it_evd_handle_t handle)
{
    it_evd_param_t params = {.evd_overflowed = IT_FALSE};

    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_OVERFLOWED, &params), IT_SUCCESS);
}

static void assert_reported(it_evd_handle_t async, it_evd_handle_t lost)
{
    cr_assert_eq(it_evd_dequeue(async, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE);
    cr_assert_eq(event.aff_async.evd, async);
    cr_assert_eq(event.aff_async.cause.sevd, lost);
    cr_assert_eq(it_evd_dequeue(async, &event), IT_ERR_QUEUE_EMPTY);
}

Test(evd_overflow, condition_is_entered_once_and_ended_by_modify)
{
    static const unsigned flags[] = {0, IT_EVD_OVERFLOW_DEFAULT, IT_EVD_OVERFLOW_NOTIFY};
    it_evd_handle_t async = make(IT_ASYNC_AFF_EVENT_STREAM, 4, 0);

    for (int i = 0; i < 3; i++) {
        it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 2, flags[i]);

        cr_assert_eq(fixture_push_dto(handle, 1, false), EVD_PUSHED);
        cr_assert_eq(fixture_push_dto(handle, 2, false), EVD_PUSHED);
        cr_assert_not(overflowed(handle));
        cr_assert_eq(fixture_push_dto(handle, 3, false), EVD_LOST);
        cr_assert_eq(fixture_push_dto(handle, 4, false), EVD_LOST);
        cr_assert(overflowed(handle));
        assert_reported(async, handle);

        /* Queued events stay. Room alone does not end the overflow. */
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
        cr_assert_eq(event.dto_cmpl.cookie, 1);
        cr_assert_eq(fixture_push_dto(handle, 5, false), EVD_LOST);
        clear_overflow(handle);
        cr_assert_eq(fixture_push_dto(handle, 6, false), EVD_PUSHED);
        cr_assert_eq(fixture_push_dto(handle, 7, false), EVD_LOST);
        assert_reported(async, handle);
        cr_assert_eq(drain(handle), 2);
        cr_assert_eq(event.dto_cmpl.cookie, 6);
    }
}

Test(evd_overflow, auto_reset)
{
    it_evd_handle_t async = make(IT_ASYNC_AFF_EVENT_STREAM, 4, 0);
    it_evd_handle_t silent = make(IT_DTO_EVENT_STREAM, 1, IT_EVD_OVERFLOW_AUTO_RESET);
    it_evd_handle_t loud =
        make(IT_DTO_EVENT_STREAM, 1, IT_EVD_OVERFLOW_AUTO_RESET | IT_EVD_OVERFLOW_NOTIFY);

    for (int round = 0; round < 2; round++) {
        cr_assert_eq(fixture_push_dto(silent, 1, false), EVD_PUSHED);
        cr_assert_eq(fixture_push_dto(silent, 2, false), EVD_LOST);
        cr_assert(overflowed(silent));
        cr_assert_eq(drain(silent), 1);
        cr_assert_not(overflowed(silent));
    }
    cr_assert_eq(it_evd_dequeue(async, &event), IT_ERR_QUEUE_EMPTY);
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(fixture_push_dto(loud, 1, false), EVD_PUSHED);
        cr_assert_eq(fixture_push_dto(loud, 2, false), EVD_LOST);
        assert_reported(async, loud);
        cr_assert_eq(drain(loud), 1);
    }
}

static void assert_unaffiliated(it_evd_handle_t async)
{
    cr_assert_eq(it_evd_dequeue(async, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE);
    cr_assert_eq(event.unaff_async.evd, async);
    cr_assert_eq(event.unaff_async.ia, fixture_handle(&fixture));
    cr_assert_eq(event.unaff_async.spigot_id, 0);
    cr_assert_eq(it_evd_dequeue(async, &event), IT_ERR_QUEUE_EMPTY);
}

Test(evd_overflow, unaffiliated_when_there_is_no_affiliated)
{
    it_evd_handle_t async = make(IT_ASYNC_UNAFF_EVENT_STREAM, 4, 0);
    it_evd_handle_t handle = make(IT_DTO_EVENT_STREAM, 1, 0);

    cr_assert_eq(fixture_push_dto(handle, 1, false), EVD_PUSHED);
    cr_assert_eq(fixture_push_dto(handle, 2, false), EVD_LOST);
    assert_unaffiliated(async);
}

Test(evd_overflow, unaffiliated_when_the_affiliated_overflows)
{
    it_evd_handle_t affiliated = make(IT_ASYNC_AFF_EVENT_STREAM, 1, 0);
    it_evd_handle_t unaffiliated = make(IT_ASYNC_UNAFF_EVENT_STREAM, 4, 0);

    for (int i = 0; i < 3; i++)
        evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_FAILURE, NULL);
    cr_assert(overflowed(affiliated));
    assert_unaffiliated(unaffiliated);
    cr_assert_eq(drain(affiliated), 1);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_EP_FAILURE);
}

/* When both EVDs are full, everything is lost and nothing hangs. */
Test(evd_overflow, of_everything)
{
    it_evd_handle_t affiliated = make(IT_ASYNC_AFF_EVENT_STREAM, 1, 0);
    it_evd_handle_t unaffiliated = make(IT_ASYNC_UNAFF_EVENT_STREAM, 1, 0);
    it_evd_handle_t handles[3];

    for (int i = 0; i < 3; i++) {
        handles[i] = make(IT_DTO_EVENT_STREAM, 1, 0);
        cr_assert_eq(fixture_push_dto(handles[i], 1, false), EVD_PUSHED);
        cr_assert_eq(fixture_push_dto(handles[i], 2, false), EVD_LOST);
    }
    cr_assert(overflowed(affiliated));
    cr_assert_not(overflowed(unaffiliated));
    event.unaff_async =
        (it_unaffiliated_event_t){.event_number = IT_ASYNC_UNAFF_SPIGOT_OFFLINE, .spigot_id = 1};
    cr_assert_not(evd_deliver(evd_from_handle(unaffiliated), &event));
    cr_assert(overflowed(unaffiliated));
    cr_assert_eq(drain(affiliated), 1);
    cr_assert_eq(drain(unaffiliated), 1);
}

/* ---------------------------------------------------------------- asynchronous errors, the IA */

Test(evd_ia, affiliated_errors)
{
    it_ep_handle_t ep = (it_ep_handle_t)(uintptr_t)0x1230;
    it_evd_handle_t async;

    evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_FAILURE, ep); /* nobody listens */
    async = make(IT_ASYNC_AFF_EVENT_STREAM, 4, 0);
    cr_assert_eq(it_evd_dequeue(async, &event), IT_ERR_QUEUE_EMPTY);
    evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_R_ERROR, ep);
    cr_assert_eq(it_evd_wait(async, IT_TIMEOUT_INFINITE, &event, NULL), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_EP_R_ERROR);
    cr_assert_eq(event.aff_async.evd, async);
    cr_assert_eq(event.aff_async.cause.ep, ep);
    cr_assert_eq(it_evd_free(async), IT_SUCCESS);
    evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_FAILURE, ep);
}

Test(evd_ia, list_of_objects)
{
    struct base_object objects[3] = {
        {.type = IT_HANDLE_TYPE_PZ}, {.type = IT_HANDLE_TYPE_PZ}, {.type = IT_HANDLE_TYPE_PZ}};
    const struct base_list *list = &fixture.ia.objects[IT_HANDLE_TYPE_PZ];

    for (int i = 0; i < 3; i++)
        evd_ia_link(&fixture.ia, &objects[i]);
    cr_assert_eq(list->first, &objects[2].link);
    evd_ia_unlink(&fixture.ia, &objects[1]);
    cr_assert_eq(list->first->next, &objects[0].link);
    cr_assert_eq(objects[0].link.prev, &objects[2].link);
    evd_ia_unlink(&fixture.ia, &objects[2]);
    cr_assert_eq(list->first, &objects[0].link);
    evd_ia_unlink(&fixture.ia, &objects[0]);
    cr_assert(base_list_is_empty(list));
}

Test(evd_ia, what_an_evd_tells)
{
    it_evd_handle_t handle = make(IT_CM_REQ_EVENT_STREAM, 4, 0);
    struct evd *evd = evd_from_handle(handle);

    cr_assert_eq(evd_handle(evd), handle);
    cr_assert_eq(evd_stream(evd), IT_CM_REQ_EVENT_STREAM);
    cr_assert_eq(evd_ia_of(evd), &fixture.ia);
    cr_assert_null(evd_from_handle(NULL));
    cr_assert_null(evd_from_handle((it_evd_handle_t)(void *)&fixture.ia));
}
