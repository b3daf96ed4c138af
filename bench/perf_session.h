/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server that know each other: the control connection, and one connection for each
 * transport that is measured.
 */
#ifndef ITAPI_BENCH_PERF_SESSION_H
#define ITAPI_BENCH_PERF_SESSION_H

#include "perf_options.h"
#include "perf_rdma.h"
#include "perf_result.h"
#include "perf_tcp.h"

/* The connection of one carrier. */
struct perf_link {
    bool open;
    struct perf_rdma rdma;
    struct perf_tcp tcp;
};

struct perf_session {
    struct perf_params params;
    int control;
    bool begun; /* client: the server has got parameters */
    struct perf_link links[PERF_CARRIERS_MAX];
};

/* Closes all open connections. */
void perf_session_close_links(struct perf_session *session);

/*
 * Client: connects, measures any number of times, and ends. Measuring returns false after a
 * message. A series without runs belongs to an absent carrier, which options->all allows.
 */
bool perf_client_open(struct perf_session *session, const char *host, const char *port);
bool perf_client_measure(struct perf_session *session, const struct perf_options *options,
                         const char *host, const char *port, const struct perf_params *params,
                         struct perf_results *results);
/* good: all measurements were successful. */
void perf_client_close(struct perf_session *session, bool good);

/* Server: serves one client, or one after the other. */
bool perf_server(const struct perf_options *options, int listener, bool once);

#endif
