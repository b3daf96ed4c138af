/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_evd_free races with threads in it_evd_wait (on the EVD, on its AEVD) while events arrive, with
 * members that join and leave, and with making and freeing asynchronous EVDs while errors are
 * raised.
 */
#include "evd/queue/evd.h"
#include "support/check.h"
#include "unit/evd_fixture.h"

#include <stdio.h>

#define ROUNDS  2000
#define WAITERS 3

static struct fixture fixture;

static unsigned waiters_inside(it_evd_handle_t handle)
{
    return atomic_load(&evd_from_handle(handle)->users);
}

static void *wait_until_aborted(void *argument)
{
    it_event_t event;
    it_status_t status;

    /*
     * Only it_evd_free ends this wait. What a thread may see after the EVD is freed is not tested.
     */
    do {
        status = it_evd_wait(argument, IT_TIMEOUT_INFINITE, &event, NULL);
    } while (status == IT_SUCCESS && event.sw.data != NULL);
    CHECK(status == IT_ERR_ABORT);
    return NULL;
}

/* When the free begins, the waiters are inside it_evd_wait, some about to sleep. */
static void free_against_waiters(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        it_evd_handle_t handle = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, 0, NULL);
        pthread_t threads[WAITERS];

        for (int i = 0; i < WAITERS; i++)
            CHECK(pthread_create(&threads[i], NULL, wait_until_aborted, handle) == 0);
        while (waiters_inside(handle) != WAITERS)
            sched_yield();
        CHECK(it_evd_free(handle) == IT_SUCCESS);
        for (int i = 0; i < WAITERS; i++)
            pthread_join(threads[i], NULL);
    }
}

static void *wait_on_aggregate(void *argument)
{
    it_evd_handle_t aevd = argument;
    it_event_t event;

    do {
        CHECK(it_evd_wait(aevd, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
    } while (event.sw.data != &fixture);
    return NULL;
}

/*
 * A thread that polls is far more often between finding a member and locking it than one that
 * sleeps.
 */
static void *poll_aggregate(void *argument)
{
    it_evd_handle_t aevd = argument;
    it_event_t event = {.sw.data = NULL};

    while (it_evd_dequeue(aevd, &event) != IT_SUCCESS || event.sw.data != &fixture)
        ;
    return NULL;
}

/* Members with events join and leave, by free and by modify, while threads wait on the AEVD. */
static void members_come_and_go(void)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t last = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    pthread_t threads[WAITERS];

    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i ? wait_on_aggregate : poll_aggregate, aevd) == 0);
    for (uintptr_t round = 1; round <= 4 * ROUNDS; round++) {
        it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
        it_evd_param_t params = {.aevd = NULL};

        for (uintptr_t i = 0; i < round % 4; i++)
            CHECK(fixture_post(member, round) == IT_SUCCESS);
        if (round % 3 == 0)
            CHECK(it_evd_modify(member, IT_EVD_PARAM_AEVD_HANDLE, &params) == IT_SUCCESS);
        CHECK(it_evd_free(member) == IT_SUCCESS);
    }
    for (int i = 0; i < WAITERS; i++)
        CHECK(it_evd_post_se(last, &fixture) == IT_SUCCESS);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(it_evd_free(last) == IT_SUCCESS);
    CHECK(it_evd_free(aevd) == IT_SUCCESS);
}

/* ---------------------------------------------------------------- moving between AEVDs */

static it_evd_handle_t mover;
static _Atomic bool moving_done;

static void *post_to_mover(void *argument)
{
    it_event_t event;

    (void)argument;
    while (!atomic_load(&moving_done)) {
        if (fixture_post(mover, 1) == IT_ERR_EVD_QUEUE_FULL)
            (void)it_evd_dequeue(mover, &event);
    }
    return NULL;
}

/*
 * The AEVD that the member has left is freed at once, while the poster may be about to notify it.
 */
static void member_moves(void)
{
    pthread_t poster;

    mover = fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, 0, NULL);
    CHECK(pthread_create(&poster, NULL, post_to_mover, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        it_evd_param_t params = {.aevd = fixture_aevd(&fixture, 0, NULL)};
        it_evd_handle_t aevd = params.aevd;
        it_event_t event;

        CHECK(it_evd_modify(mover, IT_EVD_PARAM_AEVD_HANDLE, &params) == IT_SUCCESS);
        CHECK(it_evd_wait(aevd, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
        params.aevd = NULL;
        CHECK(it_evd_modify(mover, IT_EVD_PARAM_AEVD_HANDLE, &params) == IT_SUCCESS);
        CHECK(it_evd_wait(aevd, 0, &event, NULL) == IT_ERR_TIMEOUT_EXPIRED);
        CHECK(it_evd_free(aevd) == IT_SUCCESS);
    }
    atomic_store(&moving_done, true);
    pthread_join(poster, NULL);
    CHECK(it_evd_free(mover) == IT_SUCCESS);
}

/* ---------------------------------------------------------------- asynchronous EVDs */

static _Atomic bool raising_done;

static void *raise_errors(void *argument)
{
    (void)argument;
    while (!atomic_load(&raising_done))
        evd_raise_affiliated_ep(&fixture.ia, IT_ASYNC_AFF_EP_FAILURE, NULL);
    return NULL;
}

static void asynchronous_evds_come_and_go(void)
{
    pthread_t raiser;

    CHECK(pthread_create(&raiser, NULL, raise_errors, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        it_evd_handle_t unaff = fixture_evd(&fixture, IT_ASYNC_UNAFF_EVENT_STREAM, 1, 0, 0, NULL);
        it_evd_handle_t aff = fixture_evd(&fixture, IT_ASYNC_AFF_EVENT_STREAM, 1, 0, 0, NULL);
        it_event_t event;

        /* The affiliated EVD overflows, and the older unaffiliated one reports it. */
        CHECK(it_evd_wait(unaff, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
        CHECK(event.event_number == IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE);
        CHECK(it_evd_free(unaff) == IT_SUCCESS);
        CHECK(it_evd_free(aff) == IT_SUCCESS);
    }
    atomic_store(&raising_done, true);
    pthread_join(raiser, NULL);
}

int main(void)
{
    fixture_start(&fixture);
    free_against_waiters();
    puts("free against waiters: ok");
    members_come_and_go();
    puts("members come and go: ok");
    member_moves();
    puts("a member moves: ok");
    asynchronous_evds_come_and_go();
    puts("asynchronous EVDs come and go: ok");
    fixture_stop(&fixture);
    return 0;
}
