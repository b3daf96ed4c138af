/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sdp_perf: compares a connection of SDP with plain TCP, in alternating runs on the loopback. Each
 * end is a process. Prints medians of the rounds: octets per second and processor time of both ends
 * per GB for a stream, and time per exchange for requests and answers.
 */
#include "connection/sdp_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 101u
#define NS_PER_S   1000000000.0

struct plan {
    size_t size;  /* size of each call or message */
    size_t total; /* octets of a stream, exchanges of a ping-pong */
    unsigned rounds;
    int zcopy_from;
    uint32_t buffers; /* receives; 0: as many as sockets have */
    bool ping_pong;
    bool crc_off;
    bool sdp;
    int cpus[2]; /* that the ends are bound to; -1: any */
};

struct result {
    double ns;      /* from the first octet to the last */
    double cpus[2]; /* processor time of each end */
};

/* One end. */
struct end {
    int fd;
    struct sdp_connection *connection;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * NS_PER_S + (double)now.tv_nsec;
}

static double cpu_ns(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)) * NS_PER_S +
           ((double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) * 1000.0;
}

/* ---- Octets --------------------------------------------------------------------------------- */

static void put(const struct end *end, const char *octets, size_t count)
{
    while (count > 0) {
        const struct iovec part = {(void *)(uintptr_t)octets, count};
        ssize_t done = end->connection ? sdp_send(end->connection, &part, 1, 0, NULL)
                                       : send(end->fd, octets, count, MSG_NOSIGNAL);

        if (done <= 0)
            die("send");
        octets += done;
        count -= (size_t)done;
    }
}

static void get(const struct end *end, char *octets, size_t count)
{
    while (count > 0) {
        const struct iovec part = {octets, count};
        ssize_t done = end->connection ? sdp_receive(end->connection, &part, 1, 0, NULL)
                                       : recv(end->fd, octets, count, 0);

        if (done <= 0)
            die("receive");
        octets += done;
        count -= (size_t)done;
    }
}

/* ---- One end -------------------------------------------------------------------------------- */

static void work(const struct plan *plan, const struct end *end, bool first, char *octets)
{
    for (size_t left = plan->total; left > 0;) {
        size_t count = plan->ping_pong || left >= plan->size ? plan->size : left;

        if (plan->ping_pong && !first)
            get(end, octets, count);
        if (plan->ping_pong || first)
            put(end, octets, count);
        else
            get(end, octets, count);
        if (plan->ping_pong && first)
            get(end, octets, count);
        left -= plan->ping_pong ? 1 : count;
    }
}

static struct result run_end(const struct plan *plan, int fd, bool first)
{
    const struct sdp_settings settings = {.crc_off = plan->crc_off, .buffers = plan->buffers};
    struct end end = {.fd = fd};
    struct result result;
    char *octets = malloc(plan->size);
    char octet = 0;

    if (!octets)
        die("malloc");
    memset(octets, 'x', plan->size);
    if (plan->sdp) {
        int error = sdp_connection_start(fd, first ? SDP_ACTIVE : SDP_PASSIVE, &settings, NULL,
                                         &end.connection);
        if (error != 0) {
            (void)fprintf(stderr, "SDP: %s\n", strerror(-error));
            exit(1);
        }
        sdp_watch(end.connection, SDP_WATCH_NOTHING);
        (void)sdp_set_option(end.connection, SDP_ZCOPY_FROM, plan->zcopy_from);
    }
    /* Both ends are connected. */
    for (unsigned i = 0; i < 2; i++)
        if (first == (i == 0))
            put(&end, &octet, 1);
        else
            get(&end, &octet, 1);
    result = (struct result){-now_ns(), {-cpu_ns(), 0}};
    work(plan, &end, first, octets);
    /* The last octet has arrived. */
    if (!first)
        put(&end, &octet, 1);
    else
        get(&end, &octet, 1);
    result.ns += now_ns();
    result.cpus[0] += cpu_ns();
    if (end.connection)
        (void)sdp_close(end.connection, &(struct linger){1, 5});
    return result;
}

/* ---- Both ends ------------------------------------------------------------------------------ */

static void connect_pair(int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;

    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(fds[0], (struct sockaddr *)&address, length) != 0)
        die("connect");
    fds[1] = accept(listener, NULL, NULL);
    if (fds[1] < 0)
        die("accept");
    (void)close(listener);
    for (unsigned i = 0; i < 2; i++) {
        (void)setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        (void)setsockopt(fds[i], IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    }
}

static void bind_to(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        die("a processor");
}

static struct result run_pair(const struct plan *plan)
{
    struct result results[2];
    int fds[2];
    int pipes[2][2];
    int status;

