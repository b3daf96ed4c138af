/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_cancel, time limits, and threads that are cancelled in blocking calls. */
#include "exs_kit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (8 << 20)
#define N     EXS_MHANDLE_UNREGISTERED

static exs_qhandle_t queue;
static char *large;

/* ---- exs_cancel ----------------------------------------------------------------------------- */

/*
 * Cancels short and advertised receives, of one ahandle or all. Octets that arrive during the
 * cancel may fill one of the receives, which is then too late to cancel, or they are left for the
 * next one.
 */
static void test_receives(int type, int selector)
{
    int count = selector == EXS_CAF_FILDES ? 10 : 4;
    struct exs_pair pair;
    char got[100];
    int mine = 0;
    int canceled = 0;
    int late = 0;

    exs_pair_open(&pair, type);
    for (int i = 0; i < 10; i++)
        CHECK_STARTS(exs_recv(pair.server, large + i * 100000, i % 2 ? 100000 : 10, 0, queue,
                              i % 3 ? &pair : (void *)&mine, N));
    CHECK_RESULT(count, exs_cancel(pair.server, selector, &mine));
    CHECK_RESULT(5, exs_write(pair.client, "hello", 5));
    while (canceled + late < count) {
        exs_event_t event = exs_kit_event(queue);
        exs_evt_xfer_t *result = &event.exs_evt_union.exs_evt_xfer;

        CHECK_EQ(EXS_EVT_RECV, event.exs_evt_type);
        CHECK_EQ(event.exs_evt_errno ? 0 : 5, result->exs_evt_length);
        canceled += event.exs_evt_errno == ECANCELED;
        if (event.exs_evt_errno == 0) {
            CHECK_EQ(0, memcmp(result->exs_evt_buffer, "hello", 5));
            late += event.exs_evt_ahandle == &mine || selector == EXS_CAF_FILDES;
        }
    }
    CHECK(late <= 1);
    if (selector == EXS_CAF_FILDES && !late)
        CHECK_RESULT(5, exs_read(pair.server, got, sizeof(got)));
    CHECK_RESULT(0, exs_cancel(pair.server, selector, &mine));
    exs_pair_close(&pair);
    /* Take the others' events, if there are any. */
    while (exs_qdequeue(queue, &(exs_event_t){0}, 1, &(struct timeval){0, 0}) > 0)
        continue;
}

/*
 * The peer does not read. A cancelled send reports the part that has left, and the stream has no
 * gap.
 */
static void test_sends(void)
{
    struct exs_pair pair;
    exs_event_t event;
    size_t left = 0;
    char got[64 * 1024];

    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_STARTS(exs_send(pair.client, large, LARGE, 0, queue, large, N));
    CHECK_STARTS(exs_send(pair.client, large, LARGE, 0, queue, large, N));
    CHECK_RESULT(2, exs_cancel(pair.client, EXS_CAF_AHANDLE, large));
    for (int i = 0; i < 2; i++) {
        event = exs_kit_expect(queue, EXS_EVT_SEND, ECANCELED);
        left += event.exs_evt_union.exs_evt_xfer.exs_evt_length;
    }
    CHECK(left < LARGE);
    CHECK_STARTS(exs_send(pair.client, large + left, 1000, 0, queue, NULL, N));
    for (size_t at = 0; at < left + 1000;) {
        ssize_t part = exs_read(pair.server, got, sizeof(got));

        CHECK(part > 0);
        exs_kit_compare(got, (size_t)part, at);
        at += (size_t)part;
    }
    (void)exs_kit_expect(queue, EXS_EVT_SEND, 0);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
}

static void test_accepts(void)
{
    exs_acceptaddr_t elements[3] = {{.exs_ahandle = &elements[0]},
                                    {.exs_ahandle = &elements[1]},
                                    {.exs_ahandle = &elements[2]}};
    int port;
    int listener = exs_kit_listen(SOCK_STREAM, &port);

    CHECK_STARTS(exs_accept(listener, elements, 3, 0, queue));
    CHECK_RESULT(1, exs_cancel(listener, EXS_CAF_AHANDLE, &elements[1]));
    CHECK(exs_kit_expect(queue, EXS_EVT_ACCEPT, ECANCELED).exs_evt_ahandle == &elements[1]);
    CHECK_RESULT(2, exs_cancel(listener, EXS_CAF_FILDES, NULL));
    CHECK_EQ(-1, exs_kit_expect(queue, EXS_EVT_ACCEPT, ECANCELED)
                     .exs_evt_union.exs_evt_accept.exs_evt_new_socket);
    (void)exs_kit_expect(queue, EXS_EVT_ACCEPT, ECANCELED);
    exs_kit_empty(queue);
    CHECK_STARTS(exs_blocking_close(listener));
}

