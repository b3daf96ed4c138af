/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/threads.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/it_fixture.h"

struct threads threads_now(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct threads threads = {.count = 0};
    const struct dirent *entry;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        int id = (int)strtol(entry->d_name, NULL, 10);

        if (id == 0)
            continue; /* "." and ".." */
        CHECK(threads.count < THREADS_MAX);
        threads.ids[threads.count++] = id;
    }
    (void)closedir(folder);
    return threads;
}

void threads_await(size_t count)
{
    FX_WAIT_WHILE(threads_now().count != count, "threads that have ended");
}

static bool threads_has(const struct threads *threads, int id)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->ids[i] == id)
            return true;
    return false;
}

struct threads threads_since(const struct threads *before, const struct threads *now)
{
    struct threads fresh = {.count = 0};

    for (size_t i = 0; i < now->count; i++)
        if (!threads_has(before, now->ids[i]))
            fresh.ids[fresh.count++] = now->ids[i];
    return fresh;
}

uint64_t threads_blocked(int id)
{
    char path[64];
    char line[256];
    uint64_t blocked = 0;
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
    file = fopen(path, "r");
    CHECK(file != NULL);
    while (!found && fgets(line, sizeof(line), file) != NULL)
        found = sscanf(line, "SigBlk: %" SCNx64, &blocked) == 1;
    (void)fclose(file);
    CHECK(found);
    return blocked;
}

bool threads_blocks(int id, int signal)
{
    return (threads_blocked(id) >> (signal - 1) & 1) != 0;
}

/* A new thread blocks every signal until the C library has given it its mask. */
static void threads_await_mask(int id)
{
    FX_WAIT_WHILE(threads_blocks(id, SIGSEGV), "a thread that lets a fault through");
}

void threads_check_masks(const struct threads *threads)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    static const int sent[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGPIPE, SIGALRM,
                               SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH, SIGPROF};

    CHECK(threads->count > 0);
    for (size_t i = 0; i < threads->count; i++) {
        threads_await_mask(threads->ids[i]);
        for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]); k++)
            if (threads_blocks(threads->ids[i], faults[k]))
                CHECK_FAIL("thread %d blocks signal %d", threads->ids[i], faults[k]);
        for (size_t k = 0; k < sizeof(sent) / sizeof(sent[0]); k++)
            if (!threads_blocks(threads->ids[i], sent[k]))
                CHECK_FAIL("thread %d does not block signal %d", threads->ids[i], sent[k]);
    }
}
