/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_evd_arm: each call makes exactly one later event be reported. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"

#include <criterion/criterion.h>

#include <poll.h>

static it_event_t event;

TestSuite(evd_arm, .init = fixture_init, .fini = fixture_fini);

static void fixture_nothing(void *argument)
{
    (void)argument;
}

static bool readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void push(it_evd_handle_t handle, bool notify)
{
    if (fixture_push_dto(handle, 1, notify) != EVD_PUSHED)
        evd_wake((struct evd *)(void *)handle);
}

static void arm(it_evd_handle_t handle, itx_evd_arm_t what)
{
    cr_assert_eq(itx_evd_arm(handle, what), IT_SUCCESS);
}

/* Checks that the AEVD has this many records of the member, and no others. */
static void told(it_evd_handle_t aevd, int fd, it_evd_handle_t member, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        cr_assert(readable(fd));
        cr_assert_eq(it_evd_dequeue(aevd, &event), IT_SUCCESS);
        cr_assert_eq(event.event_number, IT_AEVD_NOTIFICATION_EVENT);
        cr_assert_eq(event.aevd_notify.sevd, member);
    }
    cr_assert_not(readable(fd));
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_QUEUE_EMPTY);
}

Test(evd_arm, descriptor_tells_of_the_next_event)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 16, 0, IT_EVD_CREATE_FD, &fd);

    push(handle, true);
    cr_assert(readable(fd));
    arm(handle, ITX_EVD_ARM_ANY);
    cr_assert_not(readable(fd)); /* events that are queued already are not reported */
    push(handle, false);
    cr_assert(readable(fd));
    push(handle, true);
    while (it_evd_dequeue(handle, &event) == IT_SUCCESS)
        cr_assert(readable(fd));
    cr_assert(readable(fd));
    arm(handle, ITX_EVD_ARM_ANY);
    cr_assert_not(readable(fd));
    push(handle, false);
    cr_assert(readable(fd));
    arm(handle, ITX_EVD_ARM_OFF);
    cr_assert_not(readable(fd)); /* no notification event is queued */
    push(handle, true);
    cr_assert(readable(fd));
}

Test(evd_arm, not_armed_nothing_is_told)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 16, 0, IT_EVD_CREATE_FD, &fd);

    arm(handle, ITX_EVD_ARM_NONE);
    push(handle, true);
    cr_assert_not(readable(fd));
    arm(handle, ITX_EVD_ARM_NOTIFICATION);
    push(handle, false);
    cr_assert_not(readable(fd));
    push(handle, true);
    cr_assert(readable(fd));
}

Test(evd_arm, a_record_for_each_time_armed)
{
    int fd;
    it_evd_handle_t aevd =
        fixture_aevd(&fixture, IT_EVD_CREATE_FD | IT_EVD_DEQUEUE_NOTIFICATIONS, &fd);
    it_evd_handle_t one = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 1);
    it_evd_handle_t two = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 1);

    arm(one, ITX_EVD_ARM_NONE);
    arm(two, ITX_EVD_ARM_NONE);
    push(one, true);
    told(aevd, fd, NULL, 0);
    arm(one, ITX_EVD_ARM_ANY);
    told(aevd, fd, NULL, 0);
    push(one, false);
    push(one, false);
    push(two, true);
    told(aevd, fd, one, 1);
    /* Armed again before the first record was taken: both records are there. */
    arm(one, ITX_EVD_ARM_ANY);
    push(one, false);
    arm(one, ITX_EVD_ARM_ANY);
    push(one, false);
    told(aevd, fd, one, 2);
    /* Taking the events makes no difference to the record, nor does an empty queue. */
    arm(one, ITX_EVD_ARM_ANY);
    push(one, false);
    while (it_evd_dequeue(one, &event) == IT_SUCCESS) {
    }
    told(aevd, fd, one, 1);
    push(one, true);
    told(aevd, fd, NULL, 0);
}

Test(evd_arm, the_wider_wish_stays)
{
    int fd;
    it_evd_handle_t aevd =
        fixture_aevd(&fixture, IT_EVD_CREATE_FD | IT_EVD_DEQUEUE_NOTIFICATIONS, &fd);
    it_evd_handle_t one = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 1);

    arm(one, ITX_EVD_ARM_ANY);
    arm(one, ITX_EVD_ARM_NOTIFICATION);
    push(one, false);
    told(aevd, fd, one, 1);
    arm(one, ITX_EVD_ARM_NOTIFICATION);
    push(one, false);
    told(aevd, fd, NULL, 0);
    arm(one, ITX_EVD_ARM_ANY);
    push(one, false);
    told(aevd, fd, one, 1);
    arm(one, ITX_EVD_ARM_NOTIFICATION);
    push(one, false);
    push(one, true);
    told(aevd, fd, one, 1);
}

