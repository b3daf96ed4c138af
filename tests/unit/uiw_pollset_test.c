/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams in the poll set: the calls of epoll, and how many streams wait for room. The test
 * replaces epoll.
 */
#include "vp/uiwarp/queue/uiw_pollset.h"

#include "uiw_bed.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FD 77

static _Thread_local struct {
    bool on;
    int error;
    int operation;
    unsigned events;
} script;

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    if (!script.on)
        return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
    cr_assert_eq(fd, FD);
    script.operation = operation;
    script.events = event ? event->events : 0;
    errno = script.error;
    return script.error ? -1 : 0;
}

static struct uiw_bed bed;
static struct ual_ia *ia;

static void setup(void)
{
    uiw_bed_open(&bed, 4);
    ia = ual_ia_of(&bed.ual->object);
    script.on = true;
}

static void teardown(void)
{
    script.on = false;
    uiw_bed_close(&bed);
}

TestSuite(uiw_pollset, .init = setup, .fini = teardown);

static bool add(void)
{
    return uiw_pollset_add(ia, bed.ual, FD);
}

static bool want(bool writable)
{
    atomic_store(&bed.ep->tx.blocked, writable);
    return uiw_pollset_want(ia, bed.ual, FD, writable);
}

static void check_told(int operation, unsigned events)
{
    cr_assert_eq(script.operation, operation);
    cr_assert_eq(script.events, events);
}

static void check_blocked(unsigned count)
{
    cr_assert_eq(atomic_load(&uiw_progress_of(ia)->blocked), count);
}

Test(uiw_pollset, a_stream_is_added_for_what_it_waits_for)
{
    cr_assert(add());
    check_told(EPOLL_CTL_ADD, EPOLLIN);
    atomic_store(&bed.ep->tx.blocked, true);
    cr_assert(add());
    check_told(EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
    atomic_store(&bed.ep->tx.blocked, false);
    script.error = ENOMEM;
    cr_assert_not(add());
}

Test(uiw_pollset, room_in_the_socket)
{
    cr_assert(want(true));
    check_told(EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    check_blocked(1);
    cr_assert(want(false));
    check_told(EPOLL_CTL_MOD, EPOLLIN);
    check_blocked(0);
}

/* The stream is added with the events that it waits for at that time. */
Test(uiw_pollset, a_stream_that_is_not_in_the_set_yet)
{
    script.error = ENOENT;
    cr_assert(want(true));
    check_blocked(1);
    script.error = 0;
    uiw_pollset_remove(ia, bed.ual, FD);
    check_blocked(0);
}

/* Once. */
Test(uiw_pollset, a_detached_stream_comes_back)
{
    bed.ep->tx.detached = true;
    cr_assert(want(true));
    check_told(EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
    cr_assert_not(bed.ep->tx.detached);
    cr_assert(want(false));
    check_told(EPOLL_CTL_MOD, EPOLLIN);
}

Test(uiw_pollset, a_detached_stream_that_cannot_come_back)
{
    bed.ep->tx.detached = true;
    script.error = ENOSPC;
    cr_assert_not(want(true));
    script.error = 0;
    cr_assert(want(false));
}

Test(uiw_pollset, a_stream_that_is_removed_waits_for_nothing)
{
    cr_assert(want(true));
    bed.ep->tx.detached = true;
    uiw_pollset_remove(ia, bed.ual, FD);
    check_told(EPOLL_CTL_DEL, 0);
    check_blocked(0);
    cr_assert_not(bed.ep->tx.detached);
    atomic_store(&bed.ep->tx.blocked, false);
    uiw_pollset_remove(ia, bed.ual, FD);
    check_blocked(0);
}
