/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages in and out, sizes, the end. The halves are in sdp_source.c and sdp_sink.c. */
#include "machine/sdp_halves.h"

#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- Start ---------------------------------------------------------------------------------- */

void sdp_machine_start(struct sdp_machine *machine, bool active, const struct sdp_hello *own,
                       uint32_t receive_max)
{
    memset(machine, 0, sizeof(*machine));
    machine->active = active;
    machine->rx_posted = own->bufs;
    machine->receive_size = own->receive_size;
    machine->receive_max = receive_max;
    machine->send_max = own->desired_size;
    machine->tx_mode = SDP_COMBINED;
    machine->rx_mode = SDP_COMBINED;
}

size_t sdp_machine_greet(struct sdp_machine *machine, const struct sdp_hello *own,
                         unsigned char out[SDP_HELLO_OCTETS])
{
    struct sdp_hello hello = *own;

    hello.bufs = (uint16_t)least(machine->rx_posted, UINT16_MAX);
    /* A Hello acknowledges nothing, not even mseq 0. */
    machine->rx_told = machine->active ? hello.bufs - 1u : hello.bufs;
    machine->open = machine->greeted;
    if (machine->active) {
        sdp_hello_put(out, &hello);
        return SDP_HELLO_OCTETS;
    }
    sdp_hello_ack_put(out, &hello);
    return SDP_HELLO_ACK_OCTETS;
}

static bool hear_hello(struct sdp_machine *machine, const unsigned char *octets, size_t length,
                       struct sdp_heard *heard)
{
    struct sdp_hello hello;

    if (machine->greeted || !(machine->active ? sdp_hello_ack_get(octets, length, &hello)
                                              : sdp_hello_get(octets, length, &hello)))
        return false;
    machine->rx_posted--;
    machine->send_size = least(hello.receive_size, machine->send_max);
    machine->peer_adverts = hello.max_adverts;
    machine->tx_limit = machine->active ? hello.bufs : hello.bufs - 1u;
    machine->greeted = true;
    machine->open = machine->active;
    heard->opened = true;
    return true;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

void sdp_machine_ask_size(struct sdp_machine *machine, uint32_t size)
{
    if (machine->size_asked != 0 || size <= machine->send_size || size > machine->send_max)
        return;
    machine->size_asked = size;
    machine->due |= SDP_DUE_SIZE;
}

static bool hear_size(struct sdp_machine *machine, const struct sdp_message *message,
                      struct sdp_heard *heard)
{
    uint32_t size = least(message->value, machine->receive_max);

    (void)heard;
    if (machine->resize_to != 0 || (machine->due & SDP_DUE_SIZE_ACK))
        return false;
    if (size <= machine->receive_size) {
        machine->due |= SDP_DUE_SIZE_ACK;
        return true;
    }
    machine->resize_to = size;
    machine->resize_left = machine->rx_posted + 1; /* this message is counted below */
    return true;
}

/* Receives are used in the order of posting: the smaller ones first. */
static void count_resize(struct sdp_machine *machine)
{
    if (machine->resize_to == 0 || --machine->resize_left > 0)
        return;
    machine->receive_size = machine->resize_to;
    machine->resize_to = 0;
    machine->due |= SDP_DUE_SIZE_ACK;
}

static bool hear_size_ack(struct sdp_machine *machine, const struct sdp_message *message,
                          struct sdp_heard *heard)
{
    (void)heard;
    if (machine->size_asked == 0 || (machine->due & SDP_DUE_SIZE) ||
        message->value > machine->size_asked || message->value <= SDP_HEAD_OCTETS)
        return false;
    machine->size_asked = 0;
    if (message->value > machine->send_size)
        machine->send_size = message->value;
    return true;
}

/* ---- The end -------------------------------------------------------------------------------- */

static bool hear_disconn(struct sdp_machine *machine, const struct sdp_message *message,
                         struct sdp_heard *heard)
{
    (void)message;
    (void)heard;
    if (machine->got_disconn)
        return false;
    machine->got_disconn = true;
    return true;
}

static bool hear_abort(struct sdp_machine *machine, const struct sdp_message *message,
                       struct sdp_heard *heard)
{
    (void)message;
    heard->reset = true;
    machine->failed = true;
    machine->due = 0;
    return true;
}

void sdp_machine_finish(struct sdp_machine *machine)
{
    if (!machine->sent_disconn)
        machine->due |= SDP_DUE_DISCONN;
}

void sdp_machine_abort(struct sdp_machine *machine)
{
    if (machine->failed)
        return;
    machine->failed = true;
    machine->due = SDP_DUE_ABORT;
}

bool sdp_machine_awaits_greeting(const struct sdp_machine *machine)
{
    return !machine->greeted && (machine->due & SDP_DUE_ABORT) != 0;
}

/* ---- Hearing -------------------------------------------------------------------------------- */

static bool (*const hearers[256])(struct sdp_machine *, const struct sdp_message *,
                                  struct sdp_heard *) = {
    [SDP_DATA] = sdp_sink_data,
    [SDP_SRC_AVAIL] = sdp_sink_src_avail,
    [SDP_SRC_AVAIL_CANCEL] = sdp_sink_src_cancel,
    [SDP_RDMA_WR_COMPL] = sdp_sink_written,
    [SDP_SINK_CANCEL_ACK] = sdp_sink_cancel_ack,
    [SDP_SINK_AVAIL] = sdp_source_sink_avail,
    [SDP_SINK_AVAIL_CANCEL] = sdp_source_sink_cancel,
    [SDP_RDMA_RD_COMPL] = sdp_source_read,
    [SDP_SEND_SM] = sdp_source_send_sm,
    [SDP_MODE_CHANGE] = sdp_machine_hear_mode,
    [SDP_CH_RCV_BUF] = hear_size,
    [SDP_CH_RCV_BUF_ACK] = hear_size_ack,
    [SDP_DISCONN] = hear_disconn,
    [SDP_ABORT_CONN] = hear_abort,
};

static void hear_pend(struct sdp_machine *machine, const struct sdp_message *message,
                      struct sdp_heard *heard)
{
    if (!(message->flags & (SDP_FLAG_OOB_PEND | SDP_FLAG_OOB_PRES)))
        return;
    heard->pend = !machine->got_pend;
    machine->got_pend = !(message->flags & SDP_FLAG_OOB_PRES);
}

bool sdp_machine_hear(struct sdp_machine *machine, const unsigned char *octets, size_t length,
                      struct sdp_heard *heard)
{
    struct sdp_message message;

