/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one lock of the library: a futex, of which taking and dropping cost a few instructions as long
 * as nobody else wants it. Built without NDEBUG it records its owner, so that functions named
 * *_locked can assert that their caller holds it, and tells a watcher who takes which.
 * docs/locking.md has the order of all locks.
 */
#ifndef ITAPI_BASE_LOCK_H
#define ITAPI_BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum base_lock_word {
    BASE_LOCK_FREE, /* zeroed memory is a free lock */
    BASE_LOCK_TAKEN,
    BASE_LOCK_AWAITED /* taken, and others may sleep */
};

struct base_lock {
    _Atomic uint32_t word;
#ifndef NDEBUG
    pthread_t owner;
    bool held;
#endif
};

#ifndef NDEBUG
/* Told, by the thread that has taken it, of each lock; NULL: nobody is. For tests. */
typedef void base_lock_watcher(const struct base_lock *lock);
extern _Atomic(base_lock_watcher *) base_lock_watch;
#endif

void base_lock_wait(struct base_lock *lock); /* takes it in the end */
void base_lock_wake(struct base_lock *lock);

static inline void base_lock_init(struct base_lock *lock)
{
    atomic_store_explicit(&lock->word, BASE_LOCK_FREE, memory_order_relaxed);
#ifndef NDEBUG
    lock->held = false;
#endif
}

static inline void base_lock_destroy(struct base_lock *lock)
{
    assert(atomic_load_explicit(&lock->word, memory_order_relaxed) == BASE_LOCK_FREE);
    (void)lock;
}

static inline void base_lock_take(struct base_lock *lock)
{
    uint32_t expected = BASE_LOCK_FREE;
#ifndef NDEBUG
    base_lock_watcher *watch;
#endif

    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, BASE_LOCK_TAKEN,
                                                 memory_order_acquire, memory_order_relaxed))
        base_lock_wait(lock);
#ifndef NDEBUG
    lock->owner = pthread_self();
    lock->held = true;
    watch = atomic_load_explicit(&base_lock_watch, memory_order_acquire);
    if (watch)
        watch(lock);
#endif
}

static inline void base_lock_drop(struct base_lock *lock)
{
#ifndef NDEBUG
    assert(lock->held && pthread_equal(lock->owner, pthread_self()));
    lock->held = false;
#endif
    if (atomic_exchange_explicit(&lock->word, BASE_LOCK_FREE, memory_order_release) ==
        BASE_LOCK_AWAITED)
        base_lock_wake(lock);
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
