/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of it_perf.
 */
#ifndef ITAPI_BENCH_PERF_OPTIONS_H
#define ITAPI_BENCH_PERF_OPTIONS_H

#include "perf.h"

enum perf_role {
    ROLE_SERVER,
    ROLE_CLIENT,
    ROLE_LOOPBACK, /* both, in two processes */
};

struct perf_options {
    enum perf_role role;
    const char *host; /* client */
    const char *port; /* of the server's control connection */
    const char *ia;
    bool once;                     /* server: one client only */
    enum perf_transport transport; /* what is measured; TCP may be the reference, too */
    uint64_t iters;                /* of one run; 0: as many as take about 0.4 s */
    unsigned int runs;
    int client_cpu; /* -1: anywhere */
    bool json;
    bool strict_heap;
    struct perf_params params;
};

#define PERF_RUNS_MAX 1000

/*
 * Takes the command line apart. Returns -1 to go on, or the status to exit with, after the help
 * text or a message.
 */
int perf_parse(int argc, char *argv[], struct perf_options *options);

#endif
