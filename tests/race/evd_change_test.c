/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_evd_modify under load: simple EVDs move among aggregates of every kind, change size and
 * threshold, and are disabled and enabled, while events arrive and other threads wait for them.
 * Each event is taken once and none is left. A lost wake shows as a hang, which the time limit
 * ends.
 */
#include "evd/queue/evd.h"
#include "support/check.h"
#include "unit/evd_fixture.h"

#include "itx_api.h"

#include <poll.h>
#include <stdio.h>

#define SIMPLE              6
#define AGGREGATES          4 /* waited on; polled by descriptor; with records; with a callback */
#define PRODUCERS           2
#define EVENTS_PER_PRODUCER 40000
#define EVENTS              (PRODUCERS * EVENTS_PER_PRODUCER)
#define LAST_WORD           ((uintptr_t)EVENTS)

static struct fixture fixture;
static it_evd_handle_t simple[SIMPLE];
static it_evd_handle_t aggregates[AGGREGATES];
static it_evd_handle_t constant[AGGREGATES]; /* one member of each aggregate never moves */
static int descriptor;
static _Atomic unsigned taken[EVENTS];
static _Atomic unsigned taken_in_all;
static _Atomic bool changing_done;
static unsigned changes;

static uint32_t random_next(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return *state >> 8;
}

static void post(it_evd_handle_t evd, uintptr_t value)
{
    it_status_t status;

    while ((status = fixture_post(evd, value)) == IT_ERR_EVD_QUEUE_FULL)
        sched_yield();
    CHECK(status == IT_SUCCESS);
}

static void *produce(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    uint32_t state = (uint32_t)number;

    for (uintptr_t i = 0; i < EVENTS_PER_PRODUCER; i++)
        post(simple[random_next(&state) % SIMPLE], number * EVENTS_PER_PRODUCER + i);
    return NULL;
}

/* Counts the event. Returns true if it tells the consumer to end. */
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

/* ---------------------------------------------------------------- consumers */

static void *consume_waiting(void *argument)
{
    it_event_t events[3];
    size_t got;
    bool end = false;

    (void)argument;
    while (!end) {
        CHECK(itx_evd_wait_n(aggregates[0], IT_TIMEOUT_INFINITE, 3, events, &got, NULL) ==
              IT_SUCCESS);
        for (size_t i = 0; i < got; i++)
            end = count(&events[i]) || end;
    }
    return NULL;
}

static void *consume_by_descriptor(void *argument)
{
    struct pollfd poll_fd = {.fd = descriptor, .events = POLLIN};
    it_event_t event;
    bool end = false;

    (void)argument;
    while (!end) {
        CHECK(poll(&poll_fd, 1, -1) == 1);
        while (it_evd_dequeue(aggregates[1], &event) == IT_SUCCESS)
            end = count(&event) || end;
    }
    return NULL;
}

static void *consume_records(void *argument)
{
    it_event_t event;
    bool end = false;

    (void)argument;
    while (!end) {
        it_evd_handle_t member;

        CHECK(it_evd_wait(aggregates[2], IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
        CHECK(event.event_number == IT_AEVD_NOTIFICATION_EVENT);
        member = event.aevd_notify.sevd;
        while (it_evd_dequeue(member, &event) == IT_SUCCESS)
            end = count(&event) || end;
    }
    return NULL;
}

static void consume_called(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (count(&event))
            atomic_store((_Atomic bool *)argument, true);
    }
}

/* ---------------------------------------------------------------- changes */

static void change(it_evd_handle_t evd, uint32_t *state)
{
    it_evd_param_t params = {.evd_enabled = IT_TRUE};
    it_status_t status;

    switch (random_next(state) % 5) {
    case 0:
        params.sevd_queue_size = 4 + random_next(state) % 12;
        status = it_evd_modify(evd, IT_EVD_PARAM_QUEUE_SIZE, &params);
        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_QUEUE_SIZE);
        break;
    case 1:
        params.sevd_threshold = random_next(state) % 4;
        CHECK(it_evd_modify(evd, IT_EVD_PARAM_THRESHOLD, &params) == IT_SUCCESS);
        break;
    case 2:
        params.evd_enabled = random_next(state) % 2 ? IT_TRUE : IT_FALSE;
        CHECK(it_evd_modify(evd, IT_EVD_PARAM_ENABLED, &params) == IT_SUCCESS);
        break;
    case 3:
        CHECK(it_evd_modify(evd, IT_EVD_PARAM_AEVD_HANDLE, &params) == IT_SUCCESS); /* leaves */
        break;
    default:
        params.aevd = aggregates[random_next(state) % AGGREGATES];
        CHECK(it_evd_modify(evd, IT_EVD_PARAM_AEVD_HANDLE, &params) == IT_SUCCESS);
        break;
    }
}

static void *change_about(void *argument)
{
    uint32_t state = 7;

    (void)argument;
    while (!atomic_load(&changing_done)) {
        change(simple[random_next(&state) % SIMPLE], &state);
        changes++;
        /* Lets consumers run: EVDs that are disabled or in no aggregate stop the producers. */
        if (random_next(&state) % 8 == 0)
            sched_yield();
    }
    return NULL;
}

/* Enables all simple EVDs and puts each into an aggregate. */
static void settle(void)
{
    unsigned mask = (unsigned)IT_EVD_PARAM_ENABLED | (unsigned)IT_EVD_PARAM_THRESHOLD |
                    (unsigned)IT_EVD_PARAM_AEVD_HANDLE;

    for (unsigned i = 0; i < SIMPLE; i++) {
        it_evd_param_t params = {.evd_enabled = IT_TRUE, .aevd = aggregates[i % AGGREGATES]};

        CHECK(it_evd_modify(simple[i], (it_evd_param_mask_t)mask, &params) == IT_SUCCESS);
    }
}

/* ---------------------------------------------------------------- all of it */

static void make(void)
{
    for (unsigned i = 0; i < SIMPLE; i++)
        simple[i] = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
    aggregates[0] = fixture_aevd(&fixture, 0, NULL);
    aggregates[1] = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &descriptor);
    aggregates[2] = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    aggregates[3] = fixture_aevd(&fixture, 0, NULL);
    for (unsigned i = 0; i < AGGREGATES; i++)
        constant[i] = fixture_member(&fixture, aggregates[i], IT_SOFTWARE_EVENT_STREAM, 0);
}

int main(void)
{
    void *(*const mains[])(void *) = {consume_waiting, consume_by_descriptor, consume_records};
    _Atomic bool called_last = false;
    pthread_t consumers[3];
    pthread_t producers[PRODUCERS];
    pthread_t changer;

    fixture_start(&fixture);
    make();
    CHECK(it_evd_callback_attach(aggregates[3], consume_called, &called_last) == IT_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_create(&consumers[i], NULL, mains[i], NULL) == 0);
    CHECK(pthread_create(&changer, NULL, change_about, NULL) == 0);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&producers[i], NULL, produce, (void *)i) == 0);
    for (unsigned i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    atomic_store(&changing_done, true);
    pthread_join(changer, NULL);
    settle();
    while (atomic_load(&taken_in_all) != EVENTS)
        sched_yield();
    for (unsigned i = 0; i < AGGREGATES; i++)
        post(constant[i], LAST_WORD);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(consumers[i], NULL);
    while (!atomic_load(&called_last))
        sched_yield();
    for (unsigned i = 0; i < EVENTS; i++)
        CHECK(atomic_load(&taken[i]) == 1);
    printf("%u changes\n", changes);
    fixture_stop(&fixture);
    return 0;
}
