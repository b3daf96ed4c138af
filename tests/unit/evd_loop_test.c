/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/loop/evd_loop.h"

#include "base/base_clock.h"

#include "evd/loop/evd_waiter.h"

#include <criterion/criterion.h>

#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct evd_loop *loop;

static void setup(void)
{
    cr_assert_eq(evd_loop_start(&loop, "a-name-too-long-for-a-thread"), IT_SUCCESS);
}

static void teardown(void)
{
    evd_loop_stop(loop);
}

TestSuite(evd_loop, .init = setup, .fini = teardown);

/* ---------------------------------------------------------------- one-time conditions */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int happened; /* by lock */

static void happen(void)
{
    pthread_mutex_lock(&lock);
    happened++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await(int count)
{
    pthread_mutex_lock(&lock);
    while (happened < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- tasks */

struct numbered_task {
    struct evd_task task;
    int number;
};

static int order[9];
static int ordered;

static void run_numbered(struct evd_task *task)
{
    order[ordered++] = ((struct numbered_task *)task)->number;
    happen();
}

struct numbered_submits {
    struct numbered_task tasks[8];
    bool again;
};

static void submit_numbered(void *argument)
{
    struct numbered_submits *submits = argument;

    for (int i = 0; i < 8; i++) {
        submits->tasks[i] = (struct numbered_task){.task = {.run = run_numbered}, .number = i};
        cr_assert(evd_loop_submit(loop, &submits->tasks[i].task));
    }
    /* On the loop's own thread no submitted task has run yet. */
    submits->again = evd_loop_submit(loop, &submits->tasks[3].task);
}

Test(evd_loop, tasks_run_in_order_and_once)
{
    static struct numbered_submits submits;

    evd_loop_call(loop, submit_numbered, &submits);
    await(8);
    cr_assert_not(submits.again);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(order[i], i);
    cr_assert(evd_loop_submit(loop, &submits.tasks[3].task));
    await(9);
}

static void look_around(void *argument)
{
    char *name = argument;
    sigset_t blocked;

    cr_assert(evd_loop_is_current(loop));
    cr_assert_eq(pthread_getname_np(pthread_self(), name, 16), 0);
    cr_assert_eq(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    cr_assert(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1));
}

static void call_again(void *argument)
{
    evd_loop_call(loop, look_around, argument); /* nested: no deadlock */
}

Test(evd_loop, call_runs_on_the_named_thread_with_signals_blocked)
{
    char name[16] = "";
    sigset_t blocked;

    cr_assert_not(evd_loop_is_current(loop));
    evd_loop_call(loop, call_again, name);
    cr_assert_str_eq(name, "a-name-too-long");
    cr_assert_eq(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    cr_assert_not(sigismember(&blocked, SIGTERM));
}

#define SUBMITS_PER_THREAD 200000

static _Atomic long runs;
static _Atomic long submitted;

static void count_run(struct evd_task *task)
{
    (void)task;
    atomic_fetch_add(&runs, 1);
}

static void *submit_many(void *argument)
{
    static struct evd_task tasks[2][64];
    struct evd_task *mine = tasks[*(int *)argument];

    for (int i = 0; i < 64; i++)
        mine[i].run = count_run;
    for (int i = 0; i < SUBMITS_PER_THREAD; i++) {
        if (evd_loop_submit(loop, &mine[i % 64]))
            atomic_fetch_add(&submitted, 1);
    }
    return NULL;
}

static void nothing(void *argument)
{
    (void)argument;
}

Test(evd_loop, four_hundred_thousand_submits_from_two_threads)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};

    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, submit_many, &numbers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    evd_loop_call(loop, nothing, NULL); /* runs after all of them */
    cr_assert_eq(atomic_load(&runs), atomic_load(&submitted));
    cr_assert_gt(atomic_load(&runs), 0);
}

static void submit_next(struct evd_task *task)
{
    struct numbered_task *numbered = (struct numbered_task *)task;

    if (++numbered->number < 5)
        cr_assert(evd_loop_submit(loop, task));
}

Test(evd_loop, stop_runs_what_is_queued)
{
    struct numbered_task chain = {.task = {.run = submit_next}};

    cr_assert(evd_loop_submit(loop, &chain.task));
    evd_loop_stop(loop);
    cr_assert_eq(chain.number, 5);
    setup();
}

/* ---------------------------------------------------------------- idleness */

static void read_switches(void *argument)
{
    struct rusage usage;

    cr_assert_eq(getrusage(RUSAGE_THREAD, &usage), 0);
    *(long *)argument = usage.ru_nvcsw;
}

static void *sleep_shortly(void *argument)
{
    struct timespec time = {.tv_nsec = 300 * 1000 * 1000};

    (void)argument;
    nanosleep(&time, NULL);
    return NULL;
}

/* This test measures a span of time, so it may sleep. */
Test(evd_loop, idle_loop_never_wakes)
{
    long before = 0;
    long after = 0;

    evd_loop_call(loop, read_switches, &before);
    sleep_shortly(NULL);
    evd_loop_call(loop, read_switches, &after);
    cr_assert_leq(after - before, 2, "%ld context switches", after - before);
}

/* ---------------------------------------------------------------- timers */

static struct evd_timer timers[3];
static uint64_t started;
static uint64_t fired;

static void timer_fired(void *argument)
{
    (void)argument;
    fired = base_now_ns();
    happen();
}

static void timer_forbidden(void *argument)
{
    (void)argument;
    cr_assert_fail("a stopped timer has expired");
}

static void start_timers(void *argument)
{
    (void)argument;
    started = base_now_ns();
    evd_timer_stop(&timers[0]); /* idle: nothing */
    cr_assert(evd_timer_start(&timers[0], loop, BASE_NS_PER_MS, timer_forbidden, NULL));
    cr_assert(evd_timer_start(&timers[1], loop, 999999999, timer_forbidden, NULL));
    cr_assert(evd_timer_start(&timers[0], loop, 3 * BASE_NS_PER_MS + 1, timer_fired, NULL));
    cr_assert(evd_timer_start(&timers[2], loop, BASE_NEVER, timer_forbidden, NULL));
    evd_timer_stop(&timers[1]);
    evd_timer_stop(&timers[1]);
}

static void check_timers(void *argument)
{
    (void)argument;
    cr_assert_not(timers[0].active);
    cr_assert_not(timers[1].active);
    cr_assert(timers[2].active);
    evd_timer_stop(&timers[2]);
}

Test(evd_loop, timers_fire_once_and_not_early)
{
    evd_loop_call(loop, start_timers, NULL);
    await(1);
    evd_loop_call(loop, check_timers, NULL);
    /* libevent compares with a clock that it read a moment before. */
    cr_assert_geq(fired + BASE_NS_PER_MS, started + 3 * BASE_NS_PER_MS);
}

static void start_late(void *argument)
{
    struct timespec time = {.tv_nsec = 30 * 1000 * 1000};

    (void)argument;
    nanosleep(&time, NULL);
    started = base_now_ns();
    cr_assert(evd_timer_start(&timers[0], loop, 20 * BASE_NS_PER_MS, timer_fired, NULL));
}

/* By then the time from which libevent counts is long past. */
Test(evd_loop, timer_counts_from_its_start)
{
    evd_loop_call(loop, start_late, NULL);
    await(1);
    cr_assert_geq(fired + BASE_NS_PER_MS, started + 20 * BASE_NS_PER_MS);
}

/* ---------------------------------------------------------------- descriptors */

static struct evd_io io;
static int sockets[2];
static unsigned seen;

static void io_ready(void *argument, unsigned events)
{
    cr_assert_eq(argument, &io);
    seen = events;
    evd_io_unwatch(&io);
    happen();
}

static void watch_read(void *argument)
{
    (void)argument;
    evd_io_unwatch(&io); /* idle: nothing */
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_READ, io_ready, &io));
}