    connect_pair(fds);
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0)
        die("pipe");
    for (unsigned i = 0; i < 2; i++)
        if (fork() == 0) {
            bind_to(plan->cpus[i]);
            (void)close(fds[1 - i]);
            results[0] = run_end(plan, fds[i], i == 0);
            if (write(pipes[i][1], results, sizeof(results[0])) < 0)
                die("write");
            _exit(0);
        }
    for (unsigned i = 0; i < 2; i++) {
        (void)close(fds[i]);
        (void)close(pipes[i][1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (read(pipes[i][0], &results[i], sizeof(results[i])) != sizeof(results[i]))
            die("a run has failed");
        (void)close(pipes[i][0]);
    }
    for (unsigned i = 0; i < 2; i++)
        (void)wait(&status);
    return (struct result){results[0].ns > results[1].ns ? results[0].ns : results[1].ns,
                           {results[0].cpus[0], results[1].cpus[0]}};
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Medians of each value by itself. */
static struct result median(const struct result *results, unsigned count)
{
    double values[3][ROUNDS_MAX];

    for (unsigned i = 0; i < count; i++) {
        values[0][i] = results[i].ns;
        values[1][i] = results[i].cpus[0];
        values[2][i] = results[i].cpus[1];
    }
    for (unsigned i = 0; i < 3; i++)
        qsort(values[i], count, sizeof(values[i][0]), compare);
    return (struct result){values[0][count / 2], {values[1][count / 2], values[2][count / 2]}};
}

static void print(const char *name, const struct plan *plan, const struct result *result)
{
    double gigabytes = (double)plan->total / 1e9;
    double cpu = result->cpus[0] + result->cpus[1];

    if (plan->ping_pong)
        (void)printf("%-6s %8.2f us each, %8.2f us of processors\n", name,
                     result->ns / (double)plan->total / 1000.0, cpu / (double)plan->total / 1000.0);
    else
        (void)printf("%-6s %8.0f MB/s, %6.3f s of processors per GB (sender %.0f%%, receiver "
                     "%.0f%% of the time)\n",
                     name, gigabytes * 1000.0 / (result->ns / NS_PER_S), cpu / NS_PER_S / gigabytes,
                     100 * result->cpus[0] / result->ns, 100 * result->cpus[1] / result->ns);
}

static void run(struct plan *plan)
{
    static struct result results[2][ROUNDS_MAX];
    struct result medians[2];

    for (unsigned round = 0; round < plan->rounds; round++)
        for (unsigned sdp = 0; sdp < 2; sdp++) {
            plan->sdp = sdp;
            results[sdp][round] = run_pair(plan);
        }
    for (unsigned sdp = 0; sdp < 2; sdp++) {
        medians[sdp] = median(results[sdp], plan->rounds);
        print(sdp ? "SDP" : "TCP", plan, &medians[sdp]);
    }
    (void)printf("ratio  %8.2f\n",
                 plan->ping_pong ? medians[1].ns / medians[0].ns : medians[0].ns / medians[1].ns);
}

int main(int argc, char **argv)
{
    struct plan plan = {
        .size = 131072, .total = 0, .rounds = 9, .zcopy_from = 524288, .cpus = {-1, -1}};
    int option;

    while ((option = getopt(argc, argv, "s:t:r:z:b:c:pn")) != -1)
        switch (option) {
        case 's':
            plan.size = strtoul(optarg, NULL, 0);
            break;
        case 't':
            plan.total = strtoul(optarg, NULL, 0);
            break;
        case 'r':
            plan.rounds = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 'z':
            plan.zcopy_from = atoi(optarg);
            break;
        case 'b':
            plan.buffers = (uint32_t)atoi(optarg);
            break;
        case 'c':
            if (sscanf(optarg, "%d,%d", &plan.cpus[0], &plan.cpus[1]) != 2)
                return 2;
            break;
        case 'p':
            plan.ping_pong = true;
            break;
        case 'n':
            plan.crc_off = true;
            break;
        default:
            (void)fprintf(stderr, "usage: sdp_perf [-s SIZE] [-t OCTETS or EXCHANGES] [-r ROUNDS] "
                                  "[-z ZCOPY_FROM] [-b BUFFERS] [-c CPU,CPU] [-p ping-pong] "
                                  "[-n no CRC]\n");
            return 2;
        }
    if (plan.size == 0 || plan.rounds == 0 || plan.rounds > ROUNDS_MAX)
        return 2;
    if (plan.total == 0)
        plan.total = plan.ping_pong ? 5000 : (size_t)1 << 29;
    run(&plan);
    return 0;
}
