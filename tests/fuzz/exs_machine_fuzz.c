/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a peer to the machines of Extended Sockets. Input: an octet of flags (1: packets; 2:
 * no ring), then messages, each behind an octet of choices and one of length. Between them the
 * program does everything legal. No message may make a machine give more than there is, or place an
 * octet outside of a receive or the ring.
 */
#include "packet/exs_packet_in.h"
#include "packet/exs_packet_out.h"
#include "stream/exs_stream_in.h"
#include "stream/exs_stream_out.h"
#include "wire/exs_flow.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PACKETS = 1,
    NO_RING = 2
};

#define RECEIVES 4u
#define RING     64u
#define LENGTH   40u /* of a receive */
#define INLINE   24u

struct side {
    uint64_t ring_size;
    struct exs_flow flow;
    struct exs_stream_in in;
    struct exs_stream_out out;
    struct exs_packet_in packet_in;
    struct exs_packet_out packet_out;
    struct exs_receive receives[RECEIVES];
    struct exs_advert adverts[RECEIVES];
    struct exs_packet_receive packet_receives[RECEIVES];
    struct exs_packet_advert packet_adverts[RECEIVES];
    uint8_t ring[RING]; /* of packets */
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- The program ---------------------------------------------------------------------------- */

static void receive_all(struct side *side)
{
    struct exs_receive receive;
    struct exs_take take;

    while (exs_stream_in_complete(&side->in, &receive))
        require(receive.filled <= receive.length);
    while (exs_stream_in_take(&side->in, &take)) {
        require(take.count <= side->ring_size && take.to + take.count <= take.receive->length);
        while (exs_stream_in_complete(&side->in, &receive))
            require(receive.filled <= receive.length);
    }
}

static void act_stream(struct side *side, unsigned choice)
{
    struct exs_receive receive = {
        .length = 1 + choice % LENGTH, .waitall = (choice & 2) != 0, .peek = (choice & 12) == 12};
    struct exs_step step;
    uint64_t seq;

    if (choice & 1 && side->in.count < RECEIVES)
        exs_stream_in_post(&side->in, &receive);
    receive_all(side);
    while (choice & 16 && exs_stream_in_next_advert(&side->in))
        exs_stream_in_advertise(&side->in, &seq);
    if (choice & 32)
        (void)exs_stream_in_withdraw(&side->in);
    (void)exs_stream_in_none_due(&side->in);
    (void)exs_stream_in_tell(&side->in);
    if (!(choice & 64))
        return;
    exs_stream_out_step(&side->out, 1 + choice, INLINE, &step);
    require(step.count <= 1u + choice && (!step.in_line || step.count <= INLINE));
    require(step.kind != EXS_STEP_RING || step.in_line ||
            step.offset + step.count <= side->ring_size);
    if (step.kind == EXS_STEP_ASK)
        exs_stream_out_asked(&side->out);
}

static uint32_t packet_in_ring(const struct side *side, uint64_t position)
{
    unsigned char head[EXS_PACKET_HEAD];

    for (unsigned i = 0; i < EXS_PACKET_HEAD; i++)
        head[i] = side->ring[(position + i) % RING];
    return exs_packet_head_get(head);
}

static void receive_packets(struct side *side)
{
    struct exs_packet_in *in = &side->packet_in;
    struct exs_packet_receive receive;

    while (exs_packet_in_match(in)) {
        uint32_t length = packet_in_ring(side, in->ring_read);

        require(length + EXS_PACKET_HEAD <= in->ring_written - in->ring_read);
        exs_packet_in_take(in, length, &receive);
    }
    while (exs_packet_in_left(in, &receive)) {
    }
}

static void act_packets(struct side *side, unsigned choice)
{
    struct exs_packet_in *in = &side->packet_in;
    enum exs_packet_step step;
    struct exs_place place;
    uint64_t number;

    if (choice & 1 && in->count < RECEIVES)
        exs_packet_in_post(in, choice % LENGTH, NULL);
    receive_packets(side);
    while (choice & 16 && exs_packet_in_advertise(in, &number))
        require(number >= in->given && number - in->given < in->count);
    if (choice & 32)
        (void)exs_packet_in_withdraw(in);
    if (choice & 2 && !exs_packet_in_is_advertised(in) && !in->withdrawing && in->count > 1)
        exs_packet_in_remove(in, 1);
    (void)exs_packet_in_tell(in);
    if (!(choice & 64))
        return;
    step = exs_packet_out_step(&side->packet_out, choice % LENGTH, choice % LENGTH <= INLINE);
    if (step != EXS_PACKET_WAIT)
        exs_packet_out_sent(&side->packet_out, step, choice % LENGTH, &place);
}

/* ---- The peer: as transfer/ passes messages on ---------------------------------------------- */

static bool hear_adverts(struct side *side, const struct exs_message *message)
{
    struct exs_message each = *message;

    do {
        if (!exs_stream_out_advert(&side->out, &each))
            return false;
    } while (exs_message_next_more(&each));
    return true;
}

static bool hear_stream_data(struct side *side, const struct exs_message *message)
{
    bool in_line = (message->flags & EXS_MESSAGE_INLINE) != 0;
    struct exs_receive *receive;
    uint64_t to;

    if (!(message->flags & EXS_MESSAGE_DIRECT))
        return exs_stream_in_ring(&side->in, message->count, in_line);
    receive = exs_stream_in_direct(&side->in, message->chain, message->count, in_line, &to);
    require(!receive || to + message->count <= receive->length);
    return receive != NULL;
}

static bool hear_stream(struct side *side, const struct exs_message *message)
{
    if (!exs_stream_out_freed(&side->out, message->freed))
        return false;
    switch (message->type) {
    case EXS_MESSAGE_DATA:
        return hear_stream_data(side, message);
    case EXS_MESSAGE_ADVERT:
        return hear_adverts(side, message);
    case EXS_MESSAGE_ASK:
        return exs_stream_in_ask(&side->in);
    case EXS_MESSAGE_NONE:
        exs_stream_out_none(&side->out);
        return true;
    case EXS_MESSAGE_WITHDRAW:
        return exs_stream_out_withdraw(&side->out, message->chain);
    case EXS_MESSAGE_WITHDRAWN:
        return exs_stream_in_withdrawn(&side->in, message->chain);
    case EXS_MESSAGE_RING:
        side->out.ring_known = side->out.wanted;
        return side->out.wanted;
    case EXS_MESSAGE_FIN:
        return exs_stream_in_end(&side->in);
    default:
        return true;
    }
}

static bool hear_ring_packet(struct side *side, const unsigned char *head, uint32_t length)
{
    struct exs_packet_in *in = &side->packet_in;
    struct exs_packet_receive receive;
    uint64_t at = in->ring_written;
    enum exs_packet_fate fate = exs_packet_in_ring(in, length, &receive);

    if (fate == EXS_PACKET_STORE) {
        require(in->ring_written - in->ring_read <= side->ring_size);
        for (uint32_t i = 0; i < EXS_PACKET_HEAD + length; i++)
            side->ring[(at + i) % RING] = head[i];
    }
    return fate != EXS_PACKET_LIE;
}

static bool hear_packet_data(struct side *side, const struct exs_message *message)
{
    const unsigned char *at = message->payload;
    uint64_t rest = message->count;
    struct exs_packet_receive receive;
    uint32_t length;

    if (!(message->flags & EXS_MESSAGE_INLINE))
        return message->flags & EXS_MESSAGE_DIRECT &&
               exs_packet_in_direct(&side->packet_in, &receive);
    for (; rest >= EXS_PACKET_HEAD; rest -= EXS_PACKET_HEAD + length) {
        length = exs_packet_head_get(at);
        if (length > rest - EXS_PACKET_HEAD ||
            !(message->flags & EXS_MESSAGE_DIRECT ? exs_packet_in_direct(&side->packet_in, &receive)
                                                  : hear_ring_packet(side, at, length)))
            return false;
        at += EXS_PACKET_HEAD + length;
    }
    return rest == 0 && message->count > 0;
}

static bool hear_packets(struct side *side, const struct exs_message *message)
{
    if (!exs_packet_out_freed(&side->packet_out, message->freed))
        return false;
    switch (message->type) {
    case EXS_MESSAGE_DATA:
        return hear_packet_data(side, message);
    case EXS_MESSAGE_ADVERT:
        return message->more == 0 && exs_packet_out_advert(&side->packet_out, message);
    case EXS_MESSAGE_NEED:
        return exs_packet_in_need(&side->packet_in, message->count);
    case EXS_MESSAGE_WITHDRAW:
        return exs_packet_out_withdraw(&side->packet_out, message->chain);
    case EXS_MESSAGE_WITHDRAWN:
        return exs_packet_in_withdrawn(&side->packet_in, message->chain);
    case EXS_MESSAGE_FIN:
        return exs_packet_in_end(&side->packet_in);
    default:
        return true;
    }
}

/* ---- A run ---------------------------------------------------------------------------------- */

static void check(const struct side *side)
{
    const struct exs_stream_in *in = &side->in;
    const struct exs_packet_in *packets = &side->packet_in;

    require(in->ring_written - in->ring_read <= side->ring_size);
    require(in->advertised <= in->count && in->count <= RECEIVES);
    require(side->out.count <= RECEIVES);
    require(side->out.ring_sent - side->out.ring_freed <= side->ring_size);
    require(packets->ring_written - packets->ring_read <= side->ring_size);
    require(packets->count <= RECEIVES && packets->eager <= packets->count);
    require(side->packet_out.count <= RECEIVES);
    require(side->packet_out.ring_sent - side->packet_out.ring_freed <= side->ring_size);
}

static void start(struct side *side, unsigned flags)
{
    memset(side, 0, sizeof(*side));
    side->ring_size = flags & NO_RING ? 0 : RING;
    exs_flow_start(&side->flow, 8, 4);
    exs_stream_in_start(&side->in, side->ring_size, 8, side->receives, RECEIVES);
    exs_stream_out_start(&side->out, side->ring_size, false, 16, side->adverts, RECEIVES);
    exs_packet_in_start(&side->packet_in, side->ring_size, 8, side->packet_receives, RECEIVES);
    exs_packet_out_start(&side->packet_out, side->ring_size, side->packet_adverts, RECEIVES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct side side;
    struct exs_message message;
    bool packets;

    if (size == 0)
        return 0;
    packets = (data[0] & PACKETS) != 0;
    start(&side, data[0]);
    for (data++, size--; size >= 2;) {
        unsigned choice = data[0];
        size_t length = data[1] < size - 2 ? data[1] : size - 2;

        if (packets)
            act_packets(&side, choice);
        else
            act_stream(&side, choice);
        check(&side);
        data += 2;
        if (!exs_message_get(data, length, &message) ||
            !exs_flow_hear(&side.flow, message.posted) ||
            !(packets ? hear_packets(&side, &message) : hear_stream(&side, &message)))
            break;
        check(&side);
        (void)exs_flow_send(&side.flow);
        data += length;
        size -= length + 2;
    }
    return 0;
}
