/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory and descriptors that run out. */
#include "status/status_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers have a heap of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HEAP_FAILS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_FAILS 0
#else
#define HEAP_FAILS 1
#endif
#else
#define HEAP_FAILS 1
#endif

#if HEAP_FAILS

static atomic_bool scarce;
static atomic_uint left;
static atomic_bool refused;

/* The C library provides its own functions under these names, too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* The nth request and all later ones fail. */
static bool heap_has_more(void)
{
    if (!atomic_load(&scarce))
        return true;
    if (atomic_load(&left) > 0) {
        atomic_fetch_sub(&left, 1);
        return true;
    }
    atomic_store(&refused, true);
    errno = ENOMEM;
    return false;
}

void *malloc(size_t size)
{
    return heap_has_more() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t number, size_t size)
{
    return heap_has_more() ? __libc_calloc(number, size) : NULL;
}

void *realloc(void *memory, size_t size)
{
    return heap_has_more() ? __libc_realloc(memory, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_has_more() ? __libc_memalign(alignment, size) : NULL;
}

static void heap_begin(unsigned nth)
{
    atomic_store(&left, nth);
    atomic_store(&refused, false);
    atomic_store(&scarce, true);
}

static bool heap_end(void)
{
    atomic_store(&scarce, false);
    return atomic_load(&refused);
}

#else
#define heap_begin NULL
#define heap_end   NULL
#endif

/* ---- Descriptors ---------------------------------------------------------------------------- */

static struct rlimit files_before;
static rlim_t files_limit;

/* Returns the next descriptor: the kernel assigns the lowest free number. */
static int files_next(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        (void)close(fd);
    return fd;
}

static void files_begin(unsigned nth)
{
    struct rlimit limit;
    int next = files_next();
    unsigned free_numbers = 0;

    CHECK(next >= 0 && getrlimit(RLIMIT_NOFILE, &files_before) == 0);
    /* Find the number below which nth are free. */
    for (files_limit = (rlim_t)next; free_numbers < nth; files_limit++)
        free_numbers += fcntl((int)files_limit, F_GETFD) < 0;
    while (fcntl((int)files_limit, F_GETFD) >= 0)
        files_limit++;
    limit = files_before;
    limit.rlim_cur = files_limit;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* Guesses from outside whether a descriptor was refused: the last allowed number is in use. */
static bool files_end(void)
{
    int next = files_next();

    CHECK(setrlimit(RLIMIT_NOFILE, &files_before) == 0);
    return next < 0;
}

const struct status_shortage status_shortages[] = {
    {"memory runs out at allocation", true, heap_begin, heap_end},
    {"descriptors run out at number", false, files_begin, files_end},
    {.what = NULL},
};
