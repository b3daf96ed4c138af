/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_control.h"

#include "common/tcp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The first number in either direction. It identifies this program and version. */
#define GREETING 0x69745f7065726604u

/* For messages that a peer of this program sends at once. */
#define PATIENCE_S 10

#define READY 1u

enum {
    PARAMS_COUNT = 13,
    CONTACT_COUNT = 4,
    COMMAND_COUNT = 3,
    OUTCOME_COUNT = 3,
    NUMBERS_MAX = 16,
};

static bool shared_terminal;

void control_share_terminal(void)
{
    shared_terminal = true;
}

/* A side that gives up has printed the reason itself. */
static bool complain_of_loss(void)
{
    if (errno != ECONNRESET && errno != EPIPE)
        complain_errno("control connection");
    else if (!shared_terminal)
        complain("the other side has given up, and says why there");
    return false;
}

static bool put_bytes(int sd, const void *bytes, size_t count)
{
    return tcp_send(sd, bytes, count) || complain_of_loss();
}

static bool get_bytes(int sd, void *bytes, size_t count)
{
    return tcp_receive(sd, bytes, count) || complain_of_loss();
}

static bool put(int sd, const uint64_t *numbers, size_t count)
{
    uint64_t network[NUMBERS_MAX];

    for (size_t i = 0; i < count; i++)
        network[i] = it_hton64(numbers[i]);
    return put_bytes(sd, network, count * sizeof(network[0]));
}

static bool get(int sd, uint64_t *numbers, size_t count)
{
    uint64_t network[NUMBERS_MAX];

    if (!get_bytes(sd, network, count * sizeof(network[0])))
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = it_ntoh64(network[i]);
    return true;
}

/* ---- Greeting ----------------------------------------------------------------------------- */

