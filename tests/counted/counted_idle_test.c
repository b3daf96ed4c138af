/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An idle IA causes no wakes for ten seconds, with one connection and with a thousand. The test
 * counts how often the kernel says that a thread of this process has yielded the processor.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "support/it_fixture.h"

#define PAIRS        1000u
#define SPARE_FDS    64u
#define THREADS_MAX  16u
#define IDLE_SECONDS 10
#define CALM_TRIES   50u
#define CALM_MS      300 /* longer than the library's work at the start of a connection lasts */

static it_ep_attributes_t small_attr(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = 4;
    attr.max_recv_dtos = 4;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    attr.srv.rc.rdma_read_ird = 1;
    attr.srv.rc.rdma_read_ord = 1;
    return attr;
}

/* Sends one message each way, so that each stream has been used. */
static void use(struct fx_pair *pair, it_ep_handle_t a_ep, it_ep_handle_t b_ep)
{
    CHECK_OK(it_post_recv(b_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(a_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(a_ep, NULL, 0, 2, FX_QUIET));
    fx_done_len(pair->b.recv_evd, b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    CHECK_OK(it_post_send(b_ep, NULL, 0, 2, FX_QUIET));
    fx_done_len(pair->a.recv_evd, a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
}

static void open_pairs(struct fx_pair *pair, unsigned count)
{
    it_ep_attributes_t attr = small_attr();

    fx_node_open(&pair->a);
    fx_node_open(&pair->b);
    for (unsigned i = 0; i < count; i++) {
        pair->a_ep = fx_ep(&pair->a, &attr);
        pair->b_ep = fx_ep(&pair->b, &attr);
        fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
        use(pair, pair->a_ep, pair->b_ep);
    }
}

/* ---------------------------------------------------------------- threads and their switches */

struct switches {
    unsigned threads;
    unsigned asleep; /* number of threads asleep; the others run or wait for a processor */
    int id[THREADS_MAX];
    unsigned long voluntary[THREADS_MAX];
};

static unsigned long voluntary_of(int id, bool *asleep)
{
    static const char label[] = "voluntary_ctxt_switches:";
    char path[64];
    char line[128];
    unsigned long number = 0;
    char state;
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
    file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "State: %c", &state) == 1)
            *asleep = state == 'S';
        if (strncmp(line, label, sizeof(label) - 1) == 0) {
            number = strtoul(line + sizeof(label) - 1, NULL, 10);
            found = true;
        }
    }
    (void)fclose(file);
    CHECK(found);
    return number;
}

/* Sums over all threads but this one. */
static struct switches switches_now(void)
{
    struct switches now = {.threads = 0};
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        int id = (int)strtol(entry->d_name, NULL, 10);
        bool asleep = false;

        if (id <= 0 || id == fx_thread_id())
            continue;
        CHECK(now.threads < THREADS_MAX);
        now.id[now.threads] = id;
        now.voluntary[now.threads++] = voluntary_of(id, &asleep);
        now.asleep += asleep;
    }
    (void)closedir(folder);
    return now;
}

static unsigned long switches_between(const struct switches *before, const struct switches *after)
{
    unsigned long sum = 0;

    CHECK_EQ(before->threads, after->threads);
    for (unsigned i = 0; i < before->threads; i++) {
        CHECK_EQ(before->id[i], after->id[i]);
        sum += after->voluntary[i] - before->voluntary[i];
    }
    return sum;
}

static void idle(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

/*
 * Waits until earlier work is over: for a while no thread switches, and none waits for a processor.
 */
static void settle(void)
{
    struct switches before = switches_now();
    struct switches after;

    for (unsigned i = 0; i < CALM_TRIES; i++) {
        idle(CALM_MS);
        after = switches_now();
        if (switches_between(&before, &after) == 0 && after.asleep == after.threads)
            return;
        before = after;
    }
    CHECK_FAIL("the IAs do not calm down");
}

static bool room_for(size_t descriptors)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < descriptors) {
        limit.rlim_cur = limit.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    return limit.rlim_cur >= descriptors;
}

static uint64_t all_wakeups(const struct fx_pair *one, const struct fx_pair *many)
{
    return fx_counters(&one->a).thread_wakeups + fx_counters(&one->b).thread_wakeups +
           fx_counters(&many->a).thread_wakeups + fx_counters(&many->b).thread_wakeups;
}

int main(void)
{
    struct fx_pair one;
    struct fx_pair many;
    struct switches before;
    struct switches after;
    uint64_t wakeups_before;

    if (!room_for(PAIRS * 2 + SPARE_FDS)) {
        (void)puts("skipped: too few descriptors are allowed for 1,000 connections");
        return 77;
    }
    open_pairs(&one, 1);
    open_pairs(&many, PAIRS);
    settle();
    wakeups_before = all_wakeups(&one, &many);
    before = switches_now();
    CHECK_EQ(4, before.threads); /* the threads of the four IAs */
    idle(IDLE_SECONDS * 1000L);
    after = switches_now();
    CHECK_EQ(0, switches_between(&before, &after));
    CHECK_EQ(wakeups_before, all_wakeups(&one, &many));
    fx_pair_ping(&one);
    fx_pair_ping(&many);
    fx_node_close(&one.a);
    fx_node_close(&one.b);
    fx_node_close(&many.a);
    fx_node_close(&many.b);
    check_done();
    return 0;
}
