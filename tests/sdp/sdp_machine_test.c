/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Credits, modes, sizes, urgent octets and the end: with two machines, and with one that a liar
 * talks to.
 */
#include "support/check.h"

#include "machine/sdp_machine.h"

#include <stdlib.h>
#include <string.h>

#define SIZE  1040u /* of receives */
#define LARGE 4112u
#define QUEUE 256u

struct octets {
    unsigned char octets[LARGE];
    size_t length;
};

struct end {
    struct sdp_machine machine;
    struct octets queue[QUEUE]; /* messages to the other end */
    unsigned head, tail;
    unsigned posted;    /* true number of posted receives */
    unsigned processed; /* messages whose receives were not posted again */
    struct sdp_heard heard;
};

static struct end ends[2];

static const struct sdp_hello hello = {.bufs = 8,
                                       .max_adverts = SDP_ADVERTS_MAX,
                                       .ip_version = 4,
                                       .desired_size = LARGE,
                                       .receive_size = SIZE};

/* ---- The wire ------------------------------------------------------------------------------- */

static unsigned other(unsigned side)
{
    return 1 - side;
}

static void push(unsigned side, const unsigned char *octets, size_t length)
{
    struct octets *place = &ends[side].queue[ends[side].tail++ % QUEUE];

    CHECK(ends[side].tail - ends[side].head <= QUEUE);
    /* The most important rule: the message finds a receive. */
    CHECK(ends[side].tail - ends[side].head <= ends[other(side)].posted);
    memcpy(place->octets, octets, length);
    place->length = length;
}

static void push_message(unsigned side, const struct sdp_message *message)
{
    unsigned char octets[LARGE] = {0};
    size_t head = sdp_message_put(octets, message);

    push(side, octets, head + message->payload_octets);
}

/* Delivers the oldest message of `side`. Returns false if there is none or it is a lie. */
static bool arrive(unsigned side)
{
    struct end *to = &ends[other(side)];
    struct octets *place;

    if (ends[side].head == ends[side].tail)
        return false;
    place = &ends[side].queue[ends[side].head++ % QUEUE];
    to->posted--;
    to->processed++;
    return sdp_machine_hear(&to->machine, place->octets, place->length, &to->heard);
}

static void post(unsigned side)
{
    ends[side].processed--;
    ends[side].posted++;
    sdp_machine_posted(&ends[side].machine);
}

static bool flush_one(unsigned side)
{
    struct sdp_message message;

    if (!sdp_machine_next(&ends[side].machine, &message))
        return false;
    push_message(side, &message);
    return true;
}

/* Delivers messages until nothing moves. Posts all receives again. */
static void settle(void)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (unsigned side = 0; side < 2; side++) {
            while (ends[side].head != ends[side].tail) {
                CHECK(arrive(side));
                moved = true;
            }
            while (ends[side].processed > 0)
                post(side);
            moved |= flush_one(side);
        }
    }
}

static void send_data(unsigned side, uint32_t octets, bool urgent)
{
    struct sdp_message message;

    CHECK(sdp_machine_room(&ends[side].machine) >= octets);
    sdp_machine_data(&ends[side].machine, octets, urgent, &message);
    push_message(side, &message);
}

static void greet(unsigned side)
{
    unsigned char octets[SDP_HELLO_OCTETS];

    push(side, octets, sdp_machine_greet(&ends[side].machine, &hello, octets));
}

static void start(void)
{
    memset(ends, 0, sizeof(ends));
    for (unsigned side = 0; side < 2; side++) {
        sdp_machine_start(&ends[side].machine, side == 0, &hello, LARGE);
        ends[side].posted = hello.bufs;
    }
    greet(0);
    CHECK(sdp_machine_room(&ends[0].machine) == 0);
    CHECK(arrive(0) && ends[1].heard.opened);
    greet(1);
    CHECK(ends[1].machine.open && !ends[0].machine.open);
    CHECK(arrive(1) && ends[0].heard.opened);
    CHECK(sdp_machine_room(&ends[0].machine) == SIZE - SDP_HEAD_OCTETS);
}

/* ---- Credits -------------------------------------------------------------------------------- */

static void counts_are_as_told(void)
{
    start();
    /* The receives of Hello and HelloAck were not posted again. */
    CHECK_EQ(7, sdp_machine_credits(&ends[0].machine));
    CHECK_EQ(7, sdp_machine_credits(&ends[1].machine));
    for (unsigned i = 0; i < 5; i++)
        send_data(0, 1, false);
    CHECK_EQ(0, sdp_machine_room(&ends[0].machine)); /* two credits are kept back */
    sdp_machine_urgent(&ends[0].machine);
    CHECK(flush_one(0)); /* the notice of an urgent octet takes one of them */
    CHECK(!flush_one(0));
    for (unsigned i = 0; i < 6; i++)
        CHECK(arrive(0));
    CHECK(ends[1].machine.got_pend);
    CHECK(!flush_one(1)); /* nothing was posted again */
    post(1);
    post(1);
    CHECK(flush_one(1)); /* the peer believes in 1 and has 3 */
    CHECK(!flush_one(1));
    CHECK(arrive(1));
    CHECK_EQ(3, sdp_machine_credits(&ends[0].machine));
}

