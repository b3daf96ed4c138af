/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

const char *perf_op_name(enum perf_op op)
{
    static const char *const names[] = {"send", "write", "read"};

    return names[op];
}

const char *perf_measure_name(enum perf_measure measure)
{
    static const char *const names[] = {"lat", "bw", "rate"};

    return names[measure];
}

const char *perf_mode_name(enum perf_mode mode)
{
    static const char *const names[] = {"poll", "wait", "client"};

    return names[mode];
}

const char *perf_transport_name(enum perf_transport transport)
{
    static const char *const names[] = {"itapi", "tcp"};

    return names[transport];
}

const char *perf_unit(enum perf_measure measure)
{
    static const char *const units[] = {"us", "B/s", "msg/s"};

    return units[measure];
}

uint64_t perf_messages(const struct perf_params *params, uint64_t iters)
{
    bool answered = params->measure == PERF_LAT && params->op != PERF_READ;

    return answered ? iters * 2 : iters;
}

double perf_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t nanoseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

uint64_t perf_cpu_ns(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
}

bool perf_pin(int cpu)
{
    static bool known;
    static cpu_set_t original;
    cpu_set_t set;

    if (!known && sched_getaffinity(0, sizeof(original), &original) != 0) {
        complain_errno("sched_getaffinity");
        return false;
    }
    known = true;
    set = original;
    if (cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
    }
    if (sched_setaffinity(0, sizeof(set), &set) == 0)
        return true;
    complain("cannot run on CPU %d: %s", cpu, strerror(errno));
    return false;
}
