/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of sockets and queues: one thread at a time has it, a thread that waits sleeps, and each
 * of several sleeping threads gets it.
 */
#include "support/check.h"
#include "support/it_fixture.h"

#include "lock/exs_lock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 4
#define TURNS   20000

static struct exs_lock lock;
static unsigned inside; /* guarded by the lock, like turns */
static unsigned turns;
static atomic_int ids[THREADS];

/* Without contention the lock needs no system call: nobody is recorded as sleeping. */
static void test_alone(void)
{
    CHECK_EQ(EXS_LOCK_FREE, atomic_load(&lock.word));
    exs_lock_take(&lock);
    CHECK_EQ(EXS_LOCK_TAKEN, atomic_load(&lock.word));
    exs_lock_drop(&lock);
    CHECK_EQ(EXS_LOCK_FREE, atomic_load(&lock.word));
}

static void *take_turns(void *unused)
{
    for (unsigned i = 0; i < TURNS; i++) {
        exs_lock_take(&lock);
        CHECK_EQ(0, inside);
        inside = 1;
        turns++;
        if (i % 64 == 0)
            (void)sched_yield(); /* others find the lock taken */
        inside = 0;
        exs_lock_drop(&lock);
    }
    return unused;
}

static void test_turns(void)
{
    pthread_t threads[THREADS];

    turns = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, take_turns, NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    CHECK_EQ(THREADS * TURNS, turns);
    CHECK_EQ(EXS_LOCK_FREE, atomic_load(&lock.word));
}

static void *take_once(void *argument)
{
    *(atomic_int *)argument = fx_thread_id();
    exs_lock_take(&lock);
    turns++;
    exs_lock_drop(&lock);
    return NULL;
}

/* One drop wakes one thread; that one wakes the next, although nobody takes the lock meanwhile. */
static void test_sleepers(void)
{
    pthread_t threads[THREADS];

    turns = 0;
    exs_lock_take(&lock);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(0, pthread_create(&threads[i], NULL, take_once, (void *)&ids[i]));
        while (atomic_load(&ids[i]) == 0)
            (void)sched_yield();
        fx_thread_sleeps(atomic_load(&ids[i]));
    }
    CHECK_EQ(EXS_LOCK_WAITED, atomic_load(&lock.word));
    CHECK_EQ(0, turns);
    exs_lock_drop(&lock);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    CHECK_EQ(THREADS, turns);
}

int main(void)
{
    test_alone();
    test_turns();
    test_sleepers();
    return 0;
}
