/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream/exs_stream_out.h"

#include <string.h>

#define WRITE_MAX ((uint64_t)1 << 30) /* octets of one Write: completions count in 32 bits */
/* Length of a part: the receiver can copy one part while the next is transferred. */
#define RING_WRITE_MAX ((uint64_t)128 << 10)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void exs_stream_out_start(struct exs_stream_out *out, uint64_t ring_size, bool ring_known,
                          uint64_t ask_min, struct exs_advert *adverts, uint32_t room)
{
    memset(out, 0, sizeof(*out));
    out->ring_size = ring_size;
    out->ring_known = ring_known;
    out->ask_min = ask_min;
    out->adverts = adverts;
    out->room = room;
}

static void close_chain(struct exs_stream_out *out, uint32_t chain)
{
    out->closed = chain;
    out->chain = 0;
    out->count = 0;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void step_direct(struct exs_stream_out *out, uint64_t waiting, uint64_t inline_max,
                        struct exs_step *step)
{
    struct exs_advert *advert = &out->adverts[out->first];

    step->kind = EXS_STEP_DIRECT;
    step->chain = out->chain;
    step->count = least(least(waiting, advert->place.length), WRITE_MAX);
    step->in_line = step->count <= inline_max;
    step->place = advert->place;
    advert->place.addr += step->count;
    advert->place.length -= step->count;
    if (!advert->waitall || advert->place.length == 0) {
        out->first = (out->first + 1) % out->room;
        out->count--;
    }
    out->hopeful = true;
    out->sent += step->count;
}

static void step_ring(struct exs_stream_out *out, uint64_t waiting, uint64_t inline_max,
                      struct exs_step *step)
{
    uint64_t room = out->ring_size - (out->ring_sent - out->ring_freed);
    uint64_t count = least(least(waiting, room), RING_WRITE_MAX);

    if (count == 0)
        return;
    step->offset = out->ring_sent % out->ring_size;
    step->in_line = count <= inline_max || out->ring_size - step->offset <= inline_max;
    if (step->in_line)
        count = least(count, inline_max);
    else if (!out->ring_known) {
        step->kind = out->wanted ? EXS_STEP_WAIT : EXS_STEP_WANT;
        out->wanted = true;
        return;
    } else
        count = least(count, out->ring_size - step->offset);
    step->kind = EXS_STEP_RING;
    step->count = count;
    out->ring_sent += count;
    out->sent += count;
    if (out->chain != 0)
        close_chain(out, out->chain);
}

void exs_stream_out_step(struct exs_stream_out *out, uint64_t waiting, uint64_t inline_max,
                         struct exs_step *step)
{
    memset(step, 0, sizeof(*step));
    if (out->count > 0)
        step_direct(out, waiting, inline_max, step);
    else if (out->asked)
        step->kind = EXS_STEP_WAIT;
    else if (out->ring_size == 0 || (out->hopeful && waiting >= out->ask_min))
        step->kind = EXS_STEP_ASK;
    else
        step_ring(out, waiting, inline_max, step);
}

bool exs_stream_out_takes(const struct exs_stream_out *out, uint64_t octets)
{
    if (out->count > 0)
        return out->adverts[out->first].place.length >= octets;
    return !out->asked && !(out->hopeful && octets >= out->ask_min) &&
           out->ring_size - (out->ring_sent - out->ring_freed) >= octets;
}

void exs_stream_out_asked(struct exs_stream_out *out)
{
    out->asked = true;
}

/* ---- Messages of the peer ------------------------------------------------------------------- */

bool exs_stream_out_advert(struct exs_stream_out *out, const struct exs_message *message)
{
    if (message->place.length == 0)
        return false;
    if (message->chain == out->closed) {
        out->hopeful = true;
        return true;
    }
    if (message->chain != (out->chain != 0 ? out->chain : exs_chain_after(out->closed)))
        return false;
    if (out->chain == 0 && message->count != out->sent) {
        close_chain(out, message->chain);
        out->hopeful = true;
        return message->count < out->sent;
    }
    if (out->count == out->room)
        return false;
    out->chain = message->chain;
    out->adverts[(out->first + out->count) % out->room] = (struct exs_advert){
        .place = message->place, .waitall = (message->flags & EXS_MESSAGE_WAITALL) != 0};
    out->count++;
    out->asked = false;
    return true;
}

bool exs_stream_out_withdraw(struct exs_stream_out *out, uint32_t chain)
{
    if (out->chain != 0 && chain == out->chain)
        close_chain(out, chain);
    return chain == out->closed && chain != 0;
}

bool exs_stream_out_freed(struct exs_stream_out *out, uint32_t freed)
{
    uint32_t more = freed - (uint32_t)out->ring_freed;

    if (more > out->ring_sent - out->ring_freed)
        return false;
    out->ring_freed += more;
    return true;
}

void exs_stream_out_none(struct exs_stream_out *out)
{
    /* Without a ring only an ADVERT helps; a peer of an earlier release says NONE all the same. */
    out->asked = out->ring_size == 0;
    out->hopeful = false;
}
