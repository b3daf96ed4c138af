/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/exs_message.h"

#include <endian.h>
#include <string.h>

#define SETUP_MAGIC   0x45585331u /* "EXS1" */
#define SETUP_VERSION 1u
#define SETUP_PACKETS 0x1u

/* Inlined, so that a constant number of octets is one load or store instead of a loop. */
static inline __attribute__((always_inline)) void put(unsigned char *out, size_t octets,
                                                      uint64_t value)
{
    value = htobe64(value << (64 - 8 * octets));
    memcpy(out, &value, octets);
}

static inline __attribute__((always_inline)) uint64_t get(const unsigned char *in, size_t octets)
{
    uint64_t value = 0;

    memcpy(&value, in, octets);
    return be64toh(value) >> (64 - 8 * octets);
}

/* The flags that each type may have, and whether a place follows. */
static const struct {
    uint8_t flags;
    bool place;
} types[EXS_MESSAGE_TYPES] = {
    [EXS_MESSAGE_DATA] = {EXS_MESSAGE_DIRECT | EXS_MESSAGE_INLINE | EXS_MESSAGE_TAIL, false},
    [EXS_MESSAGE_ADVERT] = {EXS_MESSAGE_WAITALL, true},
    [EXS_MESSAGE_RING] = {0, true},
};

/* ---- Messages ------------------------------------------------------------------------------- */

static void put_place(unsigned char *out, const struct exs_place *place, uint8_t flags)
{
    put(out, 8, place->addr);
    put(out + 8, 8, place->length);
    put(out + 16, 4, place->stag);
    put(out + 20, 4, flags);
}

static void get_place(const unsigned char *in, struct exs_place *place)
{
    place->addr = get(in, 8);
    place->length = get(in + 8, 8);
    place->stag = (uint32_t)get(in + 16, 4);
}

size_t exs_message_put(unsigned char *out, const struct exs_message *message)
{
    out[0] = message->type;
    out[1] = message->flags;
    put(out + 2, 2, 0);
    put(out + 4, 4, message->posted);
    put(out + 8, 4, message->freed);
    put(out + 12, 4, message->chain);
    put(out + 16, 8, message->count);
    if (!types[message->type].place)
        return EXS_HEAD_OCTETS;
    put_place(out + EXS_HEAD_OCTETS, &message->place, 0);
    return EXS_HEAD_OCTETS + EXS_PLACE_OCTETS;
}

static bool length_fits(const struct exs_message *message, size_t length)
{
    size_t rest = length - EXS_HEAD_OCTETS;

    if (message->type == EXS_MESSAGE_ADVERT)
        return rest > 0 && rest % EXS_PLACE_OCTETS == 0 &&
               rest / EXS_PLACE_OCTETS <= EXS_ADVERTS_MAX;
    if (types[message->type].place)
        return rest == EXS_PLACE_OCTETS;
    if (message->flags & EXS_MESSAGE_TAIL)
        return message->flags == (EXS_MESSAGE_TAIL | EXS_MESSAGE_DIRECT) && rest > 0 &&
               rest < message->count && rest <= UINT32_MAX;
    return (message->flags & EXS_MESSAGE_INLINE) ? message->count == rest : rest == 0;
}

/*
 * Returns true if the flags of all places are valid. Those of the first place lie in the head of
 * the message, so its own field must be 0.
 */
static bool places_fit(const struct exs_message *message)
{
    const unsigned char *flags = message->payload - 4;

    if (get(flags, 4) != 0)
        return false;
    for (uint32_t i = 0; i < message->more; i++)
        if (get(flags += EXS_PLACE_OCTETS, 4) & ~(uint64_t)EXS_MESSAGE_WAITALL)
            return false;
    return true;
}

bool exs_message_get(const unsigned char *octets, size_t length, struct exs_message *message)
{
    memset(message, 0, sizeof(*message));
    if (length < EXS_HEAD_OCTETS || octets[0] == 0 || octets[0] >= EXS_MESSAGE_TYPES)
        return false;
    message->type = octets[0];
    message->flags = octets[1];
    message->posted = (uint32_t)get(octets + 4, 4);
    message->freed = (uint32_t)get(octets + 8, 4);
    message->chain = (uint32_t)get(octets + 12, 4);
    message->count = get(octets + 16, 8);
    if ((message->flags & ~types[message->type].flags) || get(octets + 2, 2) != 0 ||
        !length_fits(message, length))
        return false;
    message->payload = octets + EXS_HEAD_OCTETS;
    if (message->flags & EXS_MESSAGE_TAIL)
        message->tail = (uint32_t)(length - EXS_HEAD_OCTETS);
    if (!types[message->type].place)
        return true;
    get_place(message->payload, &message->place);
    message->payload += EXS_PLACE_OCTETS;
    message->more = (uint32_t)((length - EXS_HEAD_OCTETS) / EXS_PLACE_OCTETS) - 1;
    return places_fit(message);
}

void exs_message_put_more(unsigned char *out, const struct exs_place *place, uint8_t flags)
{
    put_place(out, place, flags);
}

bool exs_message_next_more(struct exs_message *message)
{
    if (message->more == 0)
        return false;
    get_place(message->payload, &message->place);
    message->flags = message->payload[EXS_PLACE_OCTETS - 1];
    message->payload += EXS_PLACE_OCTETS;
    message->more--;
    return true;
}

/* ---- Private data --------------------------------------------------------------------------- */

void exs_setup_put(unsigned char out[EXS_SETUP_OCTETS], const struct exs_setup *setup)
{
    put(out, 4, SETUP_MAGIC);
    put(out + 4, 1, SETUP_VERSION);
    put(out + 5, 1, setup->packets ? SETUP_PACKETS : 0);
    put(out + 6, 2, setup->send_credits);
    put(out + 8, 2, setup->recv_credits);
    put(out + 10, 4, setup->packet_copy_max);
    put(out + 14, 8, setup->ring.length);
    put(out + 22, 4, setup->ring.stag);
    put(out + 26, 8, setup->ring.addr);
}

bool exs_setup_get(const unsigned char *octets, size_t length, struct exs_setup *setup)
{
    unsigned char in[EXS_SETUP_OCTETS] = {0};

    memcpy(in, octets, length < sizeof(in) ? length : sizeof(in));
    if (get(in, 4) != SETUP_MAGIC || in[4] != SETUP_VERSION || (in[5] & ~SETUP_PACKETS))
        return false;
    setup->packets = (in[5] & SETUP_PACKETS) != 0;
    setup->send_credits = (uint16_t)get(in + 6, 2);
    setup->recv_credits = (uint16_t)get(in + 8, 2);
    setup->packet_copy_max = (uint32_t)get(in + 10, 4);
    setup->ring.length = get(in + 14, 8);
    setup->ring.stag = (uint32_t)get(in + 22, 4);
    setup->ring.addr = get(in + 26, 8);
    return setup->send_credits > 0 && setup->recv_credits > 0;
}

void exs_packet_head_put(unsigned char *out, uint32_t length)
{
    put(out, EXS_PACKET_HEAD, length);
}

uint32_t exs_packet_head_get(const unsigned char *octets)
{
    return (uint32_t)get(octets, EXS_PACKET_HEAD);
}
