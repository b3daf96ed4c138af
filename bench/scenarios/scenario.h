/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_scenarios: situations a ping-pong does not show. Each scenario is a function that a client and
 * a server, two processes on this machine, run at the same time; the client reports. Functions that
 * return bool print a message before they return false.
 */
#ifndef ITAPI_BENCH_SCENARIO_H
#define ITAPI_BENCH_SCENARIO_H

#include "common/report.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What both processes see without a system call. */
struct scenario_shared {
    _Atomic bool stop;      /* the server has computed long enough */
    _Atomic uint64_t woken; /* wake-ups that the server's thread has had */
};

struct scenario {
    int channel; /* to the other process */
    bool server;
    struct scenario_shared *shared;
    int wake_fd; /* an eventfd of both processes */
    unsigned runs;
    size_t rounds;     /* of a run that is counted in messages */
    double seconds;    /* that a run of a stream takes */
    double idle_time;  /* seconds that idle adapters are watched */
    size_t endpoints;  /* idle ones, at the most */
    const char *match; /* only rows of busy and sockets with this in their names; NULL: all */
    bool json;
    bool missed; /* a limit was; set by the report */
};

/* An RDMA Read of a target that computes and never calls the library. */
bool scenario_target(struct scenario *scenario);
/* Several endpoints of one adapter busy at once, driven by one thread and by two. */
bool scenario_busy(struct scenario *scenario);
/* The same over plain TCP. */
bool scenario_sockets(struct scenario *scenario);
/* One busy connection beside many idle ones; adapters with nothing to do. */
bool scenario_idle(struct scenario *scenario);
/* One connection beside many whose peers send as much as they can of what costs them least. */
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
/* The value that this share of all (0 to 1) does not exceed. Sorts them. */
double figures_quantile(struct figures *figures, double share);

/* ---- Report (scenario_report.c) ------------------------------------------------------------- */

struct scenario_row {
    const char *scenario;
    const char *name;
    const char *unit;
    double value;
    double reference; /* 0: none, the limit is one of the value itself */
    const char *sign; /* "<=", ">="; NULL: nothing is promised */
    double limit;
};

void scenario_report_head(const struct scenario *scenario);
void scenario_report(struct scenario *scenario, const struct scenario_row *row);

#endif
