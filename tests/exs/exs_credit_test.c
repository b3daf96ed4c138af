/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Credits: the lesser of what both sides want, EBUSY beyond them, EXS_CREDIT_WAIT. Without a ring
 * nothing moves before there is a receive, so the credits can be counted.
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

static void cancel_one(int fd)
{
    CHECK_RESULT(1, exs_cancel(fd, EXS_CAF_FILDES, NULL));
    (void)exs_kit_expect(queue, EXS_EVT_RECV, ECANCELED);
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
    test_waiter(recv_one, cancel_one, 0, 1);
    check_context("receives are shut down");
    test_waiter(recv_one, shut_receives, 0, 2);
    check_context("sends are shut down");
    test_waiter(send_one, shut_sends, EPIPE, 2);
    check_context("close");
    test_waiter(recv_one, close_it, EBADF, 2);
    test_waiter(send_one, close_it, EBADF, 2);
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run(&rows[i]);
    test_waiters();
    CHECK_STARTS(exs_qdelete(queue));
    return 0;
}
