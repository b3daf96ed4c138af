/* SPDX-License-Identifier: BSD-2-Clause */
/* The octets of each message, and everything that makes a message invalid. */
#include "support/check.h"

#include "wire/sdp_message.h"

#include <stdio.h>
#include <string.h>

#define OCTETS_MAX 256

/* Converts "ff00000f 0000": hexadecimal digits with spaces between them. */
static size_t octets_of(const char *text, unsigned char out[OCTETS_MAX])
{
    size_t count = 0;
    unsigned value;

    for (; sscanf(text, "%2x", &value) == 1; text += strspn(text, " ")) {
        out[count++] = (unsigned char)value;
        text += 2;
    }
    return count;
}

static const struct {
    const char *octets; /* with payload */
    struct sdp_message message;
} examples[] = {
    {"ff00000f 00000015 00000001 00000000 68656c6c 6f",
     {.mid = SDP_DATA, .bufs = 15, .mseq = 1, .payload_octets = 5}},
    {"ff03000f 00000011 00000002 00000000 21",
     {.mid = SDP_DATA, .flags = 3, .bufs = 15, .mseq = 2, .payload_octets = 1}},
    {"fe00000f 00000028 00000003 00000001 00010000 11223344 00007f00 00001000 66697273 7420382e",
     {.mid = SDP_SRC_AVAIL,
      .bufs = 15,
      .mseq = 3,
      .mseq_ack = 1,
      .place = {0x7f0000001000, 65536, 0x11223344},
      .payload_octets = 8}},
    {"06000010 00000014 00000001 00000003 0000fff8",
     {.mid = SDP_RDMA_RD_COMPL, .bufs = 16, .mseq = 1, .mseq_ack = 3, .value = 65528}},
    {"04000010 00000010 00000001 00000003",
     {.mid = SDP_SEND_SM, .bufs = 16, .mseq = 1, .mseq_ack = 3}},
    {"fd00000f 00000024 00000001 00000000 00020000 55667788 00000000 00002000 00000002",
     {.mid = SDP_SINK_AVAIL,
      .bufs = 15,
      .mseq = 1,
      .place = {0x2000, 131072, 0x55667788},
      .value = 2}},
    {"0500000f 00000014 00000005 00000001 000186a0",
     {.mid = SDP_RDMA_WR_COMPL, .bufs = 15, .mseq = 5, .mseq_ack = 1, .value = 100000}},
    {"0700000f 00000014 00000004 00000001 20000000",
     {.mid = SDP_MODE_CHANGE, .bufs = 15, .mseq = 4, .mseq_ack = 1, .mode = SDP_PIPELINED}},
    {"0700000f 00000014 00000004 00000001 90000000",
     {.mid = SDP_MODE_CHANGE,
      .bufs = 15,
      .mseq = 4,
      .mseq_ack = 1,
      .mode = SDP_COMBINED,
      .sending_half = true}},
    {"0200000f 00000010 00000009 00000007",
     {.mid = SDP_DISCONN, .bufs = 15, .mseq = 9, .mseq_ack = 7}},
    {"0b00000f 00000014 00000009 00000007 00010010",
     {.mid = SDP_CH_RCV_BUF, .bufs = 15, .mseq = 9, .mseq_ack = 7, .value = 65552}},
    {"0d00000f 00000018 00000009 00000007 01020304 05060708",
     {.mid = SDP_SUSP_COMM, .bufs = 15, .mseq = 9, .mseq_ack = 7, .service = 0x102030405060708}},
};

static bool is_same(const struct sdp_message *a, const struct sdp_message *b)
{
    return a->mid == b->mid && a->flags == b->flags && a->bufs == b->bufs && a->mseq == b->mseq &&
           a->mseq_ack == b->mseq_ack && a->place.addr == b->place.addr &&
           a->place.size == b->place.size && a->place.key == b->place.key && a->value == b->value &&
           a->service == b->service && a->mode == b->mode && a->sending_half == b->sending_half &&
           a->payload_octets == b->payload_octets;
}

