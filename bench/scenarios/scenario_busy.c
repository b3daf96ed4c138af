/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several endpoints of one adapter at once, each with a full queue, for a fixed time, driven by one
 * polling thread, by two, and by two waiting ones. Runs with all endpoints alternate with runs of
 * one. The time ends when all data is in place: an RDMA Read follows each endpoint's Writes.
 */
#include "scenario_links.h"

#include "scale.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BUSY_SIZE     65536u
#define BUSY_PATTERNS 3u
/* Turns between two reads of the clock. */
#define BUSY_TURNS 16u

struct pattern {
    const char *name;
    bool read;
    uint32_t size;
    uint32_t depth;
};

static const struct pattern patterns[BUSY_PATTERNS] = {
    {"Writes, 64 KiB", false, BUSY_SIZE, LINKS_DEPTH / 2},
    {"Writes, 64 B", false, 64, LINKS_DEPTH - 2},
    {"Reads, 64 KiB", true, BUSY_SIZE, LINKS_READS},
};

struct busy {
    struct scenario *scenario;
    struct links links;
};

/* The endpoints that one thread drives: first, first + step, ... */
struct worker {
    struct busy *busy;
    const struct pattern *pattern;
    size_t first, step, count;
    unsigned evd_first, evd_step;
    bool waits; /* waits when there is nothing to do, and then has one EVD */
    double end;
    uint64_t posted[LINKS_MAX];
    uint64_t finished[LINKS_MAX];
    uint64_t until_end[LINKS_MAX]; /* number finished when the time was over */
    bool good;
};

/* ---- A thread -------------------------------------------------------------------------------- */

static bool worker_post(struct worker *worker, size_t i, bool read, uint32_t size)
{
    struct links *links = &worker->busy->links;
    struct link *link = &links->links[i];
    it_lmr_triplet_t from = links_source(links, i, size);
    it_lmr_triplet_t to = links_target(links, i, size);
    it_dto_flags_t flags = IT_COMPLETION_FLAG | (worker->waits ? IT_NOTIFY_FLAG : 0);
    it_status_t status =
        read ? it_post_rdma_read(link->ep, &to, 1, i, flags, link->remote_address, link->remote_key)
             : it_post_rdma_write(link->ep, &from, 1, i, flags, link->remote_address + links->size,
                                  link->remote_key);

    worker->posted[i]++;
    return succeeded(status, "posting");
}

static bool worker_count(struct worker *worker, const it_event_t *event)
{
    if (event->dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        complain("a request: %s", itx_dto_status_string(event->dto_cmpl.dto_status));
        return false;
    }
    worker->finished[event->dto_cmpl.cookie]++;
    return true;
}

/* Collects completions while requests are open. */
static bool worker_collect(struct worker *worker)
{
    struct links *links = &worker->busy->links;
    bool any = false;
    it_event_t event;

    for (unsigned i = worker->evd_first; i < LINKS_THREADS; i += worker->evd_step) {
        while (it_evd_dequeue(links->requests[i], &event) == IT_SUCCESS) {
            if (!worker_count(worker, &event))
                return false;
            any = true;
        }
    }
    if (any || !worker->waits)
        return true;
    return succeeded(
               it_evd_wait(links->requests[worker->evd_first], IT_TIMEOUT_INFINITE, &event, NULL),
               "it_evd_wait") &&
           worker_count(worker, &event);
}

static bool worker_turn(struct worker *worker)
{
    for (size_t i = worker->first; i < worker->count; i += worker->step)
        while (worker->posted[i] - worker->finished[i] < worker->pattern->depth)
            if (!worker_post(worker, i, worker->pattern->read, worker->pattern->size))
                return false;
    return worker_collect(worker);
}

static bool worker_is_done(const struct worker *worker)
{
    for (size_t i = worker->first; i < worker->count; i += worker->step)
        if (worker->posted[i] != worker->finished[i])
            return false;
    return true;
}

static bool worker_finish(struct worker *worker)
{
    memcpy(worker->until_end, worker->finished, sizeof(worker->until_end));
    for (size_t i = worker->first; i < worker->count; i += worker->step)
        if (!worker_post(worker, i, true, 1))
            return false;
    while (!worker_is_done(worker))
        if (!worker_collect(worker))
            return false;
    return true;
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    unsigned turns = 0;

    worker->good = true;
    while (worker->good && (++turns % BUSY_TURNS != 0 || scale_clock() < worker->end))
        worker->good = worker_turn(worker);
    worker->good = worker->good && worker_finish(worker);
    return NULL;
}

/* ---- A run ----------------------------------------------------------------------------------- */

struct outcome {
    double rate;  /* messages a second of all endpoints */
    double share; /* share of the slowest endpoint, relative to a fair one */
};

static double worker_least(const struct worker *workers, unsigned threads, size_t count,
                           double *total)
{
    double least = 0;

    *total = 0;
    for (size_t i = 0; i < count; i++) {
        double finished = (double)workers[i % threads].until_end[i];

        least = i == 0 || finished < least ? finished : least;
        *total += finished;
    }
    return least;
}

