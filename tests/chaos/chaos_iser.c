/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_iser MEMORY WORKER IT_ISER: an iSER target, or a client that runs it_iser, which writes a
 * pattern and reads it back.
 */
#include "chaos/chaos.h"
#include "itiser.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET      "iqn.2026-11.example:chaos"
#define PIECE       (256u * 1024) /* of one attempt */
#define PIECES      16u           /* octets of a session that ended are late by less than these */
#define PAIRS       64u
#define WAIT_MS     100
#define PATIENCE_US (60000000ull * (unsigned)chaos->time_factor)
#define GIVE_UP_US  5000000u
#define STEP_US     500000u
/* The target and the library end by the clock of the machine what has no time to go on. */
#define LIMIT_S 10

static unsigned self;
static struct chaos_worker *worker;
static const char *initiator;
static uint64_t over_us;

static bool is_over(void)
{
    return atomic_load(&chaos->stop) || chaos_now_us() >= over_us;
}

/* ---- The target ------------------------------------------------------------------------------ */

static void look(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    if (is_over())
        (void)event_base_loopbreak(argument);
}

static struct itiser *start(struct event_base *base)
{
    static const struct itiser_unit_config memory = {
        .kind = ITISER_MEMORY_UNIT, .size = PAIRS * PIECES * PIECE, .serial = "chaos"};
    static struct itiser_target_config target = {.name = TARGET};
    struct itiser_portal_config portal = {.kinds = ITISER_PLAIN | ITISER_CONVERT, .tag = 1};
    struct sockaddr_in address = chaos_server_address(0);
    struct itiser_config config = {.size = sizeof(config),
                                   .targets = &target,
                                   .target_count = 1,
                                   .portals = &portal,
                                   .portal_count = 1,
                                   .interface = chaos->places[true].interface};
    char error[256] = "";
    struct itiser *started;

    memcpy(&portal.address, &address, sizeof(address));
    target.units[0] = itiser_unit_open(&memory, error);
    started = target.units[0] ? itiser_start(base, &config, error) : NULL;
    if (!started && !atomic_load(&worker->lacks) && !chaos_address_may_miss(EADDRNOTAVAIL))
        chaos_fail("worker %u: no target: %s", self, error);
    return started;
}

static void run_target(void)
{
    struct event_base *base = event_base_new();
    const struct timeval period = {.tv_usec = WAIT_MS * 1000};
    struct event *timer = base ? event_new(base, -1, EV_PERSIST, look, base) : NULL;
    struct itiser *target = timer ? start(base) : NULL;
    struct sockaddr_storage address;

    if (!target || event_add(timer, &period) != 0) {
        (void)usleep(WAIT_MS * 1000); /* without descriptors: the next process tries again */
        return;
    }
    if (itiser_portal_address(target, 0, &address))
        atomic_store(&worker->port, ((struct sockaddr_in *)(void *)&address)->sin_port);
    (void)event_base_dispatch(base);
    chaos_leave(worker);
    itiser_free(target);
}

/* ---- Clients --------------------------------------------------------------------------------- */

/* A run of it_iser. */
struct attempt {
    uint32_t pair, number;
    uint32_t incarnation; /* of the target, when it began */
    uint32_t changes;     /* of its address */
    time_t began_s;       /* by the clock of the machine */
    pid_t process;
    int output;
    char said[512];
    size_t length;
};

static bool may_end(const struct attempt *attempt)
{
    const struct chaos_worker *target = &chaos->workers[worker->server];

    return chaos_is_harmed(attempt->pair, attempt->number) ||
           atomic_load(&target->incarnation) != attempt->incarnation || attempt->changes % 2 ||
           atomic_load(&target->changes) != attempt->changes || atomic_load(&target->lacks) ||
           atomic_load(&worker->lacks);
}

/* It ends with this process. */
static void __attribute__((noreturn)) become_initiator(char **words, int output)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(output, 1);
    (void)dup2(output, 2);
    (void)execv(words[0], words);
    _exit(127);
}

static uint16_t port_to(uint32_t pair)
{
    uint16_t port = atomic_load(&chaos->pairs[pair].link_port);

    return ntohs(port ? port : atomic_load(&chaos->workers[worker->server].port));
}

