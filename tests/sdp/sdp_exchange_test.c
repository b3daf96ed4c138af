/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All exchanges of ZCopy in random order, with cancels at every step: a source has a stream to
 * send, and a sink reads it. The address in an advertisement is a position in the stream, so the
 * sink knows where each octet belongs.
 */
#include "support/check.h"

#include "machine/sdp_machine.h"

#include <stdlib.h>
#include <string.h>

#define SIZE  128u /* of receives */
#define QUEUE 64u

struct octets {
    unsigned char octets[SIZE];
    size_t length;
    uint64_t position; /* position of its first octet in the stream */
};

/* Messages to one machine. */
struct wire {
    struct octets queue[QUEUE];
    unsigned head, tail;
};

static struct sdp_machine source;
static struct sdp_machine sink;
static struct wire to_source;
static struct wire to_sink;
static uint64_t sent;     /* position of the source */
static uint64_t received; /* the sink's */
static uint32_t counted;  /* the source's octets that are counted in `sent` */
static bool pipelined;

static unsigned long seen[8]; /* number of each outcome, so that none is missed */
enum {
    READ_ALL,
    REFUSED,
    CANCELLED,
    WRITTEN,
    SINK_VOID,
    SINK_CANCELLED,
    SUPERSEDED,
    DATA
};

static const struct sdp_hello hello = {.bufs = 16,
                                       .max_adverts = SDP_ADVERTS_MAX,
                                       .ip_version = 4,
                                       .desired_size = SIZE,
                                       .receive_size = SIZE};

static void push(struct wire *wire, const struct sdp_message *message, uint64_t position)
{
    struct octets *place = &wire->queue[wire->tail++ % QUEUE];

    CHECK(wire->tail - wire->head <= QUEUE);
    memset(place->octets, 0, SIZE);
    place->length = sdp_message_put(place->octets, message) + message->payload_octets;
    place->position = position;
    CHECK(place->length <= SIZE);
}

static struct octets *pull(struct wire *wire)
{
    return wire->head == wire->tail ? NULL : &wire->queue[wire->head++ % QUEUE];
}

/* ---- The source ----------------------------------------------------------------------------- */

/* Adds the machine's progress of the SrcAvail to the position. */
static void count_source(enum sdp_offer_state before)
{
    sent += source.source.done - counted;
    counted = source.source.done;
    if (before == SDP_OFFER_NONE || source.source.state != SDP_OFFER_NONE)
        return;
    if (source.source.done == source.source.size)
        seen[READ_ALL]++;
    else if (source.sinks.count > 0)
        seen[SUPERSEDED]++;
    else
        seen[before == SDP_OFFER_CANCELLING ? CANCELLED : REFUSED]++;
}

static void source_hears(void)
{
    enum sdp_offer_state before = source.source.state;
    struct octets *octets = pull(&to_source);
    struct sdp_heard heard;

    if (!octets)
        return;
    CHECK(sdp_machine_hear(&source, octets->octets, octets->length, &heard));
    sdp_machine_posted(&source);
    count_source(before);
}

static void source_sends(void)
{
    struct sdp_message message;
    uint32_t octets = 1 + (uint32_t)rand() % 100;

    if (sdp_machine_room(&source) < octets)
        return;
    sdp_machine_data(&source, octets, false, &message);
    push(&to_sink, &message, sent);
    sent += octets;
    seen[DATA]++;
}

static void source_offers(void)
{
    struct sdp_place place = {.addr = sent, .size = 1000 + (uint32_t)rand() % 1000};
    uint32_t octets = source.tx_mode == SDP_COMBINED ? 1 + (uint32_t)rand() % 40 : 0;
    struct sdp_message message;

    if (!sdp_machine_may_offer_source(&source))
        return;
    sdp_machine_offer_source(&source, &place, octets, &message);
    counted = 0;
    push(&to_sink, &message, sent);
    sent += octets;
}

static void source_writes(void)
{
    const struct sdp_place *place = sdp_machine_sink(&source);
    struct sdp_message message;
    uint32_t octets;

    if (!place)
        return;
    octets = 1 + (uint32_t)rand() % place->size;
    CHECK_EQ(sent, place->addr);
    sdp_machine_written(&source, octets, &message);
    push(&to_sink, &message, sent);
    sent += octets;
}

static void source_step(void)
{
    struct sdp_message message;

    switch (rand() % 8) {
    case 0:
        source_sends();
        break;
    case 1:
        source_offers();
        break;
    case 2:
        if (rand() % 4 == 0)
            sdp_machine_cancel_source(&source);
        break;
    case 3:
        source_writes();
        break;
    case 4:
        if (sdp_machine_next(&source, &message))
            push(&to_sink, &message, 0);
        break;
    default:
        source_hears();
        break;
    }
}

