/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callbacks race with their removal: it_evd_callback_detach from other threads and from inside,
 * it_evd_free, the end of the IA. After any of them has returned, no run begins or continues.
 * Before that no event is forgotten. The time limit ends a hang.
 */
#include "evd/queue/evd.h"
#include "support/check.h"
#include "unit/evd_fixture.h"

#include <stdio.h>

#define ROUNDS 5000

static struct fixture fixture;

/* The state of one attachment. Like a program's memory it is valid until the detach. */
struct target {
    _Atomic bool attached;
    _Atomic unsigned inside;
    _Atomic unsigned runs;
    unsigned detach_at; /* number of the run that detaches the callback; 0: none */
    it_status_t detach_status;
};

static void run(it_evd_handle_t evd, void *argument)
{
    struct target *target = argument;
    it_event_t event;
    unsigned number;

    CHECK(atomic_load(&target->attached));
    CHECK(atomic_fetch_add(&target->inside, 1) == 0);
    number = atomic_fetch_add(&target->runs, 1) + 1;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
    }
    if (number == target->detach_at)
        target->detach_status = it_evd_callback_detach(evd);
    CHECK(atomic_fetch_sub(&target->inside, 1) == 1);
    CHECK(atomic_load(&target->attached));
}

static void nothing(void *argument)
{
    (void)argument;
}

static void target_over(struct target *target)
{
    CHECK(atomic_load(&target->inside) == 0);
    atomic_store(&target->attached, false);
}

/* ---------------------------------------------------------------- detach */

static it_evd_handle_t fed;
static _Atomic bool feeding_done;

static void *feed(void *argument)
{
    (void)argument;
    while (!atomic_load(&feeding_done))
        (void)fixture_post(fed, 1);
    return NULL;
}

static void detach_against_runs(void)
{
    it_event_t event;
    pthread_t feeder;

    fed = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
    CHECK(pthread_create(&feeder, NULL, feed, NULL) == 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct target target = {.attached = true};
        bool awaits = round % 4 != 0;

        CHECK(it_evd_callback_attach(fed, run, &target) == IT_SUCCESS);
        while (awaits && atomic_load(&target.runs) < round % 4)
            sched_yield();
        CHECK(it_evd_callback_detach(fed) == IT_SUCCESS);
        target_over(&target);
        CHECK(it_evd_callback_detach(fed) == IT_ERR_INVALID_EVD_STATE);
    }
    atomic_store(&feeding_done, true);
    pthread_join(feeder, NULL);
    while (it_evd_dequeue(fed, &event) == IT_SUCCESS) {
    }
    CHECK(it_evd_free(fed) == IT_SUCCESS);
}

/* The callback and another thread detach it: one of the two succeeds. */
static void detach_from_both_sides(void)
{
    it_evd_handle_t evd = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
    unsigned from_inside = 0;
    it_event_t event;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct target target = {.attached = true, .detach_at = 1};
        it_status_t status;

        CHECK(it_evd_callback_attach(evd, run, &target) == IT_SUCCESS);
        CHECK(fixture_post(evd, 1) == IT_SUCCESS);
        if (round % 2)
            sched_yield();
        status = it_evd_callback_detach(evd);
        /*
         * A detach that failed has not waited: there was nothing to detach, but the run may
         * continue.
         */
        while (status != IT_SUCCESS && atomic_load(&target.inside) != 0)
            sched_yield();
        evd_loop_call(fixture.ia.loop, nothing, NULL);
        if (status == IT_SUCCESS) {
            CHECK(atomic_load(&target.runs) == 0 ||
                  target.detach_status == IT_ERR_INVALID_EVD_STATE);
        } else {
            CHECK(status == IT_ERR_INVALID_EVD_STATE && target.detach_status == IT_SUCCESS);
            from_inside++;
        }
        target_over(&target);
        while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        }
    }
    printf("  %u of %d from inside\n", from_inside, ROUNDS);
    CHECK(it_evd_free(evd) == IT_SUCCESS);
}

/* ---------------------------------------------------------------- attach and detach by many */

static it_evd_handle_t shared;
static _Atomic unsigned attached_now;
static _Atomic unsigned runs_now;
static _Atomic unsigned shared_runs;

static void run_shared(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    (void)argument;
    CHECK(atomic_fetch_add(&runs_now, 1) == 0);
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
    }
    atomic_fetch_add(&shared_runs, 1);
    atomic_fetch_sub(&runs_now, 1);
}

static void *attach_and_detach(void *argument)
{
    (void)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        it_status_t status = it_evd_callback_attach(shared, run_shared, NULL);

        if (status != IT_SUCCESS) {
            CHECK(status == IT_ERR_CALLBACK_EXISTS);
            continue;
        }
        CHECK(atomic_fetch_add(&attached_now, 1) == 0);
        (void)fixture_post(shared, round);
        atomic_fetch_sub(&attached_now, 1);
        CHECK(it_evd_callback_detach(shared) == IT_SUCCESS);
    }
    return NULL;
}

