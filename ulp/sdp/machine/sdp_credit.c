/* SPDX-License-Identifier: BSD-2-Clause */
/* Credits: message numbers, and the announced receives. */
#include "machine/sdp_halves.h"

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

uint32_t sdp_machine_credits(const struct sdp_machine *machine)
{
    return is_later(machine->tx_limit, machine->tx_last) ? machine->tx_limit - machine->tx_last : 0;
}

bool sdp_credit_hear(struct sdp_machine *machine, const struct sdp_message *message)
{
    uint32_t limit = message->mseq_ack + message->bufs;

    if (message->mseq != machine->rx_last + 1 ||
        message->mseq_ack - machine->tx_acked > machine->tx_last - machine->tx_acked ||
        machine->rx_posted == 0)
        return false;
    machine->rx_last = message->mseq;
    machine->rx_posted--;
    machine->tx_acked = message->mseq_ack;
    /* Receives that are posted stay posted, so the limit never decreases. */
    if (is_later(limit, machine->tx_limit))
        machine->tx_limit = limit;
    return true;
}

bool sdp_credit_due(const struct sdp_machine *machine)
{
    uint32_t left;

    if (machine->got_disconn)
        return false; /* the peer sends nothing more */
    left = is_later(machine->rx_told, machine->rx_last) ? machine->rx_told - machine->rx_last : 0;

    if (left > SDP_RESERVE_DATA)
        left += left / 2;
    return left < machine->rx_posted && !machine->ack_held;
}

void sdp_machine_stamp(struct sdp_machine *machine, struct sdp_message *message)
{
    uint32_t told;

    message->bufs = (uint16_t)least(machine->rx_posted, UINT16_MAX);
    message->mseq = ++machine->tx_last;
    message->mseq_ack = machine->ack_held ? machine->ack_held_at : machine->rx_last;
    if (machine->urgent_left > 0)
        message->flags |= SDP_FLAG_OOB_PEND;
    if (machine->want_pipe && machine->rx_mode == SDP_COMBINED)
        message->flags |= SDP_FLAG_REQ_PIPE;
    told = message->mseq_ack + message->bufs;
    if (is_later(told, machine->rx_told))
        machine->rx_told = told;
    machine->due &= ~(unsigned)SDP_DUE_UPDATE;
}

uint32_t sdp_machine_post_size(const struct sdp_machine *machine)
{
    return machine->resize_to != 0 ? machine->resize_to : machine->receive_size;
}

void sdp_machine_posted(struct sdp_machine *machine)
{
    machine->rx_posted++;
}

uint32_t sdp_machine_room(const struct sdp_machine *machine)
{
    bool may = machine->open && !machine->failed && !machine->sent_disconn &&
               !(machine->due & (SDP_DUE_DISCONN | SDP_DUE_SINK_CANCEL_ACK)) &&
               machine->source.state == SDP_OFFER_NONE &&
               sdp_machine_credits(machine) > SDP_RESERVE_DATA;

    return may ? machine->send_size - SDP_HEAD_OCTETS : 0;
}
