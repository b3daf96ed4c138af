/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_scenarios: measures situations that a ping-pong does not show. Each is compared with what it
 * should cost, in the same run.
 */
#include "scenario.h"

#include "common/output.h"
#include "scenario_offload.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    bool (*run)(struct scenario *scenario);
} scenarios[] = {{"target", scenario_target},
                 {"busy", scenario_busy},
                 {"sockets", scenario_sockets},
                 {"idle", scenario_idle},
                 {"flood", scenario_flood}};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* ---- Processes ------------------------------------------------------------------------------- */

static bool run_side(struct scenario *scenario, const bool wanted[SCENARIOS])
{
    for (unsigned i = 0; i < SCENARIOS; i++)
        if (wanted[i] && !scenarios[i].run(scenario))
            return false;
    return true;
}

static bool prepare(struct scenario *scenario, int channel[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
        complain_errno("socketpair");
        return false;
    }
    scenario->wake_fd = eventfd(0, EFD_CLOEXEC);
    scenario->shared = mmap(NULL, sizeof(*scenario->shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (scenario->wake_fd >= 0 && scenario->shared != MAP_FAILED)
        return true;
    complain_errno("what both processes share");
    return false;
}

/* The server is forked before either side uses the library, since threads do not survive a fork. */
static int run(struct scenario *scenario, const bool wanted[SCENARIOS], bool strict)
{
    int channel[2];
    int status = 0;
    pid_t server;
    bool good;

    if (!prepare(scenario, channel))
        return EXIT_FAILED;
    server = fork();
    if (server < 0) {
        complain_errno("fork");
        return EXIT_FAILED;
    }
    scenario->server = server == 0;
    scenario->channel = channel[server == 0 ? 1 : 0];
    (void)close(channel[server == 0 ? 0 : 1]);
    if (server == 0)
        exit(run_side(scenario, wanted) ? EXIT_FINE : EXIT_FAILED);
    scenario_report_head(scenario);
    good = run_side(scenario, wanted);
    /* After a failure here the server may still compute or wait. */
    if (!good)
        (void)kill(server, SIGTERM);
    if (waitpid(server, &status, 0) != server || status != 0 || !good)
        return EXIT_FAILED;
    return strict && scenario->missed ? EXIT_FAILED : EXIT_FINE;
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void usage(FILE *stream)
{
    (void)fputs(
        "it_scenarios [OPTIONS] [SCENARIO...]   measures on this machine's loopback\n"
        "  target             an RDMA Read of a target that computes\n"
        "  busy               2 to 16 endpoints busy at once, 1 and 2 threads\n"
        "  sockets            the same over plain TCP: what the machine has\n"
        "  idle               up to --endpoints idle ones beside a busy one, and nothing at all\n"
        "  flood              16 and 200 connections of peers that flood beside a busy one\n"
        "  --runs N           of each kind, alternating; default 5\n"
        "  --rounds N         messages of a run of target and idle; default 4000\n"
        "  --seconds S        that a run of busy takes; default 0.15\n"
        "  --endpoints N      default 10000\n"
        "  --idle-time S      default 10\n"
        "  --match TEXT       those rows only that have it in their name\n"
        "  --json             one object a line\n"
        "  --strict           fail when a limit is missed\n"
        "  --help             this text\n"
        "it_scenarios offload INTERFACE on|off    segmentation offload of an interface\n"
        "Exit status: 0 done, 1 something failed, 2 wrong usage.\n",
        stream);
}

static bool parse_number(const char *text, double least, double most, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    if (errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most)
        return true;
    complain("not a number from %g to %g: %s", least, most, text);
    return false;
}

static bool parse_option(struct scenario *scenario, int option, bool *strict)
{
    double value;
    bool good = true;

    if (option == 'j')
        scenario->json = true;
    else if (option == 'm')
        scenario->match = optarg;
    else if (option == 's')
        *strict = true;
    else if (option == 'r' && (good = parse_number(optarg, 1, 1000, &value)))
        scenario->runs = (unsigned)value;
    else if (option == 'n' && (good = parse_number(optarg, 1, 1e6, &value)))
        scenario->rounds = (size_t)value;
    else if (option == 'e' && (good = parse_number(optarg, 1, 1e6, &value)))
        scenario->endpoints = (size_t)value;
    else if (option == 't')
        good = parse_number(optarg, 0.001, 60, &scenario->seconds);
    else if (option == 'i')
        good = parse_number(optarg, 0, 3600, &scenario->idle_time);
    else if (option == '?' || option == 'h')
        good = false;
    return good;
}

static bool parse_names(char **names, bool wanted[SCENARIOS])
{
    for (unsigned i = 0; i < SCENARIOS; i++)
        wanted[i] = *names == NULL;
    for (; *names != NULL; names++) {
        unsigned i = 0;

        while (i < SCENARIOS && strcmp(*names, scenarios[i].name) != 0)
            i++;
        if (i == SCENARIOS) {
            complain("no such scenario: %s", *names);
            return false;
        }
        wanted[i] = true;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"runs", required_argument, NULL, 'r'},
                                          {"rounds", required_argument, NULL, 'n'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"endpoints", required_argument, NULL, 'e'},
                                          {"idle-time", required_argument, NULL, 'i'},
                                          {"match", required_argument, NULL, 'm'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"strict", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct scenario scenario = {
        .runs = 5, .rounds = 4000, .seconds = 0.15, .idle_time = 10, .endpoints = 10000};
    bool wanted[SCENARIOS] = {false};
    bool strict = false;
    int option;

    output_begin();
    report_program("it_scenarios");
    if (argc == 4 && strcmp(argv[1], "offload") == 0)
        return offload_set(argv[2], argv[3]);
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (!parse_option(&scenario, option, &strict)) {
            usage(option == 'h' ? stdout : stderr);
            return output_end(option == 'h' ? EXIT_FINE : EXIT_USAGE);
        }
    }
    if (!parse_names(argv + optind, wanted)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* for the channel to a process that has failed */
    return output_end(run(&scenario, wanted, strict));
}
