/* SPDX-License-Identifier: BSD-2-Clause */
/* Modes, and lists of advertisements. */
#include "machine/sdp_halves.h"

#include <string.h>

/* The legal changes of mode: [by the sink][from][to]. */
static const bool legal[2][SDP_MODES][SDP_MODES] = {
    [false] = {[SDP_COMBINED] = {[SDP_BUFFERED] = true, [SDP_PIPELINED] = true},
               [SDP_PIPELINED] = {[SDP_COMBINED] = true}},
    [true] = {[SDP_BUFFERED] = {[SDP_COMBINED] = true}},
};

bool sdp_machine_hear_mode(struct sdp_machine *machine, const struct sdp_message *message,
                           struct sdp_heard *heard)
{
    enum sdp_mode *mode = message->sending_half ? &machine->tx_mode : &machine->rx_mode;

    (void)heard;
    if (!legal[message->sending_half][*mode][message->mode])
        return false;
    if (!message->sending_half && message->mode == SDP_BUFFERED && machine->sources.count > 0)
        return false;
    *mode = (enum sdp_mode)message->mode;
    return true;
}

bool sdp_machine_change_mode(struct sdp_machine *machine, enum sdp_mode mode)
{
    if (!machine->open || machine->failed || machine->sent_disconn ||
        !legal[false][machine->tx_mode][mode] || machine->source.state != SDP_OFFER_NONE)
        return false;
    machine->mode_wanted = mode;
    machine->due |= SDP_DUE_MODE;
    return true;
}

void sdp_places_add(struct sdp_places *places, const struct sdp_place *place)
{
    places->place[places->count++] = *place;
}

void sdp_places_advance(struct sdp_places *places, uint32_t octets)
{
    struct sdp_place *first = &places->place[0];

    first->addr += octets;
    first->size -= octets;
    if (first->size > 0)
        return;
    places->count--;
    memmove(first, first + 1, places->count * sizeof(*first));
}
