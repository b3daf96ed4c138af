/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet/exs_packet_in.h"

#include <string.h>

void exs_packet_in_start(struct exs_packet_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_packet_receive *receives, uint32_t room)
{
    memset(in, 0, sizeof(*in));
    in->ring_size = ring_size;
    in->advert_min = advert_min;
    in->receives = receives;
    in->room = room;
    in->chain = 1;
}

struct exs_packet_receive *exs_packet_in_at(struct exs_packet_in *in, uint32_t index)
{
    return index < in->count ? &in->receives[(in->first + index) % in->room] : NULL;
}

/* A short receive waits until it is needed: a short packet comes in the message. */
static bool is_eager(const struct exs_packet_in *in, const struct exs_packet_receive *receive)
{
    return !receive->advertised && (in->ring_size == 0 || receive->length >= in->advert_min);
}

static void pop(struct exs_packet_in *in, struct exs_packet_receive *receive)
{
    *receive = in->receives[in->first];
    in->eager -= is_eager(in, receive);
    in->first = (in->first + 1) % in->room;
    in->count--;
}

static void count_packet(struct exs_packet_in *in)
{
    in->given++;
    if (in->needed <= in->given)
        in->needed = 0;
}

/* Assigns the packet of this number to the receive of this number. */
static void give(struct exs_packet_in *in, struct exs_packet_receive *receive)
{
    pop(in, receive);
    count_packet(in);
}

/* ---- The program's receives ----------------------------------------------------------------- */

void exs_packet_in_post(struct exs_packet_in *in, uint64_t length, void *owner)
{
    struct exs_packet_receive *receive = &in->receives[(in->first + in->count) % in->room];

    *receive = (struct exs_packet_receive){.length = length, .owner = owner};
    in->eager += is_eager(in, receive);
    in->count++;
}

bool exs_packet_in_match(const struct exs_packet_in *in)
{
    return in->count > 0 && in->ring_written != in->ring_read;
}

void exs_packet_in_take(struct exs_packet_in *in, uint64_t length, struct exs_packet_receive *to)
{
    in->ring_read += length + EXS_PACKET_HEAD;
    give(in, to);
}

void exs_packet_in_drop(struct exs_packet_in *in, uint64_t length)
{
    in->ring_read += length + EXS_PACKET_HEAD;
    count_packet(in);
}

bool exs_packet_in_left(struct exs_packet_in *in, struct exs_packet_receive *receive)
{
    if (!in->ended || in->count == 0 || in->ring_written != in->ring_read)
        return false;
    pop(in, receive);
    return true;
}

void exs_packet_in_remove(struct exs_packet_in *in, uint32_t index)
{
    in->eager -= is_eager(in, exs_packet_in_at(in, index));
    for (; index + 1 < in->count; index++)
        *exs_packet_in_at(in, index) = *exs_packet_in_at(in, index + 1);
    in->count--;
}

bool exs_packet_in_is_advertised(const struct exs_packet_in *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (in->receives[(in->first + i) % in->room].advertised)
            return true;
    return false;
}

bool exs_packet_in_withdraw(struct exs_packet_in *in)
{
    if (in->withdrawing || in->ended || !exs_packet_in_is_advertised(in))
        return false;
    in->withdrawing = true;
    return true;
}

static void forget_adverts(struct exs_packet_in *in)
{
    in->eager = 0;
    for (uint32_t i = 0; i < in->count; i++) {
        exs_packet_in_at(in, i)->advertised = false;
        in->eager += is_eager(in, exs_packet_in_at(in, i));
    }
    in->withdrawing = false;
}

/* ---- Messages of the peer ------------------------------------------------------------------- */

enum exs_packet_fate exs_packet_in_ring(struct exs_packet_in *in, uint64_t length,
                                        struct exs_packet_receive *to)
{
    uint64_t octets = length + EXS_PACKET_HEAD;

    if (in->ended || octets > in->ring_size - (in->ring_written - in->ring_read))
        return EXS_PACKET_LIE;
    in->ring_written += octets;
    if (in->count == 0 || in->ring_written - in->ring_read != octets)
        return EXS_PACKET_STORE;
    exs_packet_in_take(in, length, to);
    return EXS_PACKET_GIVE;
}

bool exs_packet_in_direct(struct exs_packet_in *in, struct exs_packet_receive *to)
{
    const struct exs_packet_receive *head = exs_packet_in_at(in, 0);

    if (in->ended || !head || !head->advertised)
        return false;
    give(in, to);
    return true;
}

bool exs_packet_in_need(struct exs_packet_in *in, uint64_t number)
{
    /* The packets before it have come. A needed packet of before may have been cancelled. */
    if (in->ended || number + 1 < in->needed || number < in->given ||
        number - in->given > in->ring_written - in->ring_read)
        return false;
    in->needed = number + 1;
    return true;
}

bool exs_packet_in_is_needed(const struct exs_packet_in *in)
{
    return in->needed > in->given + in->count;
}

bool exs_packet_in_withdrawn(struct exs_packet_in *in, uint32_t chain)
{
    if (chain != in->chain || !in->withdrawing)
        return in->ended;
    in->chain = exs_chain_after(chain);
    forget_adverts(in);
    return true;
}

bool exs_packet_in_end(struct exs_packet_in *in)
{
    if (in->ended)
        return false;
    in->ended = true;
    forget_adverts(in);
    return true;
}

/* ---- What to send --------------------------------------------------------------------------- */

struct exs_packet_receive *exs_packet_in_advertise(struct exs_packet_in *in, uint64_t *number)
{
    struct exs_packet_receive *receive;

    if (in->withdrawing || in->ended || in->ring_written != in->ring_read ||
        (in->eager == 0 && in->needed == 0))
        return NULL;
    for (uint32_t i = 0; i < in->count; i++) {
        receive = exs_packet_in_at(in, i);
        if (receive->advertised || (!is_eager(in, receive) && in->given + i + 1 != in->needed))
            continue;
        in->eager -= is_eager(in, receive);
        receive->advertised = true;
        *number = in->given + i;
        return receive;
    }
    return NULL;
}

void exs_packet_in_unadvertise(struct exs_packet_in *in, struct exs_packet_receive *receive)
{
    receive->advertised = false;
    in->eager += is_eager(in, receive);
}

bool exs_packet_in_ack_due(const struct exs_packet_in *in)
{
    uint64_t read = in->ring_read - in->ring_told;

    /* The sender waits until the whole packet has room: any that fits a message. */
    return read > 0 && (read >= in->ring_size / 4 ||
                        in->ring_size - read < in->advert_min - 1 + EXS_PACKET_HEAD);
}

uint32_t exs_packet_in_tell(struct exs_packet_in *in)
{
    in->ring_told = in->ring_read;
    return (uint32_t)in->ring_read;
}
