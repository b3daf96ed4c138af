/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of the whole project, made of a futex. Without contention, taking and dropping it cost
 * two instructions each. Built without NDEBUG it records its owner, so that functions named
 * *_locked can assert that their caller holds it, and reports each lock taken to a watcher.
 * docs/locking.md has the order of all locks.
 */
#ifndef ITAPI_BASE_LOCK_H
#define ITAPI_BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BASE_LOCK_TAKEN  UINT32_C(1)
#define BASE_LOCK_WAITER UINT32_C(2) /* the count of threads that wait for it and may sleep */

/*
 * clang compiles the atomic_fetch_or below to a loop where gcc emits two instructions, so clang
 * gets them by hand; not with ThreadSanitizer, which must see the operation.
 */
#if defined(__clang__) && defined(__x86_64__)
#if !__has_feature(thread_sanitizer)
#define BASE_LOCK_BY_HAND
#endif
#endif

struct base_lock {
    _Atomic uint32_t word; /* zeroed memory is a free lock */
#ifndef NDEBUG
    pthread_t owner;
    bool held;
#endif
};

#ifndef NDEBUG
/* For tests: called with each lock, by the thread that has taken it, unless NULL. */
typedef void base_lock_watcher(const struct base_lock *lock);
extern _Atomic(base_lock_watcher *) base_lock_watch;
#endif

__attribute__((cold)) void base_lock_wait(struct base_lock *lock); /* returns with the lock taken */
/* The lock is dropped before, and its memory may be gone: the next owner may have freed it. */
__attribute__((cold)) void base_lock_wake(struct base_lock *lock);

static inline void base_lock_init(struct base_lock *lock)
{
    atomic_store_explicit(&lock->word, 0, memory_order_relaxed);
#ifndef NDEBUG
    lock->held = false;
#endif
}

static inline void base_lock_destroy(struct base_lock *lock)
{
    assert(atomic_load_explicit(&lock->word, memory_order_relaxed) == 0);
    (void)lock;
}

static inline bool base_lock_claim(struct base_lock *lock)
{
#ifdef BASE_LOCK_BY_HAND
    bool taken;

    _Static_assert(BASE_LOCK_TAKEN == 1, "bit 0");
    __asm__ volatile("lock btsl $0, %0"
                     : "+m"(*(uint32_t *)&lock->word), "=@ccc"(taken)
                     :
                     : "memory");
    return !taken;
#else
    return (atomic_fetch_or_explicit(&lock->word, BASE_LOCK_TAKEN, memory_order_acquire) &
            BASE_LOCK_TAKEN) == 0;
#endif
}

static inline void base_lock_own(struct base_lock *lock)
{
#ifndef NDEBUG
    base_lock_watcher *watch = atomic_load_explicit(&base_lock_watch, memory_order_acquire);

    lock->owner = pthread_self();
    lock->held = true;
    if (watch)
        watch(lock);
#else
    (void)lock;
#endif
}

/* Returns false when another thread holds the lock. */
static inline bool base_lock_try(struct base_lock *lock)
{
    if (__builtin_expect(!base_lock_claim(lock), false))
        return false;
    base_lock_own(lock);
    return true;
}

static inline void base_lock_take(struct base_lock *lock)
{
    if (__builtin_expect(!base_lock_claim(lock), false))
        base_lock_wait(lock);
    base_lock_own(lock);
}

/* Drops the lock. Returns true when base_lock_wake must follow. */
static inline bool base_lock_leave(struct base_lock *lock)
{
#ifndef NDEBUG
    assert(lock->held && pthread_equal(lock->owner, pthread_self()));
    lock->held = false;
#endif
    return __builtin_expect(atomic_fetch_sub_explicit(&lock->word, BASE_LOCK_TAKEN,
                                                      memory_order_release) != BASE_LOCK_TAKEN,
                            false);
}

static inline void base_lock_drop(struct base_lock *lock)
{
    if (base_lock_leave(lock))
        base_lock_wake(lock);
}

/* The caller holds the lock, so reading the owner is no race. */
static inline void base_lock_assert_held(const struct base_lock *lock)
{
#ifndef NDEBUG
    assert(lock->held && pthread_equal(lock->owner, pthread_self()));
#else
    (void)lock;
#endif
}

#endif
