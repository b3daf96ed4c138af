/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the cases with two processes each, and reports their results. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite/suite.h"

#define CASE_SECONDS (time_limit_ms(60000) / 1000)

static const struct suite_case *const tables[] = {
    suite_connect_cases,   suite_end_cases,      suite_transfer_cases, suite_queue_cases,
    suite_access_cases,    suite_window_cases,   suite_srq_cases,      suite_atomic_cases,
    suite_immediate_cases, suite_datagram_cases, suite_event_cases,    suite_thread_cases,
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

enum outcome {
    PASSED,
    FAILED,
    SKIPPED,
};

static struct suite_place places[2]; /* the far side's, the near side's */

static void usage(void)
{
    fputs("suite [--must FEATURE,...] [CASE...]\n"
          "suite --list\n"
          "\n"
          "Runs the cases (all, or those whose name begins like one that is given) between two\n"
          "processes. In the environment, with default:\n"
          "  ITAPI_TEST_INTERFACE        Interface of the near side, which connects; uiwarp\n"
          "  ITAPI_TEST_ADDRESS          an address of it; 127.0.0.1\n"
          "  ITAPI_TEST_PEER_INTERFACE   of the far side; that of the near side\n"
          "  ITAPI_TEST_PEER_ADDRESS     that of the near side\n"
          "  ITAPI_TEST_PEER_NAMESPACE   network namespace of the far side; ours\n"
          "  ITAPI_TEST_CUT              a command that cuts the cable between the two; none\n"
          "--must: what the Interface of the near side has to have, so that nothing is skipped\n"
          "for the lack of it.\n"
          "Exit status: 0, 1 if a case has failed, 77 if there is no such Interface.\n",
          stderr);
}

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : otherwise;
}

/* ---- Before the first case ------------------------------------------------------------------- */

/* Runs in a process of its own, so that this process never uses the library. */
static void look(const char *must)
{
    struct itx_features features = {.size = sizeof(features)};
    it_ia_handle_t ia = NULL;
    it_ia_info_t *info = NULL;
    uint32_t has;

    for (size_t i = 0; i < 2; i++) {
        if (it_ia_create(places[i].interface, 2, 1, &ia) != IT_SUCCESS) {
            printf("skipped: no Interface %s\n", places[i].interface);
            exit(SUITE_SKIPPED);
        }
        if (i == 0)
            CHECK_OK(it_ia_free(ia));
    }
    CHECK_OK(it_ia_query(ia, &info));
    CHECK_OK(itx_ia_query_features(ia, &features));
    has = suite_features(info, &features);
    while (*must != '\0') {
        size_t length = strcspn(must, ",");
        uint32_t feature = suite_feature_named(must, length);

        if (feature == 0)
            CHECK_FAIL("no such feature: %.*s", (int)length, must);
        if ((has & feature) == 0)
            CHECK_FAIL("%s has no %s", places[1].interface, suite_feature_name(feature));
        must += length + (must[length] == ',');
    }
    it_ia_info_free(info);
    CHECK_OK(it_ia_free(ia));
    exit(0);
}

static int look_first(const char *must)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        look(must);
    if (pid == -1 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

/* ---- One case -------------------------------------------------------------------------------- */

/* Starts a process that does not outlive this one. */
static pid_t side_start(const struct suite_case *that, bool near, const int pipe[2])
{
    pid_t pid = fork();

    if (pid == -1) {
        perror("fork");
        exit(1);
    }
    if (pid == 0) {
        sigset_t none;

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)close(pipe[!near]);
        suite_side_run(that, near, pipe[near], &places[near], &places[!near]);
    }
    return pid;
}

static enum outcome side_outcome(const struct suite_case *that, bool near, int status)
{
    bool dies = !near && that->far_dies;

