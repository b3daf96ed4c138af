/* SPDX-License-Identifier: BSD-2-Clause */
/* it_evd_create, it_evd_free, it_evd_query. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <sys/resource.h>

static it_ia_handle_t ia;

static void setup(void)
{
    ia = fixture_start(&fixture);
}

TestSuite(evd_create, .init = setup, .fini = fixture_fini);
TestSuite(evd_free, .init = setup, .fini = fixture_fini);
TestSuite(evd_query, .init = setup, .fini = fixture_fini);

static it_evd_handle_t untouched(void)
{
    return (it_evd_handle_t)(void *)&fixture;
}

/* Arguments of a call. A member that is not set stands for a good argument. */
struct arguments {
    it_ia_handle_t other_ia;
    bool no_ia;
    unsigned stream;
    unsigned flags;
    size_t size;
    bool no_size;
    size_t threshold;
    it_evd_handle_t aevd;
    bool no_out;
    bool no_fd;
};

static it_status_t create(struct arguments arguments)
{
    it_evd_handle_t handle = untouched();
    int fd = -7;
    it_ia_handle_t used_ia = arguments.no_ia || arguments.other_ia ? arguments.other_ia : ia;
    size_t size = arguments.no_size || arguments.size ? arguments.size : 8;
    it_status_t status =
        it_evd_create(used_ia, (it_event_type_t)arguments.stream, (it_evd_flags_t)arguments.flags,
                      size, arguments.threshold, arguments.aevd, arguments.no_out ? NULL : &handle,
                      arguments.no_fd ? NULL : &fd);

    if (status != IT_SUCCESS) {
        cr_assert_eq(handle, untouched());
        cr_assert_eq(fd, -7);
    } else {
        cr_assert_eq(fd >= 0, (arguments.flags & IT_EVD_CREATE_FD) != 0);
    }
    return status;
}

#define CREATE(...) create((struct arguments){__VA_ARGS__})

Test(evd_create, all_streams)
{
    static const unsigned streams[] = {
        IT_DTO_EVENT_STREAM,       IT_CM_REQ_EVENT_STREAM,      IT_CM_MSG_EVENT_STREAM,
        IT_ASYNC_AFF_EVENT_STREAM, IT_ASYNC_UNAFF_EVENT_STREAM, IT_SOFTWARE_EVENT_STREAM,
    };

    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        cr_assert_eq(CREATE(.stream = streams[i], .threshold = 8, .no_fd = true), IT_SUCCESS);
    cr_assert_eq(
        CREATE(.stream = IT_AEVD_NOTIFICATION_EVENT_STREAM, .no_size = true, .threshold = 99),
        IT_SUCCESS);
    cr_assert_not_null(fixture.ia.affiliated);
    cr_assert_not_null(fixture.ia.unaffiliated);
}

