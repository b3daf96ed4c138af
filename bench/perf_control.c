/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_control.h"

#include "common/tcp.h"

#include <string.h>

/* First number of the parameters: tells a client of this program and version. */
#define GREETING 0x69745f7065726602u

#define READY 1u

enum {
    PARAMS_COUNT = 13,
    CONTACT_COUNT = 4,
    COMMAND_COUNT = 3,
    OUTCOME_COUNT = 3,
    NUMBERS_MAX = 16,
};

static bool put_bytes(int sd, const void *bytes, size_t count)
{
    if (tcp_send(sd, bytes, count))
        return true;
    complain_errno("control connection");
    return false;
}

static bool get_bytes(int sd, void *bytes, size_t count)
{
    if (tcp_receive(sd, bytes, count))
        return true;
    complain_errno("control connection");
    return false;
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
        GREETING,
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
    };

    if (!put(sd, numbers, PARAMS_COUNT))
        return false;
    for (unsigned int i = 0; i < params->carrier_count; i++)
        if (!put_carrier(sd, &params->carriers[i]))
            return false;
    return true;
}

static bool make_sense(const uint64_t *numbers)
{
    return numbers[0] == GREETING && numbers[1] <= PERF_READ && numbers[2] <= PERF_RATE &&
           numbers[3] <= PERF_WAIT && numbers[4] <= PERF_SIZE_MAX && numbers[5] > 0 &&
           numbers[5] <= PERF_DEPTH_MAX && numbers[11] <= 1024 && numbers[12] <= PERF_CARRIERS_MAX;
}

bool control_receive_params(int sd, struct perf_params *params)
{
    uint64_t numbers[PARAMS_COUNT];

    if (!get(sd, numbers, PARAMS_COUNT))
        return false;
    if (!make_sense(numbers)) {
        complain("the client is no it_perf of this version");
        return false;
    }
    params->op = (enum perf_op)numbers[1];
    params->measure = (enum perf_measure)numbers[2];
    params->mode = (enum perf_mode)numbers[3];
    params->size = numbers[4];
    params->depth = numbers[5];
    params->spin_us = numbers[6];
    params->crc = numbers[7] != 0;
    params->coalesce = numbers[8] != 0;
    params->verify = numbers[9] != 0;
    params->server_choice = numbers[10] != 0;
    params->server_cpu = (int)numbers[11] - 1;
    params->carrier_count = (unsigned int)numbers[12];
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
