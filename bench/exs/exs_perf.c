/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs_perf: measures Extended Sockets and plain TCP, one row at a time, with two processes on this
 * machine. bench/exs/rows runs all rows beside it_perf and judges them.
 */
#include "exs_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void need(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "exs_perf: %s: %s\n", what, strerror(errno));
    exit(1);
}

double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void be_late(const struct perf *perf)
{
    if (perf->late_us == 0)
        return;
    for (double until = now() + perf->late_us * 1e-6; now() < until;) {
    }
}

void tell_port(int port_to, int port)
{
    need(write(port_to, &port, sizeof(port)) == sizeof(port), "pipe");
}

static void usage(FILE *stream)
{
    (void)fputs("exs_perf [OPTIONS] ROW\n\nRows:", stream);
    for (const struct row *row = exs_rows; row->name; row++)
        (void)fprintf(stream, " %s", row->name);
    for (const struct row *row = tcp_rows; row->name; row++)
        (void)fprintf(stream, " %s", row->name);
    (void)fputs(
        "\n\n"
        "  --size OCTETS     of a message, or of the file (64)\n"
        "  --seconds TIME    of a run (1)\n"
        "  --depth NUMBER    calls under way (8)\n"
        "  --ring OCTETS     of the hidden buffer of a receiver (as by default)\n"
        "  --late US         pause before each receive (0)\n"
        "  --number NUMBER   connections (1000)\n"
        "  --same            all calls under way use the same memory, as those of it_perf do\n"
        "  --file FOLDER     the file lies there, without a name (in memory: memfd_create)\n"
        "  --sealed          the file in memory can be neither changed nor cut (F_ADD_SEALS)\n"
        "  --sleep           waits poll for a while only\n"
        "  --pin A,B         the client runs on processor A, the server on B (anywhere)\n"
        "  --help            this text\n\n"
        "ITAPI_EXS_INTERFACE names the Interface; ITAPI_EXS_CRC=off leaves CRCs out.\n",
        stream);
}

static const struct row *find_row(const struct row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

static double value_of(const struct row *row, const struct figures *figures)
{
    if (strcmp(row->unit, "us") == 0)
        return figures->seconds / (double)figures->messages / 2 * 1e6;
    if (strcmp(row->unit, "of fair") == 0)
        return figures->share;
    return (strcmp(row->unit, "B/s") == 0 ? (double)figures->octets : (double)figures->messages) /
           figures->seconds;
}

static int open_file(const char *folder)
{
    char path[4096];
    int file;

    if (!folder)
        return memfd_create("file", MFD_ALLOW_SEALING);
    (void)snprintf(path, sizeof(path), "%s/exs_perf_XXXXXX", folder);
    file = mkstemp(path);
    if (file >= 0)
        (void)unlink(path);
    return file;
}

int new_file(const struct perf *perf)
{
    static const char zeros[1 << 20];
    int file = open_file(perf->folder);

    need(file >= 0, "no file");
    for (size_t at = 0; at < perf->size; at += sizeof(zeros))
        need(write(file, zeros, sizeof(zeros)) == sizeof(zeros), "file");
    if (perf->sealed)
        need(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE) == 0, "seals");
    return file;
}

/* Threads that the library starts later run on the same processor. */
static void pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    need(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}

static bool parse_pin(const char *text, struct perf *perf)
{
    return sscanf(text, "%d,%d", &perf->cpus[0], &perf->cpus[1]) == 2 && perf->cpus[0] >= 0 &&
           perf->cpus[1] >= 0 && perf->cpus[0] < CPU_SETSIZE && perf->cpus[1] < CPU_SETSIZE;
}

/* Runs the server in the child process. Each process opens the library for itself. */
static int run(const struct row *row, const struct perf *perf)
{
    struct figures *figures =
        mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int pipes[2];
    int port = 0;
    int status;
    pid_t child;

    need(figures != MAP_FAILED && pipe(pipes) == 0, "mmap, pipe");
    child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        pin(perf->cpus[1]);
        row->server(perf, pipes[1], figures);
        _exit(0);
    }
    (void)close(pipes[1]);
    pin(perf->cpus[0]);
    if (read(pipes[0], &port, sizeof(port)) == sizeof(port))
        row->client(perf, port, figures);
    need(waitpid(child, &status, 0) == child, "waitpid");
    if (status != 0 || figures->seconds <= 0 || figures->messages == 0) {
        (void)fputs("exs_perf: the server has failed\n", stderr);
        return 1;
    }
    (void)printf("%s %zu %.6g %s\n", row->name, perf->size, value_of(row, figures), row->unit);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {"depth", required_argument, NULL, 'd'},
                                            {"late", required_argument, NULL, 'l'},
                                            {"ring", required_argument, NULL, 'r'},
                                            {"number", required_argument, NULL, 'n'},
                                            {"sleep", no_argument, NULL, 'w'},
                                            {"same", no_argument, NULL, 'm'},
                                            {"pin", required_argument, NULL, 'p'},
                                            {"file", required_argument, NULL, 'f'},
                                            {"sealed", no_argument, NULL, 'e'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct perf perf = {.size = 64, .seconds = 1, .depth = 8, .number = 1000, .cpus = {-1, -1}};
    bool good = true;
    const struct row *row = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 's':
            perf.size = strtoull(optarg, NULL, 10);
            break;
        case 't':
            perf.seconds = strtod(optarg, NULL);
            break;
        case 'd':
            perf.depth = atoi(optarg);
            break;
        case 'r':
            perf.ring = atoi(optarg);
            break;
        case 'l':
            perf.late_us = atoi(optarg);
            break;
        case 'n':
            perf.number = atoi(optarg);
            break;
        case 'w':
            perf.sleeps = true;
            break;
        case 'm':
            perf.same = true;
            break;
        case 'f':
            perf.folder = optarg;
            break;
        case 'e':
            perf.sealed = true;
            break;
        case 'p':
            good = parse_pin(optarg, &perf);
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    if (optind + 1 == argc && !(row = find_row(exs_rows, argv[optind])))
        row = find_row(tcp_rows, argv[optind]);
    if (!row || !good || perf.size < 1 || perf.size > (size_t)1 << 40 || perf.seconds <= 0 ||
        perf.depth < 1 || perf.depth > 1024 || perf.late_us < 0 || perf.ring < 0 ||
        perf.number < 1) {
        usage(stderr);
        return 2;
    }
    return run(row, &perf);
}
