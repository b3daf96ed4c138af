/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row of exs_perf: two processes, a client that sends and a server that receives and counts.
 */
#ifndef ITAPI_BENCH_EXS_PERF_H
#define ITAPI_BENCH_EXS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf {
    size_t size;    /* octets of a message, or of the file */
    double seconds; /* of a run */
    int depth;      /* calls under way */
    bool sleeps;    /* waits do not poll all the time */
    bool same;      /* all calls under way use the same memory, as those of it_perf do */
    int ring;       /* octets of the receiver's hidden buffer; 0: as by default */
    int late_us;    /* pause of the receiver before each receive */
    int number;     /* of connections */
};

/* What the server has counted. */
struct figures {
    uint64_t messages;
    uint64_t octets;
    double seconds; /* from the first to the last */
    double share;   /* the least share of a connection, of a fair one */
};

struct row {
    const char *name;
    const char *unit; /* "us", "B/s", "msg/s" or "of fair" */
    void (*server)(const struct perf *perf, int port_to, struct figures *figures);
    void (*client)(const struct perf *perf, int port, struct figures *figures);
};

extern const struct row exs_rows[];
extern const struct row tcp_rows[];

void need(bool ok, const char *what);
double now(void);
/* Does something else for perf->late_us, as a program that has work to do. */
void be_late(const struct perf *perf);
/* The client's process learns the port by this. */
void tell_port(int port_to, int port);

#endif
