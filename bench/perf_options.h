/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of it_perf.
 */
#ifndef ITAPI_BENCH_PERF_OPTIONS_H
#define ITAPI_BENCH_PERF_OPTIONS_H

#include "perf.h"

#include <stddef.h>
#include <stdio.h>

enum perf_role {
    ROLE_SERVER,
    ROLE_CLIENT,
    ROLE_LOOPBACK, /* both sides, in two processes */
    ROLE_COMPARE,  /* compares two files of results */
};

#define PERF_SIZES_MAX     64
#define PERF_LETTERS       128
#define PERF_WARM_UP_TENTH UINT64_MAX

struct perf_options {
    enum perf_role role;
    const char *host; /* client */
    const char *port; /* port of the server's control connection */
    const char *ia;
    bool once;                     /* server: one client only */
    enum perf_transport transport; /* the transport that is measured */
    bool reference;                /* also measures TCP */
    bool all;                      /* measures all transports */
    bool matrix;              /* all operations and measures, except those that the options fix */
    bool given[PERF_LETTERS]; /* options that were given, by their letters (perf_options.c) */
    uint64_t sizes[PERF_SIZES_MAX];
    size_t size_count;
    uint64_t iters;   /* of one run; 0: as many as take `seconds` */
    double seconds;   /* the length of a run */
    uint64_t warm_up; /* messages before each run, or PERF_WARM_UP_TENTH */
    unsigned int runs;
    int client_cpu; /* -1: anywhere */
    bool percentiles;
    bool json;
    bool strict_heap;
    double tolerance;     /* compare: percent */
    const char *files[2]; /* compare */
    /* The common parameters of all points. depth 0: the measure's default. */
    struct perf_params params;
};

/*
 * Parses the command line. Returns -1 to continue, or the exit status after the help text or a
 * message.
 */
int perf_parse(int argc, char *argv[], struct perf_options *options);

/* Checks all options together. Returns false after a message. */
bool perf_agree(const struct perf_options *options);

/* Returns the name of an option by its letter, without dashes. */
const char *perf_option_name(int letter);

/* Prints the help text. */
void perf_usage(FILE *stream);

#endif
