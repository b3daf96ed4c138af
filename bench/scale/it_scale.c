/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_scale: measures many connected endpoints in each of two processes: the cost of one, how fast
 * they connect compared with plain TCP, how much they slow a busy endpoint, and how fast they are
 * freed.
 */
#include "scale.h"

#include "common/output.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPARE_DESCRIPTORS 128u
#define PING_RUNS         5u

struct options {
    size_t endpoints;
    size_t window;
    size_t rounds; /* of a ping-pong run */
    bool strict;
};

/* The promised limits. */
#define LIMIT_HEAP    8192.0
#define LIMIT_CONNECT 0.5
#define LIMIT_BUSY    0.9
#define LIMIT_FREE    10.0

enum way {
    WAY_POLL,
    WAY_WAIT,
    WAYS
};

struct results {
    double tcp_seconds; /* the better of two runs */
    double connect_seconds;
    double create_seconds;
    double free_seconds;
    double heap_per_ep;
    double lone[WAYS], among[WAYS]; /* round trips a second */
    size_t descriptors_left;        /* number above that at the beginning */
};

/* ---- Phases, both sides ---------------------------------------------------------------------- */

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one;
    double b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Returns the medians of a few runs in round trips a second. */
static bool measure_ping(int channel, struct scale_side *side, const struct options *options,
                         double rates[WAYS])
{
    for (int way = 0; way < WAYS; way++) {
        double runs[PING_RUNS];

        if (!scale_ping(side, way == WAY_WAIT, options->rounds / 10))
            return false;
        for (unsigned run = 0; run < PING_RUNS; run++) {
            double start;

            if (!scale_meet(channel))
                return false;
            start = scale_clock();
            if (!scale_ping(side, way == WAY_WAIT, options->rounds))
                return false;
            runs[run] = (double)options->rounds / (scale_clock() - start);
        }
        qsort(runs, PING_RUNS, sizeof(runs[0]), compare);
        rates[way] = runs[PING_RUNS / 2];
    }
    return true;
}

static bool measure_tcp(int channel, bool server, const struct options *options,
                        struct results *results)
{
    double seconds;
    bool good = server ? scale_tcp_server(channel, options->endpoints, &seconds)
                       : scale_tcp_client(channel, options->endpoints, &seconds);

    if (good && (results->tcp_seconds == 0 || seconds < results->tcp_seconds))
        results->tcp_seconds = seconds;
    return good;
}

static bool exchange_port(int channel, struct scale_side *side)
{
    uint64_t port = side->port;

    if (side->server)
        return scale_tell(channel, port);
    if (!scale_hear(channel, &port))
        return false;
    side->port = (uint16_t)port;
    return true;
}

static bool join(struct scale_side *side, size_t first, size_t count, size_t window)
{
    return side->server ? scale_accept(side, first, count)
                        : scale_connect(side, first, count, window);
}

/* Makes one endpoint first, the busy one, and then all others. */
static bool measure_endpoints(int channel, struct scale_side *side, const struct options *options,
                              struct results *results)
{
    size_t others = options->endpoints - 1;
    size_t heap;
    double start;

    if (!exchange_port(channel, side) || !scale_create(side, 0, 1) || !scale_meet(channel) ||
        !join(side, 0, 1, 1) || !scale_prepare(side) || !scale_meet(channel) ||
        !measure_ping(channel, side, options, results->lone))
        return false;
    heap = scale_heap();
    start = scale_clock();
    if (!scale_create(side, 1, others))
        return false;
    results->create_seconds = scale_clock() - start;
    if (!scale_meet(channel))
        return false;
    start = scale_clock();
    if (!join(side, 1, others, options->window) || !scale_meet(channel))
        return false;
    results->connect_seconds = scale_clock() - start;
    results->heap_per_ep = ((double)scale_heap() - (double)heap) / (double)others;
    return measure_ping(channel, side, options, results->among) && scale_meet(channel);
}

static bool measure(int channel, bool server, const struct options *options,
                    struct results *results)
{
    size_t descriptors = scale_descriptors();
    static struct scale_side side;

    if (!measure_tcp(channel, server, options, results) ||
        !scale_side_open(&side, server, options->endpoints) ||
        !measure_endpoints(channel, &side, options, results) ||
        !scale_side_close(&side, &results->free_seconds) || !scale_meet(channel))
        return false;
    results->descriptors_left = scale_descriptors() - descriptors;
    return measure_tcp(channel, server, options, results);
}

/* ---- Report ---------------------------------------------------------------------------------- */

static bool line(const char *what, double value, const char *unit, const char *sign, double limit)
{
    bool good = *sign == '<' ? value <= limit : value >= limit;

    (void)printf("%-44s %12.2f %-6s %2s %-8g %s\n", what, value, unit, sign, limit,
                 good ? "ok" : "MISSED");
    return good;
}

static void note(const char *what, double value, const char *unit)
{
    (void)printf("%-44s %12.2f %s\n", what, value, unit);
}