/* Both ends count messages from just below the wrap of 32 bits. */
static void move_to_wrap(void)
{
    const uint32_t by = UINT32_MAX - 100;

    for (unsigned side = 0; side < 2; side++) {
        struct sdp_machine *machine = &ends[side].machine;

        machine->tx_last += by;
        machine->tx_limit += by;
        machine->tx_acked += by;
        machine->rx_last += by;
        machine->rx_told += by;
    }
}

/* Both send all that they may, read slowly, and never starve. */
static void a_million_messages(void)
{
    const unsigned long limit = getenv("ITAPI_SDP_LONG") ? 10000000 : 1000000;
    unsigned long messages = 0;

    start();
    move_to_wrap();
    srand(1);
    while (messages < limit) {
        unsigned side = (unsigned)rand() % 2;
        struct end *end = &ends[side];

        switch (rand() % 4) {
        case 0:
            messages += arrive(side);
            break;
        case 1:
            if (end->processed > 0 && rand() % 3 == 0)
                post(side);
            break;
        case 2:
            while (sdp_machine_room(&end->machine) > 0)
                send_data(side, 1 + (uint32_t)rand() % 16, false);
            break;
        default:
            (void)flush_one(side);
            break;
        }
        if (rand() % 10000 == 0) {
            settle();
            CHECK(sdp_machine_room(&ends[0].machine) > 0 && sdp_machine_room(&ends[1].machine) > 0);
        }
    }
}

/* ---- Lies ----------------------------------------------------------------------------------- */

static bool says(const struct sdp_message *lie)
{
    struct sdp_message message = *lie;

    message.mseq += ends[0].machine.tx_last + 1;
    message.mseq_ack += ends[1].machine.tx_last;
    message.bufs = 8;
    ends[0].machine.tx_last++;
    push_message(0, &message);
    return arrive(0);
}

static void lies_about_numbers(void)
{
    struct sdp_message message = {.mid = SDP_DATA};

    for (int step = -1; step <= 1; step++) {
        start();
        message.mseq = (uint32_t)step;
        CHECK(says(&message) == (step == 0));
    }
    message.mseq = 0;
    start();
    message.mseq_ack = 1; /* acknowledges a message that was not sent */
    CHECK(!says(&message));
    start();
    send_data(1, 1, false);
    CHECK(arrive(1));
    message.mseq_ack = 0;
    CHECK(says(&message));
    message.mseq_ack = (uint32_t)-1; /* fewer than before */
    CHECK(!says(&message));
}