/* ---- The sink ------------------------------------------------------------------------------- */

static void sink_hears(void)
{
    enum sdp_offer_state before = sink.sink.state;
    struct octets *octets = pull(&to_sink);
    struct sdp_heard heard;

    if (!octets)
        return;
    CHECK(sdp_machine_hear(&sink, octets->octets, octets->length, &heard));
    sdp_machine_posted(&sink);
    if (heard.octets > 0) {
        CHECK_EQ(received, octets->position);
        received += heard.octets;
    }
    if (heard.source)
        CHECK_EQ(received, sdp_machine_source(&sink)->addr);
    if (before == SDP_OFFER_NONE || sink.sink.state != SDP_OFFER_NONE)
        return;
    if (octets->octets[0] == SDP_RDMA_WR_COMPL) {
        CHECK_EQ(received, octets->position);
        received += sink.sink.done;
        seen[WRITTEN]++;
    } else
        seen[octets->octets[0] == SDP_DATA ? SINK_VOID : SINK_CANCELLED]++;
}

static void sink_reads(void)
{
    const struct sdp_place *place = sdp_machine_source(&sink);

    if (sink.reading > 0) {
        received += sink.reading;
        sdp_machine_read_ends(&sink);
    } else if (place) {
        CHECK_EQ(received, place->addr);
        sdp_machine_read_begins(&sink, 1 + (uint32_t)rand() % place->size);
    }
}

static void sink_offers(void)
{
    const struct sdp_place place = {.addr = received, .size = 500};
    struct sdp_message message;

    if (!sdp_machine_may_offer_sink(&sink))
        return;
    sdp_machine_offer_sink(&sink, &place, &message);
    push(&to_source, &message, 0);
}

static void sink_step(void)
{
    struct sdp_message message;

    switch (rand() % 8) {
    case 0:
        sink_reads();
        break;
    case 1:
        if (rand() % 8 == 0)
            (void)sdp_machine_refuse(&sink);
        break;
    case 2:
        sink_offers();
        break;
    case 3:
        if (rand() % 4 == 0)
            sdp_machine_cancel_sink(&sink);
        break;
    case 4:
        if (sdp_machine_next(&sink, &message))
            push(&to_source, &message, 0);
        break;
    default:
        sink_hears();
        break;
    }
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void start(void)
{
    unsigned char octets[SDP_HELLO_OCTETS];
    struct sdp_heard heard;

    sent = 0;
    received = 0;
    counted = 0;
    memset(&to_source, 0, sizeof(to_source));
    memset(&to_sink, 0, sizeof(to_sink));
    sdp_machine_start(&source, true, &hello, SIZE);
    sdp_machine_start(&sink, false, &hello, SIZE);
    CHECK(sdp_machine_hear(&sink, octets, sdp_machine_greet(&source, &hello, octets), &heard));
    sdp_machine_posted(&sink);
    CHECK(sdp_machine_hear(&source, octets, sdp_machine_greet(&sink, &hello, octets), &heard));
    sdp_machine_posted(&source);
    if (pipelined)
        CHECK(sdp_machine_change_mode(&source, SDP_PIPELINED));
}

/* Ends all offers. Both sides must have counted the same. */
static void settle(void)
{
    struct sdp_message message;

    for (unsigned i = 0; i < 1000; i++) {
        if (i == 300)
            sdp_machine_cancel_source(&source);
        if (i == 300)
            sdp_machine_cancel_sink(&sink);
        if (sdp_machine_next(&source, &message))
            push(&to_sink, &message, 0);
        if (sdp_machine_next(&sink, &message))
            push(&to_source, &message, 0);
        source_hears();
        sink_hears();
        if (sink.reading > 0)
            sink_reads();
    }
    CHECK(source.source.state == SDP_OFFER_NONE && sink.sink.state == SDP_OFFER_NONE);
    CHECK(sink.sources.count == 0 && sink.reading == 0);
    CHECK_EQ(sent, received);
}

int main(void)
{
    const unsigned runs = getenv("ITAPI_SDP_LONG") ? 20000 : 1000;

    for (unsigned run = 0; run < runs; run++) {
        srand(run);
        pipelined = run % 3 != 0;
        start();
        for (unsigned step = 0; step < 500; step++)
            if (rand() % 2)
                source_step();
            else
                sink_step();
        settle();
    }
    for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        CHECK(seen[i] > 100);
    return 0;
}