    if (WIFEXITED(status) && WEXITSTATUS(status) == SUITE_SKIPPED)
        return SKIPPED;
    if (dies && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return PASSED;
    if (!dies && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PASSED;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: the %s side was ended by signal %d\n", that->name,
                near ? "near" : "far", WTERMSIG(status));
    else if (dies && WEXITSTATUS(status) == 0)
        fprintf(stderr, "%s: the far side was not killed\n", that->name);
    return FAILED;
}

static double now(void)
{
    return (double)fx_now_us() / 1e6;
}

/* Sleeps until a process has ended or the case's time is over. Returns false if none has ended. */
static bool child_ends(double deadline)
{
    struct timespec left;
    sigset_t children;
    double seconds = deadline - now();

    if (seconds <= 0)
        return false;
    left.tv_sec = (time_t)seconds;
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    return sigtimedwait(&children, NULL, &left) != -1 || errno == EINTR;
}

static enum outcome sides_wait(const struct suite_case *that, pid_t pid[2])
{
    double deadline = now() + CASE_SECONDS;
    enum outcome outcome = PASSED;

    while (pid[0] != 0 || pid[1] != 0) {
        for (int near = 0; near < 2; near++) {
            enum outcome side = PASSED;
            int status = 0;

            if (pid[near] == 0 || waitpid(pid[near], &status, WNOHANG) != pid[near])
                continue;
            pid[near] = 0;
            if (outcome != FAILED)
                side = side_outcome(that, near != 0, status);
            if (side != PASSED)
                outcome = side;
            if (side == FAILED && pid[!near] != 0)
                (void)kill(pid[!near], SIGKILL);
        }
        if ((pid[0] != 0 || pid[1] != 0) && !child_ends(deadline)) {
            fprintf(stderr, "%s: not done in %d s\n", that->name, CASE_SECONDS);
            outcome = FAILED;
            for (int near = 0; near < 2; near++) {
                if (pid[near] != 0) {
                    (void)kill(pid[near], SIGKILL);
                    (void)waitpid(pid[near], NULL, 0);
                    pid[near] = 0;
                }
            }
        }
    }
    return outcome;
}

static enum outcome run(const struct suite_case *that)
{
    double start = now();
    enum outcome outcome;
    pid_t pid[2];
    int pipe[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipe) != 0) {
        perror("socketpair");
        exit(1);
    }
    pid[0] = side_start(that, false, pipe);
    pid[1] = side_start(that, true, pipe);
    (void)close(pipe[0]);
    (void)close(pipe[1]);
    outcome = sides_wait(that, pid);
    if (outcome != SKIPPED)
        printf("%s: %s (%.2f s)\n", outcome == PASSED ? "passed" : "FAILED", that->name,
               now() - start);
    fflush(stdout);
    return outcome;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool chosen(const struct suite_case *that, char **names)
{
    if (*names == NULL)
        return true;
    for (; *names != NULL; names++) {
        if (strncmp(that->name, *names, strlen(*names)) == 0)
            return true;
    }
    return false;
}

static void list(void)
{
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct suite_case *that = tables[i]; that->name != NULL; that++)
            printf("%s\n", that->name);
    }
}

static int run_chosen(char **names)
{
    unsigned count[3] = {0};
    double start = now();
    sigset_t children;

    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &children, NULL);
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct suite_case *that = tables[i]; that->name != NULL; that++) {
            if (chosen(that, names))
                count[run(that)]++;
        }
    }
    printf("%s, %s to %s, %s: %u passed, %u failed, %u skipped (%.1f s)\n", places[1].interface,
           places[1].address, places[0].interface, places[0].address, count[PASSED], count[FAILED],
           count[SKIPPED], now() - start);
    if (count[PASSED] + count[FAILED] + count[SKIPPED] == 0) {
        fputs("no such case\n", stderr);
        return 2;
    }
    return count[FAILED] == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *must = "";
    int status;

    places[1].interface = setting("ITAPI_TEST_INTERFACE", "uiwarp");
    places[1].address = setting("ITAPI_TEST_ADDRESS", "127.0.0.1");
    places[0].interface = setting("ITAPI_TEST_PEER_INTERFACE", places[1].interface);
    places[0].address = setting("ITAPI_TEST_PEER_ADDRESS", places[1].address);
    places[0].net_namespace = setting("ITAPI_TEST_PEER_NAMESPACE", NULL);
    argv++;
    if (argc > 2 && strcmp(*argv, "--must") == 0) {
        must = argv[1];
        argv += 2;
    }
    if (*argv != NULL && strcmp(*argv, "--list") == 0) {
        list();
        return 0;
    }
    if (*argv != NULL && **argv == '-') {
        usage();
        return 2;
    }
    status = look_first(must);
    fflush(stdout);
    return status != 0 ? status : run_chosen(argv);
}
