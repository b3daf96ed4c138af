/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving half: Data, the peer's SrcAvail, which this side reads, and this side's SinkAvail,
 * which the peer writes to.
 */
#include "machine/sdp_halves.h"

static void give(const struct sdp_message *message, struct sdp_heard *heard)
{
    heard->payload = message->payload;
    heard->octets = message->payload_octets;
    heard->urgent = (message->flags & SDP_FLAG_OOB_PRES) != 0;
}

bool sdp_sink_data(struct sdp_machine *machine, const struct sdp_message *message,
                   struct sdp_heard *heard)
{
    if (message->payload_octets == 0)
        return true;
    if (machine->got_disconn || (machine->sources.count > 0 && machine->rx_mode == SDP_COMBINED))
        return false;
    if (machine->sources.count > 0)
        machine->behind_source = true;
    machine->data_received++;
    machine->sink.state = SDP_OFFER_NONE; /* the peer has dropped it, or will */
    machine->due &= ~(unsigned)SDP_DUE_SINK_CANCEL;
    give(message, heard);
    return true;
}

/* ---- SrcAvail of the peer ------------------------------------------------------------------- */

bool sdp_sink_src_avail(struct sdp_machine *machine, const struct sdp_message *message,
                        struct sdp_heard *heard)
{
    struct sdp_place place = message->place;
    bool pipelined = machine->rx_mode == SDP_PIPELINED;
    uint32_t most = pipelined ? SDP_ADVERTS_MAX : 1;

    if (machine->got_disconn || machine->rx_mode == SDP_BUFFERED ||
        machine->sources.count >= most || machine->cancelled ||
        (message->payload_octets > 0) == pipelined || message->payload_octets >= place.size)
        return false;
    machine->refused = false;
    /* The peer will find this side's SinkAvail, and write. */
    if (machine->sink.state != SDP_OFFER_NONE)
        return true;
    place.addr += message->payload_octets;
    place.size -= message->payload_octets;
    sdp_places_add(&machine->sources, &place);
    give(message, heard);
    heard->source = true;
    return true;
}

const struct sdp_place *sdp_machine_source(const struct sdp_machine *machine)
{
    return machine->sources.count > 0 ? &machine->sources.place[0] : NULL;
}

static void drop_sources(struct sdp_machine *machine)
{
    machine->sources.count = 0;
    machine->behind_source = false;
    machine->cancelled = false;
    machine->due |= SDP_DUE_SEND_SM;
}

bool sdp_sink_src_cancel(struct sdp_machine *machine, const struct sdp_message *message,
                         struct sdp_heard *heard)
{
    (void)message;
    (void)heard;
    if (machine->rx_mode == SDP_BUFFERED || machine->cancelled)
        return false;
    if (machine->reading > 0) {
        machine->cancelled = true;
        machine->ack_held = true;
        machine->ack_held_at = machine->rx_last;
    } else if (!machine->refused) /* otherwise SendSm has crossed the cancel, and answers it */
        drop_sources(machine);
    return true;
}

void sdp_machine_read_begins(struct sdp_machine *machine, uint32_t octets)
{
    machine->reading = octets;
}

void sdp_machine_read_ends(struct sdp_machine *machine)
{
    machine->read_done += machine->reading;
    machine->due |= SDP_DUE_RD_COMPL;
    sdp_places_advance(&machine->sources, machine->reading);
    machine->reading = 0;
    if (machine->sources.count == 0)
        machine->behind_source = false;
    if (machine->cancelled)
        drop_sources(machine);
}

bool sdp_machine_refuse(struct sdp_machine *machine)
{
    if (machine->sources.count == 0 || machine->reading > 0 || machine->behind_source)
        return false;
    drop_sources(machine);
    machine->refused = true;
    return true;
}

/* ---- SinkAvail ------------------------------------------------------------------------------ */

bool sdp_machine_may_offer_sink(const struct sdp_machine *machine)
{
    return machine->open && !machine->failed && !machine->got_disconn &&
           machine->rx_mode == SDP_PIPELINED && machine->sink.state == SDP_OFFER_NONE &&
           machine->sources.count == 0 && !(machine->due & (SDP_DUE_RD_COMPL | SDP_DUE_SEND_SM)) &&
           sdp_machine_credits(machine) > SDP_RESERVE_DATA;
}

void sdp_machine_offer_sink(struct sdp_machine *machine, const struct sdp_place *place,
                            struct sdp_message *message)
{
    *message = (struct sdp_message){
        .mid = SDP_SINK_AVAIL, .place = *place, .value = machine->data_received};
    machine->sink = (struct sdp_offer){.state = SDP_OFFER_OUT, .size = place->size};
    sdp_machine_stamp(machine, message);
}

void sdp_machine_cancel_sink(struct sdp_machine *machine)
{
    if (machine->sink.state != SDP_OFFER_OUT)
        return;
    machine->sink.state = SDP_OFFER_CANCELLING;
    machine->due |= SDP_DUE_SINK_CANCEL;
}

bool sdp_sink_written(struct sdp_machine *machine, const struct sdp_message *message,
                      struct sdp_heard *heard)
{
    struct sdp_offer *sink = &machine->sink;

    (void)heard;
    if (sink->state == SDP_OFFER_NONE || message->value == 0 || message->value > sink->size)
        return false;
    sink->done = message->value;
    sink->state = SDP_OFFER_NONE;
    machine->due &= ~(unsigned)SDP_DUE_SINK_CANCEL; /* the cancel may still wait for a credit */
    return true;
}

bool sdp_sink_cancel_ack(struct sdp_machine *machine, const struct sdp_message *message,
                         struct sdp_heard *heard)
{
    (void)message;
    (void)heard;
    if (machine->sink.state == SDP_OFFER_OUT)
        return false;
    machine->sink.state = SDP_OFFER_NONE;
    return true;
}
