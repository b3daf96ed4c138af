/* SPDX-License-Identifier: BSD-2-Clause */
/* it_run [OPTIONS] PROGRAM ARGS: runs a program of libibverbs or librdmacm on uiwarp. */
#include "run/ofa_class_dir.h"
#include "ulp/launch/launch_program.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses as in a shell. */
#define CANNOT_RUN 126
#define NOT_FOUND  127

static const char usage_text[] =
    "it_run [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM, which uses libibverbs or librdmacm, on uiwarp: RDMA on ordinary TCP, with no\n"
    "device, no kernel module and no privilege. Its children run on it, too.\n"
    "\n"
    "  --iwarp                    devices say that they are iWARP cards; else they say RoCE\n"
    "  --completions=peer|local   a completion says that the peer has the data (as it is at\n"
    "                             first), or only that the buffer may be used again\n"
    "  --class-dir=FOLDER         writes into FOLDER what the kernel shows of devices, and has "
    "the\n"
    "                             program find it below /sys/class/infiniband, /dev/infiniband\n"
    "  --help                     this text\n"
    "\n"
    "Environment: ITAPI_LOG=info logs each requested feature that is missing.\n";

static int complain(const char *what)
{
    (void)fprintf(stderr, "it_run: %s: %s\n", what, strerror(errno));
    return CANNOT_RUN;
}

/* ---- Where the libraries are ---------------------------------------------------------------- */

/* Gets the folder of this program. */
static bool own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    if (length <= 0)
        return false;
    folder[length] = '\0';
    slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Finds the libraries relative to this program, installed or in a build folder. */
static bool find_libraries(char found[PATH_MAX])
{
    static const char *const places[] = {"../" OFA_LIBDIR "/itapi/ofa", "../lib/itapi/ofa"};
    char folder[PATH_MAX];
    char path[PATH_MAX * 2];

    if (!own_folder(folder))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s/libibverbs.so.1", folder, places[i]);
        if (access(path, R_OK) != 0)
            continue;
        *strrchr(path, '/') = '\0';
        return realpath(path, found) != NULL;
    }
    return false;
}

/* ---- Environment ---------------------------------------------------------------------------- */

static bool put_in_front(const char *variable, const char *value)
{
    const char *before = getenv(variable);
    char *joined = NULL;
    bool done;

    if (!before || before[0] == '\0')
        return setenv(variable, value, 1) == 0;
    if (asprintf(&joined, "%s:%s", value, before) < 0)
        return false;
    done = setenv(variable, joined, 1) == 0;
    free(joined);
    return done;
}

/* Sets a variable. Returns false with *status if that fails. */
static bool put(const char *variable, const char *value, int *status)
{
    if (setenv(variable, value, 1) == 0)
        return true;
    *status = complain("setenv");
    return false;
}

/* Argument of --class-dir. */
static const char *class_dir;

static bool misused(const char *text, int *status)
{
    (void)fprintf(stderr, "it_run: %s\n", text);
    *status = CANNOT_RUN;
    return false;
}

/* Returns true to go on; otherwise *status is the exit status. */
static bool read_options(int argc, char **argv, int *status)
{
    static const struct option options[] = {
        {"iwarp", no_argument, NULL, 'i'},
        {"completions", required_argument, NULL, 'c'},
        {"class-dir", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    /* "+": options after the program belong to the program. */
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (option) {
        case 'i':
            if (!put("ITAPI_OFA_MODEL", "iwarp", status))
                return false;
            break;
        case 'c':
            if (strcmp(optarg, "peer") != 0 && strcmp(optarg, "local") != 0)
                return misused("--completions is peer or local", status);
            if (!put("ITAPI_OFA_COMPLETIONS", optarg, status))
                return false;
            break;
        case 'd':
            class_dir = optarg;
            break;
        case 'h':
            (void)fputs(usage_text, stdout);
            *status = 0;
            return false;
        default:
            return misused("--help tells how it is used", status);
        }
    }
    if (optind < argc)
        return true;
    return misused("no program is given; --help tells more", status);
}

/* Sets up --class-dir. Returns false with a line on stderr. */
static bool redirect(const char *libraries)
{
    char path[PATH_MAX * 2];
    char folder[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/libibverbs.so.1", libraries);
    if (!ofa_class_dir_fill(class_dir, path))
        return false;
    (void)snprintf(path, sizeof(path), "%s/libitapi_redirect.so", libraries);
    if (realpath(class_dir, folder) && setenv("ITAPI_OFA_CLASS_DIR", folder, 1) == 0 &&
        put_in_front("LD_PRELOAD", path))
        return true;
    (void)complain(class_dir);
    return false;
}

/* Prints one line if the libraries have no effect on the program, which runs anyway. */
static void warn(const char *path)
{
    static const char *const why[] = {
        [LAUNCH_STATIC] = "is statically linked",
        [LAUNCH_PRIVILEGED] = "gets rights by its file (setuid, setgid or capabilities)",
        [LAUNCH_FOREIGN] = "is built for another kind of processor",
    };
    enum launch_kind kind = launch_kind_of(path);

    if (kind != LAUNCH_FITS)
        (void)fprintf(stderr, "it_run: %s %s, so it does not use uiwarp\n", path, why[kind]);
}

int main(int argc, char **argv)
{
    char libraries[PATH_MAX];
    char path[PATH_MAX];
    int status = 0;

    if (!read_options(argc, argv, &status))
        return status;
    if (!find_libraries(libraries)) {
        (void)fputs("it_run: its libraries are not beside it (LIBDIR/itapi/ofa)\n", stderr);
        return CANNOT_RUN;
    }
    if (!put_in_front("LD_LIBRARY_PATH", libraries))
        return complain("setenv");
    if (class_dir && !redirect(libraries))
        return CANNOT_RUN;
    errno = launch_find(argv[optind], path);
    if (errno == 0) {
        warn(path);
        (void)execvp(path, &argv[optind]); /* a script without "#!", too */
    }
    status = errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
    (void)complain(argv[optind]);
    return status;
}
