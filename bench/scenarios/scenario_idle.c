/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of idle connections to a busy one: of two adapters one gets more and more idle
 * connections, and a ping-pong runs over each in turn. Then nothing happens for a while, and the
 * test counts the wakes of the adapters' threads from the kernel's figures.
 */
#include "scenario.h"

#include "scale.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IDLE_WINDOW    256u
#define IDLE_SPARE     128u /* descriptors */
#define IDLE_TOLERANCE 1.1
/* New connections have some work left for a while. */
#define IDLE_SETTLE 3.0

struct idle {
    struct scenario *scenario;
    struct scale_side alone, crowd;
};

static void idle_sleep(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&time, &time) != 0) {
    }
}

/* ---- Connections ----------------------------------------------------------------------------- */

static bool idle_join(struct idle *idle, struct scale_side *side, size_t first, size_t count)
{
    return scale_create(side, first, count) && scale_meet(idle->scenario->channel) &&
           (side->server ? scale_accept(side, first, count)
                         : scale_connect(side, first, count, IDLE_WINDOW)) &&
           scale_meet(idle->scenario->channel);
}

static bool idle_open(struct idle *idle, struct scale_side *side, size_t count)
{
    bool server = idle->scenario->server;
    uint64_t port;

    if (!scale_side_open(side, server, count))
        return false;
    port = side->port;
    if (server ? !scale_tell(idle->scenario->channel, port)
               : !scale_hear(idle->scenario->channel, &port))
        return false;
    side->port = (uint16_t)port;
    return idle_join(idle, side, 0, 1) && scale_prepare(side) &&
           scale_meet(idle->scenario->channel);
}

/* ---- The busy one ---------------------------------------------------------------------------- */

/* Measures half a round trip in microseconds. */
static bool idle_ping(struct idle *idle, struct scale_side *side, bool wait,
                      struct figures *figures)
{
    size_t rounds = idle->scenario->rounds;
    double start;

    if (!scale_meet(idle->scenario->channel) || !scale_ping(side, wait, rounds / 10 + 1))
        return false;
    start = scale_clock();
    if (!scale_ping(side, wait, rounds))
        return false;
    figures_add(figures, (scale_clock() - start) * 1e6 / (double)rounds / 2);
    return true;
}

static void idle_report(struct idle *idle, size_t count, bool wait, struct figures *crowd,
                        struct figures *alone)
{
    char name[64];
    struct scenario_row row = {.scenario = "idle",
                               .name = name,
                               .unit = "us",
                               .value = figures_quantile(crowd, 0.5),
                               .reference = figures_quantile(alone, 0.5),
                               .sign = "<=",
                               .limit = IDLE_TOLERANCE};

    (void)snprintf(name, sizeof(name), "ping-pong, %s, beside %zu idle (alone)",
                   wait ? "waiting" : "polling", count);
    if (!idle->scenario->server)
        scenario_report(idle->scenario, &row);
}

static bool idle_compare(struct idle *idle, size_t count, bool wait)
{
    struct figures alone = {.values = NULL};
    struct figures crowd = {.values = NULL};
    unsigned runs = idle->scenario->runs;
    bool good = figures_open(&alone, runs) && figures_open(&crowd, runs);

    for (unsigned run = 0; good && run < runs; run++)
        good = idle_ping(idle, &idle->alone, wait, &alone) &&
               idle_ping(idle, &idle->crowd, wait, &crowd);
    if (good)
        idle_report(idle, count, wait, &crowd, &alone);
    figures_close(&alone);
    figures_close(&crowd);
    return good;
}

static bool idle_grow(struct idle *idle)
{
    size_t joined = 0;

    for (size_t count = 1; count <= idle->scenario->endpoints; count *= 10) {
        if (!idle_join(idle, &idle->crowd, 1 + joined, count - joined))
            return false;
        joined = count;
        if (!idle_compare(idle, count, false) || !idle_compare(idle, count, true))
            return false;
    }
    return true;
}

/* ---- Nothing happens ------------------------------------------------------------------------- */

/* Returns how often a thread went to sleep. */
static uint64_t idle_switches_of(const char *task)
{
    char path[300];
    char line[256];
    uint64_t switches = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
            switches = strtoull(line + 24, NULL, 10);
    (void)fclose(file);
    return switches;
}

static uint64_t idle_wakeups(unsigned long self)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    uint64_t sum = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && strtoul(entry->d_name, NULL, 10) != self)
            sum += idle_switches_of(entry->d_name);
    if (folder != NULL)
        (void)closedir(folder);
    return sum;
}

static bool idle_watch(struct idle *idle)
{
    unsigned long self = (unsigned long)getpid();
    struct scenario_row row = {.scenario = "idle",
                               .name = "wake-ups of the idle adapters' threads, both sides",
                               .unit = "",
                               .sign = "<=",
                               .limit = 0};
    uint64_t ours;
    uint64_t theirs;

    idle_sleep(IDLE_SETTLE);
    ours = idle_wakeups(self);
    idle_sleep(idle->scenario->idle_time);
    ours = idle_wakeups(self) - ours;
    if (idle->scenario->server)
        return scale_tell(idle->scenario->channel, ours);
    if (!scale_hear(idle->scenario->channel, &theirs))
        return false;
    row.value = (double)(ours + theirs);
    scenario_report(idle->scenario, &row);
    return true;
}

bool scenario_idle(struct scenario *scenario)
{
    static struct idle idle;
    double seconds;

    idle.scenario = scenario;
    return scale_raise_limit(scenario->endpoints + IDLE_SPARE) &&
           idle_open(&idle, &idle.alone, 1) &&
           idle_open(&idle, &idle.crowd, scenario->endpoints + 1) && idle_grow(&idle) &&
           idle_watch(&idle) && scale_side_close(&idle.alone, &seconds) &&
           scale_side_close(&idle.crowd, &seconds) && scale_meet(scenario->channel);
}
