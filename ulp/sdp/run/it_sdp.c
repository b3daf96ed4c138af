/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_sdp [OPTIONS] PROGRAM ARGS: runs a program whose TCP sockets become SDP where the peer
 * supports it.
 */
#include "policy/sdp_policy.h"
#include "run/sdp_explain.h"
#include "ulp/launch/launch_program.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Exit statuses as in a shell. */
#define CANNOT_RUN 126
#define NOT_FOUND  127

#define KEY_OCTETS 16

static const char usage_text[] =
    "it_sdp [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "it_sdp [OPTIONS] --explain client|server PROGRAM ADDRESS:PORT\n"
    "\n"
    "Runs PROGRAM and its children with TCP sockets that go over RDMA (SDP) where the program at "
    "the\n"
    "other end runs under it_sdp, too, and stay TCP where it does not.\n"
    "\n"
    "  --config=FILE   rules, instead of " SDP_SYSCONFDIR "/itapi/sdp.conf\n"
    "  --key=FILE      what the hosts of a site share, instead of " SDP_SYSCONFDIR
    "/itapi/sdp.key or\n"
    "                  ~/.config/itapi/sdp.key, which is made if there is none\n"
    "  --explain       says what would become of a connection, and by which rule. ADDRESS is the\n"
    "                  peer's of a client, the own one of a server; IPv6 in brackets\n"
    "  --help          this text\n"
    "\n"
    "docs/sdp.md has the rules.\n";

static int complain(const char *what)
{
    (void)fprintf(stderr, "it_sdp: %s: %s\n", what, strerror(errno));
    return CANNOT_RUN;
}

static bool misused(const char *text, int *status)
{
    (void)fprintf(stderr, "it_sdp: %s\n", text);
    *status = CANNOT_RUN;
    return false;
}

/* ---- Options -------------------------------------------------------------------------------- */

static bool explain;

/* Sets the variable to an absolute path, valid from any directory. */
static bool put_path(const char *variable, const char *path, int *status)
{
    char whole[PATH_MAX];

    if (realpath(path, whole) && setenv(variable, whole, 1) == 0)
        return true;
    *status = complain(path);
    return false;
}

/* Returns false if the program must end with *status. */
static bool read_options(int argc, char **argv, int *status)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"key", required_argument, NULL, 'k'},
        {"explain", no_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    /* "+": options after the program's name belong to that program. */
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
        case 'k':
            if (!put_path(option == 'c' ? "IT_SDP_CONFIG" : "IT_SDP_KEY", optarg, status))
                return false;
            break;
        case 'e':
            explain = true;
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

/* ---- The key -------------------------------------------------------------------------------- */

/* Creates the directories of the path; new ones are for their owner only. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            *slash = '/';
            return false;
        }
        *slash = '/';
    }
    return true;
}

/* Writes the key completely or not at all, though several programs may start at once. */
static bool write_key(const char *path)
{
    unsigned char octets[KEY_OCTETS];
    char *other = NULL;
    FILE *file;
    bool done;

    if (getrandom(octets, sizeof(octets), 0) != sizeof(octets) ||
        asprintf(&other, "%s.%ld", path, (long)getpid()) < 0)
        return false;
    file = fopen(other, "wxe");
    done = file && fchmod(fileno(file), 0600) == 0;
    for (int i = 0; done && i < KEY_OCTETS; i++)
        done = fprintf(file, "%02x", octets[i]) == 2;
    done = done && fputc('\n', file) != EOF;
    if (file && fclose(file) != 0)
        done = false;
    done = done && (link(other, path) == 0 || errno == EEXIST);
    if (file)
        (void)unlink(other);
    free(other);
    return done;
}

/* Without a key, programs on other hosts are strangers; there is no other effect. */
static void make_key(const struct sdp_policy *policy)
{
    char *path;

    if (sdp_policy_settings(policy)->key_file)
        return;
    path = sdp_policy_home_key();
    if (path && make_folders(path))
        (void)write_key(path);
    free(path);
}

/* ---- The program ---------------------------------------------------------------------------- */

/* Finds the library relative to this program, as installed or built. */
static bool find_library(char found[PATH_MAX])
{
    static const char *const places[] = {"../" SDP_LIBDIR, "../lib"};
    char folder[PATH_MAX];
    char path[PATH_MAX * 2];
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    if (length <= 0)
        return false;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s/libitsdp.so", folder, places[i]);
        if (access(path, R_OK) == 0)
            return realpath(path, found) != NULL;
    }
    return false;
}

static bool put_in_front(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *joined = NULL;
    bool done;

    if (!before || before[0] == '\0')
        return setenv("LD_PRELOAD", library, 1) == 0;
    if (asprintf(&joined, "%s:%s", library, before) < 0)
        return false;
    done = setenv("LD_PRELOAD", joined, 1) == 0;
    free(joined);
    return done;
}

/* Prints one line if the sockets of the program will stay TCP; the program runs anyway. */
static void warn(const char *path)
{
    static const char *const why[] = {
        [LAUNCH_STATIC] = "is statically linked, so that no library can be put in front of it",
        [LAUNCH_PRIVILEGED] = "gets rights by its file (setuid, setgid or capabilities), so "
                              "that the system ignores LD_PRELOAD",
        [LAUNCH_FOREIGN] = "is built for another kind of processor than libitsdp.so",
    };
    enum launch_kind kind = launch_kind_of(path);

    if (kind != LAUNCH_FITS)
        (void)fprintf(stderr, "it_sdp: %s %s: it stays on TCP\n", path, why[kind]);
}

static int run_program(char **argv)
{
    char library[PATH_MAX];
    char path[PATH_MAX];
    int status;

    if (!find_library(library)) {
        (void)fputs("it_sdp: libitsdp.so is not beside it (../LIBDIR)\n", stderr);
        return CANNOT_RUN;
    }
    errno = launch_find(argv[0], path);
    if (errno == 0) {
        warn(path);
        if (!put_in_front(library))
            return complain("setenv");
        (void)execvp(path, argv); /* a script without "#!", too */
    }
    status = errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
    (void)complain(argv[0]);
    return status;
}

int main(int argc, char **argv)
{
    struct sdp_policy *policy;
    char *complaint;
    int status = 0;

    if (!read_options(argc, argv, &status))
        return status;
    if (sdp_policy_load(NULL, &policy, &complaint) != 0) {
        (void)fprintf(stderr, "it_sdp: %s\n", complaint ? complaint : strerror(ENOMEM));
        free(complaint);
        return CANNOT_RUN;
    }
    if (explain)
        status = sdp_explain(policy, argc - optind, argv + optind);
    else
        make_key(policy);
    sdp_policy_free(policy);
    return explain ? status : run_program(argv + optind);
}
