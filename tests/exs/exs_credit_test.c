/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Credits: the lesser of what both sides want, EBUSY beyond them, EXS_CREDIT_WAIT with time limits
 * and cancellation. Without a ring nothing moves before there is a receive, so the credits can be
 * counted.
 */
#include "exs_kit.h"
#include "support/it_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static const struct row {
    int client;
    int server;
} rows[] = {{1, 1}, {1, 1000}, {2, 32}, {32, 2}, {1000, 1000}};

static int wishes[2]; /* for the next socket that is set, and for the one after it */
static size_t turn;
static exs_qhandle_t queue;
static char octets[1000];

static void set(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, wishes[turn++]) >= 0);
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0) >= 0);
}

static int send_one(int fd, int flags)
{
    return exs_send(fd, octets, 1, flags, queue, NULL, EXS_MHANDLE_UNREGISTERED);
}

static int recv_one(int fd, int flags)
{
    return exs_recv(fd, octets, 1, flags, queue, NULL, EXS_MHANDLE_UNREGISTERED);
}

static int count(int fd, int (*start)(int fd, int flags))
{
    int started = 0;

    while (start(fd, 0) == 0)
        started++;
    CHECK_EQ(EBUSY, errno);
    return started;
}

static void *wait_for_credit(void *argument)
{
    CHECK_STARTS(send_one(*(int *)argument, EXS_CREDIT_WAIT));
    return NULL;
}

static void run(const struct row *row)
{
    int least = row->client < row->server ? row->client : row->server;
    struct exs_pair pair;
    pthread_t thread;

    wishes[0] = row->server; /* the listening socket is set first */
    wishes[1] = row->client;
    turn = 0;
    exs_pair_open_with(&pair, SOCK_STREAM, set);
    CHECK_RESULT(least, exs_fcntl(pair.client, EXS_F_GETFLOWCONTROLCREDITS));
    CHECK_RESULT(least, exs_fcntl(pair.server, EXS_F_GETFLOWCONTROLCREDITS));
    CHECK_EQ(least, count(pair.client, send_one));
    CHECK_EQ(least, count(pair.client, recv_one));
    CHECK_EQ(0, pthread_create(&thread, NULL, wait_for_credit, &pair.client));
    CHECK_EQ(0, recv_one(pair.server, 0)); /* returns one credit */
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_ERRNO(EBUSY, send_one(pair.client, 0));
    for (int i = 0; i < least; i++) {
        /* The receive above may not have ended yet. */
        CHECK_RESULT(1, exs_recv(pair.server, octets, 1, EXS_BLOCK | EXS_CREDIT_WAIT, NULL, NULL,
                                 EXS_MHANDLE_UNREGISTERED));
        CHECK_RESULT(1, exs_write(pair.server, octets, 1));
    }
    for (int i = 0; i < 2 * least + 2; i++)
        CHECK_EQ(0, exs_kit_event(queue).exs_evt_errno);
    exs_pair_close(&pair);
    exs_kit_empty(queue);
}

/* ---- Waiters -------------------------------------------------------------------------------- */

struct waiter {
    int fd;
    int (*start)(int fd, int flags);
    int error; /* expected */
    atomic_int id;
};

static void *wait_until_ended(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, gettid());
    if (waiter->error == 0)
        CHECK_STARTS(waiter->start(waiter->fd, EXS_CREDIT_WAIT));
    else
        CHECK_ERRNO(waiter->error, waiter->start(waiter->fd, EXS_CREDIT_WAIT));
    return NULL;
}

