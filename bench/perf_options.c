/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT "7472"

static void usage(FILE *stream)
{
    (void)fputs(
        "it_perf server [OPTIONS]          serves clients, one after the other\n"
        "it_perf client HOST [OPTIONS]     measures with the server on HOST\n"
        "it_perf --loopback [OPTIONS]      both sides on this machine, in two processes\n"
        "\n"
        "What is measured (client, loopback):\n"
        "  --op send|write|read      Send/Recv, RDMA Write or RDMA Read; default send\n"
        "  --measure lat|bw|rate     lat: half a round trip (read: a whole one), us; default\n"
        "                            bw: bytes/s of a stream; rate: messages/s of a stream\n"
        "  --size N                  bytes of a message, with k or m behind: KiB, MiB; default 64\n"
        "  --mode poll|wait          it_evd_dequeue in a loop, or it_evd_wait; default poll\n"
        "  --crc on|off              CRC32c on the wire; default on; devices: as they are set\n"
        "  --depth N                 requests under way; default 64 for lat, 16 for bw, 512 for\n"
        "                            rate\n"
        "  --iters N                 messages of a run; default: as many as take about 0.4 s\n"
        "  --runs N                  runs, of which the median is the result; default 5\n"
        "  --reference tcp           the same over plain TCP, the runs alternating with ours\n"
        "  --transport itapi|tcp     tcp: plain TCP in place of ours\n"
        "  --coalesce                bw, rate: requests that are not reported may wait for those\n"
        "                            that are (IT_COALESCE_WR_FLAG)\n"
        "  --verify                  also look at what arrives (ours only)\n"
        "  --pin A,B                 client on CPU A, server on CPU B; default: anywhere\n"
        "  --strict-heap             fail if anything calls the heap during a run\n"
        "  --json                    one JSON object in place of a table\n"
        "\n"
        "Both sides:\n"
        "  --port P                  TCP port of the server, " DEFAULT_PORT
        " by default; 0: any (server)\n"
        "  --ia NAME                 Interface Adapter, or a device (siw0); default uiwarp\n"
        "  --once                    server: end after one client\n"
        "  --help                    this text\n"
        "\n"
        "Exit status: 0 done, 1 something failed, 2 wrong usage.\n",
        stream);
}