static bool attempt_start(struct attempt *attempt)
{
    char place[128], offset[32], length[32], rdma[80];
    uint64_t piece = (uint64_t)(attempt->pair % PAIRS) * PIECES + attempt->number % PIECES;
    bool is_plain = chaos_number(3, attempt->pair, attempt->number) % 4 == 0;
    char *words[] = {(char *)(uintptr_t)initiator, rdma, offset, length, place,
                     (char *)(uintptr_t) "verify", NULL};
    int ends[2];

    if (is_plain)
        (void)snprintf(rdma, sizeof(rdma), "--initial-r2t");
    else
        (void)snprintf(rdma, sizeof(rdma), "--rdma=%s", chaos->places[false].interface);
    (void)snprintf(place, sizeof(place), "%s:%u/" TARGET "/0",
                   inet_ntoa(chaos_server_address(0).sin_addr), port_to(attempt->pair));
    (void)snprintf(offset, sizeof(offset), "--offset=%llu", (unsigned long long)piece * PIECE);
    (void)snprintf(length, sizeof(length), "--length=%u", PIECE);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    attempt->process = fork();
    if (attempt->process == 0)
        become_initiator(words, ends[1]);
    (void)close(ends[1]);
    attempt->output = ends[0];
    if (attempt->process < 0)
        (void)close(ends[0]);
    return attempt->process > 0;
}

/* Returns false at the end of the output. */
static bool read_output(struct attempt *attempt)
{
    struct pollfd entry = {.fd = attempt->output, .events = POLLIN};
    ssize_t got;

    if (poll(&entry, 1, WAIT_MS) <= 0)
        return true;
    got = read(attempt->output, attempt->said + attempt->length,
               sizeof(attempt->said) - 1 - attempt->length);
    if (got > 0)
        attempt->length += (size_t)got;
    return got > 0;
}

/* Waits until it_iser ends. One that does not end any more is killed. */
static void await(struct attempt *attempt)
{
    uint64_t last = chaos_now_us(), waited = 0;
    bool killed = false;

    while (read_output(attempt) && attempt->length < sizeof(attempt->said) - 1) {
        uint64_t now = chaos_now_us();

        waited += now - last < STEP_US ? now - last : STEP_US;
        last = now;
        if (killed || (!is_over() && waited <= (may_end(attempt) ? GIVE_UP_US : PATIENCE_US)))
            continue;
        if (!is_over() && !may_end(attempt))
            chaos_fail("worker %u: pair %u, attempt %u hangs", self, attempt->pair,
                       attempt->number);
        chaos_count(COUNT_GIVEN_UP, 1);
        chaos_harm(attempt->pair, attempt->number);
        (void)kill(attempt->process, SIGKILL);
        killed = true;
    }
}

static time_t machine_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Both what it wrote and what it read were checked octets. */
static void judge(struct attempt *attempt, int status)
{
    attempt->said[attempt->length] = '\0';
    if (status == 0) {
        chaos_count(COUNT_ENDED, 1);
        chaos_count(COUNT_OCTETS, PIECE);
        (void)atomic_fetch_add(&chaos->octets[LAYER_ISER], PIECE);
        return;
    }
    chaos_count(COUNT_BROKEN, 1);
    if (strstr(attempt->said, "not what was written") ||
        (!is_over() && !may_end(attempt) && machine_s() - attempt->began_s < LIMIT_S))
        chaos_fail("worker %u: pair %u, attempt %u: status 0x%x, %s", self, attempt->pair,
                   attempt->number, (unsigned)status, attempt->said);
}

static void *verify(void *argument)
{
    uint32_t pair = (uint32_t)(uintptr_t)argument;

    while (!is_over()) {
        struct attempt attempt = {.pair = pair,
                                  .number = atomic_fetch_add(&chaos->pairs[pair].attempt, 1) + 1,
                                  .incarnation =
                                      atomic_load(&chaos->workers[worker->server].incarnation),
                                  .changes = atomic_load(&chaos->workers[worker->server].changes),
                                  .began_s = machine_s()};
        int status = 0;

        if (atomic_load(&chaos->workers[worker->server].port) != 0 && attempt_start(&attempt)) {
            chaos_count(COUNT_CONNECTED, 1);
            await(&attempt);
            while (waitpid(attempt.process, &status, 0) < 0)
                continue;
            (void)close(attempt.output);
            judge(&attempt, status);
        }
        chaos_harm(pair, attempt.number);
        (void)usleep((useconds_t)(100000 + chaos_number(5, pair, attempt.number) % 300000));
    }
    return NULL;
}

static void run_clients(void)
{
    pthread_t threads[16];
    uint32_t count = worker->pairs < 16 ? worker->pairs : 16;

    for (uint32_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, verify,
                           (void *)(uintptr_t)(worker->first_pair + i)) != 0)
            exit(2);
    }
    for (uint32_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    uint32_t incarnation;

    if (argc < 4)
        return 2;
    self = (unsigned)atoi(argv[2]);
    chaos_attach(atoi(argv[1]), self);
    initiator = argv[3];
    worker = &chaos->workers[self];
    incarnation = atomic_load(&worker->incarnation);
    over_us = chaos_now_us() + 4000000 + chaos_number(8, self, incarnation) % 15000000;
    (void)signal(SIGPIPE, SIG_IGN);
    if (worker->is_server)
        run_target();
    else
        run_clients();
    chaos_count(COUNT_GENERATIONS, 1);
    chaos_leave(worker);
    return 0;
}
