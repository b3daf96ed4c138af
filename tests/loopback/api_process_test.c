/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library changes nothing in the process except its own sockets and threads, unless the program
 * asks for it.
 */
#include <criterion/criterion.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <event2/event.h>

#include "support/it_fixture.h"

#define LIMITS 16

struct process {
    struct sigaction actions[NSIG];
    sigset_t mask;
    struct rlimit limits[LIMITS];
    int niceness;
    int policy;
    mode_t umask;
    char directory[4096];
    char **environment;
    char *first_variable;
};

extern char **environ;

static void note(struct process *process)
{
    memset(process, 0, sizeof(*process));
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &process->actions[i]); /* fails for signals that libc uses */
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &process->mask) == 0);
    for (int i = 0; i < LIMITS; i++)
        CHECK(syscall(SYS_prlimit64, 0, i, NULL, &process->limits[i]) == 0);
    process->niceness = getpriority(PRIO_PROCESS, 0);
    process->policy = sched_getscheduler(0);
    process->umask = umask(0);
    (void)umask(process->umask);
    CHECK(getcwd(process->directory, sizeof(process->directory)) != NULL);
    process->environment = environ;
    process->first_variable = environ[0];
}

static bool is_same_action(const struct sigaction *one, const struct sigaction *other)
{
    return one->sa_handler == other->sa_handler && one->sa_flags == other->sa_flags;
}

static void check_same(const struct process *before)
{
    struct process now;

    note(&now);
    for (int i = 1; i < NSIG; i++)
        CHECK(is_same_action(&before->actions[i], &now.actions[i]));
    for (int i = 1; i < NSIG; i++)
        CHECK_EQ(sigismember(&before->mask, i), sigismember(&now.mask, i));
    CHECK(memcmp(before->limits, now.limits, sizeof(now.limits)) == 0);
    CHECK_EQ(before->niceness, now.niceness);
    CHECK_EQ(before->policy, now.policy);
    CHECK_EQ(before->umask, now.umask);
    CHECK(strcmp(before->directory, now.directory) == 0);
    CHECK(before->environment == now.environment && before->first_variable == now.first_variable);
}

Test(api_process, a_connection_changes_nothing)
{
    struct process before;
    struct fx_pair pair;

    note(&before);
    fx_pair_open(&pair);
    check_same(&before);
    fx_pair_ping(&pair);
    check_same(&before);
    fx_pair_close(&pair);
    check_same(&before);
}

/*
 * ---------------------------------------------------------------- niceness, when it is asked for
 */

/* Counts the threads of this process with that niceness. */
static unsigned threads_with(int niceness)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    unsigned count = 0;

    cr_assert_not_null(folder);
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            count += getpriority(PRIO_PROCESS, (id_t)strtoul(entry->d_name, NULL, 10)) == niceness;
    (void)closedir(folder);
    return count;
}

static bool other_may_be_favoured(void)
{
    struct rlimit limit;

    return geteuid() == 0 || (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur > 20);
}

Test(api_process, a_niceness_is_that_of_one_thread)
{
    int before = getpriority(PRIO_PROCESS, 0);
    it_ia_handle_t ia;

    if (before == 19)
        cr_skip_test("this process has the greatest niceness itself");
    CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_EQ(0, threads_with(19));
    CHECK_STATUS(IT_ERR_RANGE, itx_ia_set_niceness(ia, 20));
    CHECK_STATUS(IT_ERR_RANGE, itx_ia_set_niceness(ia, -21));
    CHECK_EQ(0, threads_with(19));
    CHECK_OK(itx_ia_set_niceness(ia, 19));
    CHECK_EQ(1, threads_with(19));
    CHECK_EQ(before, getpriority(PRIO_PROCESS, 0));
    CHECK_STATUS(other_may_be_favoured() ? IT_SUCCESS : IT_ERR_NO_PERMISSION,
                 itx_ia_set_niceness(ia, -20));
    CHECK_EQ(before, getpriority(PRIO_PROCESS, 0));
    CHECK_OK(it_ia_free(ia));
    CHECK_STATUS(IT_ERR_INVALID_IA, itx_ia_set_niceness(NULL, 0));
}

/*
 * On a base of the program the library has no thread, so it leaves the niceness of the program's
 * thread alone.
 */
Test(api_process, no_niceness_on_a_base_of_the_program)
{
    struct event_base *base = event_base_new();
    int before = getpriority(PRIO_PROCESS, 0);
    it_ia_handle_t ia;

    cr_assert_not_null(base);
    CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_OK(itx_ia_set_event_base(ia, base));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, itx_ia_set_niceness(ia, 19));
    CHECK_EQ(before, getpriority(PRIO_PROCESS, 0));
    CHECK_OK(it_ia_free(ia));
    event_base_free(base);
}
