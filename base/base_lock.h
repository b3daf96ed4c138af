/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one mutex of the library. Built without NDEBUG it records its owner, so that functions named
 * *_locked can assert that their caller holds it. docs/locking.md has the order of all locks.
 */
#ifndef ITAPI_BASE_LOCK_H
#define ITAPI_BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

struct base_lock {
    pthread_mutex_t mutex;
#ifndef NDEBUG
    pthread_t owner;
    bool held;
#endif
};

static inline void base_lock_init(struct base_lock *lock)
{
    /* A default mutex needs no memory and cannot fail on Linux. */
    (void)pthread_mutex_init(&lock->mutex, NULL);
#ifndef NDEBUG
    lock->held = false;
#endif
}

static inline void base_lock_destroy(struct base_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

static inline void base_lock_take(struct base_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
#ifndef NDEBUG
    lock->owner = pthread_self();
    lock->held = true;
#endif
}

static inline void base_lock_drop(struct base_lock *lock)
{
#ifndef NDEBUG
    assert(lock->held && pthread_equal(lock->owner, pthread_self()));
    lock->held = false;
#endif
    (void)pthread_mutex_unlock(&lock->mutex);
}

/* Only ever asserts for the thread that holds the lock, so reading the owner is no race. */
static inline void base_lock_assert_held(const struct base_lock *lock)
{
#ifndef NDEBUG
    assert(lock->held && pthread_equal(lock->owner, pthread_self()));
#else
    (void)lock;
#endif
}

#endif
