/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues alone: the test posts events as a connection would. */
#include "exs_kit.h"
#include "queue/exs_completion.h"
#include "queue/exs_queue.h"
#include "support/time_limit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static exs_qhandle_t create(int depth)
{
    exs_qhandle_t queue;

    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(depth);
    CHECK(queue != EXS_QHANDLE_INVALID);
    return queue;
}

static void post(exs_qhandle_t handle, intptr_t number)
{
    const exs_event_t event = {.exs_evt_type = EXS_EVT_SEND, .exs_evt_ahandle = (void *)number};
    struct exs_queue *queue;

    CHECK_EQ(0, exs_queue_promise(handle, &queue));
    exs_queue_post(queue, &event);
}

static bool readable(int fd)
{
    struct pollfd set = {.fd = fd, .events = POLLIN};

    return poll(&set, 1, 0) == 1;
}

/* ---- Order, growth, counts ------------------------------------------------------------------ */

static void test_order(void)
{
    exs_qhandle_t queue = create(2);
    exs_event_t events[8];
    intptr_t in = 0;
    intptr_t out = 0;
    int count = 0;

    /* Post and take changing numbers of events, so that the ring grows and wraps. */
    for (int round = 1; round < 200; round++) {
        for (int i = 0; i < round % 37; i++)
            post(queue, in++);
        CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_EVENTS, &count));
        CHECK_EQ(in - out, count);
        while (out < in - round % 11) {
            int taken = exs_qdequeue(queue, events, 8, NULL);

            CHECK(taken >= 1 && taken <= 8);
            for (int i = 0; i < taken; i++)
                CHECK_EQ(out++, (intptr_t)events[i].exs_evt_ahandle);
        }
    }
    CHECK_STARTS(exs_qdelete(queue));
}

static void test_count(void)
{
    const struct timeval none = {0, 0};
    const struct timeval soon = {0, 1000};
    const struct timeval wrong = {0, 1000000};
    exs_qhandle_t queue = create(4);
    exs_event_t events[4];

    CHECK_RESULT(0, exs_qdequeue(queue, events, 4, &none));
    CHECK_RESULT(0, exs_qdequeue(queue, events, 4, &soon));
    CHECK_RESULT(0, exs_qdequeue(queue, NULL, 0, NULL));
    for (int i = 0; i < 4; i++)
        post(queue, i);
    CHECK_RESULT(3, exs_qdequeue(queue, events, -3, NULL));
    CHECK_RESULT(1, exs_qdequeue(queue, events, -3, &soon));
    CHECK_ERRNO(EFAULT, exs_qdequeue(queue, NULL, 1, NULL));
    CHECK_ERRNO(EINVAL, exs_qdequeue(queue, events, EXS_EVTVEC_MAX + 1, NULL));
    CHECK_ERRNO(EINVAL, exs_qdequeue(queue, events, -EXS_EVTVEC_MAX - 1, NULL));
    CHECK_ERRNO(EINVAL, exs_qdequeue(queue, events, 1, &wrong));
    CHECK_STARTS(exs_qdelete(queue));
    CHECK_ERRNO(EINVAL, exs_qdequeue(queue, events, 1, &none));
    CHECK_ERRNO(EINVAL, exs_qdelete(queue));
}

/* A queue that calls refer to stays. Handles of deleted queues are invalid. */
static void test_life(void)
{
    exs_qhandle_t queue = create(1);
    exs_qhandle_t next;
    struct exs_queue *promised;

    CHECK_EQ(0, exs_queue_promise(queue, &promised));
    CHECK_ERRNO(EBUSY, exs_qdelete(queue));
    exs_queue_release(promised);
    post(queue, 1);
    CHECK_STARTS(exs_qdelete(queue));
    next = create(1);
    CHECK(next != queue);
    CHECK_ERRNO(EINVAL, exs_qfd(queue));
    CHECK_STARTS(exs_qdelete(next));
    CHECK_ERRNO(EINVAL, exs_qdelete(EXS_QHANDLE_INVALID));
    CHECK_ERRNO(EINVAL, exs_qdelete((exs_qhandle_t)(uintptr_t)0x1234567));
    CHECK(exs_qcreate(0) == EXS_QHANDLE_INVALID && errno == EINVAL);
    CHECK(exs_qcreate((1 << 24) + 1) == EXS_QHANDLE_INVALID && errno == EINVAL);
}