Test(evd_arm, a_failure_notifies)
{
    int fd;
    it_evd_handle_t handle =
        fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 16, 0, IT_EVD_CREATE_FD, &fd);
    const struct evd_dto failed = {.event_number = IT_DTO_SEND_CMPL_EVENT,
                                   .status = IT_DTO_ERR_FLUSHED};

    arm(handle, ITX_EVD_ARM_NOTIFICATION);
    if (evd_push_dto((struct evd *)(void *)handle, &failed) != EVD_PUSHED)
        evd_wake((struct evd *)(void *)handle);
    cr_assert(readable(fd));
}

static atomic_uint runs;

static void run(it_evd_handle_t handle, void *argument)
{
    (void)handle;
    (void)argument;
    atomic_fetch_add(&runs, 1);
}

static void runs_are(unsigned count)
{
    while (atomic_load(&runs) != count)
        sched_yield();
    evd_loop_call(fixture.ia.loop, fixture_nothing,
                  NULL); /* waits until submitted tasks have run */
    cr_assert_eq(atomic_load(&runs), count);
}

/* The callback runs once for each time armed, whether its events are taken or not. */
Test(evd_arm, callback_runs_once)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 16, 0, 0, NULL);

    arm(handle, ITX_EVD_ARM_NONE);
    cr_assert_eq(it_evd_callback_attach(handle, run, NULL), IT_SUCCESS);
    push(handle, true);
    runs_are(0);
    arm(handle, ITX_EVD_ARM_ANY);
    runs_are(0);
    push(handle, false);
    push(handle, false);
    runs_are(1);
    arm(handle, ITX_EVD_ARM_NOTIFICATION);
    push(handle, false);
    runs_are(1);
    push(handle, true);
    runs_are(2);
    while (it_evd_dequeue(handle, &event) == IT_SUCCESS) {
    }
    for (unsigned i = 0; i < 100; i++) {
        arm(handle, ITX_EVD_ARM_ANY);
        push(handle, false);
        cr_assert_eq(it_evd_dequeue(handle, &event), IT_SUCCESS);
    }
    runs_are(102);
    cr_assert_eq(it_evd_callback_detach(handle), IT_SUCCESS);
}

/* While the EVD is not armed, a thread may wait in place of the callback. */
Test(evd_arm, waits_beside_a_silent_callback)
{
    it_evd_handle_t handle = fixture_evd(&fixture, IT_DTO_EVENT_STREAM, 16, 0, 0, NULL);

    cr_assert_eq(it_evd_callback_attach(handle, run, NULL), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_CALLBACK_EXISTS);
    arm(handle, ITX_EVD_ARM_NONE);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_TIMEOUT_EXPIRED);
    push(handle, true);
    cr_assert_eq(it_evd_wait(handle, 1000000, &event, NULL), IT_SUCCESS);
    runs_are(0);
    arm(handle, ITX_EVD_ARM_OFF);
    cr_assert_eq(it_evd_wait(handle, 0, &event, NULL), IT_ERR_CALLBACK_EXISTS);
    arm(handle, ITX_EVD_ARM_ANY);
    push(handle, true);
    runs_are(1);
    cr_assert_eq(it_evd_callback_detach(handle), IT_SUCCESS);
}

/* After ITX_EVD_ARM_OFF the EVD reports notification events as usual. */
Test(evd_arm, back_to_the_usual)
{
    int fd;
    it_evd_handle_t aevd =
        fixture_aevd(&fixture, IT_EVD_CREATE_FD | IT_EVD_DEQUEUE_NOTIFICATIONS, &fd);
    it_evd_handle_t one = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 1);

    arm(one, ITX_EVD_ARM_ANY);
    push(one, true);
    arm(one, ITX_EVD_ARM_OFF);
    told(aevd, fd, one, 1); /* the member is ready */
    cr_assert_eq(it_evd_dequeue(one, &event), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(one, &event), IT_ERR_QUEUE_EMPTY);
    push(one, true);
    told(aevd, fd, one, 1);
}

Test(evd_arm, refused)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t one = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 1);

    cr_assert_eq(itx_evd_arm(NULL, ITX_EVD_ARM_ANY), IT_ERR_INVALID_EVD);
    cr_assert_eq(itx_evd_arm(aevd, ITX_EVD_ARM_ANY), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(itx_evd_arm(one, ITX_EVD_ARM_ANY), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(itx_evd_arm(one, ITX_EVD_ARM_OFF), IT_SUCCESS);
    cr_assert_eq(itx_evd_arm(one, (itx_evd_arm_t)4), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(itx_evd_arm(one, (itx_evd_arm_t)-1), IT_ERR_INVALID_FLAGS);
}
