/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-sided means that the target's program takes no part. Its processor may be busy, so a Read
 * takes a round trip and the wake of the thread that answers. Both are measured in turn with the
 * Reads, under the same load, and so is a thread that blocks in plain TCP.
 */
#include "scenario_links.h"

#include "common/tcp.h"
#include "perf.h"
#include "scale.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define TARGET_SIZE    64u
#define TARGET_REQUEST 16u
#define TARGET_LIMIT   2000.0 /* us, for 99.9 % */
/* The pause between two samples, in which the answering thread goes back to sleep. */
#define TARGET_PAUSE 30e-6
/* The number of warm-up samples of a run: the target has polled before. */
#define TARGET_WARM_UP 100u

struct target {
    struct scenario *scenario;
    struct links links;
    int sd; /* plain TCP */
    struct figures ping, wake, read, tcp;
};

/* ---- Ping-pong, both polling ----------------------------------------------------------------- */

static bool target_receive(struct target *target)
{
    it_lmr_triplet_t segment = links_target(&target->links, 0, TARGET_SIZE);

    return succeeded(it_post_recv(target->links.links[0].ep, &segment, 1, 0, IT_COMPLETION_FLAG),
                     "it_post_recv");
}

static bool target_send(struct target *target)
{
    it_lmr_triplet_t segment = links_source(&target->links, 0, TARGET_SIZE);

    return succeeded(it_post_send(target->links.links[0].ep, &segment, 1, 0, (it_dto_flags_t)0),
                     "it_post_send");
}

static bool target_take(struct target *target)
{
    it_event_t event;

    return links_take(target->links.receives, false, &event) && target_receive(target);
}

static bool target_ping(struct target *target)
{
    size_t rounds = target->scenario->rounds;
    bool server = target->scenario->server;
    double start = scale_clock();

    for (size_t i = 0; i < rounds; i++) {
        if (server ? !target_take(target) || !target_send(target)
                   : !target_send(target) || !target_take(target))
            return false;
    }
    if (!server)
        figures_add(&target->ping, (scale_clock() - start) * 1e6 / (double)rounds / 2);
    return true;
}

/* ---- The server: computes, and has a thread beside it or none -------------------------------- */

static void target_compute(struct target *target)
{
    volatile uint64_t number = 1;

    while (!atomic_load_explicit(&target->scenario->shared->stop, memory_order_acquire))
        number = number * UINT64_C(6364136223846793005) + 1;
}

static size_t target_samples(const struct target *target)
{
    return target->scenario->rounds + TARGET_WARM_UP;
}

static void *target_wake_up(void *argument)
{
    struct target *target = argument;
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);
    eventfd_t count;

    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, target->scenario->wake_fd, &event) != 0)
        complain_errno("epoll");
    for (size_t i = 0; i < target_samples(target); i++) {
        while (epoll_wait(set, &event, 1, -1) < 0 && errno == EINTR) {
        }
        (void)eventfd_read(target->scenario->wake_fd, &count);
        atomic_fetch_add_explicit(&target->scenario->shared->woken, 1, memory_order_release);
    }
    (void)close(set);
    return NULL;
}

static void *target_answer(void *argument)
{
    struct target *target = argument;
    unsigned char bytes[TARGET_SIZE] = {0};

    for (size_t i = 0; i < target_samples(target); i++)
        if (!tcp_receive(target->sd, bytes, TARGET_REQUEST) ||
            !tcp_send(target->sd, bytes, TARGET_SIZE)) {
            complain_errno("answering over TCP");
            break;
        }
    return NULL;
}

static bool target_serve(struct target *target, void *(*function)(void *))
{
    pthread_t thread;

    atomic_store(&target->scenario->shared->stop, false);
    atomic_store(&target->scenario->shared->woken, 0);
    if (function != NULL && pthread_create(&thread, NULL, function, target) != 0) {
        complain("no thread");
        return false;
    }
    if (!scale_meet(target->scenario->channel))
        return false;
    target_compute(target);
    if (function != NULL)
        (void)pthread_join(thread, NULL);
    return true;
}

/* ---- The client: one sample after the other -------------------------------------------------- */

static bool sample_wake(struct target *target)
{
    struct scenario_shared *shared = target->scenario->shared;
    uint64_t woken = atomic_load_explicit(&shared->woken, memory_order_acquire);

    if (eventfd_write(target->scenario->wake_fd, 1) != 0) {
        complain_errno("eventfd");
        return false;
    }
    while (atomic_load_explicit(&shared->woken, memory_order_acquire) == woken) {
    }
    return true;
}

static bool sample_read(struct target *target)
{
    struct link *link = &target->links.links[0];
    it_lmr_triplet_t segment = links_target(&target->links, 0, TARGET_SIZE);
    it_event_t event;

    return succeeded(it_post_rdma_read(link->ep, &segment, 1, 0, IT_COMPLETION_FLAG,
                                       link->remote_address, link->remote_key),
                     "it_post_rdma_read") &&
           links_take(target->links.requests[0], false, &event);
}

