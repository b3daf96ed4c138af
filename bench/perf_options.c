/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_options.h"

#include "perf_matrix.h"
#include "perf_number.h"

#include <getopt.h>
#include <itx_api.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_PORT "7472"
#define PORT_MAX     65535u

#define SECONDS_DEFAULT   0.4
#define SECONDS_MAX       3600.0
#define TOLERANCE_DEFAULT 10.0
#define TOLERANCE_MAX     1e6

/* ---- Names -------------------------------------------------------------------------------- */

/* The letters are internal: all options are long ones, except -h. */
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
    {"tolerance", required_argument, NULL, 'T'},
    {"mode", required_argument, NULL, 'M'},
    {"crc", required_argument, NULL, 'c'},
    {"depth", required_argument, NULL, 'd'},
    {"iters", required_argument, NULL, 'n'},
    {"runs", required_argument, NULL, 'r'},
    {"reference", required_argument, NULL, 'R'},
    {"transport", required_argument, NULL, 't'},
    {"coalesce", no_argument, NULL, 'C'},
    {"local", no_argument, NULL, 'l'},
    {"verify", no_argument, NULL, 'v'},
    {"congestion", required_argument, NULL, 'g'},
    {"sums", no_argument, NULL, 'k'},
    {"pin", required_argument, NULL, 'P'},
    {"strict-heap", no_argument, NULL, 'H'},
    {"json", no_argument, NULL, 'j'},
    {"port", required_argument, NULL, 'p'},
    {"ia", required_argument, NULL, 'i'},
    {"once", no_argument, NULL, 'O'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* What an option takes, unless it takes any text. */
static const struct {
    char letter;
    const char *wanted;
} known_arguments[] = {
    {'o', "send, write or read"},
    {'m', "lat, bw or rate"},
    {'s', "0 to 1g bytes"},
    {'S', "at most 64 sizes, A,B,C or A:B or A:B:xF, of 0 to 1g bytes, ranges from 1"},
    {'w', "a number of microseconds"},
    {'e', "a time above 0, of at most 3600 s"},
    {'W', "a number of messages"},
    {'T', "a number of percent"},
    {'M', "poll or wait"},
    {'c', "on or off"},
    {'d', "1 to 4096 requests"},
    {'n', "a number of messages above 0"},
    {'r', "1 to 1000 runs"},
    {'R', "tcp"},
    {'t', "itapi, tcp or all"},
    {'P', "two CPUs, A,B"},
    {'g', "the name of a congestion control, of at most 15 characters"},
    {'p', "a port, 0 to 65535"},
};

const char *perf_option_name(int letter)
{
    for (const struct option *option = known_options; option->name != NULL; option++)
        if (option->val == letter)
            return option->name;
    return "";
}

static void refuse(int letter, const char *text)
{
    const char *wanted = "something else";

    for (size_t i = 0; i < sizeof(known_arguments) / sizeof(known_arguments[0]); i++)
        if (known_arguments[i].letter == letter)
            wanted = known_arguments[i].wanted;
    complain("--%s takes %s, not \"%s\"", perf_option_name(letter), wanted, text);
}

/* ---- Arguments ---------------------------------------------------------------------------- */

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
    uint64_t cpus[2];
    size_t count;

    if (!perf_parse_steps(text, PERF_CPU_MAX, cpus, 2, &count) || count != 2 ||
        strchr(text, ',') == NULL)
        return false;
    options->client_cpu = (int)cpus[0];
    options->params.server_cpu = (int)cpus[1];
    return true;
}

/* Takes an option whose value is one of several words. */
static bool take_word(int letter, const char *text, struct perf_options *options)
{
    static const char *const ops[] = {"send", "write", "read", NULL};
    static const char *const measures[] = {"lat", "bw", "rate", NULL};
    static const char *const modes[] = {"poll", "wait", "client", NULL};
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
        good = perf_parse_decimal(text, SECONDS_MAX, &options->seconds) && options->seconds > 0;
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
    case 'p':
        good =
            perf_parse_number(text, PORT_MAX, &value) && strspn(text, "0123456789") == strlen(text);
        options->port = text;
        break;
    default:
        break;
    }
    return good;
}

static bool parse_congestion(const char *text, struct perf_params *params)
{
    if (text[0] == '\0' || strlen(text) >= sizeof(params->congestion))
        return false;
    (void)strcpy(params->congestion, text);
    return true;
}

/* Takes an option that has no value or any text. */
static bool take_other(int letter, const char *text, struct perf_options *options)
{
    switch (letter) {
    case 'L':
        options->role = ROLE_LOOPBACK;
        return true;
    case 'C':
        options->params.coalesce = true;
        return true;
    case 'l':
        options->params.local = true;
        return true;
    case 'v':
        options->params.verify = true;
        return true;
    case 'g':
        return parse_congestion(text, &options->params);
    case 'k':
        options->params.sums = true;
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
    case 'O':
        options->once = true;
        return true;
    case 'i':
        options->ia = text;
        return true;
    default:
        return false;
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

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

/* Returns whether all options together can be measured. */
static bool complete(struct perf_options *options)
{
    static struct perf_point points[PERF_POINTS_MAX];
    const char *refusal;

    choose_sizes(options);
    if (!perf_agree(options))
        return false;
    if (options->port == NULL)
        options->port = options->role == ROLE_LOOPBACK ? "0" : DEFAULT_PORT;
    if (options->seconds <= 0)
        options->seconds = SECONDS_DEFAULT;
    if (options->role == ROLE_SERVER || options->role == ROLE_COMPARE)
        return true;
    /* A matrix leaves out combinations that make no sense. */
    if (perf_matrix_points(options, points, &refusal) > 0 && (refusal == NULL || options->matrix))
        return true;
    complain("%s", refusal);
    return false;
}

/*
 * Takes the words without dashes: "server", "client" and a host, "compare" and two files, or none
 * with --loopback.
 */
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

static bool take(int letter, const char *text, struct perf_options *options)
{
    options->given[letter] = true;
    if (take_word(letter, text, options) || take_number(letter, text, options) ||
        take_other(letter, text, options))
        return true;
    refuse(letter, text);
    return false;
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
        if (letter == 'V') {
            (void)printf("it_perf %s\n", itx_version());
            return EXIT_FINE;
        }
        if (letter == '?' || !take(letter, optarg, options))
            return EXIT_USAGE;
    }
    if (!take_role(argc - optind, argv + optind, options)) {
        complain("wanted is \"server\", \"client HOST\", \"compare OLD.json NEW.json\" or "
                 "--loopback; --help says more");
        return EXIT_USAGE;
    }
    return complete(options) ? -1 : EXIT_USAGE;
}
