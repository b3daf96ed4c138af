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
    int depth;      /* open calls */
    bool sleeps;    /* waits do not poll continuously */
    bool same;      /* all open calls use the same memory, like those of it_perf */
    int ring;       /* octets of the receiver's hidden buffer; 0: as by default */
    int late_us;    /* pause of the receiver before each receive */
    int number;     /* of connections */
    char *folder;   /* where the file lies; NULL: in memory */
    bool sealed;    /* nobody can change the file, which is in memory */
    int cpus[2];    /* the client's and the server's processor; -1: any */
};

/* The counts of the server. */
struct figures {
    uint64_t messages;
    uint64_t octets;
    double seconds; /* from the first to the last */
    double share;   /* smallest share of a connection, relative to a fair one */
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
/* A file of perf->size octets in the page cache. */
int new_file(const struct perf *perf);
double now(void);
/* Pauses for perf->late_us, like a program that has other work to do. */
void be_late(const struct perf *perf);
/* Tells the client's process the port. */
void tell_port(int port_to, int port);

#endif