    memset(heard, 0, sizeof(*heard));
    if (machine->failed && !sdp_machine_awaits_greeting(machine))
        return false;
    if (!machine->greeted)
        return hear_hello(machine, octets, length, heard);
    if (!sdp_message_get(octets, length, &message) || !hearers[message.mid] ||
        length > machine->receive_max || !sdp_credit_hear(machine, &message) ||
        !hearers[message.mid](machine, &message, heard))
        return false;
    count_resize(machine);
    if (message.flags & SDP_FLAG_REQ_PIPE)
        machine->peer_wants_pipe = true;
    hear_pend(machine, &message, heard);
    return true;
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* In the order of sending. */
static const struct {
    unsigned due;
    uint8_t mid;
} control[] = {
    {SDP_DUE_ABORT, SDP_ABORT_CONN},
    {SDP_DUE_RD_COMPL, SDP_RDMA_RD_COMPL},
    {SDP_DUE_SEND_SM, SDP_SEND_SM},
    {SDP_DUE_SINK_CANCEL_ACK, SDP_SINK_CANCEL_ACK},
    {SDP_DUE_SRC_CANCEL, SDP_SRC_AVAIL_CANCEL},
    {SDP_DUE_SINK_CANCEL, SDP_SINK_AVAIL_CANCEL},
    {SDP_DUE_MODE, SDP_MODE_CHANGE},
    {SDP_DUE_SIZE_ACK, SDP_CH_RCV_BUF_ACK},
    {SDP_DUE_SIZE, SDP_CH_RCV_BUF},
    {SDP_DUE_DISCONN, SDP_DISCONN},
    {SDP_DUE_UPDATE, SDP_DATA},
};

static void fill(struct sdp_machine *machine, struct sdp_message *message)
{
    switch (message->mid) {
    case SDP_RDMA_RD_COMPL:
        message->value = machine->read_done;
        machine->read_done = 0;
        break;
    case SDP_SEND_SM:
        machine->ack_held = false;
        break;
    case SDP_MODE_CHANGE:
        message->mode = (uint8_t)machine->mode_wanted;
        machine->tx_mode = machine->mode_wanted;
        break;
    case SDP_CH_RCV_BUF_ACK:
        message->value = machine->receive_size;
        break;
    case SDP_CH_RCV_BUF:
        message->value = machine->size_asked;
        break;
    case SDP_DISCONN:
        machine->sent_disconn = true;
        break;
    default:
        break;
    }
}

bool sdp_machine_next(struct sdp_machine *machine, struct sdp_message *message)
{
    uint32_t credits = sdp_machine_credits(machine);
    size_t i = 0;

    if (!machine->open || credits == 0)
        return false;
    if (credits <= SDP_RESERVE_CONTROL || machine->due == 0) {
        /* Only an update may take the last credit, or else both sides could run out of credits. */
        if (!(machine->due & SDP_DUE_ABORT) && (machine->failed || !sdp_credit_due(machine)))
            return false;
        if (!(machine->due & SDP_DUE_ABORT))
            i = sizeof(control) / sizeof(control[0]) - 1;
    } else
        while (!(machine->due & control[i].due))
            i++;
    *message = (struct sdp_message){.mid = control[i].mid};
    machine->due &= ~control[i].due;
    fill(machine, message);
    sdp_machine_stamp(machine, message);
    return true;
}

void sdp_machine_data(struct sdp_machine *machine, uint32_t octets, bool urgent,
                      struct sdp_message *message)
{
    *message = (struct sdp_message){.mid = SDP_DATA, .payload_octets = octets};
    if (urgent)
        message->flags = SDP_FLAG_OOB_PRES;
    machine->data_sent++;
    machine->sinks.count = 0; /* the peer drops its SinkAvails when it gets the octets */
    sdp_machine_stamp(machine, message);
    if (urgent && machine->urgent_left > 0)
        machine->urgent_left--;
}

void sdp_machine_urgent(struct sdp_machine *machine)
{
    machine->urgent_left++;
    machine->due |= SDP_DUE_UPDATE;
}