Test(evd_create, handles_and_pointers)
{
    it_evd_handle_t simple = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    struct fixture other;
    it_evd_handle_t foreign;

    fixture_start(&other);
    foreign = fixture_aevd(&other, 0, NULL);
    cr_assert_eq(CREATE(.no_ia = true), IT_ERR_INVALID_IA);
    cr_assert_eq(CREATE(.other_ia = (it_ia_handle_t)(void *)simple), IT_ERR_INVALID_IA);
    cr_assert_eq(CREATE(.aevd = simple), IT_ERR_INVALID_AEVD);
    cr_assert_eq(CREATE(.aevd = (it_evd_handle_t)(void *)ia), IT_ERR_INVALID_AEVD);
    cr_assert_eq(CREATE(.aevd = foreign), IT_ERR_INVALID_AEVD);
    cr_assert_eq(CREATE(.no_out = true), IT_ERR_FAULT);
    cr_assert_eq(CREATE(.stream = IT_AEVD_NOTIFICATION_EVENT_STREAM, .aevd = aevd),
                 IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(CREATE(.aevd = aevd), IT_SUCCESS);
    fixture_stop(&other);
}

Test(evd_create, values)
{
    cr_assert_eq(CREATE(.stream = IT_DTO_SEND_CMPL_EVENT), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(CREATE(.stream = IT_SOFTWARE_EVENT), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(CREATE(.stream = 0x40000), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(CREATE(.flags = 0x20), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(CREATE(.flags = IT_EVD_DEQUEUE_NOTIFICATIONS), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(CREATE(.no_size = true), IT_ERR_INVALID_QUEUE_SIZE);
    cr_assert_eq(CREATE(.size = SIZE_MAX), IT_ERR_RESOURCE_QUEUE_SIZE);
    cr_assert_eq(CREATE(.size = EVD_QUEUE_MAX + 1), IT_ERR_RESOURCE_QUEUE_SIZE);
    cr_assert_eq(CREATE(.threshold = 9), IT_ERR_INVALID_THRESHOLD);
    cr_assert_eq(CREATE(.flags = IT_EVD_CREATE_FD, .no_fd = true), IT_ERR_MISMATCH_FD);
    cr_assert_eq(CREATE(.flags = IT_EVD_CREATE_FD, .aevd = fixture_aevd(&fixture, 0, NULL)),
                 IT_ERR_MISMATCH_FD);
    cr_assert_eq(CREATE(.flags = IT_EVD_CREATE_FD | EVD_FLAGS_OVERFLOW), IT_SUCCESS);
    cr_assert_eq(CREATE(.stream = IT_AEVD_NOTIFICATION_EVENT_STREAM, .flags = EVD_FLAGS_ALL),
                 IT_SUCCESS);
}

Test(evd_create, one_asynchronous_evd_of_a_kind)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_ASYNC_AFF_EVENT_STREAM, 4, 0, 0, NULL);

    cr_assert_eq(CREATE(.stream = IT_ASYNC_AFF_EVENT_STREAM), IT_ERR_ASYNC_AFF_EVD_EXISTS);
    cr_assert_eq(CREATE(.stream = IT_ASYNC_UNAFF_EVENT_STREAM), IT_SUCCESS);
    cr_assert_eq(CREATE(.stream = IT_ASYNC_UNAFF_EVENT_STREAM), IT_ERR_ASYNC_UNAFF_EVD_EXISTS);
    cr_assert_eq(it_evd_free(handle), IT_SUCCESS);
    cr_assert_null(fixture.ia.affiliated);
    cr_assert_eq(CREATE(.stream = IT_ASYNC_AFF_EVENT_STREAM), IT_SUCCESS);
}

Test(evd_create, refused_member_does_not_keep_its_aevd_busy)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);

    cr_assert_eq(CREATE(.stream = IT_ASYNC_AFF_EVENT_STREAM), IT_SUCCESS);
    cr_assert_eq(CREATE(.stream = IT_ASYNC_AFF_EVENT_STREAM, .aevd = aevd),
                 IT_ERR_ASYNC_AFF_EVD_EXISTS);
    cr_assert_eq(it_evd_free(aevd), IT_SUCCESS);
}

Test(evd_create, failed_ia)
{
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(CREATE(.stream = IT_DTO_EVENT_STREAM), IT_ERR_IA_CATASTROPHE);
}

Test(evd_create, no_descriptors_left)
{
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    struct rlimit before;

    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    cr_expect_eq(CREATE(.flags = IT_EVD_CREATE_FD), IT_ERR_RESOURCES);
    setrlimit(RLIMIT_NOFILE, &before);
    cr_assert_eq(CREATE(.flags = IT_EVD_CREATE_FD), IT_SUCCESS);
}

/* ---------------------------------------------------------------- free */

Test(evd_free, bad_handles)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_param_t params;
    it_event_t event;

    cr_assert_eq(it_evd_free(NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_free((it_evd_handle_t)(void *)ia), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_free((it_evd_handle_t)((char *)(void *)handle + 1)), IT_ERR_INVALID_EVD);
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_free(handle), IT_SUCCESS);
    cr_assert_eq(it_evd_free(handle), IT_ERR_INVALID_EVD);
    cr_assert_eq(fixture_post(handle, 1), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_ALL, &params), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_modify(handle, (it_evd_param_mask_t)0, &params), IT_ERR_INVALID_EVD);
    cr_assert_null(evd_from_handle(handle));
}

Test(evd_free, busy_while_held)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, 0, NULL);
    struct evd *evd = evd_from_handle(handle);

    cr_assert(evd_hold(evd));
    cr_assert(evd_hold(evd));
    cr_assert_eq(it_evd_free(handle), IT_ERR_EVD_BUSY);
    evd_release(evd);
    cr_assert_eq(it_evd_free(handle), IT_ERR_EVD_BUSY);
    evd_release(evd);
    cr_assert_eq(it_evd_free(handle), IT_SUCCESS);
    cr_assert_not(evd_hold(evd));
}

Test(evd_free, aggregate_busy_while_it_has_members)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);

    cr_assert_eq(fixture_post(member, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_free(aevd), IT_ERR_EVD_BUSY);
    cr_assert_eq(it_evd_free(member), IT_SUCCESS);
    cr_assert_eq(it_evd_free(aevd), IT_SUCCESS);
}

Test(evd_free, works_on_a_failed_ia_and_closes_the_descriptor)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, IT_EVD_CREATE_FD, &fd);

    atomic_store(&fixture.ia.failed, true);
    cr_assert_geq(fcntl(fd, F_GETFD), 0);
    cr_assert_eq(it_evd_free(handle), IT_SUCCESS);
    cr_assert_eq(fcntl(fd, F_GETFD), -1);
}