static void watch_write(void *argument)
{
    (void)argument;
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_READ | EVD_IO_WRITE, io_ready, &io));
}

static void watch_closed(void *argument)
{
    (void)argument;
    /* The second call changes the watch. */
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_READ, io_ready, &io));
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_CLOSED, io_ready, &io));
}

Test(evd_loop, descriptors_are_watched)
{
    char byte;

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    evd_loop_call(loop, watch_write, NULL);
    await(1);
    cr_assert_eq(seen, EVD_IO_WRITE);
    evd_loop_call(loop, watch_read, NULL);
    cr_assert_eq(write(sockets[1], "x", 1), 1);
    await(2);
    cr_assert_eq(seen, EVD_IO_READ);
    /* Unread data is ignored. Only the peer's end of the stream is reported. */
    evd_loop_call(loop, watch_closed, NULL);
    cr_assert_eq(shutdown(sockets[1], SHUT_WR), 0);
    await(3);
    cr_assert_eq(seen, EVD_IO_CLOSED);
    cr_assert_not(io.active);
    cr_assert_eq(read(sockets[0], &byte, 1), 1);
    close(sockets[0]);
    close(sockets[1]);
}

/* ---------------------------------------------------------------- without the base */

static struct evd_waiter waiter;
static struct evd_task chain_task;
static int chained;