static void examples_are_golden(void)
{
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        const struct sdp_message *message = &examples[i].message;
        unsigned char octets[OCTETS_MAX];
        unsigned char out[OCTETS_MAX];
        struct sdp_message back;
        size_t length = octets_of(examples[i].octets, octets);
        size_t head = sdp_message_put(out, message);

        CHECK(head + message->payload_octets == length);
        CHECK(memcmp(out, octets, head) == 0);
        CHECK(sdp_message_get(octets, length, &back));
        CHECK(is_same(&back, message));
        CHECK(back.payload == octets + head);
    }
}

/* Tries every MID with every length around its legal ones. */
static void mids_have_their_lengths(void)
{
    static const struct {
        uint8_t mid;
        size_t extension;
        bool payload;
    } forms[] = {
        {0x02, 0, false}, {0x03, 0, false}, {0x04, 0, false}, {0x05, 4, false},
        {0x06, 4, false}, {0x07, 4, false}, {0x08, 0, false}, {0x09, 0, false},
        {0x0a, 0, false}, {0x0b, 4, false}, {0x0c, 4, false}, {0x0d, 8, false},
        {0x0e, 0, false}, {0xff, 0, true},  {0xfe, 16, true}, {0xfd, 20, true},
    };

    for (unsigned mid = 0; mid < 256; mid++) {
        const size_t count = sizeof(forms) / sizeof(forms[0]);
        size_t form = 0;

        while (form < count && forms[form].mid != mid)
            form++;
        for (size_t length = 0; length < 64; length++) {
            unsigned char octets[64] = {(unsigned char)mid,   0, 0, 1, 0, 0, 0,
                                        (unsigned char)length};
            struct sdp_message message;
            size_t head = form < count ? SDP_HEAD_OCTETS + forms[form].extension : 0;
            bool fits = form < count && (length == head || (length > head && forms[form].payload));

            octets[SDP_HEAD_OCTETS + 3] = 1; /* a place of one octet */
            if (mid == SDP_MODE_CHANGE)
                octets[SDP_HEAD_OCTETS + 3] = 0;
            CHECK(sdp_message_get(octets, length, &message) == fits);
            octets[7]++;
            CHECK(!sdp_message_get(octets, length, &message));
        }
    }
}

static bool is_message(const char *text)
{
    unsigned char octets[OCTETS_MAX];
    struct sdp_message message;

    return sdp_message_get(octets, octets_of(text, octets), &message);
}

static void lies_are_found(void)
{
    CHECK(!is_message("ff08000f 00000015 00000001 00000000 68656c6c 6f")); /* unknown flag */
    CHECK(!is_message("ff01000f 00000010 00000001 00000000"));             /* urgent, no octet */
    CHECK(!is_message("0401000f 00000010 00000001 00000000"));             /* urgent, no Data */
    CHECK(is_message("0402000f 00000010 00000001 00000000"));
    CHECK(!is_message("0700000f 00000014 00000004 00000001 30000000"));
    CHECK(!is_message("0700000f 00000014 00000004 00000001 21000000"));
    CHECK(!is_message("0700000f 00000014 00000004 00000001 20000001"));
    /* No octets, and octets beyond the end of the address space. */
    CHECK(!is_message("fe00000f 00000020 00000003 00000001 00000000 11223344 00007f00 00001000"));
    CHECK(!is_message("fe00000f 00000020 00000003 00000001 00000002 11223344 ffffffff ffffffff"));
    CHECK(is_message("fe00000f 00000020 00000003 00000001 00000001 11223344 ffffffff ffffffff"));
}

/* ---- Hello ---------------------------------------------------------------------------------- */

