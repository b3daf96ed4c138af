/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_perf: the parameters of a measurement, named as on the command line. The client sends them to
 * the server over the control connection.
 */
#ifndef ITAPI_BENCH_PERF_H
#define ITAPI_BENCH_PERF_H

#include "common/report.h"

#include <stdbool.h>
#include <stdint.h>

enum perf_op {
    PERF_SEND,
    PERF_WRITE,
    PERF_READ,
};

enum perf_measure {
    PERF_LAT,  /* microseconds: half a round trip of a ping-pong; of a read, all of it */
    PERF_BW,   /* bytes per second of a stream */
    PERF_RATE, /* messages per second of a stream */
};

enum perf_mode {
    PERF_POLL,         /* it_evd_dequeue in a loop; TCP: MSG_DONTWAIT in a loop */
    PERF_WAIT,         /* it_evd_wait; TCP: calls that block */
    PERF_CLIENT_POLLS, /* the client polls, the server waits */
};

/* The transport of the messages. */
enum perf_transport {
    PERF_ITAPI,
    PERF_TCP,
};

#define PERF_NAME_SIZE       64
#define PERF_CONGESTION_SIZE 16 /* the kernel's names are not longer */
#define PERF_CARRIERS_MAX    8

struct perf_carrier {
    enum perf_transport transport;
    char ia[PERF_NAME_SIZE]; /* itapi: the Interface Adapter on the client */
};

struct perf_params {
    enum perf_op op;
    enum perf_measure measure;
    enum perf_mode mode;
    uint64_t size;      /* bytes of a message */
    uint64_t depth;     /* open requests */
    uint64_t spin_us;   /* the longest time that it_evd_wait polls; ITX_SPIN_DEFAULT */
    bool crc;           /* ask MPA for CRC32c */
    bool coalesce;      /* requests may wait for the next reported one */
    bool local;         /* a stream ends when its requests have completed on this side */
    bool verify;        /* check the received data */
    bool sums;          /* plain TCP: compute CRC32c of everything sent and received */
    bool server_choice; /* the server's command line chooses its Interface Adapter */
    int server_cpu;     /* -1: anywhere */
    struct perf_carrier carriers[PERF_CARRIERS_MAX]; /* measured in turn */
    unsigned int carrier_count;
    char congestion
        [PERF_CONGESTION_SIZE]; /* of plain TCP, on both sides; empty: as the system has it */
};

/* The largest message and the deepest queue. */
#define PERF_SIZE_MAX  ((uint64_t)1 << 30)
#define PERF_DEPTH_MAX ((uint64_t)4096)
/* The highest number of a CPU for --pin. */
#define PERF_CPU_MAX ((uint64_t)1023)

/* Return the words of the command line. */
const char *perf_op_name(enum perf_op op);
const char *perf_measure_name(enum perf_measure measure);
const char *perf_mode_name(enum perf_mode mode);
const char *perf_transport_name(enum perf_transport transport);

/* Returns the unit of a measure. */
const char *perf_unit(enum perf_measure measure);

/* Returns the number of messages of these iterations, both ways. */
uint64_t perf_messages(const struct perf_params *params, uint64_t iters);

/* Returns the seconds of a monotonic clock. */
double perf_clock(void);

/* Returns the processor time of this process so far, user and system, in nanoseconds. */
uint64_t perf_cpu_ns(void);

/* Confines this thread, and those that it makes, to one CPU; -1: to the initial ones. */
bool perf_pin(int cpu);

#endif
