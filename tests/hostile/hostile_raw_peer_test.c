/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the raw peer with the golden frames: what it builds and how it judges. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "support/raw_peer.h"

static void same(const struct raw_bytes *got, const char *hex)
{
    RAW_BYTES(want);

    raw_add_hex(&want, hex);
    CHECK_EQ(want.len, got->len);
    CHECK(memcmp(want.data, got->data, want.len) == 0);
}

static void fpdu_is(const struct raw_bytes *ulpdu, const char *hex)
{
    RAW_BYTES(frame);

    raw_fpdu(&frame, ulpdu, true);
    same(&frame, hex);
}

Test(hostile_raw_peer, crc_check_values)
{
    unsigned char zeros[32] = {0};

    CHECK_EQ(0xe3069283u, raw_crc32c(0, "123456789", 9));
    CHECK_EQ(0x8a9136aau, raw_crc32c(0, zeros, sizeof(zeros)));
    CHECK_EQ(0xe3069283u, raw_crc32c(raw_crc32c(0, "1234", 4), "56789", 5));
}

Test(hostile_raw_peer, startup_frames)
{
    RAW_BYTES(frame);

    raw_mpa1(&frame, false, RAW_MPA_C);
    same(&frame, "4d504120 49442052 65712046 72616d65 40010000");
    raw_reset(&frame);
    raw_mpa2(&frame, true, RAW_MPA_C, RAW_ENH_A | 1u << 16 | RAW_ENH_D | 1u);
    same(&frame, "4d504120 49442052 65702046 72616d65 50020004 80014001");
}

Test(hostile_raw_peer, frames)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(bad);
    unsigned char payload[21];

    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (unsigned char)(0x30 + i);
    raw_tagged(&ulpdu, RAW_WRITE, 0x11223344, 0x10002000, payload, sizeof(payload), true);
    fpdu_is(&ulpdu, "0023c140 11223344 00000000 10002000 30313233 34353637 38393a3b 3c3d3e3f "
                    "40414243 44000000 3a9ad0e2");
    raw_read_request(&ulpdu, 1, 0xaabbcc01, 0x7f0000001000, 16, 0x55667788, 0x40);
    fpdu_is(&ulpdu, "002e4141 00000000 00000001 00000001 00000000 aabbcc01 00007f00 00001000 "
                    "00000010 55667788 00000000 00000040 aaa864e5");
    raw_tagged(&bad, RAW_WRITE, 0xdeadbeef, 0x1234, "to a bad STag...", 16, true);
    raw_terminate(&ulpdu, 1, 1, 0, (unsigned)bad.len, bad.data, 14, NULL, 0);
    fpdu_is(&ulpdu, "00264147 00000000 00000002 00000001 00000000 1100c000 001ec140 deadbeef "
                    "00000000 00001234 ffde6f55");
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "xxxxxxxxxxxxxxxx", 16, true, 0);
    fpdu_is(&ulpdu, "00224143 00000000 00000000 00000001 00000000 78787878 78787878 78787878 "
                    "78787878 b5824650");
}

/* Golden connection F: the two FPDUs of RFC 5044 and the one between them. */
static void marked_stream(struct raw_bytes *out)
{
    RAW_BYTES(ulpdu);
    unsigned char payload[420] = {0};
    uint64_t position = 0;

    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, payload, 24, true, 0);
    raw_fpdu_marked(out, &ulpdu, &position);
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (unsigned char)i;
    raw_tagged(&ulpdu, RAW_WRITE, 0x11223344, 0, payload, sizeof(payload), true);
    raw_fpdu_marked(out, &ulpdu, &position);
    CHECK_EQ(0x1ec, position);
    memset(payload, 0, 24);
    raw_untagged(&ulpdu, RAW_SEND, 0, 2, 0, payload, 24, true, 0);
    raw_fpdu_marked(out, &ulpdu, &position);
}

Test(hostile_raw_peer, markers)
{
    static struct raw_segment segment;
    RAW_BYTES(stream);
    struct raw_peer sender;
    struct raw_peer receiver = {0};

    marked_stream(&stream);
    CHECK_EQ(52 + 440 + 52, stream.len);
    CHECK(memcmp(stream.data + 48, "\x52\x23\x99\x83", 4) == 0);
    CHECK(memcmp(stream.data + 488, "\x45\x96\xd2\x35", 4) == 0);
    CHECK(memcmp(stream.data + 540, "\x84\x92\x58\x98", 4) == 0);

    raw_socket_pair(&sender, &receiver.fd);
    receiver.crc = true;
    receiver.markers = true;
    CHECK(raw_send(&sender, &stream));
    raw_close(&sender);
    for (unsigned i = 0; i < 3; i++) {
        if (raw_receive_fpdu(&receiver, &segment) != RAW_OK)
            CHECK_FAIL("frame %u: %s", i, receiver.error);
        CHECK_EQ(i == 1, segment.tagged);
        CHECK_EQ(i == 1 ? 420 : 24, segment.len);
    }
    CHECK_EQ(2, receiver.markers_seen);
    CHECK_EQ(RAW_EOF, raw_receive_fpdu(&receiver, &segment));
    raw_close(&receiver);
}

/* The raw peer notices every corrupted octet. */
Test(hostile_raw_peer, notices_corruption)
{
    static struct raw_segment segment;
    RAW_BYTES(stream);

    marked_stream(&stream);
    for (size_t i = 0; i < 52; i++) {
        struct raw_peer sender;
        struct raw_peer receiver = {0};

        raw_socket_pair(&sender, &receiver.fd);
        receiver.crc = true;
        receiver.markers = true;
        stream.data[i] ^= 1;
        CHECK(raw_send_part(&sender, stream.data, 52));
        raw_close(&sender);
        CHECK(raw_receive_fpdu(&receiver, &segment) != RAW_OK);
        stream.data[i] ^= 1;
        raw_close(&receiver);
    }
}
