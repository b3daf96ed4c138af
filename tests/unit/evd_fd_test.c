/* SPDX-License-Identifier: BSD-2-Clause */
/* IT_EVD_CREATE_FD. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

static it_event_t event;

TestSuite(evd_fd, .init = fixture_init, .fini = fixture_fini);

static bool readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

Test(evd_fd, readable_while_ready)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 2, IT_EVD_CREATE_FD, &fd);

    cr_assert_not(readable(fd));
    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_not(readable(fd));
    cr_assert_eq(fixture_post(handle, 2), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(fixture_post(handle, 3), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_SUCCESS);
    cr_assert_not(readable(fd));
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(handle, &event), IT_ERR_QUEUE_EMPTY);
    cr_assert_not(readable(fd));
}

Test(evd_fd, needs_a_notification_event)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 8, 0, IT_EVD_CREATE_FD, &fd);

    cr_assert_eq(fixture_push_dto(handle, 1, false), EVD_PUSHED);
    cr_assert_not(readable(fd));
    cr_assert_eq(fixture_push_dto(handle, 2, true), EVD_PUSHED_WAKE);
    cr_assert(readable(fd));
    /* The descriptor is readable already, so nobody needs a wake. */
    cr_assert_eq(fixture_push_dto(handle, 3, true), EVD_PUSHED);
}

Test(evd_fd, follows_modify)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 2, IT_EVD_CREATE_FD, &fd);
    it_evd_param_t params = {.sevd_threshold = 1, .evd_enabled = IT_FALSE};

    cr_assert_eq(fixture_post(handle, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_THRESHOLD, &params), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    cr_assert_not(readable(fd));
    params.evd_enabled = IT_TRUE;
    cr_assert_eq(it_evd_modify(handle, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    cr_assert(readable(fd));
}

Test(evd_fd, edge_triggered_use)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, IT_EVD_CREATE_FD, &fd);
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET};

    cr_assert_eq(epoll_ctl(set, EPOLL_CTL_ADD, fd, &edge), 0);
    for (uintptr_t i = 0; i < 3; i++) {
        cr_assert_eq(fixture_post(handle, i), IT_SUCCESS);
        cr_assert_eq(epoll_wait(set, &edge, 1, 0), 1);
        cr_assert_eq(epoll_wait(set, &edge, 1, 0), 0);
        while (it_evd_dequeue(handle, &event) == IT_SUCCESS)
            ;
    }
    close(set);
}

static void exercise_aggregate(it_evd_handle_t aevd, int fd)
{
    it_evd_handle_t a = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t b = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_param_t params = {.aevd = NULL};

    cr_assert_not(readable(fd));
    cr_assert_eq(fixture_post(a, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(b, 1), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_wait(aevd, 0, &event, NULL), IT_SUCCESS);
    cr_assert_not(readable(fd));
    while (it_evd_dequeue(a, &event) == IT_SUCCESS)
        ;
    cr_assert_eq(fixture_post(a, 2), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_dequeue(a, &event), IT_SUCCESS);
    cr_assert_not(readable(fd));
    cr_assert_eq(it_evd_dequeue(a, &event), IT_ERR_QUEUE_EMPTY);

    /* A ready member that leaves its AEVD makes the descriptor unreadable again. */
    cr_assert_eq(fixture_post(a, 3), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_modify(a, IT_EVD_PARAM_AEVD_HANDLE, &params), IT_SUCCESS);
    cr_assert_not(readable(fd));
    params.aevd = aevd;
    cr_assert_eq(it_evd_modify(a, IT_EVD_PARAM_AEVD_HANDLE, &params), IT_SUCCESS);
    cr_assert(readable(fd));
    cr_assert_eq(it_evd_free(a), IT_SUCCESS);
    cr_assert_not(readable(fd));
}

Test(evd_fd, aggregate)
{
    int fd;
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &fd);

    exercise_aggregate(aevd, fd);
}

Test(evd_fd, aggregate_with_records)
{
    int fd;
    it_evd_handle_t aevd =
        fixture_aevd(&fixture, IT_EVD_CREATE_FD | IT_EVD_DEQUEUE_NOTIFICATIONS, &fd);

    exercise_aggregate(aevd, fd);
}
