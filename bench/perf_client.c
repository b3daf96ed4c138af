/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_session.h"

#include "common/tcp.h"
#include "perf_heap.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A run takes this long, if its length is ours to choose; a shorter one shows how long that is. */
#define RUN_SECONDS   0.4
#define TRIAL_SECONDS 0.03

/* ---- Connecting --------------------------------------------------------------------------- */

static bool prepare_tcp(struct perf_session *session, const char *host, const char *port)
{
    int sd = tcp_connect(host, port);

    session->has_tcp = sd >= 0 && reference_open(&session->tcp, sd, &session->params);
    return session->has_tcp;
}

/* Where the server's RDMA is: at the address where its control connection is. */
static bool prepare_rdma(struct perf_session *session, const char *ia)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    struct contact own;
    struct contact server;

    if (getpeername(session->control, (struct sockaddr *)&address, &length) != 0) {
        complain_errno("the server's address");
        return false;
    }
    session->has_rdma = perf_rdma_open(&session->rdma, ia, &session->params, false, &own);
    return session->has_rdma && control_receive_contact(session->control, &server) &&
           control_send_contact(session->control, &own) &&
           perf_rdma_connect(&session->rdma, &address, &server);
}

static bool prepare(struct perf_session *session, const struct perf_options *options,
                    const char *host, const char *port)
{
    if (!tcp_no_delay(session->control) || !perf_pin(options->client_cpu) ||
        !control_send_params(session->control, &session->params))
        return false;
    if (session->params.uses[PERF_TCP] && !prepare_tcp(session, host, port))
        return false;
    return !session->params.uses[PERF_ITAPI] || prepare_rdma(session, options->ia);
}

/* ---- Runs --------------------------------------------------------------------------------- */

static bool run_pattern(struct perf_session *session, enum perf_transport transport, uint64_t iters)
{
    if (transport == PERF_ITAPI)
        return perf_rdma_client(&session->rdma, iters);
    return reference_client(&session->tcp, iters);
}

/* One run on both sides: how long it took, and the heap calls in it. */
static bool run(struct perf_session *session, enum perf_transport transport, uint64_t iters,
                double *seconds, uint64_t *heap_calls)
{
    struct command command = {.end = false, .transport = transport, .iters = iters};
    bool verify = session->params.verify && transport == PERF_ITAPI;
    struct outcome outcome;
    double started;
    bool good;

    if (verify)
        perf_rdma_spoil(&session->rdma, false);
    if (!control_send_command(session->control, &command) ||
        !control_receive_ready(session->control))
        return false;
    heap_start();
    started = perf_clock();
    good = run_pattern(session, transport, iters);
    *seconds = perf_clock() - started;
    *heap_calls = heap_stop();
    if (!good || !control_receive_outcome(session->control, &outcome) || !outcome.good)
        return false;
    *heap_calls += outcome.heap_calls;
    return !verify || perf_rdma_intact(&session->rdma, false);
}

/* Finds how many messages take RUN_SECONDS, if nothing else disturbs them. */
static bool calibrate(struct perf_session *session, enum perf_transport transport, uint64_t *iters)
{
    uint64_t trial = session->params.measure == PERF_BW ? 4 : 64;
    uint64_t heap_calls;
    double first = 0;
    double second = 0;

    while (second < TRIAL_SECONDS) {
        trial *= 4;
        if (!run(session, transport, trial, &first, &heap_calls) ||
            !run(session, transport, trial, &second, &heap_calls))
            return false;
        if (first < second)
            second = first;
    }
    *iters = (uint64_t)((double)trial * RUN_SECONDS / second) + 1;
    return true;
}

/* A short run to warm up, then the one that counts. */
static bool measure(struct perf_session *session, enum perf_transport transport,
                    struct perf_results *results)
{
    struct perf_series *series = &results->series[transport];
    uint64_t warm_up = series->iters / 10 + 1;
    uint64_t heap_calls;
    double seconds;

    if (!run(session, transport, warm_up, &seconds, &heap_calls) ||
        !run(session, transport, series->iters, &seconds, &heap_calls))
        return false;
    series->values[series->count++] = report_value(&session->params, series->iters, seconds);
    if (transport == PERF_ITAPI)
        results->heap_calls += heap_calls;
    return true;
}

/* All runs; those of the two transports alternate. */
static bool measure_all(struct perf_session *session, const struct perf_options *options,
                        struct perf_results *results)
{
    static const enum perf_transport transports[] = {PERF_ITAPI, PERF_TCP};
    const bool *uses = session->params.uses;

    for (unsigned int i = 0; i < PERF_TRANSPORTS; i++) {
        uint64_t *iters = &results->series[transports[i]].iters;

        *iters = options->iters;
        if (uses[i] && options->iters == 0 && !calibrate(session, transports[i], iters))
            return false;
    }
    for (unsigned int number = 0; number < options->runs; number++)
        for (unsigned int i = 0; i < PERF_TRANSPORTS; i++)
            if (uses[i] && !measure(session, transports[i], results))
                return false;
    return true;
}

static bool run_session(struct perf_session *session, const struct perf_options *options,
                        const char *host, const char *port, struct perf_results *results)
{
    struct command end = {.end = true, .transport = PERF_ITAPI, .iters = 0};
    bool good = prepare(session, options, host, port) && measure_all(session, options, results) &&
                control_send_command(session->control, &end);

    results->crc_by_device = session->has_rdma && !session->rdma.sets_crc;
    if (session->has_rdma)
        perf_rdma_close(&session->rdma);
    if (session->has_tcp)
        reference_close(&session->tcp);
    return good;
}

bool perf_client(const struct perf_options *options, const char *host, const char *port,
                 struct perf_results *results)
{
    struct perf_session session;
    bool good;

    memset(&session, 0, sizeof(session));
    memset(results, 0, sizeof(*results));
    session.params = options->params;
    session.control = tcp_connect(host, port);
    if (session.control < 0)
        return false;
    good = run_session(&session, options, host, port, results);
    (void)close(session.control);
    return good;
}
