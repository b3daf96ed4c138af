/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet/exs_packet_out.h"

#include <string.h>

void exs_packet_out_start(struct exs_packet_out *out, uint64_t ring_size,
                          struct exs_packet_advert *adverts, uint32_t room)
{
    memset(out, 0, sizeof(*out));
    out->ring_size = ring_size;
    out->adverts = adverts;
    out->room = room;
    out->chain = 1;
}

static void drop_first(struct exs_packet_out *out)
{
    out->first = (out->first + 1) % out->room;
    out->count--;
}

/* Returns the ADVERT for the next packet; drops those for packets that were sent another way. */
static const struct exs_packet_advert *usable(struct exs_packet_out *out)
{
    while (out->count > 0 && out->adverts[out->first].number < out->next)
        drop_first(out);
    if (out->count == 0 || out->adverts[out->first].number != out->next)
        return NULL;
    return &out->adverts[out->first];
}

enum exs_packet_step exs_packet_out_step(struct exs_packet_out *out, uint64_t length, bool in_line)
{
    uint64_t room = out->ring_size - (out->ring_sent - out->ring_freed);

    if (usable(out))
        return in_line ? EXS_PACKET_DIRECT : EXS_PACKET_WRITE;
    /* A ring that is too small, or none, never has room: the receiver has to know of the packet. */
    if (in_line && length + EXS_PACKET_HEAD <= out->ring_size)
        return length + EXS_PACKET_HEAD <= room ? EXS_PACKET_RING : EXS_PACKET_WAIT;
    return out->needed ? EXS_PACKET_WAIT : EXS_PACKET_NEED;
}

void exs_packet_out_sent(struct exs_packet_out *out, enum exs_packet_step step, uint64_t length,
                         struct exs_place *place)
{
    if (step == EXS_PACKET_NEED) {
        out->needed = true;
        return;
    }
    if (step == EXS_PACKET_RING)
        out->ring_sent += length + EXS_PACKET_HEAD;
    else {
        *place = out->adverts[out->first].place;
        drop_first(out);
    }
    out->next++;
    out->needed = false;
}

static struct exs_packet_advert *at(const struct exs_packet_out *out, uint32_t index)
{
    return &out->adverts[(out->first + index) % out->room];
}

/* Inserts by number, because the ADVERT of a needed packet may arrive after later ones. */
static bool insert(struct exs_packet_out *out, const struct exs_message *message)
{
    uint32_t i = out->count;

    if (out->count == out->room)
        return false;
    for (; i > 0 && at(out, i - 1)->number > message->count; i--)
        *at(out, i) = *at(out, i - 1);
    *at(out, i) = (struct exs_packet_advert){.number = message->count, .place = message->place};
    out->count++;
    return i == 0 || at(out, i - 1)->number != message->count;
}

bool exs_packet_out_advert(struct exs_packet_out *out, const struct exs_message *message)
{
    if (message->chain != out->chain)
        return exs_chain_after(message->chain) == out->chain;
    (void)usable(out);
    if (message->count < out->next)
        return true;
    return insert(out, message);
}

bool exs_packet_out_withdraw(struct exs_packet_out *out, uint32_t chain)
{
    if (chain != out->chain)
        return false;
    out->chain = exs_chain_after(chain);
    out->count = 0;
    return true;
}

bool exs_packet_out_freed(struct exs_packet_out *out, uint32_t freed)
{
    uint32_t more = freed - (uint32_t)out->ring_freed;

    if (more > out->ring_sent - out->ring_freed)
        return false;
    out->ring_freed += more;
    return true;
}