/* ---- Telling -------------------------------------------------------------------------------- */

static void test_fd(void)
{
    exs_qhandle_t queue = create(4);
    exs_event_t events[4];
    int fd;

    post(queue, 1);
    fd = exs_qfd(queue);
    CHECK(fd >= 0);
    CHECK_RESULT(fd, exs_qfd(queue));
    CHECK(readable(fd));
    post(queue, 2);
    CHECK_RESULT(1, exs_qdequeue(queue, events, 1, NULL));
    CHECK(readable(fd));
    CHECK_RESULT(1, exs_qdequeue(queue, events, 4, NULL));
    CHECK(!readable(fd));
    post(queue, 3);
    CHECK(readable(fd));
    CHECK_STARTS(exs_qdelete(queue));
}

static void test_signal(void)
{
    exs_signal_t on = {EXS_SIG_ENABLE, SIGRTMIN + 3, (void *)(intptr_t)77};
    const exs_signal_t bad_number = {EXS_SIG_ENABLE, 4096, NULL};
    const exs_signal_t bad_kind = {7, SIGUSR1, NULL};
    const struct timespec none = {0, 0};
    exs_signal_t read = {0};
    exs_qhandle_t queue = create(4);
    exs_event_t events[4];
    siginfo_t info;
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGRTMIN + 3);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    CHECK_ERRNO(EINVAL, exs_qmodify(queue, EXS_QATTR_SIGNAL, &bad_number));
    CHECK_ERRNO(EINVAL, exs_qmodify(queue, EXS_QATTR_SIGNAL, &bad_kind));
    CHECK_ERRNO(EFAULT, exs_qmodify(queue, EXS_QATTR_SIGNAL, (exs_signal_t *)NULL));
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_SIGNAL, &on));
    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_SIGNAL, &read));
    CHECK_EQ(SIGRTMIN + 3, read.exs_sig_signo);
    /* The first event in an empty queue raises a signal, the second does not. */
    post(queue, 1);
    post(queue, 2);
    CHECK_EQ(SIGRTMIN + 3, sigtimedwait(&set, &info, &none));
    CHECK_EQ(77, (intptr_t)info.si_value.sival_ptr);
    CHECK(sigtimedwait(&set, &info, &none) == -1);
    CHECK_RESULT(2, exs_qdequeue(queue, events, 4, NULL));
    post(queue, 3);
    CHECK_EQ(SIGRTMIN + 3, sigtimedwait(&set, &info, &none));
    on.exs_sig_enable = EXS_SIG_DISABLE;
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_SIGNAL, &on));
    CHECK_RESULT(1, exs_qdequeue(queue, events, 4, NULL));
    post(queue, 4);
    CHECK(sigtimedwait(&set, &info, &none) == -1);
    CHECK_STARTS(exs_qdelete(queue));
}

static void test_attributes(void)
{
    exs_qhandle_t queue = create(4);
    int value = 0;

    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_DEPTH, &value));
    CHECK_EQ(4, value);
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_DEPTH, 1000));
    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_DEPTH, &value));
    CHECK_EQ(1000, value);
    CHECK_ERRNO(EINVAL, exs_qmodify(queue, EXS_QATTR_DEPTH, 0));
    CHECK_ERRNO(EINVAL, exs_qmodify(queue, EXS_QATTR_EVENTS, 1));
    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_WAIT, &value));
    CHECK_EQ(EXS_WAIT_ADAPTIVE, value);
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, EXS_WAIT_NOTIFY));
    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_WAIT, &value));
    CHECK_EQ(EXS_WAIT_NOTIFY, value);
    CHECK_ERRNO(EINVAL, exs_qmodify(queue, EXS_QATTR_WAIT, 3));
    CHECK_ERRNO(EINVAL, exs_qstatus(queue, 99, &value));
    CHECK_ERRNO(EFAULT, exs_qstatus(queue, EXS_QATTR_WAIT, NULL));
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Threads -------------------------------------------------------------------------------- */

