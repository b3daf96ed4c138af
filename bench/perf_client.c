/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_session.h"

#include "common/tcp.h"
#include "perf_heap.h"
#include "perf_progress.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The shortest trial that shows how long a run takes. */
#define TRIAL_SECONDS 0.03

double perf_value(const struct perf_params *params, uint64_t iters, double seconds)
{
    double count = (double)iters;

    switch (params->measure) {
    case PERF_LAT:
        return seconds * 1e6 / (double)perf_messages(params, iters);
    case PERF_BW:
        return count * (double)params->size / seconds;
    case PERF_RATE:
        return count / seconds;
    }
    return 0;
}

/* ---- Connecting --------------------------------------------------------------------------- */

static bool prepare_tcp(struct perf_session *session, struct perf_link *link, const char *host,
                        const char *port)
{
    int sd = tcp_connect(host, port);

    link->open = sd >= 0 && reference_open(&link->tcp, sd, &session->params);
    return link->open;
}

/* The server's RDMA address is that of its control connection. */
static bool find_server(struct perf_session *session, struct perf_link *link)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);

    if (getpeername(session->control, (struct sockaddr *)&address, &length) == 0)
        return perf_rdma_find_server(&link->rdma, &address);
    complain_errno("the server's address");
    return false;
}

static bool prepare_rdma(struct perf_session *session, struct perf_link *link, const char *ia,
                         bool needed)
{
    struct contact own;
    struct contact server;

    link->open = perf_rdma_open(&link->rdma, ia, &session->params, false, &own);
    own.good = link->open && find_server(session, link);
    if (!control_send_contact(session->control, &own) ||
        !control_receive_contact(session->control, &server))
        return false;
    if (own.good && server.good)
        return perf_rdma_connect(&link->rdma, &server);
    if (link->open)
        perf_rdma_close(&link->rdma);
    link->open = false;
    if (!needed)
        complain("%s is left out: it cannot be used on the %s's side", ia,
                 own.good ? "server" : "client");
    return !needed;
}

static bool prepare(struct perf_session *session, const struct perf_options *options,
                    const char *host, const char *port)
{
    if (!perf_pin(options->client_cpu) || !control_send_params(session->control, &session->params))
        return false;
    for (unsigned int i = 0; i < session->params.carrier_count; i++) {
        const struct perf_carrier *carrier = &session->params.carriers[i];
        struct perf_link *link = &session->links[i];

        if (carrier->transport == PERF_TCP
                ? !prepare_tcp(session, link, host, port)
                : !prepare_rdma(session, link, carrier->ia, !options->all))
            return false;
    }
    return true;
}

/* ---- Runs --------------------------------------------------------------------------------- */

/* The cost of one run on both sides. */
struct cost {
    double seconds;
    uint64_t heap_calls;
    uint64_t cpu_ns;
};

/* round_trips: receives the times, or NULL. */
static bool run_pattern(struct perf_session *session, unsigned int carrier, uint64_t iters,
                        struct histogram *round_trips)
{
    struct perf_link *link = &session->links[carrier];

    link->rdma.sampler.histogram = round_trips;
    link->tcp.sampler.histogram = round_trips;
    if (session->params.carriers[carrier].transport == PERF_ITAPI)
        return perf_rdma_client(&link->rdma, iters);
    return reference_client(&link->tcp, iters);
}

/* Returns when a run that is over has ended. */
static double end_of(const struct perf_session *session, const struct perf_rdma *rdma)
{
    bool local = session->params.local && session->params.measure != PERF_LAT;

    return local ? rdma->completed : perf_clock();
}

/* Does one run on both sides. */
static bool run(struct perf_session *session, unsigned int carrier, uint64_t iters,
                struct histogram *round_trips, struct cost *cost)
{
    struct command command = {.end = false, .carrier = carrier, .iters = iters};
    bool verify =
        session->params.verify && session->params.carriers[carrier].transport == PERF_ITAPI;
    struct perf_rdma *rdma = &session->links[carrier].rdma;
    struct outcome outcome;
    uint64_t cpu_ns;
    double started;
    bool good;

    if (verify)
        perf_rdma_spoil(rdma, false);
    if (!control_send_command(session->control, &command) ||
        !control_receive_ready(session->control))
        return false;
    heap_start();
    cpu_ns = perf_cpu_ns();
    started = perf_clock();
    good = run_pattern(session, carrier, iters, round_trips);
    cost->seconds = end_of(session, rdma) - started;
    cost->cpu_ns = perf_cpu_ns() - cpu_ns;
    cost->heap_calls = heap_stop();
    if (!good || !control_receive_outcome(session->control, &outcome) || !outcome.good)
        return false;
    cost->heap_calls += outcome.heap_calls;
    cost->cpu_ns += outcome.cpu_ns;
    return !verify || perf_rdma_intact(rdma, false);
}

