/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a thread polls an rsocket before it sleeps. librdmacm gets its clock, its poll(2) and
 * the file with the polling time from this program, so that the looks are counted, not the time.
 * Data are sent from within these functions: the thread that waits is the only one.
 */
#include "rs_kit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STEP_US 10 /* by which the clock advances with each look */

/* Of the thread that waits; the library's threads have the real functions. */
static _Thread_local struct {
    bool on;
    int ends[2];
    int looks;     /* at the clock */
    int send_at;   /* the look at which data come, and the clock stops; 0: none */
    int sleeps;    /* calls of poll that may wait */
    int looks_had; /* before the first of them */
} scene;

static const char *polling_time = ""; /* content of the file */

static void *find(_Atomic(void *) *found, const char *name)
{
    if (!atomic_load_explicit(found, memory_order_relaxed))
        atomic_store_explicit(found, dlsym(RTLD_NEXT, name), memory_order_relaxed);
    return atomic_load_explicit(found, memory_order_relaxed);
}

static bool is_rdmacm(const void *caller)
{
    Dl_info info;

    return scene.on && dladdr(caller, &info) != 0 && strstr(info.dli_fname, "librdmacm") != NULL;
}

static void send_one(void)
{
    CHECK_EQ(1, rsend(scene.ends[0], "x", 1, 0));
}

static void send_on_stage(void)
{
    scene.on = false;
    send_one();
    scene.on = true;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    static _Atomic(void *) found;
    int (*next)(clockid_t, struct timespec *);

    *(void **)&next = find(&found, "clock_gettime");
    if (!is_rdmacm(__builtin_return_address(0)))
        return next(id, time);
    scene.looks++;
    if (scene.looks == scene.send_at)
        send_on_stage();
    *time = (struct timespec){.tv_sec = 1000, .tv_nsec = 0};
    if (scene.send_at == 0)
        time->tv_nsec = scene.looks * STEP_US * 1000L;
    return 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    static _Atomic(void *) found;
    int (*next)(struct pollfd *, nfds_t, int);

    *(void **)&next = find(&found, "poll");
    if (timeout != 0 && is_rdmacm(__builtin_return_address(0))) {
        if (scene.sleeps++ == 0) {
            scene.looks_had = scene.looks;
            send_on_stage();
        }
    }
    return next(fds, count, timeout);
}

FILE *fopen(const char *path, const char *mode)
{
    static _Atomic(void *) found;
    FILE *(*next)(const char *, const char *);
    size_t length = strlen(path);
    const char name[] = "/polling_time";

    *(void **)&next = find(&found, "fopen");
    if (length < sizeof(name) || strcmp(path + length - (sizeof(name) - 1), name) != 0)
        return next(path, mode);
    return *polling_time ? fmemopen((void *)(uintptr_t)polling_time, strlen(polling_time), "r")
                         : NULL;
}

/* ---- Ways to wait ---------------------------------------------------------------------------- */

static void by_receiving(int rs)
{
    char octet;

    CHECK_EQ(1, rrecv(rs, &octet, 1, 0));
}

static void by_rpoll(int rs)
{
    struct pollfd fd = {.fd = rs, .events = POLLIN};

    CHECK_EQ(1, rpoll(&fd, 1, -1));
    CHECK_EQ(POLLIN, fd.revents);
}

/* time: content of the file. send_at: data come at this look; 0: only when the thread sleeps. */
static void wait_once(const char *time, int send_at, void (*await)(int rs))
{
    polling_time = time;
    rs_kit_pair(scene.ends, NULL);
    send_one();
    by_receiving(scene.ends[1]); /* until then the accepted end has not noticed the connection */
    scene.looks = scene.sleeps = scene.looks_had = 0;
    scene.send_at = send_at;
    scene.on = true;
    await(scene.ends[1]);
    scene.on = false;
    rs_kit_close(scene.ends);
}

/* The thread looks until the time is over, then once more when it has armed the CQs, and sleeps. */
static void looks_until(const char *time, int looks, void (*await)(int rs))
{
    wait_once(time, 0, await);
    CHECK(scene.sleeps > 0);
    if (scene.looks_had < looks || scene.looks_had > looks + 2)
        CHECK_FAIL("with polling time \"%s\" %d looks, not %d", time, scene.looks_had, looks);
}

int main(void)
{
    void (*const ways[])(int rs) = {by_receiving, by_rpoll};

    for (int i = 0; i < 2; i++) {
        looks_until("", 30 / STEP_US + 1, ways[i]);
        looks_until("200", 200 / STEP_US + 1, ways[i]);
        looks_until("0", 0, ways[i]);
        /* What comes in time wakes nobody. */
        wait_once("", 2, ways[i]);
        CHECK_EQ(0, scene.sleeps);
        wait_once("0", 0, ways[i]);
        CHECK_EQ(0, scene.looks);
    }
    check_done();
    return 0;
}