static bool sample_tcp(struct target *target)
{
    unsigned char bytes[TARGET_SIZE] = {0};
    size_t got = 0;

    if (!tcp_send(target->sd, bytes, TARGET_REQUEST)) {
        complain_errno("asking over TCP");
        return false;
    }
    while (got < TARGET_SIZE) {
        ssize_t count = recv(target->sd, bytes, TARGET_SIZE - got, MSG_DONTWAIT);

        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
            complain_errno("an answer over TCP");
            return false;
        }
        got += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool target_ask(struct target *target, bool (*sample)(struct target *),
                       struct figures *figures)
{
    bool good = scale_meet(target->scenario->channel);

    for (size_t i = 0; good && i < target_samples(target); i++) {
        double start;

        for (start = scale_clock(); scale_clock() - start < TARGET_PAUSE;) {
        }
        start = scale_clock();
        good = sample(target);
        if (i >= TARGET_WARM_UP)
            figures_add(figures, (scale_clock() - start) * 1e6);
    }
    atomic_store_explicit(&target->scenario->shared->stop, true, memory_order_release);
    return good;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static bool target_open_tcp(struct target *target)
{
    int channel = target->scenario->channel;
    uint64_t port;
    char text[16];
    int listener;

    if (!target->scenario->server) {
        if (!scale_hear(channel, &port))
            return false;
        (void)snprintf(text, sizeof(text), "%u", (unsigned)port);
        target->sd = tcp_connect("127.0.0.1", text);
        return target->sd >= 0 && tcp_no_delay(target->sd);
    }
    listener = tcp_listen("127.0.0.1", "0");
    if (listener < 0)
        return false;
    if (scale_tell(channel, tcp_local_port(listener)))
        target->sd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    (void)close(listener);
    return target->sd >= 0 && tcp_no_delay(target->sd);
}

/*
 * The answering thread runs where the target computes, not where the client polls: waking it across
 * processors may cost much more, and would depend on luck.
 */
static bool target_pin(bool server)
{
    cpu_set_t set;
    unsigned wanted = server ? 1 : 0;

    if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2)
        return true;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && wanted-- == 0)
            return perf_pin(cpu);
    return true;
}

static bool target_open(struct target *target)
{
    size_t samples = target->scenario->rounds * target->scenario->runs;

    return target_pin(target->scenario->server) &&
           figures_open(&target->ping, target->scenario->runs) &&
           figures_open(&target->wake, samples) && figures_open(&target->read, samples) &&
           figures_open(&target->tcp, samples) && target_open_tcp(target) &&
           links_open(&target->links, target->scenario, 1, TARGET_SIZE) && target_receive(target) &&
           target_receive(target) && scale_meet(target->scenario->channel);
}

static bool target_close(struct target *target)
{
    if (target->sd >= 0)
        (void)close(target->sd);
    figures_close(&target->ping);
    figures_close(&target->wake);
    figures_close(&target->read);
    figures_close(&target->tcp);
    return links_close(&target->links);
}

static bool target_run(struct target *target)
{
    if (!target_ping(target))
        return false;
    if (target->scenario->server)
        return target_serve(target, target_wake_up) && target_serve(target, NULL) &&
               target_serve(target, target_answer);
    return target_ask(target, sample_wake, &target->wake) &&
           target_ask(target, sample_read, &target->read) &&
           target_ask(target, sample_tcp, &target->tcp);
}

static void target_tell(struct target *target, const char *name, double value, double reference,
                        const char *sign, double limit)
{
    struct scenario_row row = {.scenario = "target",
                               .name = name,
                               .unit = "us",
                               .value = value,
                               .reference = reference,
                               .sign = sign,
                               .limit = limit};

    scenario_report(target->scenario, &row);
}

static void target_report(struct target *target)
{
    double ping = figures_quantile(&target->ping, 0.5);
    double wake = figures_quantile(&target->wake, 0.5);

    target_tell(target, "Send ping-pong, 64 B, both polling", ping, 0, NULL, 0);
    target_tell(target, "a thread's wake-up in the computing target", wake, 0, NULL, 0);
    target_tell(target, "... 99.9 %", figures_quantile(&target->wake, 0.999), 0, NULL, 0);
    target_tell(target, "64 B of the computing target, TCP and a thread",
                figures_quantile(&target->tcp, 0.5), 0, NULL, 0);
    target_tell(target, "... 99.9 %", figures_quantile(&target->tcp, 0.999), 0, NULL, 0);
    target_tell(target, "RDMA Read, 64 B (2 ping-pongs and a wake-up)",
                figures_quantile(&target->read, 0.5), 2 * ping + wake, "<=", 1);
    target_tell(target, "... 99.9 %", figures_quantile(&target->read, 0.999), 0,
                "<=", TARGET_LIMIT);
    target_tell(target, "... the longest", figures_quantile(&target->read, 1), 0, NULL, 0);
}

bool scenario_target(struct scenario *scenario)
{
    struct target target = {.scenario = scenario, .sd = -1};
    bool good = target_open(&target);

    for (unsigned run = 0; good && run < scenario->runs; run++)
        good = target_run(&target);
    good = good && scale_meet(scenario->channel);
    if (good && !scenario->server)
        target_report(&target);
    return target_close(&target) && perf_pin(-1) && good;
}
