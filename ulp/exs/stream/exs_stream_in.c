/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream/exs_stream_in.h"

#include <string.h>

#define ADVERTS_LEFT     2u
#define ADVERTS_TOGETHER 4u

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void exs_stream_in_start(struct exs_stream_in *in, uint64_t ring_size, uint64_t advert_min,
                         struct exs_receive *receives, uint32_t room)
{
    memset(in, 0, sizeof(*in));
    in->ring_size = ring_size;
    in->advert_min = advert_min;
    in->receives = receives;
    in->room = room;
    in->chain = 1;
}

/* The place of the index-th receive. Both are less than the room, so this needs no division. */
static uint32_t place_of(const struct exs_stream_in *in, uint32_t index)
{
    uint32_t place = in->first + index;

    return place < in->room ? place : place - in->room;
}

struct exs_receive *exs_stream_in_at(struct exs_stream_in *in, uint32_t index)
{
    return index < in->count ? &in->receives[place_of(in, index)] : NULL;
}

static void end_chain(struct exs_stream_in *in)
{
    if (in->open)
        in->chain = exs_chain_after(in->chain);
    in->open = false;
    in->withdrawing = false;
    in->advertised = 0;
}

/* ---- The program's receives ----------------------------------------------------------------- */

void exs_stream_in_post(struct exs_stream_in *in, const struct exs_receive *receive)
{
    in->receives[place_of(in, in->count)] = *receive;
    in->count++;
}

/* A peek copies the octets in the ring and leaves them there. */
static bool take_peek(struct exs_stream_in *in, struct exs_receive *head, uint64_t there,
                      struct exs_take *take)
{
    uint64_t enough = head->waitall ? least(head->length, in->ring_size) : 1;

    if (head->filled > 0 || there == 0 || (there < enough && !in->ended))
        return false;
    take->count = least(head->length, there);
    head->filled = take->count;
    return true;
}

bool exs_stream_in_take(struct exs_stream_in *in, struct exs_take *take)
{
    uint64_t there = in->ring_written - in->ring_read;
    struct exs_receive *head = exs_stream_in_at(in, 0);

    if (!head || there == 0)
        return false;
    take->receive = head;
    take->to = head->filled;
    take->position = in->ring_read;
    if (head->peek)
        return take_peek(in, head, there, take);
    take->count = least(head->length - head->filled, there);
    head->filled += take->count;
    in->ring_read += take->count;
    in->given += take->count;
    return take->count > 0;
}

bool exs_stream_in_complete(struct exs_stream_in *in, struct exs_receive *receive)
{
    const struct exs_receive *head = exs_stream_in_at(in, 0);
    bool over = in->ended && in->ring_written == in->ring_read;

    if (!head || !(head->filled == head->length || over ||
                   (head->filled > 0 && (!head->waitall || head->peek))))
        return false;
    *receive = *head;
    if (in->count > in->level)
        in->level = in->count;
    in->first = place_of(in, 1);
    in->count--;
    if (in->advertised > 0)
        in->advertised--;
    return true;
}

void exs_stream_in_drop(struct exs_stream_in *in)
{
    in->given += in->ring_written - in->ring_read;
    in->ring_read = in->ring_written;
}

void exs_stream_in_remove(struct exs_stream_in *in, uint32_t index)
{
    for (; index + 1 < in->count; index++)
        *exs_stream_in_at(in, index) = *exs_stream_in_at(in, index + 1);
    in->count--;
}

bool exs_stream_in_withdraw(struct exs_stream_in *in)
{
    if (!in->open || in->withdrawing)
        return false;
    in->withdrawing = true;
    return true;
}

/* ---- Messages of the peer ------------------------------------------------------------------- */

struct exs_receive *exs_stream_in_direct(struct exs_stream_in *in, uint32_t chain, uint64_t count,
                                         bool in_line, uint64_t *to)
{
    struct exs_receive *head = exs_stream_in_at(in, 0);

    if (in->advertised == 0 || chain != in->chain || count == 0 ||
        count > head->length - head->filled)
        return NULL;
    in->small = in_line && !head->waitall;
    *to = head->filled;
    head->filled += count;
    in->given += count;
    return head;
}

bool exs_stream_in_ring(struct exs_stream_in *in, uint64_t count, bool in_line)
{
    if (in->ended || count == 0 || count > in->ring_size - (in->ring_written - in->ring_read))
        return false;
    in->ring_written += count;
    in->small = in->small && in_line;
    end_chain(in);
    return true;
}

bool exs_stream_in_withdrawn(struct exs_stream_in *in, uint32_t chain)
{
    if (chain != in->chain)
        return (int32_t)(in->chain - chain) > 0; /* ring data came first */
    if (!in->withdrawing)
        return in->ended;
    end_chain(in);
    return true;
}

bool exs_stream_in_ask(struct exs_stream_in *in)
{
    /* Without a ring an ADVERT that is under way is the answer. */
    if (in->ring_size > 0 || in->advertised == 0)
        in->asked = true;
    return !in->ended;
}

bool exs_stream_in_is_needed(const struct exs_stream_in *in)
{
    return in->ring_size == 0 && in->asked && in->count == 0;
}

bool exs_stream_in_end(struct exs_stream_in *in)
{
    if (in->ended)
        return false;
    in->ended = true;
    in->asked = false;
    in->withdrawing = false;
    in->advertised = 0;
    return true;
}

/* ---- What to send --------------------------------------------------------------------------- */

bool exs_stream_in_adverts_due(struct exs_stream_in *in)
{
    return exs_stream_in_next_advert(in) && (in->asked || in->advertised < ADVERTS_LEFT ||
                                             in->count - in->advertised >= ADVERTS_TOGETHER);
}

bool exs_stream_in_expects(const struct exs_stream_in *in)
{
    return in->count < in->level && !in->ended;
}

void exs_stream_in_settle(struct exs_stream_in *in)
{
    in->level = in->count;
}

const struct exs_receive *exs_stream_in_next_advert(struct exs_stream_in *in)
{
    const struct exs_receive *next = exs_stream_in_at(in, in->advertised);

    if (!next || next->peek || in->ended || in->withdrawing || in->ring_written != in->ring_read ||
        next->length == 0 ||
        (in->ring_size > 0 && (next->length < in->advert_min || (in->small && !in->asked))))
        return NULL;
    return next;
}

void exs_stream_in_advertise(struct exs_stream_in *in, uint64_t *seq)
{
    *seq = in->given;
    in->open = true;
    in->advertised++;
    in->asked = false;
}

bool exs_stream_in_none_due(struct exs_stream_in *in)
{
    bool due = in->asked && in->advertised == 0;

    if (in->ring_size == 0)
        return false;
    in->asked = false;
    return due;
}

bool exs_stream_in_ack_due(const struct exs_stream_in *in)
{
    uint64_t quarter = in->ring_size / 4;

    return in->ring_read - in->ring_told >= (quarter > 0 ? quarter : 1);
}

uint32_t exs_stream_in_tell(struct exs_stream_in *in)
{
    in->ring_told = in->ring_read;
    return (uint32_t)in->ring_read;
}