/* A thread waits for the only credit. end returns the credit, or makes it useless. */
static void test_waiter(int (*start)(int fd, int flags), void (*end)(int fd), int error, int events)
{
    struct exs_pair pair;
    struct waiter waiter;
    pthread_t thread;

    wishes[0] = wishes[1] = 1;
    turn = 0;
    exs_pair_open_with(&pair, SOCK_STREAM, set);
    CHECK_STARTS(start(pair.client, 0));
    waiter.fd = pair.client;
    waiter.start = start;
    waiter.error = error;
    atomic_store(&waiter.id, 0);
    CHECK_EQ(0, pthread_create(&thread, NULL, wait_until_ended, &waiter));
    while (atomic_load(&waiter.id) == 0)
        (void)sched_yield();
    fx_thread_sleeps(atomic_load(&waiter.id));
    end(pair.client);
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_STARTS(exs_close(pair.server, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    for (int i = 0; i < events; i++)
        (void)exs_kit_event(queue);
    if (error != EBADF)
        CHECK_STARTS(exs_close(pair.client, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    CHECK_STARTS(exs_blocking_close(pair.listener));
    exs_kit_empty(queue);
}

static int recv_mine(int fd, int flags)
{
    return exs_recv(fd, octets, 1, flags, queue, flags & EXS_CREDIT_WAIT ? NULL : &queue,
                    EXS_MHANDLE_UNREGISTERED);
}

static void cancel_one(int fd)
{
    CHECK_RESULT(1, exs_cancel(fd, EXS_CAF_AHANDLE, &queue));
    (void)exs_kit_expect(queue, EXS_EVT_RECV, ECANCELED);
}

/* Both the receive and the one that waits for its credit. */
static void cancel_both(int fd)
{
    CHECK_RESULT(2, exs_cancel(fd, EXS_CAF_FILDES, NULL));
}

static void cancel_waiting(int fd)
{
    CHECK_RESULT(1, exs_cancel(fd, EXS_CAF_AHANDLE, NULL));
    CHECK_RESULT(0, exs_cancel(fd, EXS_CAF_AHANDLE, NULL));
}

static int recv_blocking(int fd, int flags)
{
    return (int)exs_recv(fd, octets, 1, flags | (flags ? EXS_BLOCK : 0), queue, NULL,
                         EXS_MHANDLE_UNREGISTERED);
}

/* A file of several pieces takes the place of the send that waits. */
static int send_file(int fd, int flags)
{
    static exs_xferfile_t elements[3];

    if (flags == 0)
        return send_one(fd, 0);
    for (size_t i = 0; i < 3; i++)
        elements[i] =
            (exs_xferfile_t){.exs_xfv_type = EXS_IOVEC,
                             .exs_xfvec.exs_iov = {.exs_iov_base = octets,
                                                   .exs_iov_len = sizeof(octets),
                                                   .exs_iov_mhandle = EXS_MHANDLE_UNREGISTERED}};
    return (int)exs_sendfile(fd, elements, 3, flags, queue, NULL);
}

static void shut_receives(int fd)
{
    CHECK_STARTS(exs_shutdown(fd, SHUT_RD, EXS_BLOCK, NULL, NULL));
}

static void shut_sends(int fd)
{
    CHECK_STARTS(exs_shutdown(fd, SHUT_WR, 0, queue, NULL));
}

static void close_it(int fd)
{
    CHECK_STARTS(exs_close(fd, 0, queue, NULL));
}

static void test_waiters(void)
{
    check_context("a cancelled receive returns its credit");
    test_waiter(recv_mine, cancel_one, 0, 1);
    check_context("receives are shut down");
    test_waiter(recv_one, shut_receives, 0, 2);
    check_context("sends are shut down");
    test_waiter(send_one, shut_sends, EPIPE, 2);
    check_context("close");
    test_waiter(recv_one, close_it, EBADF, 2);
    test_waiter(send_one, close_it, EBADF, 2);
}

/* ---- Cancelled waiters, and waiters whose time is up ----------------------------------------- */

static void test_cancelled(void)
{
    check_context("cancelled while it waits");
    test_waiter(recv_one, cancel_both, 0, 2);
    test_waiter(recv_mine, cancel_waiting, 0, 2);
    check_context("cancelled while it waits, blocking");
    test_waiter(recv_blocking, cancel_both, ECANCELED, 1);
    check_context("cancelled file");
    test_waiter(send_file, cancel_both, 0, 2);
}

/* The event of the close is the last one, after that of the call that was cancelled before. */
static void test_closed(void)
{
    static const int types[] = {EXS_EVT_RECV, EXS_EVT_RECV, EXS_EVT_CLOSE};
    struct exs_pair pair;
    struct waiter waiter = {.start = recv_one};
    pthread_t thread;

    check_context("cancelled and closed");
    wishes[0] = wishes[1] = 1;
    turn = 0;
    exs_pair_open_with(&pair, SOCK_STREAM, set);
    CHECK_STARTS(recv_one(pair.client, 0));
    waiter.fd = pair.client;
    CHECK_EQ(0, pthread_create(&thread, NULL, wait_until_ended, &waiter));
    while (atomic_load(&waiter.id) == 0)
        (void)sched_yield();
    fx_thread_sleeps(atomic_load(&waiter.id));
    cancel_both(pair.client);
    CHECK_STARTS(exs_close(pair.client, EXS_DONTLINGER, queue, NULL));
    for (size_t i = 0; i < 3; i++)
        (void)exs_kit_expect(queue, types[i], types[i] == EXS_EVT_CLOSE ? 0 : ECANCELED);
    CHECK_EQ(0, pthread_join(thread, NULL));
    exs_kit_empty(queue);
    CHECK_STARTS(exs_close(pair.server, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    CHECK_STARTS(exs_blocking_close(pair.listener));
}

/* The limit counts from the call on, and the credit never comes. */
static void test_limit(int (*start)(int fd, int flags), int option, int type)
{
    const struct timeval soon = {0, 10000};
    struct exs_pair pair;
    exs_event_t event;

    wishes[0] = wishes[1] = 1;
    turn = 0;
    exs_pair_open_with(&pair, SOCK_STREAM, set);
    CHECK_STARTS(start(pair.client, 0));
    CHECK_STARTS(exs_setsockopt(pair.client, SOL_SOCKET, option, &soon, sizeof(soon)));
    CHECK_STARTS(start(pair.client, EXS_CREDIT_WAIT));
    event = exs_kit_expect(queue, type, ETIMEDOUT);
    CHECK_EQ(0, event.exs_evt_union.exs_evt_xfer.exs_evt_length);
    CHECK_ERRNO(ETIMEDOUT, start(pair.client, EXS_CREDIT_WAIT | EXS_BLOCK));
    exs_kit_empty(queue);
    CHECK_ERRNO(EBUSY, start(pair.client, 0));
    exs_pair_close(&pair);
    (void)exs_kit_event(queue);
    exs_kit_empty(queue);
}

static void test_limits(void)
{
    check_context("time limit, receive");
    test_limit(recv_one, SO_ASYNC_RECV_TIMEOUT, EXS_EVT_RECVTIMEOUT);
    check_context("time limit, send");
    test_limit(send_one, SO_ASYNC_SEND_TIMEOUT, EXS_EVT_SENDTIMEOUT);
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run(&rows[i]);
    test_waiters();
    test_cancelled();
    test_closed();
    test_limits();
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
