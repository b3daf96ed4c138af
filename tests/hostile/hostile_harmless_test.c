/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets that look bad but are legal: unusual FPDUs, and the largest possible ones. */
#include <criterion/criterion.h>
#include <string.h>

#include "hostile/hostile_bed.h"

static void answered(struct hk_victim *victim, const struct hostile_bed *bed)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);

    raw_read_request(&ulpdu, 1, 0xaabbcc01, 0x1122334455667788, 8, bed_stag(&bed->readable),
                     fx_addr(&bed->readable, 3));
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    if (raw_receive_fpdu(&victim->peer, &segment) != RAW_OK)
        CHECK_FAIL("no answer: %s", victim->peer.error);
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
    CHECK(segment.last);
    CHECK_EQ(0xaabbcc01, segment.stag);
    CHECK_EQ(0x1122334455667788, segment.to);
    CHECK_EQ(8, segment.len);
    fx_check_same(bed->readable.data + 3, segment.payload, 8);
}

static void harmless(struct hostile_bed *bed, void (*act)(struct hk_victim *, struct hostile_bed *),
                     enum hk_role role)
{
    struct hk_victim victim;

    hk_victim(&bed->kit, &victim, role, &hk_plain);
    act(&victim, bed);
    answered(&victim, bed);
    hk_quiet(&bed->kit);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_healthy(&bed->kit);
    hk_victim_close(&victim);
}

static void empty_write(struct hk_victim *victim, struct hostile_bed *bed)
{
    RAW_BYTES(ulpdu);

    (void)bed;
    raw_tagged(&ulpdu, RAW_WRITE, 0xdeadbeef, 5, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, 0, UINT64_MAX, NULL, 0, true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
}

static void reserved_bits(struct hk_victim *victim, struct hostile_bed *bed)
{
    RAW_BYTES(ulpdu);

    fx_recv(victim->ep, &bed->in, 0, BED_REGION, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 16, true, 0xfeedf00d);
    ulpdu.data[0] |= 0x3c;
    ulpdu.data[1] |= 0x30;
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    fx_done_len(victim->kit->node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 16);
}

/*
 * A tagged message between the segments of an untagged one, and Writes with offsets in any order.
 */
static void interleaved(struct hk_victim *victim, struct hostile_bed *bed)
{
    RAW_BYTES(ulpdu);

    fx_recv(victim->ep, &bed->in, 0, BED_REGION, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, bed_xs, 16, false, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, bed_stag(&bed->writable), fx_addr(&bed->writable, 32), bed_xs, 16,
               false);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, bed_stag(&bed->writable), fx_addr(&bed->writable, 0), bed_xs, 16,
               true);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 16, bed_xs, 10, true, 0);
    CHECK(raw_send_ulpdu(&victim->peer, &ulpdu));
    fx_done_len(victim->kit->node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 26);
    CHECK(fx_is_byte(bed->writable.data, 16, 'x') && fx_is_byte(bed->writable.data + 32, 16, 'x'));
    CHECK(fx_is_byte(bed->writable.data + 16, 16, 0));
    memset(bed->writable.data, 0, BED_REGION);
}

static void all_harmless(struct hostile_bed *bed, enum hk_role role)
{
    harmless(bed, empty_write, role);
    harmless(bed, reserved_bits, role);
    harmless(bed, interleaved, role);
}

Test(hostile_harmless, harmless)
{
    struct hostile_bed bed;

    bed_open(&bed);
    fx_fill(bed.readable.data, BED_REGION, 5);
    for (int role = 0; role < HK_ROLES; role++)
        all_harmless(&bed, (enum hk_role)role);
    bed_close(&bed);
}

/* A Read of no octets gets a Response of no octets, whatever memory it names. */
Test(hostile_harmless, read_of_nothing)
{
    static struct raw_segment segment;
    struct hostile_bed bed;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);

    bed_open(&bed);
    hk_victim(&bed.kit, &victim, HK_LISTEN, &hk_plain);
    raw_read_request(&ulpdu, 1, 0xaabbcc01, 77, 0, 0xdeadbeef, 9);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
    CHECK(segment.last && segment.len == 0);
    CHECK_EQ(0xaabbcc01, segment.stag);
    CHECK_EQ(77, segment.to);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
    bed_close(&bed);
}

/* The largest possible ULPDU as a Send and as a Write. */
Test(hostile_harmless, largest_ulpdu)
{
    struct hostile_bed bed;
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    struct fx_buf big;
    static unsigned char payload[65535];

    bed_open(&bed);
    big = fx_buf_make(&bed.kit.node, sizeof(payload));
    fx_fill(payload, sizeof(payload), 3);
    hk_victim(&bed.kit, &victim, HK_LISTEN, &hk_plain);
    fx_recv(victim.ep, &big, 0, big.size, 1);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, payload, 65535 - 18, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 65535 - 18);
    fx_check_same(payload, big.data, 65535 - 18);
    memset(big.data, 0, big.size);
    fx_recv(victim.ep, &big, 0, 0, 2);
    raw_tagged(&ulpdu, RAW_WRITE, bed_stag(&big), fx_addr(&big, 0), payload, 65535 - 14, true);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    raw_untagged(&ulpdu, RAW_SEND_SE, 0, 2, 0, NULL, 0, true, 0);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    fx_done_len(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    fx_check_same(payload, big.data, 65535 - 14);
    raw_close(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
    fx_buf_free(&big);
    bed_close(&bed);
}