/* Messages that are illegal right after the start. */
static void lies_about_state(void)
{
    static const struct {
        struct sdp_message message;
        bool legal;
    } cases[] = {
        {{.mid = SDP_DATA, .payload_octets = 5}, true},
        {{.mid = SDP_DISCONN}, true},
        {{.mid = SDP_ABORT_CONN}, true},
        {{.mid = SDP_SEND_SM}, true}, /* legal: it may have crossed */
        {{.mid = SDP_RDMA_RD_COMPL, .value = 1}, false},
        {{.mid = SDP_RDMA_WR_COMPL, .value = 1}, false},
        {{.mid = SDP_SRC_AVAIL_CANCEL}, true},
        {{.mid = SDP_SINK_AVAIL_CANCEL}, false},
        {{.mid = SDP_SINK_AVAIL, .place = {0, 1, 1}}, false},
        {{.mid = SDP_SRC_AVAIL, .place = {0, 2, 1}, .payload_octets = 1}, true},
        {{.mid = SDP_SRC_AVAIL, .place = {0, 1, 1}, .payload_octets = 1}, false},
        {{.mid = SDP_SRC_AVAIL, .place = {0, 1, 1}}, false},
        {{.mid = SDP_CH_RCV_BUF, .value = 2000}, true},
        {{.mid = SDP_CH_RCV_BUF_ACK, .value = 2000}, false},
        {{.mid = SDP_SUSP_COMM}, false},
        {{.mid = SDP_SUSP_COMM_ACK}, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start();
        CHECK(says(&cases[i].message) == cases[i].legal);
    }
}

static void nothing_behind_the_end(void)
{
    const struct sdp_message data = {.mid = SDP_DATA, .payload_octets = 1};
    const struct sdp_message empty = {.mid = SDP_DATA};
    const struct sdp_message disconn = {.mid = SDP_DISCONN};
    const struct sdp_message source = {
        .mid = SDP_SRC_AVAIL, .place = {0, 2, 1}, .payload_octets = 1};
    const struct sdp_message *bad[] = {&data, &disconn, &source};

    for (unsigned i = 0; i < 3; i++) {
        start();
        CHECK(says(&disconn) && says(&empty));
        CHECK(!says(bad[i]));
    }
    start();
    sdp_machine_abort(&ends[1].machine);
    CHECK(flush_one(1) && !flush_one(1));
    CHECK(arrive(1) && ends[0].heard.reset);
    CHECK(sdp_machine_room(&ends[0].machine) == 0 && !flush_one(0));
}

static void greetings_stand_first(void)
{
    unsigned char octets[SDP_HELLO_OCTETS];
    struct sdp_message data = {.mid = SDP_DATA, .mseq = 1};

    memset(ends, 0, sizeof(ends));
    sdp_machine_start(&ends[1].machine, false, &hello, LARGE);
    ends[1].posted = 8;
    push_message(0, &data);
    CHECK(!arrive(0));
    start();
    push(0, octets, sdp_machine_greet(&ends[0].machine, &hello, octets)); /* once more */
    CHECK(!arrive(0));
}

/* ---- Modes ---------------------------------------------------------------------------------- */

static bool is_legal(bool by_sink, unsigned from, unsigned to)
{
    if (by_sink)
        return from == SDP_BUFFERED && to == SDP_COMBINED;
    return (from == SDP_COMBINED && to != SDP_COMBINED) ||
           (from == SDP_PIPELINED && to == SDP_COMBINED);
}

static void modes_change_as_they_may(void)
{
    for (unsigned by_sink = 0; by_sink < 2; by_sink++)
        for (uint8_t from = 0; from < SDP_MODES; from++)
            for (uint8_t to = 0; to < SDP_MODES; to++) {
                const struct sdp_message message = {
                    .mid = SDP_MODE_CHANGE, .mode = to, .sending_half = by_sink};
                enum sdp_mode *mode = by_sink ? &ends[1].machine.tx_mode : &ends[1].machine.rx_mode;

                start();
                CHECK(*mode == SDP_COMBINED);
                *mode = from;
                CHECK(says(&message) == is_legal(by_sink, from, to));
            }
    start();
    CHECK(!sdp_machine_change_mode(&ends[0].machine, SDP_COMBINED));
    CHECK(sdp_machine_change_mode(&ends[0].machine, SDP_PIPELINED));
    settle();
    CHECK(ends[0].machine.tx_mode == SDP_PIPELINED && ends[1].machine.rx_mode == SDP_PIPELINED);
    CHECK(ends[1].machine.tx_mode == SDP_COMBINED);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static void receives_grow(void)
{
    struct sdp_machine *peer = &ends[1].machine;

    start();
    sdp_machine_ask_size(&ends[0].machine, LARGE);
    CHECK(flush_one(0) && arrive(0));
    CHECK_EQ(LARGE, sdp_machine_post_size(peer));
    CHECK_EQ(SIZE, peer->receive_size);
    /* Six receives of the smaller size are still posted, and the peer may use them. */
    for (unsigned i = 0; i < 6; i++) {
        CHECK(!(peer->due & SDP_DUE_SIZE_ACK));
        while (ends[1].processed > 0)
            post(1);
        while (flush_one(1))
            CHECK(arrive(1));
        CHECK_EQ(SIZE - SDP_HEAD_OCTETS, sdp_machine_room(&ends[0].machine));
        send_data(0, SIZE - SDP_HEAD_OCTETS, false);
        CHECK(arrive(0));
    }
    settle();
    CHECK_EQ(LARGE - SDP_HEAD_OCTETS, sdp_machine_room(&ends[0].machine));
    CHECK_EQ(LARGE, peer->receive_size);
    /* A size above the limit is refused with the size in force. */
    ends[0].machine.send_max = 2 * LARGE;
    sdp_machine_ask_size(&ends[0].machine, 2 * LARGE);
    settle();
    CHECK_EQ(LARGE - SDP_HEAD_OCTETS, sdp_machine_room(&ends[0].machine));
    CHECK_EQ(0, ends[0].machine.size_asked);
}

/* ---- Urgent octets -------------------------------------------------------------------------- */

static void urgent_octets_are_told_once(void)
{
    start();
    sdp_machine_urgent(&ends[0].machine);
    CHECK(flush_one(0)); /* before the data */
    CHECK(arrive(0) && ends[1].heard.pend && ends[1].heard.octets == 0);
    send_data(0, 10, false);
    CHECK(arrive(0) && !ends[1].heard.pend && !ends[1].heard.urgent);
    send_data(0, 3, true);
    CHECK(arrive(0) && !ends[1].heard.pend && ends[1].heard.urgent && ends[1].heard.octets == 3);
    send_data(0, 10, false);
    CHECK(arrive(0) && !ends[1].heard.pend && !ends[1].heard.urgent);
    sdp_machine_urgent(&ends[0].machine);
    settle();
    send_data(0, 1, true);
    CHECK(arrive(0) && !ends[1].heard.pend && ends[1].heard.urgent);
    CHECK(!ends[1].machine.got_pend);
}

int main(void)
{
    counts_are_as_told();
    a_million_messages();
    lies_about_numbers();
    lies_about_state();
    nothing_behind_the_end();
    greetings_stand_first();
    modes_change_as_they_may();
    receives_grow();
    urgent_octets_are_told_once();
    return 0;
}