/* Finds how many messages fill a run, if nothing else disturbs them. */
static bool calibrate(struct perf_session *session, unsigned int carrier, double wanted,
                      uint64_t *iters)
{
    double enough = wanted / 4 < TRIAL_SECONDS ? wanted / 4 : TRIAL_SECONDS;
    uint64_t trial = session->params.measure == PERF_BW ? 4 : 64;
    struct cost first = {.seconds = 0};
    struct cost second = {.seconds = 0};

    while (second.seconds < enough) {
        trial *= 4;
        if (!run(session, carrier, trial, NULL, &first) ||
            !run(session, carrier, trial, NULL, &second))
            return false;
        if (first.seconds < second.seconds)
            second.seconds = first.seconds;
    }
    *iters = (uint64_t)((double)trial * wanted / second.seconds) + 1;
    return true;
}

/* Does a warm-up run and then the measured one. */
static bool measure(struct perf_session *session, const struct perf_options *options,
                    unsigned int carrier, struct perf_series *series)
{
    uint64_t warm_up =
        options->warm_up == PERF_WARM_UP_TENTH ? series->iters / 10 + 1 : options->warm_up;
    bool wanted = options->percentiles && session->params.measure == PERF_LAT;
    static struct histogram round_trips;
    struct cost cost;

    /* Cleared before the warm-up, which leaves the caches ready. */
    histogram_clear(&round_trips);
    if (warm_up > 0 && !run(session, carrier, warm_up, NULL, &cost))
        return false;
    if (!run(session, carrier, series->iters, wanted ? &round_trips : NULL, &cost))
        return false;
    histogram_merge(&series->round_trips, &round_trips);
    series->values[series->count] = perf_value(&session->params, series->iters, cost.seconds);
    series->cpu_us[series->count] =
        (double)cost.cpu_ns / 1e3 / (double)perf_messages(&session->params, series->iters);
    series->heap_calls += cost.heap_calls;
    series->count++;
    return true;
}

/* Does all runs. Those of the carriers alternate. */
static bool measure_all(struct perf_session *session, const struct perf_options *options,
                        struct perf_results *results)
{
    for (unsigned int i = 0; i < session->params.carrier_count; i++) {
        struct perf_series *series = &results->series[i];

        series->iters = options->iters;
        series->crc_by_device = session->params.carriers[i].transport == PERF_ITAPI &&
                                session->links[i].open && !session->links[i].rdma.sets_crc;
        if (!session->links[i].open || options->iters > 0)
            continue;
        perf_progress_run(&session->params.carriers[i], 0, options->runs);
        if (!calibrate(session, i, options->seconds, &series->iters))
            return false;
    }
    for (unsigned int number = 1; number <= options->runs; number++) {
        for (unsigned int i = 0; i < session->params.carrier_count; i++) {
            if (!session->links[i].open)
                continue;
            perf_progress_run(&session->params.carriers[i], number, options->runs);
            if (!measure(session, options, i, &results->series[i]))
                return false;
        }
    }
    return true;
}

/* ---- The session -------------------------------------------------------------------------- */

bool perf_client_open(struct perf_session *session, const char *host, const char *port)
{
    memset(session, 0, sizeof(*session));
    session->control = tcp_connect(host, port);
    if (session->control < 0)
        return false;
    if (tcp_no_delay(session->control) && control_greet_server(session->control, host, port))
        return true;
    (void)close(session->control);
    return false;
}

bool perf_client_measure(struct perf_session *session, const struct perf_options *options,
                         const char *host, const char *port, const struct perf_params *params,
                         struct perf_results *results)
{
    static const struct command end = {.end = true};
    bool good;

    memset(results, 0, sizeof(*results));
    if (session->begun && !control_send_more(session->control, true))
        return false;
    session->begun = true;
    session->params = *params;
    good = prepare(session, options, host, port) && measure_all(session, options, results) &&
           control_send_command(session->control, &end);
    perf_session_close_links(session);
    return good;
}

void perf_client_close(struct perf_session *session, bool good)
{
    if (good && session->begun)
        (void)control_send_more(session->control, false);
    (void)close(session->control);
}
