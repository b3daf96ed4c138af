/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_evd_create_mixed: events of several streams in one queue. */
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

#define ALL_STREAMS                                                                                \
    (ITX_STREAM_DTO | ITX_STREAM_CM_REQ | ITX_STREAM_CM_MSG | ITX_STREAM_ASYNC_AFF |               \
     ITX_STREAM_ASYNC_UNAFF | ITX_STREAM_SOFTWARE)

static it_event_t event;

TestSuite(evd_mixed, .init = fixture_init, .fini = fixture_fini);

static it_evd_handle_t make(uint32_t streams, size_t size, size_t threshold)
{
    it_evd_handle_t handle;

    cr_assert_eq(itx_evd_create_mixed(fixture_handle(&fixture), streams, (it_evd_flags_t)0, size,
                                      threshold, NULL, &handle, NULL),
                 IT_SUCCESS);
    return handle;
}

static it_status_t try(uint32_t streams, unsigned flags, size_t size)
{
    it_evd_handle_t handle;
    int fd;

    return itx_evd_create_mixed(fixture_handle(&fixture), streams, (it_evd_flags_t)flags, size, 1,
                                NULL, &handle, &fd);
}

/* The events of a connection's life in the order of arrival. */
static const it_event_type_t arrivals[] = {
    IT_CM_REQ_CONN_REQUEST_EVENT,   IT_CM_MSG_CONN_ESTABLISHED_EVENT,
    IT_DTO_RC_RECV_CMPL_EVENT,      IT_SOFTWARE_EVENT,
    IT_DTO_SEND_CMPL_EVENT,         IT_DTO_SEND_CMPL_EVENT,
    IT_ASYNC_AFF_EP_FAILURE,        IT_DTO_RDMA_READ_CMPL_EVENT,
    IT_CM_MSG_CONN_BROKEN_EVENT,    IT_ASYNC_UNAFF_SPIGOT_OFFLINE,
    IT_CM_REQ_CONN_REQUEST_EVENT,   IT_SOFTWARE_EVENT,
    IT_CM_MSG_CONN_DISCONNECT_EVENT};
#define ARRIVALS (sizeof(arrivals) / sizeof(arrivals[0]))

static it_ep_handle_t ep_of(size_t index)
{
    return (it_ep_handle_t)(void *)(uintptr_t)(0x1000 + index);
}

static void arrive(it_evd_handle_t handle, size_t index)
{
    struct evd_dto dto = {.event_number = arrivals[index], .ep = ep_of(index), .cookie = index};
    it_event_t sent = {.any.event_number = arrivals[index]};

    if ((arrivals[index] & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM) {
        if (evd_push_dto(evd_from_handle(handle), &dto) != EVD_PUSHED)
            evd_wake(evd_from_handle(handle));
        return;
    }
    if (arrivals[index] == IT_SOFTWARE_EVENT) {
        cr_assert_eq(fixture_post(handle, index), IT_SUCCESS);
        return;
    }
    if ((arrivals[index] & IT_EVENT_STREAM_MASK) == IT_CM_MSG_EVENT_STREAM)
        sent.conn.ep = ep_of(index);
    cr_assert(evd_deliver(evd_from_handle(handle), &sent));
}

static void expect(it_evd_handle_t handle, size_t index)
{
    cr_assert_eq(event.event_number, arrivals[index], "event %zu is %s", index,
                 itx_event_string(event.event_number));
    cr_assert_eq(event.any.evd, handle);
    if ((arrivals[index] & IT_EVENT_STREAM_MASK) == IT_DTO_EVENT_STREAM) {
        cr_assert_eq(event.dto_cmpl.ep, ep_of(index));
        cr_assert_eq(event.dto_cmpl.cookie, index);
    } else if (arrivals[index] == IT_SOFTWARE_EVENT) {
        cr_assert_eq((uintptr_t)event.sw.data, index);
    } else if ((arrivals[index] & IT_EVENT_STREAM_MASK) == IT_CM_MSG_EVENT_STREAM) {
        cr_assert_eq(event.conn.ep, ep_of(index));
    }
}

Test(evd_mixed, values)
{
    it_evd_handle_t handle;

    cr_assert_eq(try(0, 0, 4), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(try(0x40, 0, 4), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(try(ITX_STREAM_DTO, IT_EVD_DEQUEUE_NOTIFICATIONS, 4), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(try(ITX_STREAM_DTO, 0, 0), IT_ERR_INVALID_QUEUE_SIZE);
    cr_assert_eq(try(ITX_STREAM_DTO | ITX_STREAM_CM_MSG, IT_EVD_CREATE_FD, 4), IT_SUCCESS);
    cr_assert_eq(
        itx_evd_create_mixed(NULL, ITX_STREAM_DTO, (it_evd_flags_t)0, 4, 1, NULL, &handle, NULL),
        IT_ERR_INVALID_IA);
    cr_assert_eq(it_evd_create(fixture_handle(&fixture), ITX_MIXED_EVENT_STREAM, (it_evd_flags_t)0,
                               4, 1, NULL, &handle, NULL),
                 IT_ERR_INVALID_EVD_TYPE);
}

Test(evd_mixed, events_come_in_the_order_of_arrival)
{
    it_evd_handle_t handle = make(ALL_STREAMS, ARRIVALS, 0);

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRIVALS; i++)
            arrive(handle, i);
        for (size_t i = 0; i < ARRIVALS; i++) {
            cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
            expect(handle, i);
        }
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_QUEUE_EMPTY);
    }
}

Test(evd_mixed, query_tells_that_there_are_several_streams)
{
    it_evd_handle_t handle = make(ITX_STREAM_DTO | ITX_STREAM_SOFTWARE, 4, 0);
    it_evd_param_t params;

    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_EVENT_NUMBER, &params), IT_SUCCESS);
    cr_assert_eq(params.event_number, ITX_MIXED_EVENT_STREAM);
    cr_assert_str_eq(itx_event_string(params.event_number), "ITX_MIXED_EVENT_STREAM");
    cr_assert(evd_carries(evd_from_handle(handle), IT_DTO_EVENT_STREAM));
    cr_assert(evd_carries(evd_from_handle(handle), IT_SOFTWARE_EVENT_STREAM));
    cr_assert(!evd_carries(evd_from_handle(handle), IT_CM_MSG_EVENT_STREAM));
}

