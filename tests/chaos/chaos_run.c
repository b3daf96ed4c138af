/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_run SECONDS [SEED [SERVERS CLIENTS ENDPOINTS]]: starts the workers, plays faults on them,
 * and tells what happened.
 */
#include "chaos/chaos_link.h"
#include "support/time_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct chaos *chaos;

static const char *const count_names[COUNTS] = {
    "connected",      "attempts failed", "ended by plan", "ended by faults", "given up",
    "flushed",        "Sends",           "Writes",        "Reads",           "atomics",
    "octets checked", "lacks",           "generations",
};

enum trouble {
    TROUBLE_KILL,
    TROUBLE_STOP,
    TROUBLE_LACK, /* no descriptors */
    TROUBLES
};

static const char *const trouble_names[TROUBLES] = {"killed", "stopped", "without descriptors"};
static unsigned trouble_counts[TROUBLES];

/* The trouble of each worker, until a time. */
static struct {
    bool active;
    enum trouble trouble;
    uint64_t until_us;
} troubled[CHAOS_WORKERS];

static unsigned workers(void)
{
    return chaos->servers + chaos->clients;
}

uint64_t chaos_now_us(void)
{
    return atomic_load_explicit(&chaos->clock_us, memory_order_relaxed);
}

/* The clock of the run. It goes slower while the machine does not let this process run. */
static void clock_run(void)
{
    static uint64_t last_us;
    struct timespec now;
    uint64_t now_us;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
    if (last_us != 0)
        chaos->clock_us += now_us - last_us < 100000 ? now_us - last_us : 100000;
    last_us = now_us;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t chaos_number(uint64_t what, uint64_t pair, uint64_t attempt)
{
    return mixed(mixed(mixed(chaos->seed + what) + pair) + attempt);
}

void chaos_count(enum chaos_count count, uint64_t number)
{
    (void)atomic_fetch_add_explicit(&chaos->counts[count], number, memory_order_relaxed);
}

void chaos_fail(const char *format, ...)
{
    char text[CHAOS_TEXT];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (atomic_fetch_add(&chaos->failures, 1) < 60)
        fprintf(stderr, "chaos: %s\n", text);
}

void chaos_harm(uint32_t pair, uint32_t attempt)
{
    uint32_t last = atomic_load(&chaos->pairs[pair].harmed);

    while (last < attempt &&
           !atomic_compare_exchange_weak(&chaos->pairs[pair].harmed, &last, attempt))
        ;
}

bool chaos_is_harmed(uint32_t pair, uint32_t attempt)
{
    return atomic_load(&chaos->pairs[pair].harmed) >= attempt;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void worker_start(unsigned i)
{
    int process = fork();

    if (process < 0) {
        perror("fork");
        exit(2);
    }
    if (process == 0) {
        links_close();
        chaos_worker_run(i);
    }
    chaos->workers[i].process = process;
}

static void worker_limit(unsigned i, rlim_t descriptors)
{
    struct rlimit limit = {descriptors, 4096};

    (void)prlimit(chaos->workers[i].process, RLIMIT_NOFILE, &limit, NULL);
}

static void trouble_begin(unsigned i, enum trouble trouble, uint64_t length_us)
{
    struct chaos_worker *worker = &chaos->workers[i];

    troubled[i].active = true;
    troubled[i].trouble = trouble;
    troubled[i].until_us = chaos_now_us() + length_us;
    trouble_counts[trouble]++;
    switch (trouble) {
    case TROUBLE_KILL:
        atomic_fetch_add(&worker->incarnation, 1);
        atomic_store(&worker->port, 0);
        (void)kill(worker->process, SIGKILL);
        (void)waitpid(worker->process, NULL, 0);
        worker->process = 0;
        break;
    case TROUBLE_STOP:
        (void)kill(worker->process, SIGSTOP);
        break;
    default:
        atomic_store(&worker->lacks, true);
        worker_limit(i, 8 + length_us % 16);
    }
}

static void trouble_end(unsigned i)
{
    troubled[i].active = false;
    switch (troubled[i].trouble) {
    case TROUBLE_KILL:
        worker_start(i);
        break;
    case TROUBLE_STOP:
        (void)kill(chaos->workers[i].process, SIGCONT);
        break;
    default:
        worker_limit(i, 4096);
        (void)sem_post(&chaos->workers[i].descriptors);
    }
}

static void play(uint64_t now)
{
    static uint64_t next_us, turn;

    for (unsigned i = 0; i < workers(); i++) {
        if (troubled[i].active && now >= troubled[i].until_us)
            trouble_end(i);
    }
    if (now < next_us)
        return;
    if (next_us != 0) {
        uint64_t number = chaos_number(9, turn++, 0);
        unsigned i = (unsigned)(number % workers());

        if (!troubled[i].active)
            trouble_begin(i, (enum trouble)((number >> 16) % TROUBLES),
                          50000 + (number >> 24) % 3000000);
    }
    next_us = now + 100000 + chaos_number(10, turn, 0) % 600000;
}

/* A worker that ends by itself has found something, or has died of it. */
static void watch(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        int status, process = chaos->workers[i].process;

        if (process == 0 || waitpid(process, &status, WNOHANG) != process)
            continue;
        chaos->workers[i].process = 0;
        if (status != 0 || !atomic_load(&chaos->stop))
            chaos_fail("worker %u ended with status 0x%x", i, (unsigned)status);
    }
}

static void all_end(void)
{
    uint64_t end_us = chaos_now_us() + 30000000u * (unsigned)chaos->time_factor;
    unsigned left;

    for (unsigned i = 0; i < workers(); i++) {
        if (troubled[i].active)
            trouble_end(i);
    }
    atomic_store(&chaos->stop, true);
    do {
        clock_run();
        links_run();
        watch();
        left = 0;
        for (unsigned i = 0; i < workers(); i++)
            left += chaos->workers[i].process != 0;
    } while (left > 0 && chaos_now_us() < end_us);
    for (unsigned i = 0; i < workers(); i++) {
        if (chaos->workers[i].process == 0)
            continue;
        chaos_fail("worker %u does not end", i);
        (void)kill(chaos->workers[i].process, SIGKILL);
    }
    links_close();
}

static bool tell(void)
{
    unsigned failures = atomic_load(&chaos->failures);

    for (unsigned i = 0; i < COUNTS; i++)
        printf("%s: %" PRIu64 "\n", count_names[i], atomic_load(&chaos->counts[i]));
    for (unsigned i = LINK_CLEAN + 1; i < LINK_FAULTS; i++)
        printf("links %s: %" PRIu64 "\n", link_fault_names[i], link_counts[i]);
    for (unsigned i = 0; i < TROUBLES; i++)
        printf("workers %s: %u\n", trouble_names[i], trouble_counts[i]);
    printf("unexpected: %u\n", failures);
    return failures == 0 && atomic_load(&chaos->counts[COUNT_OCTETS]) > 0;
}

int main(int argc, char **argv)
{
    struct rlimit limit = {8192, 8192};
    const char *longer = getenv("ITAPI_CHAOS_SECONDS");
    int seconds = longer ? atoi(longer) : argc > 1 ? atoi(argv[1]) : 0;
    uint64_t end_us;

    if (seconds < 1) {
        fprintf(stderr, "usage: chaos_run SECONDS [SEED [SERVERS CLIENTS ENDPOINTS]]\n");
        return 2;
    }
    chaos = mmap(NULL, sizeof(*chaos), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (chaos == MAP_FAILED)
        return 2;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    chaos->seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    chaos->servers = argc > 5 ? (unsigned)atoi(argv[3]) : 6;
    chaos->clients = argc > 5 ? (unsigned)atoi(argv[4]) : 18;
    chaos->endpoints = argc > 5 ? (unsigned)atoi(argv[5]) : 12;
    chaos->time_factor = time_limit_ms(1000) / 1000;
    printf("seed %" PRIu64 ": %u servers, %u clients with %u endpoints each\n", chaos->seed,
           chaos->servers, chaos->clients, chaos->endpoints);
    fflush(stdout);
    links_open();
    for (unsigned i = 0; i < workers(); i++) {
        chaos->workers[i].is_server = i < chaos->servers;
        (void)sem_init(&chaos->workers[i].descriptors, 1, 0);
        worker_start(i);
    }
    end_us = chaos_now_us() + (uint64_t)seconds * 1000000u;
    while (chaos_now_us() < end_us) {
        clock_run();
        links_run();
        play(chaos_now_us());
        watch();
    }
    all_end();
    return tell() ? 0 : 1;
}
