/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Producers race with waiters: every event is taken exactly once, and no waiter sleeps while an
 * event is queued. A lost wake shows as a hang, which the time limit ends.
 */
#include "evd/queue/evd.h"
#include "base/base_clock.h"
#include "support/check.h"
#include "unit/evd_fixture.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>

#define PRODUCERS           3
#define WAITERS             4
#define EVENTS_PER_PRODUCER 4000
#define EVENTS              (PRODUCERS * EVENTS_PER_PRODUCER)
#define LAST_WORD           ((uintptr_t)EVENTS) /* tells one consumer to end */

static struct fixture fixture;
static it_evd_handle_t members[2];
static it_evd_handle_t target; /* the EVD that consumers use: members[0] or their AEVD */
static int target_fd;
static uint64_t wait_timeout;
static _Atomic unsigned taken[EVENTS];
static _Atomic unsigned taken_in_all;

static void post(it_evd_handle_t handle, uintptr_t value)
{
    it_status_t status;

    while ((status = fixture_post(handle, value)) == IT_ERR_EVD_QUEUE_FULL)
        sched_yield();
    CHECK(status == IT_SUCCESS);
}

static void *produce(void *argument)
{
    uintptr_t number = (uintptr_t)argument;

    for (uintptr_t i = 0; i < EVENTS_PER_PRODUCER; i++)
        post(members[i % 2], number * EVENTS_PER_PRODUCER + i);
    return NULL;
}

/* Counts the event. Returns true if it was the last one for this consumer. */
static bool count(const it_event_t *event)
{
    uintptr_t value = (uintptr_t)event->sw.data;

    CHECK(event->event_number == IT_SOFTWARE_EVENT);
    if (value == LAST_WORD)
        return true;
    CHECK(atomic_fetch_add(&taken[value], 1) == 0);
    atomic_fetch_add(&taken_in_all, 1);
    return false;
}

static void *consume_waiting(void *argument)
{
    it_event_t event;

    (void)argument;
    for (;;) {
        it_status_t status = it_evd_wait(target, wait_timeout, &event, NULL);

        if (status == IT_ERR_TIMEOUT_EXPIRED && wait_timeout != IT_TIMEOUT_INFINITE)
            continue;
        CHECK(status == IT_SUCCESS);
        if (count(&event))
            return NULL;
    }
}

/* Takes events for each record: it dequeues from the record's member until that is empty. */
static void *consume_records(void *argument)
{
    it_event_t event;
    bool end = false;

    (void)argument;
    while (!end) {
        it_evd_handle_t member;

        CHECK(it_evd_wait(target, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
        CHECK(event.event_number == IT_AEVD_NOTIFICATION_EVENT);
        member = event.aevd_notify.sevd;
        while (it_evd_dequeue(member, &event) == IT_SUCCESS) {
            if (count(&event))
                end = true;
        }
    }
    return NULL;
}

static void *consume_by_descriptor(void *argument)
{
    struct pollfd poll_fd = {.fd = target_fd, .events = POLLIN};
    it_event_t event;

    (void)argument;
    for (;;) {
        CHECK(poll(&poll_fd, 1, -1) == 1);
        while (it_evd_dequeue(target, &event) == IT_SUCCESS) {
            if (count(&event))
                return NULL;
        }
    }
}

static void *consume_polling(void *argument)
{
    it_event_t event;

    (void)argument;
    for (;;) {
        it_status_t status = it_evd_dequeue(target, &event);

        if (status == IT_ERR_QUEUE_EMPTY)
            sched_yield();
        else if (count(&event))
            return NULL;
    }
}

/* ---------------------------------------------------------------- a provider that polls */

static _Thread_local int kick_fd = -1;

static void provider_poll(void *context)
{
    (void)context;
}

static int provider_wait(void *context, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.events = POLLIN};
    eventfd_t kicks;

    (void)context;
    if (kick_fd < 0)
        kick_fd = eventfd(0, EFD_NONBLOCK);
    poll_fd.fd = kick_fd;
    if (!evd_waiter_begin_poll(waiter, kick_fd))
        return 0;
    (void)poll(&poll_fd, 1, deadline_ns == BASE_NEVER ? -1 : 1);
    (void)evd_waiter_end_poll(waiter);
    (void)eventfd_read(kick_fd, &kicks);
    return 0;
}

static const struct evd_progress_ops provider = {.poll = provider_poll, .wait = provider_wait};

/* ---------------------------------------------------------------- rounds */

enum arrangement {
    SIMPLE,
    AGGREGATE,
    AGGREGATE_RECORDS
};

static void arrange(enum arrangement arrangement)
{
    unsigned flags = IT_EVD_CREATE_FD;

    memset(taken, 0, sizeof(taken));
    atomic_store(&taken_in_all, 0);
    if (arrangement == SIMPLE) {
        target = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, flags, &target_fd);
        members[0] = members[1] = target;
        return;
    }
    if (arrangement == AGGREGATE_RECORDS)
        flags |= IT_EVD_DEQUEUE_NOTIFICATIONS;
    target = fixture_aevd(&fixture, flags, &target_fd);
    for (int i = 0; i < 2; i++)
        members[i] = fixture_member(&fixture, target, IT_SOFTWARE_EVENT_STREAM, 0);
}