static bool report(const struct options *options, const struct results *client,
                   const struct results *server)
{
    double others = (double)options->endpoints - 1;
    double tcp = (double)options->endpoints / client->tcp_seconds;
    double ours = others / client->connect_seconds;
    bool good = true;

    (void)printf("%zu endpoints in each of two processes, %u + %u work requests of %u segments\n",
                 options->endpoints, SCALE_REQUESTS, SCALE_RECEIVES, SCALE_SEGMENTS);
    if (client->heap_per_ep > 0) {
        good &= line("heap per idle endpoint, connecting side", client->heap_per_ep, "bytes",
                     "<=", LIMIT_HEAP);
        good &= line("heap per idle endpoint, accepting side", server->heap_per_ep, "bytes",
                     "<=", LIMIT_HEAP);
    }
    note("plain TCP connect + accept", tcp, "/s");
    note("it_ep_connect + it_ep_accept", ours, "/s");
    good &= line("... compared with plain TCP", ours / tcp, "x", ">=", LIMIT_CONNECT);
    note("creating the endpoints", others / client->create_seconds, "/s");
    note("round trips of one endpoint alone, polling", client->lone[WAY_POLL], "/s");
    good &= line("... among all the others", client->among[WAY_POLL] / client->lone[WAY_POLL], "x",
                 ">=", LIMIT_BUSY);
    note("round trips of one endpoint alone, waiting", client->lone[WAY_WAIT], "/s");
    good &= line("... among all the others", client->among[WAY_WAIT] / client->lone[WAY_WAIT], "x",
                 ">=", LIMIT_BUSY);
    good &= line("it_ia_free, connecting side", client->free_seconds, "s", "<=", LIMIT_FREE);
    good &= line("it_ia_free, accepting side", server->free_seconds, "s", "<=", LIMIT_FREE);
    good &= line("descriptors left, both sides",
                 (double)(client->descriptors_left + server->descriptors_left), "", "<=", 0);
    return good;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static int run_server(int channel, const struct options *options)
{
    struct results results = {.tcp_seconds = 0};

    if (!measure(channel, true, options, &results))
        return EXIT_FAILED;
    return write(channel, &results, sizeof(results)) == (ssize_t)sizeof(results) ? EXIT_FINE
                                                                                 : EXIT_FAILED;
}

static int run_client(int channel, const struct options *options)
{
    struct results ours = {.tcp_seconds = 0};
    struct results theirs;

    if (!measure(channel, false, options, &ours) ||
        recv(channel, &theirs, sizeof(theirs), MSG_WAITALL) != (ssize_t)sizeof(theirs))
        return EXIT_FAILED;
    return report(options, &ours, &theirs) || !options->strict ? EXIT_FINE : EXIT_FAILED;
}

/* The server is forked before either side uses the library, since threads do not survive a fork. */
static int run(const struct options *options)
{
    int channel[2];
    int status = 0;
    int outcome;
    pid_t server;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
        complain_errno("socketpair");
        return EXIT_FAILED;
    }
    server = fork();
    if (server < 0) {
        complain_errno("fork");
        return EXIT_FAILED;
    }
    (void)close(channel[server == 0 ? 0 : 1]);
    if (server == 0)
        exit(run_server(channel[1], options));
    outcome = run_client(channel[0], options);
    (void)close(channel[0]);
    if (waitpid(server, &status, 0) != server || status != 0)
        return EXIT_FAILED;
    return outcome;
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void usage(FILE *stream)
{
    (void)fputs("it_scale [OPTIONS]   measures many endpoints on this machine's loopback\n"
                "  --endpoints N      in each of two processes; default 10000\n"
                "  --window N         connections under way at a time; default 256\n"
                "  --rounds N         round trips of a ping-pong run; default 20000\n"
                "  --strict           fail when a limit is missed\n"
                "  --help             this text\n"
                "Exit status: 0 done, 1 something failed, 2 wrong usage.\n",
                stream);
}

static bool parse_number(const char *text, size_t least, size_t *value)
{
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || number < least ||
        number > 1000000) {
        complain("not a number from %zu to 1000000: %s", least, text);
        return false;
    }
    *value = (size_t)number;
    return true;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"endpoints", required_argument, NULL, 'e'},
                                          {"window", required_argument, NULL, 'w'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"strict", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct options options = {.endpoints = 10000, .window = 256, .rounds = 20000};
    int option;

    output_begin();
    report_program("it_scale");
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        bool good = true;

        if (option == 'e')
            good = parse_number(optarg, 2, &options.endpoints);
        else if (option == 'w')
            good = parse_number(optarg, 1, &options.window);
        else if (option == 'r')
            good = parse_number(optarg, 10, &options.rounds);
        else if (option == 's')
            options.strict = true;
        else
            good = false;
        if (!good) {
            usage(option == 'h' ? stdout : stderr);
            return output_end(option == 'h' ? EXIT_FINE : EXIT_USAGE);
        }
    }
    if (optind < argc) {
        usage(stderr);
        return EXIT_USAGE;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* for the channel to a process that has failed */
    if (!scale_raise_limit(options.endpoints + SPARE_DESCRIPTORS))
        return EXIT_FAILED;
    return output_end(run(&options));
}