Test(evd_free, blocked_waiters_return_abort)
{
    it_evd_handle_t handles[2];
    struct fixture_waiter waiters[2][EVD_WAITERS];

    handles[0] = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, 0, NULL);
    handles[1] = fixture_aevd(&fixture, 0, NULL);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < EVD_WAITERS; j++)
            fixture_waiter_start(&waiters[i][j], handles[i], IT_TIMEOUT_INFINITE);
        fixture_await_sleepers(handles[i], EVD_WAITERS);
        cr_assert_eq(it_evd_free(handles[i]), IT_SUCCESS);
        for (int j = 0; j < EVD_WAITERS; j++)
            cr_assert_eq(fixture_waiter_join(&waiters[i][j]), IT_ERR_ABORT);
    }
}

Test(evd_free, all_of_an_ia)
{
    it_evd_handle_t member = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_param_t params = {.aevd = aevd};
    struct fixture_waiter waiter;

    cr_assert_eq(it_evd_modify(member, IT_EVD_PARAM_AEVD_HANDLE, &params), IT_SUCCESS);
    cr_assert(evd_hold(evd_from_handle(member)));
    fixture_waiter_start(&waiter, aevd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(aevd, 1);
    evd_ia_free_all(&fixture.ia);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_ERR_ABORT);
    cr_assert(base_list_is_empty(&fixture.ia.objects[IT_HANDLE_TYPE_EVD]));
    cr_assert_eq(it_evd_free(member), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_free(aevd), IT_ERR_INVALID_EVD);
}

/* ---------------------------------------------------------------- query */

Test(evd_query, all_members)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    it_evd_handle_t handle = NULL;
    it_evd_param_t params;

    cr_assert_eq(it_evd_create(ia, IT_SOFTWARE_EVENT_STREAM, IT_EVD_OVERFLOW_NOTIFY, 9, 3, aevd,
                               &handle, NULL),
                 IT_SUCCESS);
    memset(&params, 0xff, sizeof(params));
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, ia);
    cr_assert_eq(params.event_number, IT_SOFTWARE_EVENT_STREAM);
    cr_assert_eq(params.evd_flag, IT_EVD_OVERFLOW_NOTIFY);
    cr_assert_eq(params.sevd_queue_size, 9);
    cr_assert_eq(params.sevd_threshold, 3);
    cr_assert_eq(params.aevd, aevd);
    cr_assert_eq(params.fd, -1);
    cr_assert_eq(params.evd_bound, IT_FALSE);
    cr_assert_eq(params.evd_enabled, IT_TRUE);
    cr_assert_eq(params.evd_overflowed, IT_FALSE);
    cr_assert_eq(params.evd_callback, IT_FALSE);
}

Test(evd_query, aggregate_with_descriptor)
{
    int fd;
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &fd);
    it_evd_param_t params;

    cr_assert_eq(it_evd_query(aevd, IT_EVD_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.event_number, IT_AEVD_NOTIFICATION_EVENT_STREAM);
    cr_assert_eq(params.fd, fd);
    cr_assert_eq(params.aevd, NULL);
    cr_assert_eq(params.sevd_queue_size, 0);
}

Test(evd_query, bound_while_held)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, 0, NULL);
    it_evd_param_t params;

    cr_assert(evd_hold(evd_from_handle(handle)));
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_BOUND, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_bound, IT_TRUE);
    evd_release(evd_from_handle(handle));
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_BOUND, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_bound, IT_FALSE);
}

Test(evd_query, masks)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 2, 0, NULL);
    it_evd_param_t params;
    it_evd_param_t before;

    memset(&params, 0x55, sizeof(params));
    before = params;
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_evd_query(handle, (it_evd_param_mask_t)0x1000, &params), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_evd_query(handle, (it_evd_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_eq(memcmp(&params, &before, sizeof(params)), 0);
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_THRESHOLD, &params), IT_SUCCESS);
    before.sevd_threshold = 2;
    cr_assert_eq(memcmp(&params, &before, sizeof(params)), 0);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_ALL, &params), IT_SUCCESS);
}

/* it_evd_free has begun, and waits for those that are inside: nobody else may enter. */
Test(evd_create, a_dying_evd_lets_nobody_in)
{
    struct evd *evd =
        evd_from_handle(fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL));

    cr_assert(evd_enter(evd));
    atomic_fetch_or(&evd->users, EVD_DYING);
    cr_assert_not(evd_enter(evd));
    atomic_fetch_and(&evd->users, ~EVD_DYING);
    evd_leave(evd);
}