static const char hello_text[] =
    "00000010 0000005c 00000000 00000000 22400001 00008010 00008010 9c410000 00000000 00000000 "
    "00000000 c0000201 00000000 00000000 00000000 c0000202 00000000 00000000 00000000 00000000 "
    "00000000 00000000 00000000";

static void hello_is_golden(void)
{
    struct sdp_hello hello = {.bufs = 16,
                              .max_adverts = 1,
                              .ip_version = 4,
                              .desired_size = 32784,
                              .receive_size = 32784,
                              .port = 40001,
                              .source = {[12] = 192, 0, 2, 1},
                              .destination = {[12] = 192, 0, 2, 2}};
    unsigned char octets[OCTETS_MAX];
    unsigned char out[SDP_HELLO_OCTETS];
    struct sdp_hello back;

    CHECK(octets_of(hello_text, octets) == SDP_HELLO_OCTETS);
    sdp_hello_put(out, &hello);
    CHECK(memcmp(out, octets, sizeof(out)) == 0);
    CHECK(sdp_hello_get(out, sizeof(out), &back));
    CHECK(memcmp(&back, &hello, sizeof(back)) == 0);
    hello.max_adverts = 1000;
    hello.invalidates = true;
    sdp_hello_put(out, &hello);
    CHECK(sdp_hello_get(out, sizeof(out), &back));
    CHECK(back.max_adverts == 1000 && back.invalidates);
}

/* Returns whether a Hello is still valid when the octet at `at` becomes `value`. */
static bool is_hello(size_t at, unsigned char value)
{
    unsigned char octets[OCTETS_MAX];
    struct sdp_hello hello;
    size_t length = octets_of(hello_text, octets);

    octets[at] = value;
    return sdp_hello_get(octets, length, &hello);
}

static void bad_hellos_are_found(void)
{
    unsigned char octets[OCTETS_MAX];
    struct sdp_hello hello;
    size_t length = octets_of(hello_text, octets);

    for (size_t cut = 0; cut < length; cut++) {
        octets[7] = (unsigned char)cut;
        CHECK(!sdp_hello_get(octets, cut, &hello));
    }
    CHECK(is_hello(0, 0) && !is_hello(0, 1) && !is_hello(3, 0) && !is_hello(11, 1));
    CHECK(is_hello(16, 0x23) && !is_hello(16, 0x11));
    CHECK(!is_hello(17, 0x50) && is_hello(17, 0x60));
    CHECK(!is_hello(19, 0));                    /* MaxAdverts */
    CHECK(!is_hello(17, 0x42));                 /* the extended one must be 0 */
    CHECK(!is_hello(26, 0) && is_hello(27, 0)); /* room for a header at least */
}

static void hello_ack_has_lengths(void)
{
    const struct sdp_hello hello = {.bufs = 7, .max_adverts = 3, .receive_size = 4096};
    unsigned char octets[OCTETS_MAX] = {0};
    struct sdp_hello back;

    sdp_hello_ack_put(octets, &hello);
    CHECK(sdp_hello_ack_get(octets, SDP_HELLO_ACK_OCTETS, &back));
    CHECK(back.bufs == 7 && back.max_adverts == 3 && back.receive_size == 4096);
    for (size_t length = 0; length < OCTETS_MAX; length++) {
        octets[7] = (unsigned char)length;
        CHECK(sdp_hello_ack_get(octets, length, &back) ==
              (length >= SDP_HELLO_ACK_OCTETS && length <= SDP_HELLO_ACK_MAX));
    }
    octets[7] = SDP_HELLO_ACK_OCTETS;
    octets[22] = 0;
    octets[23] = SDP_HEAD_OCTETS;
    CHECK(!sdp_hello_ack_get(octets, SDP_HELLO_ACK_OCTETS, &back));
}

int main(void)
{
    examples_are_golden();
    mids_have_their_lengths();
    lies_are_found();
    hello_is_golden();
    bad_hellos_are_found();
    hello_ack_has_lengths();
    return 0;
}