static void chain(struct evd_task *task)
{
    if (++chained < 5)
        cr_assert(evd_loop_submit(loop, task));
    else
        evd_waiter_wake(&waiter);
}

static void io_wakes(void *argument, unsigned events)
{
    (void)argument;
    cr_assert_eq(events, EVD_IO_READ);
    evd_io_unwatch(&io);
    evd_waiter_wake(&waiter);
}

static void timer_wakes(void *argument)
{
    (void)argument;
    happen();
    evd_waiter_wake(&waiter);
}

static void wait_on_loop(void *argument)
{
    uint64_t before = base_now_ns();

    (void)argument;
    cr_assert(evd_loop_is_inside(loop));
    /* Tasks that submit themselves again. */
    chain_task.run = chain;
    cr_assert(evd_loop_submit(loop, &chain_task));
    cr_assert_eq(evd_loop_wait(&waiter, BASE_NEVER), 0);
    cr_assert_eq(chained, 5);
    /* A descriptor. */
    atomic_store(&waiter.state, EVD_WAITER_RUNNING);
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_READ, io_wakes, &io));
    cr_assert_eq(write(sockets[1], "x", 1), 1);
    cr_assert_eq(evd_loop_wait(&waiter, BASE_NEVER), 0);
    cr_assert_not(io.active);
    /* Timers, one of them stopped by the other. */
    atomic_store(&waiter.state, EVD_WAITER_RUNNING);
    cr_assert(evd_timer_start(&timers[0], loop, BASE_NS_PER_MS, timer_wakes, NULL));
    cr_assert(evd_timer_start(&timers[1], loop, BASE_NEVER, timer_forbidden, NULL));
    cr_assert_eq(evd_loop_wait(&waiter, BASE_NEVER), 0);
    cr_assert(evd_waiter_is_woken(&waiter));
    evd_timer_stop(&timers[1]);
    /* Only the timeout can end this wait. */
    atomic_store(&waiter.state, EVD_WAITER_RUNNING);
    cr_assert_eq(evd_loop_wait(&waiter, base_now_ns() + BASE_NS_PER_MS), 0);
    cr_assert_not(evd_waiter_is_woken(&waiter));
    cr_assert_geq(base_now_ns() - before, 2 * BASE_NS_PER_MS);
}

Test(evd_loop, wait_does_the_loops_work)
{
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    evd_loop_call(loop, wait_on_loop, NULL);
    cr_assert_eq(happened, 1);
    close(sockets[0]);
    close(sockets[1]);
}

#define MANY_SOCKETS 200

