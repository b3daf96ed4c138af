/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

static it_evd_handle_t evd;
static it_evd_handle_t aevd;

static void setup(void)
{
    fixture_start(&fixture);
    evd = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 2, 0, NULL);
    aevd = fixture_aevd(&fixture, 0, NULL);
}

TestSuite(evd_modify, .init = setup, .fini = fixture_fini);

static it_status_t modify(it_evd_handle_t handle, unsigned mask, it_evd_param_t params)
{
    return it_evd_modify(handle, (it_evd_param_mask_t)mask, &params);
}

#define MODIFY(handle, mask, ...) modify(handle, mask, (it_evd_param_t){__VA_ARGS__})

static it_evd_param_t query(it_evd_handle_t handle)
{
    it_evd_param_t params;

    cr_assert_eq(it_evd_query(handle, IT_EVD_PARAM_ALL, &params), IT_SUCCESS);
    return params;
}

Test(evd_modify, arguments)
{
    static const unsigned read_only[] = {
        IT_EVD_PARAM_ALL, IT_EVD_PARAM_IA,    IT_EVD_PARAM_EVENT_NUMBER,
        IT_EVD_PARAM_FD,  IT_EVD_PARAM_BOUND, IT_EVD_PARAM_CALLBACK,
        0x1000,
    };

    cr_assert_eq(MODIFY(NULL, 0, .fd = 0), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_modify(evd, IT_EVD_PARAM_ENABLED, NULL), IT_ERR_FAULT);
    for (size_t i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++)
        cr_assert_eq(MODIFY(evd, read_only[i], .fd = 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(MODIFY(evd, 0, .fd = 0), IT_SUCCESS);
    cr_assert_eq(MODIFY(aevd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 4), IT_ERR_INVALID_MASK);
    cr_assert_eq(MODIFY(aevd, IT_EVD_PARAM_THRESHOLD, .sevd_threshold = 1), IT_ERR_INVALID_MASK);
    cr_assert_eq(MODIFY(aevd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = NULL), IT_ERR_INVALID_MASK);
    cr_assert_eq(MODIFY(aevd, IT_EVD_PARAM_ENABLED, .evd_enabled = IT_FALSE), IT_SUCCESS);
    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(MODIFY(evd, 0, .fd = 0), IT_ERR_IA_CATASTROPHE);
}

Test(evd_modify, queue_size_keeps_the_events)
{
    it_event_t event;

    for (uintptr_t i = 0; i < 4; i++)
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 0),
                 IT_ERR_INVALID_QUEUE_SIZE);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 3),
                 IT_ERR_INVALID_QUEUE_SIZE);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = SIZE_MAX),
                 IT_ERR_RESOURCE_QUEUE_SIZE);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 4), IT_SUCCESS);
    cr_assert_eq(query(evd).sevd_queue_size, 4);
    cr_assert_eq(fixture_post(evd, 4), IT_ERR_EVD_QUEUE_FULL);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 5), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 4), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 5), IT_ERR_EVD_QUEUE_FULL);
    for (uintptr_t i = 0; i < 5; i++) {
        cr_assert_eq(it_evd_dequeue(evd, &event), IT_SUCCESS);
        cr_assert_eq(event.sw.data, (void *)i);
    }
}

Test(evd_modify, threshold_fits_the_queue)
{
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_THRESHOLD, .sevd_threshold = 9),
                 IT_ERR_INVALID_THRESHOLD);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE, .sevd_queue_size = 1),
                 IT_ERR_INVALID_THRESHOLD);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_THRESHOLD, .sevd_queue_size = 9,
                        .sevd_threshold = 9),
                 IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_THRESHOLD, .sevd_queue_size = 1,
                        .sevd_threshold = IT_THRESHOLD_DISABLE),
                 IT_SUCCESS);
    cr_assert_eq(query(evd).sevd_threshold, 0);
}

Test(evd_modify, all_or_nothing)
{
    unsigned mask = IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_ENABLED | IT_EVD_PARAM_FLAG |
                    IT_EVD_PARAM_AEVD_HANDLE | IT_EVD_PARAM_THRESHOLD;

    cr_assert_eq(MODIFY(evd, mask, .sevd_queue_size = 4, .sevd_threshold = 5, .aevd = aevd,
                        .evd_flag = IT_EVD_OVERFLOW_NOTIFY),
                 IT_ERR_INVALID_THRESHOLD);
    cr_assert_eq(query(evd).sevd_queue_size, 8);
    cr_assert_eq(query(evd).sevd_threshold, 2);
    cr_assert_eq(query(evd).evd_enabled, IT_TRUE);
    cr_assert_eq(query(evd).evd_flag, 0);
    cr_assert_null(query(evd).aevd);
    cr_assert_eq(it_evd_free(aevd), IT_SUCCESS);
}

