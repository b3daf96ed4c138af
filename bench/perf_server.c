/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_session.h"

#include "common/tcp.h"
#include "perf_heap.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int accept_stream(int listener)
{
    int sd;

    do {
        sd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while (sd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (sd < 0)
        complain_errno("accept");
    return sd;
}

/* ---- Connecting --------------------------------------------------------------------------- */

/* The client makes a second connection for the reference. */
static bool prepare_tcp(struct perf_session *session, struct perf_link *link, int listener)
{
    int sd = control_accept(session->control, listener);

    link->open = sd >= 0 && reference_open(&link->tcp, sd, &session->params);
    return link->open;
}

/*
 * If one side cannot open the transport, the client decides whether that matters. The client always
 * opens first: some devices (siw) assign threads to endpoints in turn, and the speed of a stream
 * depends on which of the two the client's endpoint has.
 */
static bool prepare_rdma(struct perf_session *session, struct perf_link *link, const char *ia)
{
    struct contact own;
    struct contact client;

    memset(&own, 0, sizeof(own));
    if (!control_receive_contact(session->control, &client))
        return false;
    link->open = client.good && perf_rdma_open(&link->rdma, ia, &session->params, true, &own);
    own.good = link->open;
    if (!control_send_contact(session->control, &own))
        return false;
    if (!own.good || !client.good) {
        if (link->open)
            perf_rdma_close(&link->rdma);
        link->open = false;
        return true;
    }
    return perf_rdma_accept(&link->rdma, &client, session->control);
}

static bool prepare(struct perf_session *session, const struct perf_options *options, int listener)
{
    /* Pinned before any thread is made, so that all threads are. */
    if (!perf_pin(session->params.server_cpu))
        return false;
    for (unsigned int i = 0; i < session->params.carrier_count; i++) {
        const struct perf_carrier *carrier = &session->params.carriers[i];
        const char *ia = session->params.server_choice ? options->ia : carrier->ia;
        struct perf_link *link = &session->links[i];

        if (carrier->transport == PERF_TCP ? !prepare_tcp(session, link, listener)
                                           : !prepare_rdma(session, link, ia))
            return false;
    }
    return true;
}

/* ---- Runs --------------------------------------------------------------------------------- */

static bool run(struct perf_session *session, const struct command *command,
                struct outcome *outcome)
{
    struct perf_link *link = &session->links[command->carrier];
    bool rdma = session->params.carriers[command->carrier].transport == PERF_ITAPI;
    bool verify = session->params.verify && rdma;

    if (verify)
        perf_rdma_spoil(&link->rdma, true);
    if (!control_send_ready(session->control))
        return false;
    heap_start();
    outcome->cpu_ns = perf_cpu_ns();
    outcome->good = rdma ? perf_rdma_server(&link->rdma, command->iters)
                         : reference_server(&link->tcp, command->iters);
    outcome->cpu_ns = perf_cpu_ns() - outcome->cpu_ns;
    outcome->heap_calls = heap_stop();
    if (outcome->good && verify)
        outcome->good = perf_rdma_intact(&link->rdma, true);
    return true;
}

/* Obeys the client's orders up to the end. */
static bool obey(struct perf_session *session)
{
    struct command command;
    struct outcome outcome;

    while (control_receive_command(session->control, &command)) {
        if (command.end)
            return true;
        if (command.carrier >= session->params.carrier_count ||
            !session->links[command.carrier].open) {
            complain("the client chose a transport that it had not prepared");
            return false;
        }
        if (!run(session, &command, &outcome) || !control_send_outcome(session->control, &outcome))
            return false;
        if (!outcome.good)
            return false;
    }
    return false;
}

static bool serve_client(const struct perf_options *options, int listener, int control)
{
    static struct perf_session session;
    bool more = true;
    bool good;

    memset(&session, 0, sizeof(session));
    session.control = control;
    good = tcp_no_delay(control) && control_greet_client(control);
    while (good && more) {
        good = control_receive_params(control, &session.params) &&
               prepare(&session, options, listener) && obey(&session) &&
               control_receive_more(control, &more);
        perf_session_close_links(&session);
    }
    return good;
}

bool perf_server(const struct perf_options *options, int listener, bool once)
{
    bool good;

    do {
        int control = accept_stream(listener);

        if (control < 0)
            return false;
        good = serve_client(options, listener, control);
        (void)close(control);
    } while (!once);
    return good;
}
