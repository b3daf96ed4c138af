/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads draw, find and forget STags while their map grows. No STag is lost, and none
 * leads to another entry.
 */
#include "vp/uiwarp/memory/uiw_stag.h"

#include "support/check.h"

#include <pthread.h>

#define THREADS 4u
#define KEPT    (1u << 12) /* kept by each thread at the end: the map grows five times */
#define ROUNDS  10u

static struct uiw_stags stags;
static uint32_t kept[THREADS][KEPT];
static pthread_barrier_t together;

static void check_found(uint32_t stag, uint32_t entry)
{
    uint32_t found;

    CHECK(uiw_stags_find(&stags, stag, &found));
    CHECK_EQ(entry, found);
}

static void *work(void *argument)
{
    uint32_t *own = argument;
    uint32_t first = (uint32_t)(own - kept[0]);

    (void)pthread_barrier_wait(&together);
    for (uint32_t i = 0; i < KEPT; i++) {
        uint32_t found;
        uint32_t brief = uiw_stags_draw(&stags, first + i);

        own[i] = uiw_stags_draw(&stags, first + i);
        CHECK(own[i] != 0 && brief != 0 && own[i] != brief);
        check_found(brief, first + i);
        uiw_stags_forget(&stags, brief, first + i);
        /* Another thread may have drawn this number by now. */
        CHECK(!uiw_stags_find(&stags, brief, &found) || found / KEPT != first / KEPT);
        check_found(own[i], first + i);
        check_found(own[i / 2], first + i / 2);
    }
    return NULL;
}

static void one_round(void)
{
    pthread_t threads[THREADS];

    CHECK(uiw_stags_init(&stags));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, kept[i]) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < THREADS * KEPT; i++)
        check_found(kept[i / KEPT][i % KEPT], i);
    CHECK_EQ(THREADS * KEPT, atomic_load(&stags.count));
    uiw_stags_fini(&stags);
}

int main(void)
{
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round();
    check_done();
    return 0;
}
