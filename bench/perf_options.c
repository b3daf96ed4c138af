/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_options.h"

#include "perf_matrix.h"
#include "perf_number.h"

#include <getopt.h>
#include <itx_api.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_PORT "7472"

#define SECONDS_DEFAULT   0.4
#define SECONDS_MAX       3600.0
#define TOLERANCE_DEFAULT 10.0
#define TOLERANCE_MAX     1e6

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
    {"sizes", required_argument, NULL, 'S'},
    {"matrix", no_argument, NULL, 'x'},
    {"spin", required_argument, NULL, 'w'},
    {"seconds", required_argument, NULL, 'e'},
    {"warmup", required_argument, NULL, 'W'},
    {"percentiles", no_argument, NULL, 'q'},
    {"plot", required_argument, NULL, 'l'},
    {"tolerance", required_argument, NULL, 'T'},
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
    static const char *const transports[] = {"itapi", "tcp", "all", NULL};
    static const char *const references[] = {"tcp", NULL};
    struct perf_params *params = &options->params;
    unsigned int value = 0;
    bool known = false;

    switch (letter) {
    case 'o':
        known = parse_word(text, ops, &value);
        params->op = (enum perf_op)value;
        options->op_given = true;
        break;
    case 'm':
        known = parse_word(text, measures, &value);
        params->measure = (enum perf_measure)value;
        options->measure_given = true;
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
        options->all = value == 2;
        options->transport = value == 1 ? PERF_TCP : PERF_ITAPI;
        break;
    case 'R':
        known = parse_word(text, references, &value);
        options->reference = true;
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
        good = perf_parse_number(text, PERF_SIZE_MAX, &options->sizes[0]);
        options->size_count = 1;
        break;
    case 'S':
        good = perf_parse_steps(text, PERF_SIZE_MAX, options->sizes, PERF_SIZES_MAX,
                                &options->size_count);
        break;
    case 'd':
        good = perf_parse_number(text, PERF_DEPTH_MAX, &options->params.depth) &&
               options->params.depth > 0;
        break;
    case 'n':
        good = perf_parse_number(text, UINT64_MAX / 2, &options->iters) && options->iters > 0;
        break;
    case 'w':
        good = perf_parse_number(text, ITX_SPIN_DEFAULT - 1, &options->params.spin_us);
        break;
    case 'W':
        good = perf_parse_number(text, UINT64_MAX / 2, &options->warm_up);
        break;
    case 'e':
        good = perf_parse_decimal(text, SECONDS_MAX, &options->seconds);
        break;
    case 'T':
        good = perf_parse_decimal(text, TOLERANCE_MAX, &options->tolerance);
        break;
    case 'r':
        good = perf_parse_number(text, PERF_RUNS_MAX, &value) && value > 0;
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
    case 'x':
        options->matrix = true;
        return true;
    case 'q':
        options->percentiles = true;
        return true;
    case 'l':
        options->plot = text;
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
    options->warm_up = PERF_WARM_UP_TENTH;
    options->tolerance = TOLERANCE_DEFAULT;
    options->client_cpu = -1;
    options->params.spin_us = ITX_SPIN_DEFAULT;
    options->params.crc = true;
    options->params.server_cpu = -1;
}

static void choose_sizes(struct perf_options *options)
{
    static const uint64_t usual[] = {64, 4096, 65536, 1048576};

    if (options->size_count > 0)
        return;
    options->size_count = options->matrix ? sizeof(usual) / sizeof(usual[0]) : 1;
    memcpy(options->sizes, usual, options->size_count * sizeof(usual[0]));
}

/* Whether what the options say can be done, all taken together. */
static bool complete(struct perf_options *options)
{
    static struct perf_point points[PERF_POINTS_MAX];
    const char *refusal;

    choose_sizes(options);
    if (options->port == NULL)
        options->port = options->role == ROLE_LOOPBACK ? "0" : DEFAULT_PORT;
    if (options->iters > 0 && options->seconds > 0) {
        complain("a run has --iters messages or takes --seconds, not both");
        return false;
    }
    if (options->seconds <= 0)
        options->seconds = SECONDS_DEFAULT;
    if (strlen(options->ia) >= PERF_NAME_SIZE) {
        complain("no Interface has a name as long as that of --ia");
        return false;
    }
    /* A matrix leaves out what makes no sense. */
    if (perf_matrix_points(options, points, &refusal) > 0 && (refusal == NULL || options->matrix))
        return true;
    complain("%s", refusal);
    return false;
}

/* The words without dashes: "server", "client" and a host, "compare" and two files, or none with
 * --loopback. */
static bool take_role(int count, char *const words[], struct perf_options *options)
{
    if (options->role == ROLE_LOOPBACK)
        return count == 0;
    if (count == 1 && strcmp(words[0], "server") == 0) {
        options->role = ROLE_SERVER;
        return true;
    }
    if (count == 3 && strcmp(words[0], "compare") == 0) {
        options->role = ROLE_COMPARE;
        options->files[0] = words[1];
        options->files[1] = words[2];
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
            perf_usage(stdout);
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
        perf_usage(stderr);
        return EXIT_USAGE;
    }
    return complete(options) ? -1 : EXIT_USAGE;
}