#define THREADS 4
#define EVENTS  20000

static void *take_all(void *argument)
{
    exs_qhandle_t queue = argument;
    intptr_t sum = 0;
    exs_event_t events[5];

    for (;;) {
        int taken = exs_qdequeue(queue, events, 5, NULL);

        CHECK(taken >= 1);
        for (int i = 0; i < taken; i++) {
            intptr_t number = (intptr_t)events[i].exs_evt_ahandle;

            if (number == 0) {
                /* The other threads need their last events. */
                for (int k = i + 1; k < taken; k++)
                    post(queue, (intptr_t)events[k].exs_evt_ahandle);
                return (void *)sum;
            }
            sum += number;
        }
    }
}

/* Every event is taken once, however the threads wait. */
static void test_threads(int wait)
{
    exs_qhandle_t queue = create(16);
    pthread_t threads[THREADS];
    intptr_t sum = 0;

    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, wait));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, take_all, queue));
    for (intptr_t i = 1; i <= EVENTS; i++)
        post(queue, i);
    for (int i = 0; i < THREADS; i++)
        post(queue, 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        CHECK_EQ(0, pthread_join(threads[i], &result));
        sum += (intptr_t)result;
    }
    CHECK_EQ((intptr_t)EVENTS * (EVENTS + 1) / 2, sum);
    CHECK_STARTS(exs_qdelete(queue));
}

static void *take_three(void *argument)
{
    exs_event_t events[3];

    return (void *)(intptr_t)exs_qdequeue(argument, events, -3, NULL);
}

/* A thread that waits for several events does not keep another from the one that it wants. */
static void test_thresholds(void)
{
    exs_qhandle_t queue = create(4);
    exs_event_t event;
    pthread_t thread;
    void *result;

    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, EXS_WAIT_NOTIFY));
    CHECK_EQ(0, pthread_create(&thread, NULL, take_three, queue));
    post(queue, 1);
    post(queue, 2);
    CHECK_RESULT(1, exs_qdequeue(queue, &event, 1, NULL));
    post(queue, 3);
    post(queue, 4);
    CHECK_EQ(0, pthread_join(thread, &result));
    CHECK_EQ(3, (intptr_t)result);
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Interrupted and cancelled waits -------------------------------------------------------- */

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    handled = 1;
}

static void *interrupt(void *argument)
{
    /* Repeat until the wait has ended: a signal before the wait is lost. */
    while (pthread_kill(*(pthread_t *)argument, SIGUSR1) == 0) {
        pthread_testcancel();
        (void)usleep(1000);
    }
    return NULL;
}

static void test_interrupt(void)
{
    struct sigaction action = {.sa_handler = handle};
    exs_qhandle_t queue = create(4);
    pthread_t self = pthread_self();
    pthread_t thread;
    exs_event_t event;

    CHECK_STARTS(sigaction(SIGUSR1, &action, NULL));
    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, EXS_WAIT_NOTIFY));
    CHECK_EQ(0, pthread_create(&thread, NULL, interrupt, &self));
    CHECK_ERRNO(EINTR, exs_qdequeue(queue, &event, 1, NULL));
    CHECK(handled);
    (void)pthread_cancel(thread);
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_STARTS(exs_qdelete(queue));
}

static void *take_one(void *argument)
{
    exs_event_t event;

    return (void *)(intptr_t)exs_qdequeue(argument, &event, 1, NULL);
}

