/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals and the library's threads. A signal sent to the process goes to a thread of the program.
 * A fault in the IA's thread reaches the program's handler like a fault in any other thread.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/threads.h"
#include "support/test_row.h"

Test(api_signals, threads_of_the_library)
{
    struct threads before = threads_now(), now, fresh;
    struct fx_pair pair;

    fx_pair_open(&pair);
    now = threads_now();
    fresh = threads_since(&before, &now);
    CHECK_EQ(2, fresh.count); /* one for each IA */
    threads_check_masks(&fresh);
    fx_pair_close(&pair);
}

/* The mask of the thread that opens the IA makes no difference. */
Test(api_signals, opened_with_everything_blocked)
{
    struct threads before = threads_now(), now, fresh;
    sigset_t all, mine, blocked, after;
    struct fx_node node;

    (void)sigfillset(&all);
    CHECK_EQ(0, pthread_sigmask(SIG_SETMASK, &all, &mine));
    CHECK_EQ(0, pthread_sigmask(SIG_SETMASK, NULL, &blocked));
    fx_node_open(&node);
    now = threads_now();
    fresh = threads_since(&before, &now);
    threads_check_masks(&fresh);
    CHECK_EQ(0, pthread_sigmask(SIG_SETMASK, &mine, &after));
    for (int signal = 1; signal < SIGRTMIN; signal++)
        CHECK_EQ(sigismember(&blocked, signal), sigismember(&after, signal));
    fx_node_close(&node);
}

/* ---- Faults in a callback ------------------------------------------------------------------- */

enum fault {
    FAULT_ADDRESS, /* memory without access */
    FAULT_FILE,    /* mapped memory beyond the end of a file */
    FAULT_RAISED,
};

static struct {
    enum fault fault;
    int signal; /* with FAULT_RAISED */
    volatile unsigned char *memory;
    size_t page;
    int file;
    /* Set by the handler. */
    atomic_int caught;
    atomic_int thread;
    void *_Atomic address;
    atomic_bool gone_on; /* the callback has continued */
} scene;

static void handler(int signal, siginfo_t *info, void *context)
{
    (void)context;
    atomic_store(&scene.caught, signal);
    atomic_store(&scene.thread, fx_thread_id());
    atomic_store(&scene.address, info->si_addr);
    if (scene.fault == FAULT_ADDRESS)
        (void)mprotect((void *)(uintptr_t)scene.memory, scene.page, PROT_READ | PROT_WRITE);
    if (scene.fault == FAULT_FILE)
        (void)!ftruncate(scene.file, (off_t)scene.page);
}

static void at_fault(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    (void)argument;
    CHECK_OK(it_evd_dequeue(evd, &event));
    if (scene.fault == FAULT_RAISED)
        (void)raise(scene.signal);
    else
        *scene.memory = 1; /* repeated after the handler has returned */
    atomic_store(&scene.gone_on, true);
}

static void set_scene(enum fault fault, int signal)
{
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    void *memory = MAP_FAILED;

    memset(&scene, 0, sizeof(scene));
    scene.fault = fault;
    scene.signal = signal;
    scene.page = (size_t)sysconf(_SC_PAGESIZE);
    scene.file = memfd_create("fault", MFD_CLOEXEC);
    CHECK(scene.file >= 0);
    if (fault == FAULT_FILE)
        memory = mmap(NULL, scene.page, PROT_READ | PROT_WRITE, MAP_SHARED, scene.file, 0);
    else
        memory = mmap(NULL, scene.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    scene.memory = memory;
    CHECK_EQ(0, sigaction(signal, &action, NULL));
}

static void fault_in_a_callback(enum fault fault, int signal)
{
    it_evd_handle_t evd;
    struct fx_node node;

    set_scene(fault, signal);
    fx_node_open(&node);
    evd = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 1);
    CHECK_OK(it_evd_callback_attach(evd, at_fault, NULL));
    CHECK_OK(it_evd_post_se(evd, NULL));
    FX_WAIT_WHILE(!atomic_load(&scene.gone_on), "the callback");
    CHECK_EQ(signal, atomic_load(&scene.caught));
    CHECK(atomic_load(&scene.thread) != fx_thread_id());
    if (fault != FAULT_RAISED)
        CHECK(atomic_load(&scene.address) == (void *)(uintptr_t)scene.memory);
    CHECK_OK(it_evd_callback_detach(evd));
    CHECK_OK(it_evd_free(evd));
    fx_node_close(&node);
    (void)munmap((void *)(uintptr_t)scene.memory, scene.page);
    (void)close(scene.file);
}

TEST_ROW(api_signals, a_callback_touches_what_it_may_not, fault_in_a_callback, FAULT_ADDRESS,
         SIGSEGV);
TEST_ROW(api_signals, a_callback_reads_behind_the_end_of_a_file, fault_in_a_callback, FAULT_FILE,
         SIGBUS);

Test(api_signals, a_callback_raises_what_faults_raise)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        fault_in_a_callback(FAULT_RAISED, signals[i]);
}

/* The signal goes to the thread that does not block it. */
Test(api_signals, a_sent_signal_is_the_programs)
{
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct fx_pair pair;

    memset(&scene, 0, sizeof(scene));
    scene.fault = FAULT_RAISED;
    CHECK_EQ(0, sigaction(SIGUSR1, &action, NULL));
    fx_pair_open(&pair);
    CHECK_EQ(0, kill(getpid(), SIGUSR1)); /* delivered before kill returns */
    CHECK_EQ(SIGUSR1, atomic_load(&scene.caught));
    CHECK_EQ(fx_thread_id(), atomic_load(&scene.thread));
    fx_pair_close(&pair);
}
