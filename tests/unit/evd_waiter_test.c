/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/loop/evd_waiter.h"

#include "base/base_clock.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct evd_waiter waiter;

static void *sleeper_main(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)evd_waiter_sleep(&waiter, BASE_NEVER);
}

Test(evd_waiter, sleep_ends_by_wake)
{
    pthread_t thread;
    void *result;

    cr_assert_eq(pthread_create(&thread, NULL, sleeper_main, NULL), 0);
    while (atomic_load(&waiter.state) != EVD_WAITER_SLEEPING)
        sched_yield();
    evd_waiter_wake(&waiter);
    pthread_join(thread, &result);
    cr_assert_eq((intptr_t)result, 0);
    cr_assert(evd_waiter_is_woken(&waiter));
}

Test(evd_waiter, wake_before_sleep_is_kept)
{
    evd_waiter_wake(&waiter);
    cr_assert_eq(evd_waiter_sleep(&waiter, BASE_NEVER), 0);
}

Test(evd_waiter, sleep_ends_at_the_deadline)
{
    uint64_t deadline = base_now_ns() + 2 * BASE_NS_PER_MS;

    cr_assert_eq(evd_waiter_sleep(&waiter, deadline), ETIMEDOUT);
    cr_assert_geq(base_now_ns(), deadline);
    cr_assert_eq(evd_waiter_sleep(&waiter, 0), ETIMEDOUT);
    cr_assert_eq(atomic_load(&waiter.state), EVD_WAITER_RUNNING);
}

Test(evd_waiter, poll_set_is_kicked)
{
    int fd = eventfd(0, EFD_NONBLOCK);
    eventfd_t count = 0;

    cr_assert(evd_waiter_begin_poll(&waiter, fd));
    cr_assert_not(evd_waiter_end_poll(&waiter));
    cr_assert(evd_waiter_begin_poll(&waiter, fd));
    evd_waiter_wake(&waiter);
    evd_waiter_wake(&waiter); /* one wake is enough */
    cr_assert(evd_waiter_end_poll(&waiter));
    cr_assert_eq(eventfd_read(fd, &count), 0);
    cr_assert_eq(count, 1);
    cr_assert_not(evd_waiter_begin_poll(&waiter, fd));
    cr_assert(evd_waiter_end_poll(&waiter));
    close(fd);
}