static void many_attach(void)
{
    pthread_t threads[3];
    it_event_t event;
    unsigned before;

    shared = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, attach_and_detach, NULL) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    /* The EVD still works. */
    while (it_evd_dequeue(shared, &event) == IT_SUCCESS) {
    }
    before = atomic_load(&shared_runs);
    CHECK(it_evd_callback_attach(shared, run_shared, NULL) == IT_SUCCESS);
    CHECK(fixture_post(shared, 1) == IT_SUCCESS);
    while (atomic_load(&shared_runs) == before)
        sched_yield();
    CHECK(it_evd_free(shared) == IT_SUCCESS);
}

/* ---------------------------------------------------------------- free */

static void free_against_runs(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
        it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
        it_evd_handle_t evd = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
        struct target targets[2] = {{.attached = true}, {.attached = true}};

        targets[0].detach_at = round % 5 == 4;
        CHECK(it_evd_callback_attach(evd, run, &targets[0]) == IT_SUCCESS);
        CHECK(it_evd_callback_attach(aevd, run, &targets[1]) == IT_SUCCESS);
        for (unsigned i = 0; i < 1 + round % 3; i++) {
            CHECK(fixture_post(evd, i) == IT_SUCCESS);
            CHECK(fixture_post(member, i) == IT_SUCCESS);
        }
        while (round % 2 && atomic_load(&targets[1].runs) == 0)
            sched_yield();
        CHECK(it_evd_free(evd) == IT_SUCCESS);
        target_over(&targets[0]);
        CHECK(it_evd_free(member) == IT_SUCCESS);
        CHECK(it_evd_free(aevd) == IT_SUCCESS);
        target_over(&targets[1]);
    }
}

/* ---------------------------------------------------------------- each event is told */

#define TOLD 20000u

static _Atomic unsigned told;

static void tell(it_evd_handle_t evd, void *argument)
{
    unsigned most = *(unsigned *)argument;
    it_event_t event;

    for (unsigned i = 0; i < most && it_evd_dequeue(evd, &event) == IT_SUCCESS; i++)
        atomic_fetch_add(&told, 1);
}

static void *tell_many(void *argument)
{
    it_evd_handle_t evd = argument;

    for (unsigned i = 0; i < TOLD; i++) {
        while (fixture_post(evd, i) == IT_ERR_EVD_QUEUE_FULL)
            sched_yield();
    }
    return NULL;
}

static void no_event_is_forgotten(void)
{
    static unsigned most[] = {1, 3, 1000};

    for (unsigned i = 0; i < 3; i++) {
        it_evd_handle_t evd = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
        pthread_t threads[2];

        atomic_store(&told, 0);
        CHECK(it_evd_callback_attach(evd, tell, &most[i]) == IT_SUCCESS);
        for (int t = 0; t < 2; t++)
            CHECK(pthread_create(&threads[t], NULL, tell_many, evd) == 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        while (atomic_load(&told) < 2 * TOLD)
            sched_yield();
        CHECK(it_evd_free(evd) == IT_SUCCESS);
    }
}

/* ---------------------------------------------------------------- the end of the IA */

static void wait_inside(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    (void)it_evd_dequeue(evd, &event);
    CHECK(it_evd_wait(argument, IT_TIMEOUT_INFINITE, &event, NULL) == IT_ERR_ABORT);
}

static void ia_ends(void)
{
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        struct fixture other;
        struct target target = {.attached = true};
        it_evd_handle_t evd;
        it_evd_handle_t waited;
        it_evd_handle_t waiting;

        fixture_start(&other);
        evd = fixture_evd(&other, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
        waited = fixture_evd(&other, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
        waiting = fixture_evd(&other, IT_SOFTWARE_EVENT_STREAM, 8, 0, 0, NULL);
        CHECK(it_evd_callback_attach(evd, run, &target) == IT_SUCCESS);
        CHECK(it_evd_callback_attach(waiting, wait_inside, waited) == IT_SUCCESS);
        CHECK(fixture_post(evd, 1) == IT_SUCCESS);
        if (round % 2)
            CHECK(fixture_post(waiting, 1) == IT_SUCCESS);
        if (round % 3 == 0)
            sched_yield();
        evd_ia_stop(&other.ia);
        target_over(&target);
        fixture_stop(&other);
    }
}

int main(void)
{
    fixture_start(&fixture);
    detach_against_runs();
    puts("detach against runs: ok");
    detach_from_both_sides();
    puts("detach from both sides: ok");
    many_attach();
    puts("attach by many: ok");
    free_against_runs();
    puts("free against runs: ok");
    no_event_is_forgotten();
    puts("no event is forgotten: ok");
    ia_ends();
    puts("the IA ends: ok");
    fixture_stop(&fixture);
    return 0;
}