/* A cancelled thread takes no event, and no thread holds the queue afterwards. */
static void test_cancel(int wait)
{
    exs_qhandle_t queue = create(4);
    exs_event_t event;
    pthread_t thread;
    void *result;

    CHECK_STARTS(exs_qmodify(queue, EXS_QATTR_WAIT, wait));
    CHECK_EQ(0, pthread_create(&thread, NULL, take_one, queue));
    CHECK_EQ(0, pthread_cancel(thread));
    CHECK_EQ(0, pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    post(queue, 1);
    CHECK_RESULT(1, exs_qdequeue(queue, &event, 1, NULL));
    CHECK_STARTS(exs_qdelete(queue));
}

/* ---- Where an end is told ------------------------------------------------------------------- */

static void test_completion(void)
{
    static const struct row {
        const char *name;
        int flags;
        bool queue;
        int error;  /* errno of the start */
        int ok;     /* number of events after success */
        int failed; /* number of events after a failure */
    } rows[] = {
        {"plain", 0, true, 0, 1, 1},
        {"no queue", 0, false, EINVAL, 0, 0},
        {"unsignaled", EXS_UNSIGNALED, true, 0, 0, 1},
        {"unsignaled, no queue", EXS_UNSIGNALED, false, 0, 0, 0},
    };
    exs_qhandle_t queue = create(4);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        exs_qhandle_t handle = rows[i].queue ? queue : EXS_QHANDLE_INVALID;

        check_context(rows[i].name);
        for (int failed = 0; failed < 2; failed++) {
            const exs_event_t event = {.exs_evt_errno = failed ? ECONNRESET : 0};
            struct exs_completion completion;
            exs_event_t taken[2];
            struct timeval none = {0, 0};

            CHECK_EQ(rows[i].error, exs_completion_open(&completion, handle, rows[i].flags));
            if (rows[i].error)
                continue;
            CHECK(exs_completion_tell(&completion, &event));
            CHECK_RESULT(failed ? rows[i].failed : rows[i].ok,
                         exs_qdequeue(queue, taken, 2, &none));
        }
    }
    check_context(NULL);
    CHECK_STARTS(exs_qdelete(queue));
}

static void *tell(void *argument)
{
    const exs_event_t event = {.exs_evt_errno = EPIPE};

    CHECK(!exs_completion_tell(argument, &event));
    return NULL;
}

static void test_blocked(void)
{
    const struct exs_wait wait = {EXS_WAIT_ADAPTIVE, PTHREAD_CANCEL_ENABLE, EXS_TIME_NEVER};
    struct exs_completion completion;
    pthread_t thread;

    CHECK_EQ(0, exs_completion_open(&completion, EXS_QHANDLE_INVALID, EXS_BLOCK));
    CHECK_EQ(0, pthread_create(&thread, NULL, tell, &completion));
    exs_completion_await(&completion, &wait);
    CHECK_EQ(EPIPE, completion.event.exs_evt_errno);
    CHECK_EQ(0, pthread_join(thread, NULL));
    /* Nobody waits any more, so the caller that reports the completion owns it. */
    CHECK_EQ(0, exs_completion_open(&completion, EXS_QHANDLE_INVALID, EXS_BLOCK));
    CHECK(!exs_completion_abandon(&completion));
    CHECK(exs_completion_tell(&completion, &(exs_event_t){0}));
    CHECK_EQ(0, exs_completion_open(&completion, EXS_QHANDLE_INVALID, EXS_BLOCK));
    CHECK(!exs_completion_tell(&completion, &(exs_event_t){0}));
    CHECK(exs_completion_abandon(&completion));
}

int main(void)
{
    test_order();
    test_count();
    test_life();
    test_fd();
    test_signal();
    test_attributes();
    test_threads(EXS_WAIT_ADAPTIVE);
    test_threads(EXS_WAIT_NOTIFY);
    test_threads(EXS_WAIT_BUSY_POLL);
    test_thresholds();
    test_interrupt();
    test_cancel(EXS_WAIT_NOTIFY);
    test_cancel(EXS_WAIT_BUSY_POLL);
    test_completion();
    test_blocked();
    return 0;
}
