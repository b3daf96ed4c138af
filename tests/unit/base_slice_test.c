/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what the IA's thread asks of the scheduler, as far as this kernel grants it to anybody. */
#include "base/base_slice.h"
#include "unit/evd_fixture.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS UINT64_C(200000)

/* The kernel's struct sched_attr: its header conflicts with sched.h. */
struct attr {
    uint32_t size;
    uint32_t sched_policy;
    uint64_t sched_flags;
    int32_t sched_nice;
    uint32_t sched_priority;
    uint64_t sched_runtime, sched_deadline, sched_period;
};

static struct attr attr_of(int thread)
{
    struct attr attr = {.size = 0};

    cr_assert_eq(syscall(SYS_sched_getattr, thread, &attr, sizeof(attr), 0), 0);
    return attr;
}

/* ---- What this kernel allows a thread of this process ---- */

static void *allowed_probe(void *argument)
{
    struct attr attr = attr_of(0);

    attr.sched_flags = 0;
    attr.sched_runtime = SLICE_NS;
    *(bool *)argument =
        syscall(SYS_sched_setattr, 0, &attr, 0) == 0 && attr_of(0).sched_runtime == SLICE_NS;
    return NULL;
}

static void on_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, run, argument), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

static bool is_allowed_here(void)
{
    bool allowed = false;

    cr_assert_eq(attr_of(0).sched_policy, SCHED_OTHER, "tests run as ordinary processes");
    on_thread(allowed_probe, &allowed);
    return allowed;
}

/* ---- A thread that asks ---- */

struct asked {
    int nice_before;
    struct attr after, child;
    int error;
};

static void *asked_child(void *argument)
{
    *(struct attr *)argument = attr_of(0);
    return NULL;
}

static void *asked_run(void *argument)
{
    struct asked *asked = argument;

    if (asked->nice_before != 0)
        cr_assert_eq(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), asked->nice_before), 0);
    errno = ENOTTY;
    base_slice_shorten(SLICE_NS);
    asked->error = errno;
    asked->after = attr_of(0);
    on_thread(asked_child, &asked->child);
    return NULL;
}

Test(base_slice, asks_for_short_turns)
{
    bool allowed = is_allowed_here();
    struct asked asked = {.nice_before = 0};
    int nice = attr_of(0).sched_nice;

    on_thread(asked_run, &asked);
    cr_assert_eq(asked.error, ENOTTY);
    if (allowed)
        cr_assert_eq(asked.after.sched_runtime, SLICE_NS);
    cr_assert_eq(asked.after.sched_nice, nice, "no more than its turns");
    cr_assert_eq(asked.child.sched_nice, nice, "what it starts is as it would have been");
}

Test(base_slice, leaves_a_chosen_niceness)
{
    bool allowed = is_allowed_here();
    struct asked asked = {.nice_before = attr_of(0).sched_nice < 19 ? 19 : 0};

    if (asked.nice_before == 0)
        cr_skip_test("as nice as can be already");
    on_thread(asked_run, &asked);
    cr_assert_eq(asked.after.sched_nice, asked.nice_before);
    if (allowed)
        cr_assert_eq(asked.after.sched_runtime, SLICE_NS);
}

static bool is_loop(int thread)
{
    char path[64];
    char name[32] = "";
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread);
    file = fopen(path, "r");
    if (!file)
        return false;
    (void)!fgets(name, sizeof(name), file);
    (void)fclose(file);
    return strcmp(name, "itapi-test\n") == 0;
}

static int find_loop(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    int found = 0;

    cr_assert_not_null(folder);
    while (!found && (entry = readdir(folder)) != NULL) {
        int thread = (int)strtol(entry->d_name, NULL, 10);

        if (thread > 0 && is_loop(thread))
            found = thread;
    }
    (void)closedir(folder);
    return found;
}

/* The thread asks before it sets its name. */
Test(base_slice, the_thread_of_an_ia_asks)
{
    bool allowed = is_allowed_here();
    int nice = attr_of(0).sched_nice;
    struct fixture fixture;
    struct attr attr;
    int thread;

    (void)fixture_start(&fixture);
    while ((thread = find_loop()) == 0)
        sched_yield();
    attr = attr_of(thread);
    if (allowed)
        cr_assert_leq(attr.sched_runtime, SLICE_NS);
    cr_assert_eq(attr.sched_nice, nice);
    fixture_stop(&fixture);
}