Test(evd_modify, flags)
{
    it_evd_handle_t with_fd;
    int fd;

    with_fd = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, IT_EVD_CREATE_FD, &fd);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_FLAG, .evd_flag = IT_EVD_CREATE_FD),
                 IT_ERR_INVALID_FLAGS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_FLAG, .evd_flag = (it_evd_flags_t)0x40),
                 IT_ERR_INVALID_FLAGS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_FLAG, .evd_flag = IT_EVD_OVERFLOW_AUTO_RESET),
                 IT_SUCCESS);
    cr_assert_eq(query(evd).evd_flag, IT_EVD_OVERFLOW_AUTO_RESET);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_FLAG, .evd_flag = (it_evd_flags_t)0), IT_SUCCESS);
    cr_assert_eq(query(evd).evd_flag, 0);
    cr_assert_eq(MODIFY(with_fd, IT_EVD_PARAM_FLAG, .evd_flag = IT_EVD_OVERFLOW_NOTIFY),
                 IT_SUCCESS);
    cr_assert_eq((unsigned)query(with_fd).evd_flag,
                 (unsigned)IT_EVD_OVERFLOW_NOTIFY | (unsigned)IT_EVD_CREATE_FD);
}

Test(evd_modify, overflow_can_only_be_cleared)
{
    it_evd_handle_t dto = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 1, 0, 0, NULL);

    cr_assert_eq(MODIFY(dto, IT_EVD_PARAM_OVERFLOWED, .evd_overflowed = IT_TRUE),
                 IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(MODIFY(dto, IT_EVD_PARAM_OVERFLOWED, .evd_overflowed = IT_FALSE), IT_SUCCESS);
    (void)fixture_push_dto(dto, 1, false);
    (void)fixture_push_dto(dto, 2, false);
    cr_assert_eq(MODIFY(dto, IT_EVD_PARAM_OVERFLOWED, .evd_overflowed = IT_TRUE), IT_SUCCESS);
    cr_assert_eq(query(dto).evd_overflowed, IT_TRUE);
    cr_assert_eq(MODIFY(dto, IT_EVD_PARAM_OVERFLOWED, .evd_overflowed = IT_FALSE), IT_SUCCESS);
    cr_assert_eq(query(dto).evd_overflowed, IT_FALSE);
}

Test(evd_modify, auto_reset_ends_a_condition_that_has_room_already)
{
    it_evd_handle_t dto = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 1, 0, 0, NULL);
    it_event_t event;

    (void)fixture_push_dto(dto, 1, false);
    (void)fixture_push_dto(dto, 2, false);
    cr_assert_eq(it_evd_dequeue(dto, &event), IT_SUCCESS);
    cr_assert_eq(query(dto).evd_overflowed, IT_TRUE);
    cr_assert_eq(MODIFY(dto, IT_EVD_PARAM_FLAG, .evd_flag = IT_EVD_OVERFLOW_AUTO_RESET),
                 IT_SUCCESS);
    cr_assert_eq(query(dto).evd_overflowed, IT_FALSE);
    (void)fixture_push_dto(dto, 3, false);
    cr_assert_eq(it_evd_dequeue(dto, &event), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.cookie, 3);
}

Test(evd_modify, joining_and_leaving)
{
    it_evd_handle_t other = fixture_aevd(&fixture, 0, NULL);
    it_event_t event;

    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = evd), IT_ERR_INVALID_AEVD);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = NULL), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 2), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_SUCCESS); /* no change */
    cr_assert_eq(query(evd).aevd, aevd);
    cr_assert_eq(it_evd_wait(aevd, 0, &event, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(aevd, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED); /* threshold 2 */

    cr_assert_eq(fixture_post(evd, 3), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = other), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(aevd, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
    cr_assert_eq(it_evd_free(aevd), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(other, 0, &event, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_free(other), IT_ERR_EVD_BUSY);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = NULL), IT_SUCCESS);
    cr_assert_null(query(evd).aevd);
    cr_assert_eq(it_evd_free(other), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(evd, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
}

static void some_callback(it_evd_handle_t handle, void *argument)
{
    (void)handle;
    (void)argument;
}

Test(evd_modify, joining_is_refused_when_something_waits)
{
    struct fixture_waiter waiter;
    it_evd_handle_t with_fd;
    int fd;

    with_fd = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 4, 0, IT_EVD_CREATE_FD, &fd);
    cr_assert_eq(MODIFY(with_fd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_ERR_INVALID_EVD_STATE);

    fixture_waiter_start(&waiter, evd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(evd, 1);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);

    cr_assert_eq(it_evd_callback_attach(evd, some_callback, NULL), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(it_evd_callback_detach(evd), IT_SUCCESS);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = aevd), IT_SUCCESS);
}

Test(evd_modify, aevd_of_another_ia)
{
    struct fixture other;

    fixture_start(&other);
    cr_assert_eq(MODIFY(evd, IT_EVD_PARAM_AEVD_HANDLE, .aevd = fixture_aevd(&other, 0, NULL)),
                 IT_ERR_INVALID_AEVD);
    fixture_stop(&other);
}
