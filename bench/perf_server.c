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

/* The client connects a second time for the reference. */
static bool prepare_tcp(struct perf_session *session, int listener)
{
    int sd = accept_stream(listener);

    session->has_tcp = sd >= 0 && reference_open(&session->tcp, sd, &session->params);
    return session->has_tcp;
}

static bool prepare_rdma(struct perf_session *session, const char *ia)
{
    struct contact own;
    struct contact client;

    session->has_rdma = perf_rdma_open(&session->rdma, ia, &session->params, true, &own);
    return session->has_rdma && control_send_contact(session->control, &own) &&
           control_receive_contact(session->control, &client) &&
           perf_rdma_accept(&session->rdma, &client);
}

static bool prepare(struct perf_session *session, const struct perf_options *options, int listener)
{
    /* Before any thread is made, so that all of them are where they should be. */
    if (!perf_pin(session->params.server_cpu))
        return false;
    if (session->params.uses[PERF_TCP] && !prepare_tcp(session, listener))
        return false;
    return !session->params.uses[PERF_ITAPI] || prepare_rdma(session, options->ia);
}

static bool run(struct perf_session *session, const struct command *command,
                struct outcome *outcome)
{
    bool verify = session->params.verify && command->transport == PERF_ITAPI;

    if (verify)
        perf_rdma_spoil(&session->rdma, true);
    if (!control_send_ready(session->control))
        return false;
    heap_start();
    if (command->transport == PERF_ITAPI)
        outcome->good = perf_rdma_server(&session->rdma, command->iters);
    else
        outcome->good = reference_server(&session->tcp, command->iters);
    outcome->heap_calls = heap_stop();
    if (outcome->good && verify)
        outcome->good = perf_rdma_intact(&session->rdma, true);
    return true;
}

/* Does what the client says, to the end. */
static bool obey(struct perf_session *session)
{
    struct command command;
    struct outcome outcome;

    while (control_receive_command(session->control, &command)) {
        if (command.end)
            return true;
        if (!session->params.uses[command.transport]) {
            complain("the client wants a transport that it did not prepare");
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
    struct perf_session session;
    bool good;

    memset(&session, 0, sizeof(session));
    session.control = control;
    good = tcp_no_delay(control) && control_receive_params(control, &session.params) &&
           prepare(&session, options, listener) && obey(&session);
    if (session.has_rdma)
        perf_rdma_close(&session.rdma);
    if (session.has_tcp)
        reference_close(&session.tcp);
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