typedef void *(*consumer_main)(void *argument);

static void round_of(const char *name, enum arrangement arrangement, unsigned consumers,
                     const consumer_main *mains)
{
    pthread_t threads[PRODUCERS + WAITERS + 2];
    unsigned number = 0;

    arrange(arrangement);
    for (unsigned i = 0; i < consumers; i++)
        CHECK(pthread_create(&threads[number++], NULL, mains[i], NULL) == 0);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[number++], NULL, produce, (void *)i) == 0);
    for (unsigned i = consumers; i < number; i++)
        pthread_join(threads[i], NULL);
    while (atomic_load(&taken_in_all) != EVENTS)
        sched_yield();
    /* Each consumer takes one LAST_WORD. */
    for (unsigned i = 0; i < consumers; i++)
        post(members[i % 2], LAST_WORD);
    for (unsigned i = 0; i < consumers; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < EVENTS; i++)
        CHECK(atomic_load(&taken[i]) == 1);
    evd_ia_free_all(&fixture.ia);
    printf("%s: ok\n", name);
}

static void rounds(void)
{
    static const consumer_main waiting[] = {consume_waiting, consume_waiting, consume_waiting,
                                            consume_waiting};
    static const consumer_main mixed[] = {consume_waiting, consume_waiting, consume_polling,
                                          consume_by_descriptor};
    static const consumer_main descriptor[] = {consume_by_descriptor};
    static const consumer_main records[] = {consume_records};

    wait_timeout = IT_TIMEOUT_INFINITE;
    round_of("simple, waiters", SIMPLE, WAITERS, waiting);
    round_of("simple, one of each", SIMPLE, 4, mixed);
    round_of("simple, descriptor", SIMPLE, 1, descriptor);
    round_of("aggregate, waiters", AGGREGATE, WAITERS, waiting);
    round_of("aggregate, one of each", AGGREGATE, 4, mixed);
    round_of("aggregate, descriptor", AGGREGATE, 1, descriptor);
    round_of("aggregate, records", AGGREGATE_RECORDS, 1, records);
    wait_timeout = 20; /* microseconds: short enough to expire all the time */
    round_of("simple, short timeouts", SIMPLE, WAITERS, waiting);
    round_of("aggregate, short timeouts", AGGREGATE, WAITERS, waiting);
}

/* ---------------------------------------------------------------- the descriptor afterwards */

#define CROSSING_THREADS 2
#define CROSSINGS        8000

static pthread_barrier_t crossing;

static void *cross(void *argument)
{
    it_event_t event;

    (void)argument;
    for (int i = 0; i < CROSSINGS; i++) {
        pthread_barrier_wait(&crossing);
        (void)fixture_post(members[i % 2], 1);
        (void)it_evd_dequeue(i % 3 ? members[i % 2] : target, &event);
        (void)it_evd_dequeue(members[i % 2], &event);
        pthread_barrier_wait(&crossing);
    }
    return NULL;
}

/* However the changes have raced, at the end the descriptor shows the EVD's state. */
static void descriptor_agrees(const char *name, enum arrangement arrangement)
{
    pthread_t threads[CROSSING_THREADS];
    struct pollfd poll_fd = {.events = POLLIN};

    arrange(arrangement);
    poll_fd.fd = target_fd;
    CHECK(pthread_barrier_init(&crossing, NULL, CROSSING_THREADS + 1) == 0);
    for (int i = 0; i < CROSSING_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, cross, NULL) == 0);
    for (int i = 0; i < CROSSINGS; i++) {
        pthread_barrier_wait(&crossing);
        pthread_barrier_wait(&crossing);
        CHECK(poll(&poll_fd, 1, 0) == (evd_is_ready_locked(evd_from_handle(target)) ? 1 : 0));
    }
    for (int i = 0; i < CROSSING_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crossing);
    evd_ia_free_all(&fixture.ia);
    printf("%s: ok\n", name);
}

int main(void)
{
    fixture_start(&fixture);
    rounds();
    puts("with a provider:");
    fixture.ia.progress = &provider;
    rounds();
    descriptor_agrees("descriptor, simple", SIMPLE);
    descriptor_agrees("descriptor, aggregate", AGGREGATE);
    descriptor_agrees("descriptor, records", AGGREGATE_RECORDS);
    fixture_stop(&fixture);
    return 0;
}
