/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_control.h"

#include "common/tcp.h"

#include <string.h>

/* First number of the parameters: tells a client of this program and version. */
#define GREETING 0x69745f7065726601u

#define READY 1u

enum {
    PARAMS_COUNT = 11,
    CONTACT_COUNT = 3,
    COMMAND_COUNT = 3,
    OUTCOME_COUNT = 2,
    NUMBERS_MAX = 16,
};

static bool put(int sd, const uint64_t *numbers, size_t count)
{
    uint64_t network[NUMBERS_MAX];

    for (size_t i = 0; i < count; i++)
        network[i] = it_hton64(numbers[i]);
    if (tcp_send(sd, network, count * sizeof(network[0])))
        return true;
    complain_errno("control connection");
    return false;
}

static bool get(int sd, uint64_t *numbers, size_t count)
{
    uint64_t network[NUMBERS_MAX];

    if (!tcp_receive(sd, network, count * sizeof(network[0]))) {
        complain_errno("control connection");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = it_ntoh64(network[i]);
    return true;
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
        params->crc,
        params->verify,
        params->uses[PERF_ITAPI],
        params->uses[PERF_TCP],
        (uint64_t)(params->server_cpu + 1),
    };

    return put(sd, numbers, PARAMS_COUNT);
}

bool control_receive_params(int sd, struct perf_params *params)
{
    uint64_t numbers[PARAMS_COUNT];

    if (!get(sd, numbers, PARAMS_COUNT))
        return false;
    if (numbers[0] != GREETING || numbers[1] > PERF_READ || numbers[2] > PERF_RATE ||
        numbers[3] > PERF_WAIT || numbers[4] > PERF_SIZE_MAX || numbers[5] == 0 ||
        numbers[5] > PERF_DEPTH_MAX || numbers[10] > 1024) {
        complain("the client is no it_perf of this version");
        return false;
    }
    params->op = (enum perf_op)numbers[1];
    params->measure = (enum perf_measure)numbers[2];
    params->mode = (enum perf_mode)numbers[3];
    params->size = numbers[4];
    params->depth = numbers[5];
    params->crc = numbers[6] != 0;
    params->verify = numbers[7] != 0;
    params->uses[PERF_ITAPI] = numbers[8] != 0;
    params->uses[PERF_TCP] = numbers[9] != 0;
    params->server_cpu = (int)numbers[10] - 1;
    return true;
}

bool control_send_contact(int sd, const struct contact *contact)
{
    const uint64_t numbers[CONTACT_COUNT] = {contact->port, contact->key, contact->address};

    return put(sd, numbers, CONTACT_COUNT);
}

bool control_receive_contact(int sd, struct contact *contact)
{
    uint64_t numbers[CONTACT_COUNT];

    if (!get(sd, numbers, CONTACT_COUNT))
        return false;
    contact->port = numbers[0];
    contact->key = numbers[1];
    contact->address = numbers[2];
    return true;
}

bool control_send_command(int sd, const struct command *command)
{
    const uint64_t numbers[COMMAND_COUNT] = {command->end, (uint64_t)command->transport,
                                             command->iters};

    return put(sd, numbers, COMMAND_COUNT);
}

bool control_receive_command(int sd, struct command *command)
{
    uint64_t numbers[COMMAND_COUNT];

    if (!get(sd, numbers, COMMAND_COUNT))
        return false;
    if (numbers[1] > PERF_TCP) {
        complain("the client wants an unknown transport");
        return false;
    }
    command->end = numbers[0] != 0;
    command->transport = (enum perf_transport)numbers[1];
    command->iters = numbers[2];
    return true;
}

bool control_send_outcome(int sd, const struct outcome *outcome)
{
    const uint64_t numbers[OUTCOME_COUNT] = {outcome->good, outcome->heap_calls};

    return put(sd, numbers, OUTCOME_COUNT);
}

bool control_receive_outcome(int sd, struct outcome *outcome)
{
    uint64_t numbers[OUTCOME_COUNT];

    if (!get(sd, numbers, OUTCOME_COUNT))
        return false;
    outcome->good = numbers[0] != 0;
    outcome->heap_calls = numbers[1];
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