/* The peers listen and never decide. */
static void test_connect(bool by_time)
{
    const struct timeval soon = {0, 20000};
    int port;
    int listener = exs_kit_listen(SOCK_STREAM, &port);
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = exs_kit_address(port);

    CHECK_STARTS(exs_connect(fd, (struct sockaddr *)&address, sizeof(address), 0,
                             by_time ? &soon : NULL, queue, &fd));
    if (!by_time)
        CHECK_RESULT(1, exs_cancel(fd, EXS_CAF_AHANDLE, &fd));
    (void)exs_kit_expect(queue, EXS_EVT_CONNECT, by_time ? ETIMEDOUT : ECANCELED);
    exs_kit_empty(queue);
    CHECK_STARTS(exs_blocking_close(fd));
    CHECK_STARTS(exs_blocking_close(listener));
}

/* ---- Limits of time ------------------------------------------------------------------------- */

static void test_limits(void)
{
    const struct timeval soon = {0, 10000};
    exs_pollfd_t readable;
    struct exs_pair pair;
    exs_event_t event;
    char got[100];

    exs_pair_open(&pair, SOCK_STREAM);
    readable = (exs_pollfd_t){.exs_fd = pair.server, .exs_events = EXS_POLLIN};
    CHECK_STARTS(
        exs_setsockopt(pair.server, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &soon, sizeof(soon)));
    CHECK_STARTS(
        exs_setsockopt(pair.client, SOL_SOCKET, SO_ASYNC_SEND_TIMEOUT, &soon, sizeof(soon)));
    CHECK_RESULT(7, exs_write(pair.client, "1234567", 7));
    CHECK_RESULT(1, exs_poll(&readable, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    /* With MSG_WAITALL the event reports the octets that have arrived. */
    CHECK_STARTS(exs_recv(pair.server, got, sizeof(got), MSG_WAITALL, queue, got, N));
    event = exs_kit_expect(queue, EXS_EVT_RECVTIMEOUT, ETIMEDOUT);
    CHECK(event.exs_evt_ahandle == got);
    CHECK_EQ(7, event.exs_evt_union.exs_evt_xfer.exs_evt_length);
    CHECK_ERRNO(ETIMEDOUT, exs_read(pair.server, large, 100000));
    /* So does the result of a blocking call. */
    CHECK_RESULT(3, exs_write(pair.client, "abc", 3));
    CHECK_RESULT(1, exs_poll(&readable, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    CHECK_RESULT(3, exs_recv(pair.server, got, sizeof(got), MSG_WAITALL | EXS_BLOCK,
                             EXS_QHANDLE_INVALID, NULL, N));
    CHECK_STARTS(exs_send(pair.client, large, LARGE, 0, queue, large, N));
    event = exs_kit_expect(queue, EXS_EVT_SENDTIMEOUT, ETIMEDOUT);
    CHECK(event.exs_evt_ahandle == large);
    CHECK(event.exs_evt_union.exs_evt_xfer.exs_evt_length < LARGE);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
}

/* The program need not know which function has reached its limit to read the lengths. */
static void check_message(const exs_event_t *event, const exs_msghdr_t *message, size_t length)
{
    CHECK(event->exs_evt_union.exs_evt_xfermsg.exs_evt_msghdr == message);
    CHECK_EQ(length, event->exs_evt_union.exs_evt_xfermsg.exs_evt_length);
    CHECK_EQ(length, event->exs_evt_union.exs_evt_xfer.exs_evt_length);
    CHECK_EQ(0, event->exs_evt_union.exs_evt_xfer.exs_evt_amount_lost);
    CHECK(event->exs_evt_union.exs_evt_xfer.exs_evt_mhandle == EXS_MHANDLE_INVALID);
}

static void test_message_limits(void)
{
    const struct timeval soon = {0, 10000};
    exs_iovec_t pieces[2] = {{large, 3, N}, {large + 3, LARGE - 3, N}};
    exs_msghdr_t message = {.exs_msg_iov = pieces, .exs_msg_iovlen = 2};
    exs_pollfd_t readable;
    struct exs_pair pair;
    exs_event_t event;

    exs_pair_open(&pair, SOCK_STREAM);
    readable = (exs_pollfd_t){.exs_fd = pair.server, .exs_events = EXS_POLLIN};
    CHECK_STARTS(
        exs_setsockopt(pair.server, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &soon, sizeof(soon)));
    CHECK_STARTS(
        exs_setsockopt(pair.server, SOL_SOCKET, SO_ASYNC_SEND_TIMEOUT, &soon, sizeof(soon)));
    CHECK_RESULT(7, exs_write(pair.client, "1234567", 7));
    CHECK_RESULT(1, exs_poll(&readable, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_recvmsg(pair.server, &message, MSG_WAITALL, queue, NULL));
    event = exs_kit_expect(queue, EXS_EVT_RECVTIMEOUT, ETIMEDOUT);
    check_message(&event, &message, 7);
    CHECK_EQ(0, memcmp(large, "1234567", 7));
    CHECK_STARTS(exs_sendmsg(pair.server, &message, 0, queue, NULL));
    event = exs_kit_expect(queue, EXS_EVT_SENDTIMEOUT, ETIMEDOUT);
    check_message(&event, &message, event.exs_evt_union.exs_evt_xfermsg.exs_evt_length);
    exs_kit_empty(queue);
    exs_pair_close(&pair);
}

static void set_no_ring(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETSTREAMBUFSIZE, 0) >= 0);
}

static void set_one_credit(int fd)
{
    CHECK(exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 1) >= 0);
    set_no_ring(fd);
}

/* The limit of a send also holds while its socket is being closed. The close waits no longer. */
static void test_closed(int type)
{
    const struct timeval soon = {0, 10000};
    struct exs_pair pair;

    check_context(type == SOCK_STREAM ? "limit, closed" : "limit, closed, packets");
    exs_pair_open_with(&pair, type, set_no_ring);
    CHECK_STARTS(
        exs_setsockopt(pair.client, SOL_SOCKET, SO_ASYNC_SEND_TIMEOUT, &soon, sizeof(soon)));
    CHECK_STARTS(exs_send(pair.client, large, LARGE, 0, queue, NULL, N));
    CHECK_STARTS(exs_close(pair.client, 0, queue, NULL));
    (void)exs_kit_expect(queue, EXS_EVT_SENDTIMEOUT, ETIMEDOUT);
    (void)exs_kit_expect(queue, EXS_EVT_CLOSE, 0);
    exs_kit_empty(queue);
    CHECK_STARTS(exs_blocking_close(pair.server));
    CHECK_STARTS(exs_blocking_close(pair.listener));
    check_context(NULL);
}

/* ---- Cancelled threads ---------------------------------------------------------------------- */

static void *victim_recv(void *argument)
{
    struct exs_pair *pair = argument;
    char on_stack[100];

    (void)exs_read(pair->server, on_stack, sizeof(on_stack));
    return NULL;
}

static void *victim_recv_large(void *argument)
{
    struct exs_pair *pair = argument;

    (void)exs_read(pair->server, large, LARGE);
    return NULL;
}

static void *victim_accept(void *argument)
{
    struct exs_pair *pair = argument;
    struct sockaddr_in on_stack;
    socklen_t length = sizeof(on_stack);

    (void)exs_blocking_accept(pair->listener, (struct sockaddr *)&on_stack, &length);
    return NULL;
}

static void *victim_poll(void *argument)
{
    struct exs_pair *pair = argument;
    exs_pollfd_t set = {.exs_fd = pair->server, .exs_events = EXS_POLLIN};

    (void)exs_poll(&set, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL);
    return NULL;
}

static void *victim_send(void *argument)
{
    struct exs_pair *pair = argument;

    (void)exs_write(pair->client, large, LARGE);
    return NULL;
}

static void *victim_credit(void *argument)
{
    struct exs_pair *pair = argument;

    for (;;)
        if (exs_recv(pair->server, large, 10, EXS_CREDIT_WAIT | EXS_UNSIGNALED, EXS_QHANDLE_INVALID,
                     NULL, N) != 0)
            return NULL;
}

/* Another thread has closed the socket of the call, and the peer reads nothing. */
static void test_closed_thread(void)
{
    struct exs_pair pair;
    pthread_t thread;

    check_context("send, closed");
    exs_pair_open_with(&pair, SOCK_STREAM, set_one_credit);
    CHECK_EQ(0, pthread_create(&thread, NULL, victim_send, &pair));
    while (exs_poll(&(exs_pollfd_t){pair.client, EXS_POLLOUT, 0}, 1, EXS_BLOCK,
                    &(struct timeval){0, 0}, NULL, NULL) > 0)
        continue;
    CHECK_STARTS(exs_close(pair.client, 0, queue, NULL));
    CHECK_EQ(0, pthread_cancel(thread));
    CHECK_EQ(0, pthread_join(thread, NULL));
    (void)exs_kit_expect(queue, EXS_EVT_CLOSE, 0);
    CHECK_STARTS(exs_blocking_close(pair.server));
    CHECK_STARTS(exs_blocking_close(pair.listener));
    check_context(NULL);
}

/* The thread is cancelled, its call has ended, and the connection works as before. */
static void test_thread(const char *name, void *(*body)(void *), useconds_t delay)
{
    struct exs_pair pair;
    pthread_t thread;
    void *result;
    char got[100];

    check_context(name);
    exs_pair_open(&pair, SOCK_STREAM);
    CHECK_EQ(0, pthread_create(&thread, NULL, body, &pair));
    (void)usleep(delay);
    CHECK_EQ(0, pthread_cancel(thread));
    CHECK_EQ(0, pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    (void)exs_cancel(pair.server, EXS_CAF_FILDES, NULL);
    CHECK_RESULT(4, exs_write(pair.server, "back", 4));
    CHECK_RESULT(4, exs_read(pair.client, got, sizeof(got)));
    exs_pair_close(&pair);
    check_context(NULL);
}

static void *victim_late(void *argument)
{
    struct exs_pair *pair = argument;

    pair->server = exs_blocking_accept(pair->listener, NULL, NULL);
    return NULL;
}

/* Accepts and connects. Returns true if the thread was cancelled when it was too late. */
static bool accept_late(int pause)
{
    const struct timeval limit = {10, 0};
    struct exs_pair pair = {.server = -1};
    struct sockaddr_in address;
    pthread_t thread;
    bool late;
    int port;
    char got;

    pair.listener = exs_kit_listen(SOCK_STREAM, &port);
    address = exs_kit_address(port);
    pair.client = exs_socket(PF_INET, SOCK_STREAM, 0);
    CHECK_STARTS(
        exs_setsockopt(pair.client, SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &limit, sizeof(limit)));
    CHECK_EQ(0, pthread_create(&thread, NULL, victim_late, &pair));
    CHECK_STARTS(exs_connect(pair.client, (struct sockaddr *)&address, sizeof(address), 0, NULL,
                             queue, NULL));
    for (volatile int i = pause; i > 0; i--) {
    }
    CHECK_EQ(0, pthread_cancel(thread));
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_STARTS(exs_blocking_close(pair.listener));
    late = exs_kit_event(queue).exs_evt_errno == 0 && pair.server < 0;
    if (late)
        CHECK_ERRNO(ECONNRESET, exs_read(pair.client, &got, 1));
    if (pair.server >= 0)
        CHECK_STARTS(exs_close(pair.server, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    CHECK_STARTS(exs_close(pair.client, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL));
    return late;
}

/*
 * The peer is connected when the thread is cancelled. The program will not know the accepted
 * socket, so it is closed.
 */
static void test_accepted(void)
{
    unsigned seed = 1;

    check_context("accept, too late");
    for (int late = 0; late < 3;)
        late += accept_late(rand_r(&seed) % 100000);
    check_context(NULL);
}

/*
 * After a thread was cancelled in a blocking call, ThreadSanitizer ignores the locks that it takes
 * and reports races on what they guard.
 */
#ifdef __SANITIZE_THREAD__
#define THREADS_ARE_CANCELLED false
#else
#define THREADS_ARE_CANCELLED true
#endif

int main(void)
{
    static const struct {
        const char *name;
        void *(*body)(void *);
    } victims[] = {{"recv", victim_recv},     {"large recv", victim_recv_large},
                   {"accept", victim_accept}, {"poll", victim_poll},
                   {"send", victim_send},     {"credit", victim_credit}};

    large = malloc(LARGE);
    CHECK(large);
    exs_kit_fill(large, LARGE, 0);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    test_receives(SOCK_STREAM, EXS_CAF_FILDES);
    test_receives(SOCK_STREAM, EXS_CAF_AHANDLE);
    test_receives(SOCK_SEQPACKET, EXS_CAF_FILDES);
    test_receives(SOCK_SEQPACKET, EXS_CAF_AHANDLE);
    exs_kit_fill(large, LARGE, 0);
    test_sends();
    test_accepts();
    test_connect(false);
    test_connect(true);
    test_limits();
    test_message_limits();
    test_closed(SOCK_STREAM);
    test_closed(SOCK_SEQPACKET);
    /* Cancel before, at and after the moment when the thread sleeps. */
    for (size_t i = 0; THREADS_ARE_CANCELLED && i < sizeof(victims) / sizeof(victims[0]); i++)
        for (useconds_t delay = 0; delay <= 2000; delay += 500)
            test_thread(victims[i].name, victims[i].body, delay);
    if (THREADS_ARE_CANCELLED) {
        test_accepted();
        test_closed_thread();
    }
    CHECK_STARTS(exs_qdelete(queue));
    free(large);
    return 0;
}
