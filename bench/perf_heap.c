/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool counting;
static atomic_uint_fast64_t calls;

/* Sanitizers have a heap of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define FORWARD 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define FORWARD 0
#else
#define FORWARD 1
#endif
#else
#define FORWARD 1
#endif

bool heap_counts(void)
{
    return FORWARD;
}

void heap_start(void)
{
    atomic_store_explicit(&calls, 0, memory_order_relaxed);
    atomic_store_explicit(&counting, true, memory_order_relaxed);
}

uint64_t heap_stop(void)
{
    atomic_store_explicit(&counting, false, memory_order_relaxed);
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

#if FORWARD

/* The C library provides its own functions under these names, too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void count(void)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
    count();
    return __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    count();
    return __libc_realloc(ptr, size);
}

void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memptr, size_t alignment, size_t size)
{
    void *found;

    count();
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    found = __libc_memalign(alignment, size);
    if (found == NULL)
        return ENOMEM;
    *memptr = found;
    return 0;
}

void free(void *ptr)
{
    /* free(NULL) does nothing, so it does not count. */
    if (ptr != NULL)
        count();
    __libc_free(ptr);
}

#endif
