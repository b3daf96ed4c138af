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
    ROLE_LOOPBACK, /* both, in two processes */
    ROLE_COMPARE,  /* of two files of results */
};

#define PERF_SIZES_MAX     64
#define PERF_LETTERS       128
#define PERF_WARM_UP_TENTH UINT64_MAX

struct perf_options {
    enum perf_role role;
    const char *host; /* client */
    const char *port; /* of the server's control connection */
    const char *ia;
    bool once;                     /* server: one client only */
    enum perf_transport transport; /* what is measured, */
    bool reference;                /* TCP beside it, */
    bool all;                      /* or whatever there is */
    bool matrix;                   /* all operations and measures, but for those that are given */
    bool given[PERF_LETTERS];      /* options, by their letters (perf_options.c) */
    uint64_t sizes[PERF_SIZES_MAX];
    size_t size_count;
    uint64_t iters;   /* of one run; 0: */
    double seconds;   /* as many as take so long */
    uint64_t warm_up; /* messages before each run, or PERF_WARM_UP_TENTH */
    unsigned int runs;
    int client_cpu; /* -1: anywhere */
    bool percentiles;
    bool json;
    bool strict_heap;
    double tolerance;     /* compare: percent */
    const char *files[2]; /* compare */
    /* What all points have in common; depth 0: as suits the measure. */
    struct perf_params params;
};

/*
 * Takes the command line apart. Returns -1 to go on, or the status to exit with, after the help
 * text or a message.
 */
int perf_parse(int argc, char *argv[], struct perf_options *options);

/* What is wrong with the options, all taken together. False after a message. */
bool perf_agree(const struct perf_options *options);

/* The name of an option by its letter, without dashes. */
const char *perf_option_name(int letter);

/* The help text. */
void perf_usage(FILE *stream);

#endif