static bool parse_word(const char *text, const char *const words[], unsigned int *value)
{
    for (unsigned int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

/* A number with k, m or g behind it, at most limit. */
static bool parse_number(const char *text, uint64_t limit, uint64_t *value)
{
    static const char units[] = "kmg";
    uint64_t number;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || number > limit)
        return false;
    if (*end != '\0') {
        const char *unit = strchr(units, *end | 0x20);
        unsigned int shift = unit != NULL ? 10 * (unsigned int)(unit - units + 1) : 0;

        if (shift == 0 || end[1] != '\0' || number > limit >> shift)
            return false;
        number <<= shift;
    }
    *value = number;
    return true;
}

static bool parse_pin(const char *text, struct perf_options *options)
{
    int client;
    int server;
    char rest;

    if (sscanf(text, "%d,%d%c", &client, &server, &rest) != 2 || client < 0 || server < 0)
        return false;
    options->client_cpu = client;
    options->params.server_cpu = server;
    return true;
}

/* The letters are internal: all options are long ones. */
static const struct option known_options[] = {
    {"loopback", no_argument, NULL, 'L'},
    {"op", required_argument, NULL, 'o'},
    {"measure", required_argument, NULL, 'm'},
    {"size", required_argument, NULL, 's'},
    {"mode", required_argument, NULL, 'M'},
    {"crc", required_argument, NULL, 'c'},
    {"depth", required_argument, NULL, 'd'},
    {"iters", required_argument, NULL, 'n'},
    {"runs", required_argument, NULL, 'r'},
    {"reference", required_argument, NULL, 'R'},
    {"transport", required_argument, NULL, 't'},
    {"coalesce", no_argument, NULL, 'C'},
    {"verify", no_argument, NULL, 'v'},
    {"pin", required_argument, NULL, 'P'},
    {"strict-heap", no_argument, NULL, 'H'},
    {"json", no_argument, NULL, 'j'},
    {"port", required_argument, NULL, 'p'},
    {"ia", required_argument, NULL, 'i'},
    {"once", no_argument, NULL, 'O'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Options with one of several words behind them. */
static bool take_word(int letter, const char *text, struct perf_options *options)
{
    static const char *const ops[] = {"send", "write", "read", NULL};
    static const char *const measures[] = {"lat", "bw", "rate", NULL};
    static const char *const modes[] = {"poll", "wait", NULL};
    static const char *const switches[] = {"off", "on", NULL};
    static const char *const transports[] = {"itapi", "tcp", NULL};
    static const char *const references[] = {"tcp", NULL};
    struct perf_params *params = &options->params;
    unsigned int value = 0;
    bool known = false;

    switch (letter) {
    case 'o':
        known = parse_word(text, ops, &value);
        params->op = (enum perf_op)value;
        break;
    case 'm':
        known = parse_word(text, measures, &value);
        params->measure = (enum perf_measure)value;
        break;
    case 'M':
        known = parse_word(text, modes, &value);
        params->mode = (enum perf_mode)value;
        break;
    case 'c':
        known = parse_word(text, switches, &value);
        params->crc = value == 1;
        break;
    case 't':
        known = parse_word(text, transports, &value);
        options->transport = (enum perf_transport)value;
        break;
    case 'R':
        known = parse_word(text, references, &value);
        params->uses[PERF_TCP] = true;
        break;
    default:
        break;
    }
    return known;
}

static bool take_number(int letter, const char *text, struct perf_options *options)
{
    uint64_t value = 0;
    bool good = false;

    switch (letter) {
    case 's':
        good = parse_number(text, PERF_SIZE_MAX, &options->params.size);
        break;
    case 'd':
        good =
            parse_number(text, PERF_DEPTH_MAX, &options->params.depth) && options->params.depth > 0;
        break;
    case 'n':
        good = parse_number(text, UINT64_MAX / 2, &options->iters) && options->iters > 0;
        break;
    case 'r':
        good = parse_number(text, PERF_RUNS_MAX, &value) && value > 0;
        options->runs = (unsigned int)value;
        break;
    case 'P':
        good = parse_pin(text, options);
        break;
    default:
        break;
    }
    return good;
}

/* Options that stand alone or take any text. */
static bool take_other(int letter, const char *text, struct perf_options *options)
{
    switch (letter) {
    case 'L':
        options->role = ROLE_LOOPBACK;
        return true;
    case 'C':
        options->params.coalesce = true;
        return true;
    case 'v':
        options->params.verify = true;
        return true;
    case 'H':
        options->strict_heap = true;
        return true;
    case 'j':
        options->json = true;
        return true;
    case 'O':
        options->once = true;
        return true;
    case 'p':
        options->port = text;
        return true;
    case 'i':
        options->ia = text;
        return true;
    default:
        return false;
    }
}

static void set_defaults(struct perf_options *options)
{
    memset(options, 0, sizeof(*options));
    options->role = ROLE_CLIENT;
    options->ia = "uiwarp";
    options->runs = 5;
    options->client_cpu = -1;
    options->params.size = 64;
    options->params.crc = true;
    options->params.server_cpu = -1;
}

/* Whether what the options say can be done, all taken together. */
static bool complete(struct perf_options *options)
{
    static const uint64_t depths[] = {64, 16, 512};
    struct perf_params *params = &options->params;

    if (params->depth == 0)
        params->depth = depths[params->measure];
    params->uses[options->transport] = true;
    if (options->port == NULL)
        options->port = options->role == ROLE_LOOPBACK ? "0" : DEFAULT_PORT;
    if (params->size == 0 && (params->measure == PERF_BW || params->uses[PERF_TCP])) {
        complain("there is nothing to measure with --size 0");
        return false;
    }
    if (params->op == PERF_WRITE && params->measure == PERF_LAT && params->uses[PERF_ITAPI] &&
        (params->mode == PERF_WAIT || params->size == 0)) {
        complain("an RDMA Write wakes nobody: its latency needs --mode poll and a byte to look at");
        return false;
    }
    return true;
}

/* The words without dashes: "server", or "client" and a host, or none with --loopback. */
static bool take_role(int count, char *const words[], struct perf_options *options)
{
    if (options->role == ROLE_LOOPBACK)
        return count == 0;
    if (count == 1 && strcmp(words[0], "server") == 0) {
        options->role = ROLE_SERVER;
        return true;
    }
    options->host = count == 2 ? words[1] : NULL;
    return count == 2 && strcmp(words[0], "client") == 0;
}

int perf_parse(int argc, char *argv[], struct perf_options *options)
{
    int letter;

    set_defaults(options);
    while ((letter = getopt_long(argc, argv, "h", known_options, NULL)) != -1) {
        if (letter == 'h') {
            usage(stdout);
            return EXIT_FINE;
        }
        if (letter == '?')
            return EXIT_USAGE;
        if (!take_word(letter, optarg, options) && !take_number(letter, optarg, options) &&
            !take_other(letter, optarg, options)) {
            complain("an option has no use for \"%s\"; --help says more", optarg);
            return EXIT_USAGE;
        }
    }
    if (!take_role(argc - optind, argv + optind, options)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    return complete(options) ? -1 : EXIT_USAGE;
}
