/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_trace: the counters of a running process, read from the socket that ITAPI_STATS makes it open.
 */
#include "it_trace_print.h"

#include "common/output.h"
#include <itx_api.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2
};

static const char usage[] =
    "it_trace [OPTIONS] PATH|PID: counters of a process that runs with ITAPI_STATS in its "
    "environment\n"
    "\n"
    "  PATH                  its socket: the value of ITAPI_STATS, or itapi.PID in the folder of "
    "that name\n"
    "  PID                   the process; its environment names the socket (a PATH of digits: "
    "./123)\n"
    "  -j, --json            JSON instead of text; with --watch one value after the other\n"
    "  -w, --watch SECONDS   every SECONDS, with rates, until the process ends\n"
    "  -n, --count N         with --watch: N times\n"
    "      --version\n"
    "  -h, --help            this text\n"
    "\n"
    "The text leaves out counters that are 0.\n"
    "Exit status: 0 fine; 1 nothing could be read, or not all of it; 2 wrong arguments.\n";

/* ---------------------------------------------------------------- the socket of a process */

/*
 * Gets the value of ITAPI_STATS from an environment in the kernel's form. Returns false if there is
 * none.
 */
static bool find_in_environment(FILE *environment, char *value, size_t size)
{
    static const char name[] = "ITAPI_STATS=";
    char *entry = NULL;
    size_t room = 0;
    bool found = false;

    while (!found && getdelim(&entry, &room, '\0', environment) >= 0) {
        found = strncmp(entry, name, sizeof(name) - 1) == 0 && entry[sizeof(name) - 1];
        if (found)
            (void)snprintf(value, size, "%s", entry + sizeof(name) - 1);
    }
    free(entry);
    return found;
}

static bool path_of_process(const char *pid, char *path, size_t size)
{
    char value[PATH_MAX];
    char name[PATH_MAX];
    struct stat file;
    FILE *environment;
    bool found;
    int length;

    (void)snprintf(name, sizeof(name), "/proc/%s/environ", pid);
    environment = fopen(name, "r");
    if (!environment) {
        fprintf(stderr, "it_trace: process %s: %s\n", pid, strerror(errno));
        return false;
    }
    found = find_in_environment(environment, value, sizeof(value));
    (void)fclose(environment);
    if (!found) {
        fprintf(stderr, "it_trace: process %s was not started with ITAPI_STATS\n", pid);
        return false;
    }
    if (value[0] == '/')
        length = snprintf(path, size, "%s", value);
    else
        length = snprintf(path, size, "/proc/%s/cwd/%s", pid, value);
    if (length > 0 && (size_t)length < size &&
        (path[length - 1] == '/' || (stat(path, &file) == 0 && S_ISDIR(file.st_mode))))
        length += snprintf(path + length, size - (size_t)length, "/itapi.%s", pid);
    if (length < 0 || (size_t)length >= size) {
        fprintf(stderr, "it_trace: process %s: its ITAPI_STATS is too long\n", pid);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- printing repeatedly */

struct wish {
    bool json;
    double seconds;      /* 0: once */
    unsigned long count; /* 0: unlimited */
};

static void pause_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int trace(const char *path, const struct wish *wish)
{
    struct snapshot before = {0};
    struct snapshot now;

    for (unsigned long i = 0;; i++) {
        if (!snapshot_take(&now, path))
            break;
        (wish->json ? trace_print_json : trace_print_text)(&now, i > 0 ? &before : NULL);
        if (!output_is_good())
            break;
        snapshot_free(&before);
        before = now;
        if (wish->seconds <= 0 || i + 1 == wish->count) {
            snapshot_free(&before);
            return EXIT_FINE;
        }
        pause_for(wish->seconds);
        if (!wish->json)
            putchar('\n');
    }
    snapshot_free(&before);
    return EXIT_FAILED;
}

/* ---------------------------------------------------------------- arguments */

/* Returns false if the text is no valid number. */
static bool parse_seconds(const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds >= 0.01 && *seconds <= 1e6;
}

static bool parse_count(const char *text, unsigned long *count)
{
    char *end;

    errno = 0;
    *count = strtoul(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* Returns an exit status, or -1 to continue. */
static int parse(int argc, char **argv, struct wish *wish)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},        {"watch", required_argument, NULL, 'w'},
        {"count", required_argument, NULL, 'n'}, {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    const char *wrong = NULL;
    int option;

    while (!wrong && (option = getopt_long(argc, argv, "jw:n:h", options, NULL)) != -1) {
        switch (option) {
        case 'h':
            fputs(usage, stdout);
            return EXIT_FINE;
        case 'V':
            printf("it_trace %s\n", itx_version());
            return EXIT_FINE;
        case 'j':
            wish->json = true;
            break;
        case 'w':
            wrong = parse_seconds(optarg, &wish->seconds) ? NULL : "--watch takes 0.01 s or more";
            break;
        case 'n':
            wrong = parse_count(optarg, &wish->count) ? NULL : "--count takes 1 or more";
            break;
        default: /* getopt has printed the message */
            return EXIT_USAGE;
        }
    }
    if (!wrong && wish->count > 0 && wish->seconds <= 0)
        wrong = "--count is for --watch";
    if (!wrong && (argc - optind != 1 || !argv[optind][0]))
        wrong = "wanted is one PATH or PID; --help says more";
    if (!wrong)
        return -1;
    fprintf(stderr, "it_trace: %s\n", wrong);
    return EXIT_USAGE;
}

/* Returns an exit status. */
static int run(const char *target, const struct wish *wish)
{
    char path[PATH_MAX];

    if (target[strspn(target, "0123456789")] != '\0')
        return trace(target, wish);
    return path_of_process(target, path, sizeof(path)) ? trace(path, wish) : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct wish wish = {0};
    int status;

    output_begin();
    status = parse(argc, argv, &wish);
    if (status < 0)
        status = run(argv[optind], &wish);
    return output_end(status);
}