static bool busy_run(struct busy *busy, const struct pattern *pattern, size_t count,
                     unsigned threads, bool waits, struct outcome *outcome)
{
    struct worker workers[LINKS_THREADS];
    pthread_t ids[LINKS_THREADS];
    double start = scale_clock();
    double messages = 0;
    bool good = true;
    double total;

    memset(workers, 0, sizeof(workers));
    for (unsigned t = 0; t < threads; t++) {
        workers[t] = (struct worker){.busy = busy,
                                     .pattern = pattern,
                                     .first = t,
                                     .step = threads,
                                     .count = count,
                                     .evd_first = t,
                                     .evd_step = threads,
                                     .waits = waits,
                                     .end = start + busy->scenario->seconds};
        if (t > 0 && pthread_create(&ids[t], NULL, worker_run, &workers[t]) != 0) {
            complain("no thread");
            return false;
        }
    }
    (void)worker_run(&workers[0]);
    for (unsigned t = 0; t < threads; t++) {
        if (t > 0)
            (void)pthread_join(ids[t], NULL);
        good &= workers[t].good;
        for (size_t i = t; i < count; i += threads)
            messages += (double)workers[t].finished[i];
    }
    outcome->rate = messages / (scale_clock() - start);
    outcome->share = worker_least(workers, threads, count, &total) * (double)count;
    outcome->share = total > 0 ? outcome->share / total : 1;
    return good;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void busy_report(struct busy *busy, const struct pattern *pattern, const char *name,
                        struct figures figures[3])
{
    bool small = pattern->size < 1024;
    double scale = small ? 1e6 : 1e6 / pattern->size;
    struct scenario_row row = {.scenario = "busy",
                               .name = name,
                               .unit = small ? "M/s" : "MB/s",
                               .value = figures_quantile(&figures[1], 0.5) / scale,
                               .reference = figures_quantile(&figures[0], 0.5) / scale,
                               .sign = ">=",
                               .limit = 1};
    struct scenario_row fair = {.scenario = "busy",
                                .name =
                                    "... the least share of an endpoint, compared with a fair one",
                                .unit = "",
                                .value = figures_quantile(&figures[2], 0.5),
                                .sign = ">=",
                                .limit = 0.5};

    scenario_report(busy->scenario, &row);
    scenario_report(busy->scenario, &fair);
}

static bool busy_compare(struct busy *busy, const struct pattern *pattern, size_t count,
                         unsigned threads, bool waits)
{
    struct figures figures[3] = {{.values = NULL}};
    unsigned runs = busy->scenario->runs;
    char name[64];
    bool good;

    (void)snprintf(name, sizeof(name), "%s, %zu endpoints, %u thread%s%s (one)", pattern->name,
                   count, threads, threads == 1 ? "" : "s", waits ? ", waiting" : "");
    if (busy->scenario->match != NULL && strstr(name, busy->scenario->match) == NULL)
        return true;
    good = figures_open(&figures[0], runs) && figures_open(&figures[1], runs) &&
           figures_open(&figures[2], runs);

    for (unsigned run = 0; good && run < runs; run++) {
        struct outcome one = {0};
        struct outcome all = {0};

        good = busy_run(busy, pattern, 1, 1, waits, &one) &&
               busy_run(busy, pattern, count, threads, waits, &all);
        figures_add(&figures[0], one.rate);
        figures_add(&figures[1], all.rate);
        figures_add(&figures[2], all.share);
    }
    if (good)
        busy_report(busy, pattern, name, figures);
    for (unsigned i = 0; i < 3; i++)
        figures_close(&figures[i]);
    return good;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

/* The target serves all endpoints from one waiting thread until the client's last message. */
static bool busy_serve(struct busy *busy)
{
    it_event_t event;
    it_lmr_triplet_t segment = links_target(&busy->links, 0, 1);

    return succeeded(it_post_recv(busy->links.links[0].ep, &segment, 1, 0,
                                  IT_COMPLETION_FLAG | IT_NOTIFY_FLAG),
                     "it_post_recv") &&
           scale_meet(busy->scenario->channel) && links_take(busy->links.receives, true, &event);
}

static bool busy_say_goodbye(struct busy *busy)
{
    it_lmr_triplet_t segment = links_source(&busy->links, 0, 1);
    it_event_t event;

    return succeeded(it_post_send(busy->links.links[0].ep, &segment, 1, 0, IT_COMPLETION_FLAG),
                     "it_post_send") &&
           links_take(busy->links.requests[0], false, &event);
}

static bool busy_drive(struct busy *busy)
{
    static const struct {
        unsigned threads;
        bool waits;
    } modes[] = {{1, false}, {2, false}, {2, true}};

    if (!scale_meet(busy->scenario->channel))
        return false;
    for (unsigned p = 0; p < BUSY_PATTERNS; p++)
        for (unsigned mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++)
            for (size_t count = 2; count <= LINKS_MAX; count *= 2)
                if (!busy_compare(busy, &patterns[p], count, modes[mode].threads,
                                  modes[mode].waits))
                    return false;
    return busy_say_goodbye(busy);
}

bool scenario_busy(struct scenario *scenario)
{
    static struct busy busy;
    bool good;

    busy.scenario = scenario;
    good = links_open(&busy.links, scenario, LINKS_MAX, BUSY_SIZE) &&
           (scenario->server ? busy_serve(&busy) : busy_drive(&busy)) &&
           scale_meet(scenario->channel);
    return links_close(&busy.links) && good;
}
