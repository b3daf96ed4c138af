/* SPDX-License-Identifier: BSD-2-Clause */
/* The octets of messages and of private data, as in ulp/exs/README.md. */
#include "support/check.h"

#include "wire/exs_flow.h"
#include "wire/exs_message.h"

#include <string.h>

static const unsigned char advert_octets[] = {
    2,    4,    0,    0,    0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, /* head */
    0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* chain, seq */
    0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,                         /* address */
    0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,                         /* length */
    0x71, 0x72, 0x73, 0x74, 0,    0,    0,    0};                           /* STag */

static void advert_is_golden(void)
{
    struct exs_message message = {
        .type = EXS_MESSAGE_ADVERT,
        .flags = EXS_MESSAGE_WAITALL,
        .posted = 0x11121314,
        .freed = 0x21222324,
        .chain = 0x31323334,
        .count = 0x4142434445464748,
        .place = {.addr = 0x5152535455565758, .length = 0x6162636465666768, .stag = 0x71727374}};
    unsigned char octets[EXS_HEAD_OCTETS + EXS_PLACE_OCTETS];
    struct exs_message back;

    CHECK(exs_message_put(octets, &message) == sizeof(octets));
    CHECK(memcmp(octets, advert_octets, sizeof(octets)) == 0);
    CHECK(exs_message_get(octets, sizeof(octets), &back));
    CHECK(back.type == message.type && back.flags == message.flags &&
          back.posted == message.posted && back.freed == message.freed &&
          back.chain == message.chain && back.count == message.count);
    CHECK(back.place.addr == message.place.addr && back.place.length == message.place.length &&
          back.place.stag == message.place.stag);
    /* Every other length, every other flag, and octets that must be 0 are refused. */
    for (size_t length = 0; length < sizeof(octets); length++)
        CHECK(!exs_message_get(octets, length, &back));
    for (unsigned flag = 1; flag < 256; flag <<= 1) {
        octets[1] = (unsigned char)flag;
        CHECK(exs_message_get(octets, sizeof(octets), &back) == (flag == EXS_MESSAGE_WAITALL));
    }
    octets[1] = 0;
    for (size_t i = 0; i < sizeof(octets); i++) {
        bool zero = i == 2 || i == 3 || i >= 44;

        octets[i] ^= 1;
        if (i > 1)
            CHECK(exs_message_get(octets, sizeof(octets), &back) == !zero);
        octets[i] ^= 1;
    }
}

static void types_have_their_lengths(void)
{
    unsigned char octets[EXS_HEAD_OCTETS + 8] = {0};
    struct exs_message message;

    for (unsigned type = 0; type < 256; type++) {
        octets[0] = (unsigned char)type;
        CHECK(exs_message_get(octets, EXS_HEAD_OCTETS, &message) ==
              (type > 0 && type < EXS_MESSAGE_TYPES && type != EXS_MESSAGE_ADVERT &&
               type != EXS_MESSAGE_RING));
    }
    octets[0] = EXS_MESSAGE_DATA;
    octets[1] = EXS_MESSAGE_INLINE;
    for (unsigned count = 0; count < 12; count++) {
        octets[23] = (unsigned char)count;
        CHECK(exs_message_get(octets, sizeof(octets), &message) == (count == 8));
    }
    octets[23] = 8;
    octets[16] = 0x80; /* a count larger than any memory */
    CHECK(!exs_message_get(octets, sizeof(octets), &message));
}

/* Direct data of which the last octets follow: at least one of them, and not all. */
static void tails_are_parts(void)
{
    const uint8_t tail = EXS_MESSAGE_DIRECT | EXS_MESSAGE_TAIL;
    unsigned char octets[EXS_HEAD_OCTETS + 8] = {[0] = EXS_MESSAGE_DATA};
    struct exs_message message;

    for (unsigned flags = 0; flags < 256; flags++) {
        octets[1] = (unsigned char)flags;
        octets[23] = 9;
        CHECK(exs_message_get(octets, sizeof(octets), &message) == (flags == tail));
    }
    octets[1] = tail;
    for (unsigned count = 0; count < 256; count++) {
        octets[23] = (unsigned char)count;
        CHECK(exs_message_get(octets, sizeof(octets), &message) == (count > 8));
        CHECK(!exs_message_get(octets, EXS_HEAD_OCTETS, &message));
    }
    CHECK(exs_message_get(octets, sizeof(octets), &message));
    CHECK(message.tail == 8 && message.count == 255 && message.payload == octets + EXS_HEAD_OCTETS);
    octets[1] = EXS_MESSAGE_DIRECT;
    CHECK(exs_message_get(octets, EXS_HEAD_OCTETS, &message) && message.tail == 0);
}

static const unsigned char setup_octets[EXS_SETUP_OCTETS] = {
    'E',  'X',  'S',  '1',  1,    1,    0x01, 0x02, 0x03, 0x04, 0x11, 0x12,
    0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32,
    0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x00};

static void setup_is_golden(void)
{
    struct exs_setup setup = {
        .packets = true,
        .send_credits = 0x0102,
        .recv_credits = 0x0304,
        .packet_copy_max = 0x11121314,
        .ring = {.length = 0x2122232425262728, .stag = 0x31323334, .addr = 0x4142434445464700}};
    unsigned char octets[EXS_SETUP_OCTETS];
    struct exs_setup back;

    exs_setup_put(octets, &setup);
    CHECK(memcmp(octets, setup_octets, sizeof(octets)) == 0);
    CHECK(exs_setup_get(octets, sizeof(octets), &back));
    CHECK(back.packets && back.send_credits == 0x0102 && back.recv_credits == 0x0304 &&
          back.ring.addr == setup.ring.addr && back.ring.stag == setup.ring.stag);
    /* A device has cut off zeros or added them. */
    CHECK(exs_setup_get(octets, sizeof(octets) - 1, &back) && back.ring.addr == setup.ring.addr);
    for (size_t i = 0; i < 6; i++) {
        octets[i] ^= 2;
        CHECK(!exs_setup_get(octets, sizeof(octets), &back));
        octets[i] ^= 2;
    }
    memset(octets + 6, 0, 2);
    CHECK(!exs_setup_get(octets, sizeof(octets), &back)); /* no credits */
    CHECK(!exs_setup_get(octets, 0, &back));
}

static void flow_refuses_lies(void)
{
    struct exs_flow flow;

    exs_flow_start(&flow, 4, 2);
    CHECK(exs_flow_room(&flow) == 3);
    CHECK(!exs_flow_hear(&flow, 5)); /* a receive for a message that was not sent */
    (void)exs_flow_send(&flow);
    CHECK(exs_flow_hear(&flow, 5));
    CHECK(!exs_flow_hear(&flow, 4)); /* fewer than before */
    CHECK(!exs_flow_hear(&flow, 6));
}

int main(void)
{
    advert_is_golden();
    types_have_their_lengths();
    tails_are_parts();
    setup_is_golden();
    flow_refuses_lies();
    return 0;
}
