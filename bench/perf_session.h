/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server that know each other: the control connection, and what is measured.
 */
#ifndef ITAPI_BENCH_PERF_SESSION_H
#define ITAPI_BENCH_PERF_SESSION_H

#include "perf_options.h"
#include "perf_rdma.h"
#include "perf_report.h"
#include "perf_tcp.h"

struct perf_session {
    struct perf_params params;
    int control;
    bool has_rdma;
    bool has_tcp;
    struct perf_rdma rdma;
    struct perf_tcp tcp;
};

/* Client: connects, measures, and tells the results. */
bool perf_client(const struct perf_options *options, const char *host, const char *port,
                 struct perf_results *results);

/* Server: serves one client, or one after the other. */
bool perf_server(const struct perf_options *options, int listener, bool once);

#endif