static struct evd_io many[MANY_SOCKETS];
static int many_sockets[MANY_SOCKETS][2];
static int many_ready;

static void one_of_many(void *argument, unsigned events)
{
    (void)events;
    evd_io_unwatch(argument);
    /* Both neighbours are ready, but the second one is no longer called. */
    evd_io_unwatch(&many[((struct evd_io *)argument - many) ^ 1]);
    if (++many_ready == MANY_SOCKETS / 2)
        evd_waiter_wake(&waiter);
}

static void watch_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < MANY_SOCKETS; i++) {
        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, many_sockets[i]), 0);
        cr_assert(
            evd_io_watch(&many[i], loop, many_sockets[i][0], EVD_IO_READ, one_of_many, &many[i]));
        cr_assert_eq(write(many_sockets[i][1], "x", 1), 1);
    }
    cr_assert_eq(evd_loop_wait(&waiter, BASE_NEVER), 0);
    cr_assert_eq(many_ready, MANY_SOCKETS / 2);
}

Test(evd_loop, wait_with_many_descriptors)
{
    evd_loop_call(loop, watch_many, NULL);
    for (int i = 0; i < MANY_SOCKETS; i++) {
        cr_assert_not(many[i].active);
        close(many_sockets[i][0]);
        close(many_sockets[i][1]);
    }
}

/* ---------------------------------------------------------------- another base */

static void watch_and_time(void *argument)
{
    (void)argument;
    cr_assert(evd_io_watch(&io, loop, sockets[0], EVD_IO_READ, io_ready, &io));
    cr_assert(evd_timer_start(&timers[0], loop, 5 * BASE_NS_PER_MS, timer_fired, NULL));
    cr_assert(evd_timer_start(&timers[1], loop, BASE_NEVER, timer_forbidden, NULL));
    started = base_now_ns();
}

Test(evd_loop, adopted_with_all_it_has)
{
    struct event_base *base = event_base_new();
    struct numbered_task task = {.task = {.run = run_numbered}, .number = 7};

    cr_assert_not_null(base);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    evd_loop_call(loop, watch_and_time, NULL);
    cr_assert_eq(evd_loop_adopt(loop, base), IT_SUCCESS);
    cr_assert(evd_loop_is_current(loop));
    cr_assert_not(evd_loop_is_inside(loop));
    cr_assert(evd_loop_submit(loop, &task.task));
    cr_assert_eq(write(sockets[1], "x", 1), 1);
    while (happened < 3)
        cr_assert_eq(event_base_loop(base, EVLOOP_ONCE), 0);
    cr_assert_eq(order[0], 7);
    cr_assert_eq(seen, EVD_IO_READ);
    cr_assert_geq(fired + BASE_NS_PER_MS, started + 5 * BASE_NS_PER_MS);
    cr_assert(timers[1].active);
    evd_timer_stop(&timers[1]);
    evd_loop_stop(loop);
    cr_assert_eq(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
    event_base_free(base);
    close(sockets[0]);
    close(sockets[1]);
    setup();
}

static void still_there(void *argument)
{
    (void)argument;
    cr_assert(timers[1].active);
    evd_timer_stop(&timers[1]);
}

/* The base's epoll descriptor is closed, so adopting the loop fails. */
Test(evd_loop, stays_where_it_is_when_the_base_is_broken)
{
    struct event_base *base;
    int before = dup(STDERR_FILENO);

    cr_assert_geq(before, 0);
    close(before);
    base = event_base_new();
    cr_assert_not_null(base);
    close(before); /* the lowest free number is epoll's */
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    evd_loop_call(loop, watch_and_time, NULL);
    cr_assert_eq(evd_loop_adopt(loop, base), IT_ERR_RESOURCES);
    cr_assert_not(evd_loop_is_current(loop));
    cr_assert_eq(write(sockets[1], "x", 1), 1);
    await(2); /* the descriptor and the first timer */
    evd_loop_call(loop, still_there, NULL);
    event_base_free(base);
}
