/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cancelled threads rely on this: a wait of the library below is no cancellation point. It ends as
 * usual, completes its work, and then the thread is cancelled.
 */
#include "support/check.h"

#include <it_api.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS  200

static it_evd_handle_t evd;
static _Atomic int returned, posted;

static void *wait_once(void *unused)
{
    it_event_t event;

    CHECK(it_evd_wait(evd, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
    returned++;
    for (;;)
        pthread_testcancel();
    return unused;
}

/* Posts although its cancellation is pending: to wake another thread is no cancellation point. */
static void *post_once(void *unused)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    CHECK(it_evd_post_se(evd, NULL) == IT_SUCCESS);
    posted++;
    for (;;)
        pthread_testcancel();
    return unused;
}

static void *take_once(void *unused)
{
    it_event_t event;

    CHECK(it_evd_wait(evd, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
    return unused;
}

/* The other thread sleeps in most of the rounds. */
static void wake_others(void)
{
    pthread_t taker, poster;

    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_create(&taker, NULL, take_once, NULL) == 0);
        CHECK(pthread_create(&poster, NULL, post_once, NULL) == 0);
        CHECK(pthread_join(poster, NULL) == 0);
        CHECK(posted == i + 1);
        CHECK(pthread_join(taker, NULL) == 0);
    }
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    puts("skipped: beside a sanitizer system calls go through the C library");
    return 77;
#endif
    it_ia_handle_t ia;
    it_evd_handle_t none = NULL;
    pthread_t threads[THREADS];
    it_event_t event;
    void *result;

    CHECK(it_ia_create("uiwarp", 2, 1, &ia) == IT_SUCCESS);
    CHECK(it_evd_create(ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 2 * THREADS,
                        IT_THRESHOLD_DISABLE, none, &evd, NULL) == IT_SUCCESS);
    /* One thread leads, the others wait. */
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_once, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_cancel(threads[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(it_evd_post_se(evd, NULL) == IT_SUCCESS);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
    }
    CHECK(returned == THREADS);
    /* The EVD still works, and nothing keeps it busy. */
    CHECK(it_evd_post_se(evd, NULL) == IT_SUCCESS);
    CHECK(it_evd_wait(evd, IT_TIMEOUT_INFINITE, &event, NULL) == IT_SUCCESS);
    wake_others();
    CHECK(it_evd_free(evd) == IT_SUCCESS);
    CHECK(it_ia_free(ia) == IT_SUCCESS);
    return 0;
}
