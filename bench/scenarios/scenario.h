/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_scenarios: situations that a ping-pong does not show. Each scenario is a function that a
 * client and a server, two processes on this machine, run at the same time. The client reports.
 * Functions that return bool print a message before they return false.
 */
#ifndef ITAPI_BENCH_SCENARIO_H
#define ITAPI_BENCH_SCENARIO_H

#include "common/report.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that both processes share. */
struct scenario_shared {
    _Atomic bool stop;      /* the server has computed long enough */
    _Atomic uint64_t woken; /* number of wakes of the server's thread */
};

struct scenario {
    int channel; /* channel to the other process */
    bool server;
    struct scenario_shared *shared;
    int wake_fd; /* an eventfd of both processes */
    unsigned runs;
    size_t rounds;     /* of a run that counts messages */
    double seconds;    /* length of a run of a stream */
    double idle_time;  /* seconds for which idle adapters are watched */
    size_t endpoints;  /* the most idle endpoints */
    const char *match; /* only rows of busy and sockets with this in their names; NULL: all */
    bool json;
    bool missed; /* a limit was missed; set by the report */
};

/* An RDMA Read of a target that computes and never calls the library. */
bool scenario_target(struct scenario *scenario);
/* Several endpoints of one adapter busy at once, driven by one thread and by two. */
bool scenario_busy(struct scenario *scenario);
/* The same patterns over plain TCP. */
bool scenario_sockets(struct scenario *scenario);
/* One busy connection beside many idle ones; adapters with nothing to do. */
bool scenario_idle(struct scenario *scenario);
/* One connection beside many whose peers send as much as they can of the cheapest frames. */
bool scenario_flood(struct scenario *scenario);

/* ---- Figures (scenario_figures.c) ----------------------------------------------------------- */

struct figures {
    double *values;
    size_t count;
    size_t room;
};

bool figures_open(struct figures *figures, size_t room);
void figures_close(struct figures *figures);
void figures_add(struct figures *figures, double value);
/* Returns the value that this share of all values (0 to 1) does not exceed. Sorts them. */
double figures_quantile(struct figures *figures, double share);

/* ---- Report (scenario_report.c) ------------------------------------------------------------- */

struct scenario_row {
    const char *scenario;
    const char *name;
    const char *unit;
    double value;
    double reference; /* 0: none; the limit is one of the value itself */
    const char *sign; /* "<=", ">="; NULL: there is no limit */
    double limit;
};

void scenario_report_head(const struct scenario *scenario);
void scenario_report(struct scenario *scenario, const struct scenario_row *row);

#endif
