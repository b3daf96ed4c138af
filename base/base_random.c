/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_random.h"

#include "base/base_log.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

/* getrandom returns up to 256 octets whole, even if a signal comes. */
#define RANDOM_BATCH 64u

static _Thread_local uint32_t random_numbers[RANDOM_BATCH];
static _Thread_local unsigned random_left;

static pthread_once_t random_once = PTHREAD_ONCE_INIT;
static bool random_guarded;

/* Runs in the child of fork(2), in its only thread. */
static void random_drop(void)
{
    random_left = 0;
}

static void random_guard(void)
{
    random_guarded = pthread_atfork(NULL, NULL, random_drop) == 0;
}

static bool random_fetch(void)
{
    ssize_t got;

    (void)pthread_once(&random_once, random_guard);
    if (!random_guarded)
        return false;
    do {
        got = getrandom(random_numbers, sizeof(random_numbers), 0);
    } while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof(random_numbers)) {
        random_left = RANDOM_BATCH;
        return true;
    }
    base_log_limited(BASE_LOG_WARN, "no random numbers from the kernel: %s",
                     got < 0 ? strerror(errno) : "too few");
    return false;
}

bool base_random32(uint32_t *number)
{
    if (random_left == 0 && !random_fetch())
        return false;
    *number = random_numbers[RANDOM_BATCH - random_left--];
    return true;
}
