/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a peer to an SDP machine. Input: an octet of flags (1: this is the active side; 2:
 * the size of receives may grow), then messages, each after its length (2 octets). Between them the
 * machine does everything legal, so that all its states are reached. No message may make it advance
 * beyond what it has offered.
 */
#include "machine/sdp_machine.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 512u

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void act(struct sdp_machine *machine, unsigned choice)
{
    const struct sdp_place place = {.addr = 4096, .size = 2000, .key = 1};
    struct sdp_message message;

    if (choice & 1 && sdp_machine_room(machine) > 0)
        sdp_machine_data(machine, 1, (choice & 2) != 0, &message);
    if (choice & 2)
        (void)sdp_machine_change_mode(machine, SDP_PIPELINED);
    if (choice & 4 && sdp_machine_may_offer_source(machine))
        sdp_machine_offer_source(machine, &place, machine->tx_mode == SDP_COMBINED, &message);
    if (choice & 8 && sdp_machine_may_offer_sink(machine))
        sdp_machine_offer_sink(machine, &place, &message);
    if (choice & 16 && sdp_machine_source(machine) && machine->reading == 0)
        sdp_machine_read_begins(machine, 1);
    else if (machine->reading > 0)
        sdp_machine_read_ends(machine);
    if (choice & 32 && sdp_machine_sink(machine))
        sdp_machine_written(machine, 1, &message);
    if (choice & 64) {
        sdp_machine_cancel_source(machine);
        sdp_machine_cancel_sink(machine);
        (void)sdp_machine_refuse(machine);
    }
    while (sdp_machine_next(machine, &message)) {
    }
}

static void check_state(const struct sdp_machine *machine)
{
    check(machine->source.done <= machine->source.size);
    check(machine->sink.done <= machine->sink.size);
    check(machine->sources.count <= SDP_ADVERTS_MAX && machine->sinks.count <= SDP_ADVERTS_MAX);
    check(machine->sources.count == 0 || machine->reading <= machine->sources.place[0].size);
    check(machine->receive_size <= machine->receive_max && machine->send_size <= SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sdp_hello hello = {.bufs = 8,
                              .max_adverts = SDP_ADVERTS_MAX,
                              .ip_version = 4,
                              .desired_size = SIZE,
                              .receive_size = SIZE / 2};
    unsigned char greeting[SDP_HELLO_OCTETS];
    struct sdp_machine machine;
    struct sdp_heard heard;

    if (size == 0)
        return 0;
    sdp_machine_start(&machine, data[0] & 1, &hello, data[0] & 2 ? SIZE : SIZE / 2);
    if (machine.active)
        (void)sdp_machine_greet(&machine, &hello, greeting);
    for (data++, size--; size >= 3;) {
        size_t length = ((size_t)data[0] << 8 | data[1]) % (SIZE / 2 + 1);
        unsigned choice = data[2];
        unsigned char octets[SIZE];

        data += 3;
        size -= 3;
        if (length > size)
            length = size;
        memcpy(octets, data, length);
        data += length;
        size -= length;
        if (!sdp_machine_hear(&machine, octets, length, &heard))
            break;
        check(heard.octets <= length);
        if (heard.opened && !machine.active)
            (void)sdp_machine_greet(&machine, &hello, greeting);
        sdp_machine_posted(&machine);
        act(&machine, choice);
        check_state(&machine);
    }
    sdp_machine_abort(&machine);
    return 0;
}