/* Sets a time limit: a peer other than it_perf may never send anything. */
static bool set_patience(int sd, time_t seconds)
{
    struct timeval patience = {.tv_sec = seconds};

    if (setsockopt(sd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0)
        return true;
    complain_errno("SO_RCVTIMEO");
    return false;
}

static bool get_greeting(int sd, const char *peer)
{
    uint64_t network = 0;
    bool good;

    if (!set_patience(sd, PATIENCE_S))
        return false;
    good = tcp_receive(sd, &network, sizeof(network)) && it_ntoh64(network) == GREETING;
    if (!good)
        complain("%s is not an it_perf of this version", peer);
    return good && set_patience(sd, 0);
}

/* Waits without a limit, since clients are served one after the other. */
static void await_turn(int sd, const char *server)
{
    struct pollfd answer = {.fd = sd, .events = POLLIN};

    if (poll(&answer, 1, PATIENCE_S * 1000) != 0)
        return;
    complain("%s does not answer yet: it may be serving another client", server);
    while (poll(&answer, 1, -1) < 0 && errno == EINTR)
        ;
}

bool control_greet_client(int sd)
{
    const uint64_t number = GREETING;

    return put(sd, &number, 1) && get_greeting(sd, "the client");
}

bool control_greet_server(int sd, const char *host, const char *port)
{
    const uint64_t number = GREETING;
    char server[512];

    (void)snprintf(server, sizeof(server), "the server on %s port %s", host, port);
    if (!put(sd, &number, 1))
        return false;
    await_turn(sd, server);
    return get_greeting(sd, server);
}

/* ---- Parameters --------------------------------------------------------------------------- */

static bool put_carrier(int sd, const struct perf_carrier *carrier)
{
    const uint64_t transport = (uint64_t)carrier->transport;

    return put(sd, &transport, 1) && put_bytes(sd, carrier->ia, sizeof(carrier->ia));
}

static bool get_carrier(int sd, struct perf_carrier *carrier)
{
    uint64_t transport;

    if (!get(sd, &transport, 1) || !get_bytes(sd, carrier->ia, sizeof(carrier->ia)))
        return false;
    carrier->transport = (enum perf_transport)transport;
    if (transport <= PERF_TCP && memchr(carrier->ia, '\0', sizeof(carrier->ia)) != NULL)
        return true;
    complain("the client names an unknown transport");
    return false;
}

bool control_send_params(int sd, const struct perf_params *params)
{
    const uint64_t numbers[PARAMS_COUNT] = {
        (uint64_t)params->op,
        (uint64_t)params->measure,
        (uint64_t)params->mode,
        params->size,
        params->depth,
        params->spin_us,
        params->crc,
        params->coalesce,
        params->verify,
        params->server_choice,
        (uint64_t)(params->server_cpu + 1),
        params->carrier_count,
        params->sums,
    };

    if (!put(sd, numbers, PARAMS_COUNT) ||
        !put_bytes(sd, params->congestion, sizeof(params->congestion)))
        return false;
    for (unsigned int i = 0; i < params->carrier_count; i++)
        if (!put_carrier(sd, &params->carriers[i]))
            return false;
    return true;
}

static bool make_sense(const uint64_t *numbers)
{
    return numbers[0] <= PERF_READ && numbers[1] <= PERF_RATE && numbers[2] <= PERF_CLIENT_POLLS &&
           numbers[3] <= PERF_SIZE_MAX && numbers[4] > 0 && numbers[4] <= PERF_DEPTH_MAX &&
           numbers[10] <= PERF_CPU_MAX + 1 && numbers[11] <= PERF_CARRIERS_MAX;
}

bool control_receive_params(int sd, struct perf_params *params)
{
    uint64_t numbers[PARAMS_COUNT];

    if (!get(sd, numbers, PARAMS_COUNT) ||
        !get_bytes(sd, params->congestion, sizeof(params->congestion)))
        return false;
    if (!make_sense(numbers) ||
        memchr(params->congestion, '\0', sizeof(params->congestion)) == NULL) {
        complain("the client asks for what no it_perf of this version can do");
        return false;
    }
    params->op = (enum perf_op)numbers[0];
    params->measure = (enum perf_measure)numbers[1];
    params->mode = (enum perf_mode)numbers[2];
    params->size = numbers[3];
    params->depth = numbers[4];
    params->spin_us = numbers[5];
    params->crc = numbers[6] != 0;
    params->coalesce = numbers[7] != 0;
    params->verify = numbers[8] != 0;
    params->server_choice = numbers[9] != 0;
    params->server_cpu = (int)numbers[10] - 1;
    params->carrier_count = (unsigned int)numbers[11];
    params->sums = numbers[12] != 0;
    for (unsigned int i = 0; i < params->carrier_count; i++)
        if (!get_carrier(sd, &params->carriers[i]))
            return false;
    return true;
}

/* ---- Records ------------------------------------------------------------------------------ */

bool control_send_contact(int sd, const struct contact *contact)
{
    const uint64_t numbers[CONTACT_COUNT] = {contact->good, contact->port, contact->key,
                                             contact->address};

    return put(sd, numbers, CONTACT_COUNT);
}

bool control_receive_contact(int sd, struct contact *contact)
{
    uint64_t numbers[CONTACT_COUNT];

    if (!get(sd, numbers, CONTACT_COUNT))
        return false;
    contact->good = numbers[0] != 0;
    contact->port = numbers[1];
    contact->key = numbers[2];
    contact->address = numbers[3];
    return true;
}

bool control_send_command(int sd, const struct command *command)
{
    const uint64_t numbers[COMMAND_COUNT] = {command->end, command->carrier, command->iters};

    return put(sd, numbers, COMMAND_COUNT);
}

bool control_receive_command(int sd, struct command *command)
{
    uint64_t numbers[COMMAND_COUNT];

    if (!get(sd, numbers, COMMAND_COUNT))
        return false;
    command->end = numbers[0] != 0;
    command->carrier = numbers[1];
    command->iters = numbers[2];
    return true;
}

bool control_send_outcome(int sd, const struct outcome *outcome)
{
    const uint64_t numbers[OUTCOME_COUNT] = {outcome->good, outcome->heap_calls, outcome->cpu_ns};

    return put(sd, numbers, OUTCOME_COUNT);
}

bool control_receive_outcome(int sd, struct outcome *outcome)
{
    uint64_t numbers[OUTCOME_COUNT];

    if (!get(sd, numbers, OUTCOME_COUNT))
        return false;
    outcome->good = numbers[0] != 0;
    outcome->heap_calls = numbers[1];
    outcome->cpu_ns = numbers[2];
    return true;
}

bool control_send_more(int sd, bool more)
{
    const uint64_t number = more;

    return put(sd, &number, 1);
}

bool control_receive_more(int sd, bool *more)
{
    uint64_t number;

    if (!get(sd, &number, 1))
        return false;
    *more = number != 0;
    return true;
}

bool control_send_ready(int sd)
{
    const uint64_t number = READY;

    return put(sd, &number, 1);
}

bool control_receive_ready(int sd)
{
    uint64_t number;

    return get(sd, &number, 1) && number == READY;
}

/* ---- Further connections of a client --------------------------------------------------------- */

bool control_is_lost(int sd)
{
    struct pollfd control = {.fd = sd, .events = POLLRDHUP};

    return poll(&control, 1, 0) > 0;
}

int control_accept(int sd, int listener)
{
    struct pollfd both[] = {{.fd = listener, .events = POLLIN}, {.fd = sd, .events = POLLRDHUP}};
    int accepted = -1;

    while (poll(both, 2, -1) < 0 && errno == EINTR)
        continue;
    if (both[0].revents != 0) {
        accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (accepted < 0)
            complain_errno("accept");
    } else {
        complain("the client left before it connected");
    }
    return accepted;
}