Test(evd_mixed, software_events_only_where_they_belong)
{
    cr_assert_eq(fixture_post(make(ITX_STREAM_DTO | ITX_STREAM_CM_MSG, 4, 0), 1),
                 IT_ERR_INVALID_SOFT_EVD);
    cr_assert_eq(fixture_post(make(ITX_STREAM_DTO | ITX_STREAM_SOFTWARE, 4, 0), 1), IT_SUCCESS);
}

Test(evd_mixed, both_asynchronous_streams_or_none)
{
    const uint32_t both = ITX_STREAM_ASYNC_AFF | ITX_STREAM_ASYNC_UNAFF;
    it_evd_handle_t affiliated = fixture_evd(&fixture, IT_ASYNC_AFF_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_handle_t handle;

    cr_assert_eq(try(both, 0, 4), IT_ERR_ASYNC_AFF_EVD_EXISTS);
    cr_assert_null(fixture.ia.unaffiliated);
    cr_assert_eq(it_evd_free(affiliated), IT_SUCCESS);
    handle = make(both, 4, 0);
    cr_assert_eq(try(ITX_STREAM_ASYNC_UNAFF, 0, 4), IT_ERR_ASYNC_UNAFF_EVD_EXISTS);
    evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_R_ERROR, ep_of(1));
    evd_raise_unaffiliated_spigot(&fixture.ia, IT_ASYNC_UNAFF_SPIGOT_ONLINE, 1);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_EP_R_ERROR);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_UNAFF_SPIGOT_ONLINE);
    cr_assert_eq(it_evd_free(handle), IT_SUCCESS);
    cr_assert_null(fixture.ia.affiliated);
    cr_assert_null(fixture.ia.unaffiliated);
}

/* All streams share the room of the queue. */
Test(evd_mixed, overflows_as_one_queue)
{
    it_evd_handle_t async = fixture_evd(&fixture, IT_ASYNC_AFF_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_handle_t handle = make(ITX_STREAM_DTO | ITX_STREAM_SOFTWARE, 2, 0);
    it_evd_param_t params;

    (void)fixture_push_dto(handle, 1, true);
    cr_assert_eq(fixture_post(handle, 2), IT_SUCCESS);
    cr_assert_eq(fixture_post(handle, 3), IT_ERR_EVD_QUEUE_FULL);
    cr_assert_eq(fixture_push_dto(handle, 4, true), EVD_LOST);
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_OVERFLOWED, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_overflowed, IT_TRUE);
    cr_assert_eq(it_evd_dequeue(async, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE);
    cr_assert_eq(event.aff_async.cause.sevd, handle);
}

Test(evd_mixed, threshold_counts_all_streams)
{
    it_evd_handle_t handle = make(ITX_STREAM_DTO | ITX_STREAM_SOFTWARE, 8, 3);
    size_t more;

    (void)fixture_push_dto(handle, 1, true);
    cr_assert_eq(fixture_post(handle, 2), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(handle, 0, &event, &more), IT_ERR_TIMEOUT_EXPIRED);
    (void)fixture_push_dto(handle, 3, false);
    cr_assert_eq(it_evd_wait(handle, 0, &event, &more), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_DTO_SEND_CMPL_EVENT);
    cr_assert_eq(more, 2);
}

Test(evd_mixed, resize_keeps_events_and_order)
{
    static const size_t sizes[] = {64, 17, 128, ARRIVALS};
    it_evd_handle_t handle = make(ALL_STREAMS, ARRIVALS, 0);

    for (size_t i = 0; i < ARRIVALS; i++)
        arrive(handle, i);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        it_evd_param_t params = {.sevd_queue_size = sizes[i]};

        cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_QUEUE_SIZE, &params), IT_SUCCESS);
    }
    for (size_t i = 0; i < ARRIVALS; i++) {
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
        expect(handle, i);
    }
}

Test(evd_mixed, an_aggregate_takes_it_as_member)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t handle;

    cr_assert_eq(itx_evd_create_mixed(fixture_handle(&fixture), ALL_STREAMS, (it_evd_flags_t)0,
                                      ARRIVALS, 0, aevd, &handle, NULL),
                 IT_SUCCESS);
    for (size_t i = 0; i < ARRIVALS; i++)
        arrive(handle, i);
    /* Completions that are no notification events wait until one follows them. */
    for (size_t i = 0; i < ARRIVALS; i++) {
        cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
        expect(handle, i);
    }
}

/* Freeing an EP returns its slots and touches completions only. */
Test(evd_mixed, disowning_leaves_other_events_alone)
{
    it_evd_handle_t handle = make(ALL_STREAMS, ARRIVALS, 0);

    for (size_t i = 0; i < ARRIVALS; i++)
        arrive(handle, i);
    for (size_t i = 0; i < ARRIVALS; i++)
        evd_disown_dto(evd_from_handle(handle), ep_of(i));
    for (size_t i = 0; i < ARRIVALS; i++) {
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
        expect(handle, i);
    }
}
