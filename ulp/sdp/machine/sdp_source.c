/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ZCopy of the sending half: this side's SrcAvail, which the peer reads, and the peer's SinkAvail,
 * which this side writes to.
 */
#include "machine/sdp_halves.h"

/* ---- SrcAvail ------------------------------------------------------------------------------- */

bool sdp_machine_may_offer_source(const struct sdp_machine *machine)
{
    return sdp_machine_room(machine) > 0 && machine->tx_mode != SDP_BUFFERED &&
           !(machine->due & SDP_DUE_MODE);
}

void sdp_machine_offer_source(struct sdp_machine *machine, const struct sdp_place *place,
                              uint32_t inline_octets, struct sdp_message *message)
{
    *message = (struct sdp_message){
        .mid = SDP_SRC_AVAIL, .place = *place, .payload_octets = inline_octets};
    machine->source =
        (struct sdp_offer){.state = SDP_OFFER_OUT, .size = place->size - inline_octets};
    sdp_machine_stamp(machine, message);
    machine->source_mseq = message->mseq;
}

void sdp_machine_cancel_source(struct sdp_machine *machine)
{
    if (machine->source.state != SDP_OFFER_OUT)
        return;
    machine->source.state = SDP_OFFER_CANCELLING;
    machine->due |= SDP_DUE_SRC_CANCEL;
}

bool sdp_source_read(struct sdp_machine *machine, const struct sdp_message *message,
                     struct sdp_heard *heard)
{
    struct sdp_offer *source = &machine->source;

    (void)heard;
    if (source->state == SDP_OFFER_NONE || message->value == 0 ||
        message->value > source->size - source->done)
        return false;
    source->done += message->value;
    /* One that is being cancelled ends with SendSm. */
    if (source->state == SDP_OFFER_OUT && source->done == source->size)
        source->state = SDP_OFFER_NONE;
    return true;
}

bool sdp_source_send_sm(struct sdp_machine *machine, const struct sdp_message *message,
                        struct sdp_heard *heard)
{
    (void)heard;
    /* A SendSm that has crossed a newer SrcAvail refers to the earlier one. */
    if ((int32_t)(message->mseq_ack - machine->source_mseq) < 0)
        return true;
    if (machine->source.state == SDP_OFFER_CANCELLING)
        machine->due &= ~(unsigned)SDP_DUE_SRC_CANCEL; /* the cancel may still wait for a credit */
    machine->source.state = SDP_OFFER_NONE;
    return true;
}

/* ---- SinkAvail of the peer ------------------------------------------------------------------ */

bool sdp_source_sink_avail(struct sdp_machine *machine, const struct sdp_message *message,
                           struct sdp_heard *heard)
{
    if (machine->tx_mode != SDP_PIPELINED || machine->sinks.count == SDP_ADVERTS_MAX ||
        !sdp_sink_data(machine, message, heard))
        return false;
    /* It has crossed octets of this side: they come first, and the peer drops the SinkAvail. */
    if (message->value != machine->data_sent)
        return true;
    /* The peer drops a SrcAvail that it gets while its SinkAvail is out. */
    if (machine->source.state == SDP_OFFER_OUT)
        machine->source.state = SDP_OFFER_NONE;
    sdp_places_add(&machine->sinks, &message->place);
    return true;
}

bool sdp_source_sink_cancel(struct sdp_machine *machine, const struct sdp_message *message,
                            struct sdp_heard *heard)
{
    (void)message;
    (void)heard;
    if (machine->tx_mode != SDP_PIPELINED)
        return false;
    if (machine->sinks.count > 0)
        machine->due |= SDP_DUE_SINK_CANCEL_ACK;
    machine->sinks.count = 0;
    return true;
}

const struct sdp_place *sdp_machine_sink(const struct sdp_machine *machine)
{
    return machine->sinks.count > 0 && sdp_machine_room(machine) > 0 ? &machine->sinks.place[0]
                                                                     : NULL;
}

void sdp_machine_written(struct sdp_machine *machine, uint32_t octets, struct sdp_message *message)
{
    *message = (struct sdp_message){.mid = SDP_RDMA_WR_COMPL, .value = octets};
    sdp_places_advance(&machine->sinks, machine->sinks.place[0].size);
    sdp_machine_stamp(machine, message);
}
