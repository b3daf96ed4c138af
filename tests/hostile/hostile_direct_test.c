/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that are sent from memory that is not registered (itx_post_send_from), or arrive in it
 * (itx_ep_aim). The raw peer decides when the socket is full, and how messages are cut.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "hostile/fixture_kit.h"

#define HEAD  16u
#define SIZE  (1u << 20)
#define SENDS 16u
#define MARK  ((it_dto_cookie_t)1 << 40)
#define PLACE 100000u

static const struct hk_startup no_crc = {.revision = 1};
static const struct hk_startup *const startups[] = {&hk_plain, &no_crc};

/* ---- itx_post_send_from --------------------------------------------------------------------- */

static unsigned char source[SIZE];
static unsigned char wanted[HEAD + SIZE];
static unsigned char got[HEAD + SIZE];

/* Sends the same memory again and again, with new octets. Returns how many were copied. */
static size_t send_all_from(const struct hk_victim *victim, const struct fx_buf *region)
{
    size_t all = 0;

    for (unsigned i = 0; i < SENDS; i++) {
        size_t at = (size_t)i * 2 * SIZE;
        const it_lmr_triplet_t segments[2] = {fx_seg(region, at, HEAD),
                                              fx_seg(region, at + 64, SIZE)};
        size_t copied = SIZE + 1;

        memset(region->data + at, (int)i, HEAD);
        fx_fill(source, SIZE, i);
        CHECK_OK(itx_post_send_from(victim->ep, segments, 2, i, FX_SIGNAL, source, &copied));
        CHECK(copied <= SIZE);
        CHECK(i > 0 || copied < SIZE);
        memset(source, 0xee, SIZE);
        all += copied;
    }
    return all;
}

static void receive_message(struct hk_victim *victim)
{
    static struct raw_segment segment;
    size_t at = 0;

    do {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
        CHECK_EQ(RAW_SEND, segment.op);
        CHECK_EQ(at, segment.mo);
        CHECK(segment.len <= sizeof(got) - at);
        memcpy(got + at, segment.payload, segment.len);
        at += segment.len;
    } while (!segment.last);
    CHECK_EQ(sizeof(got), at);
}

/* The socket gets full, so the rest is copied before each call returns. */
Test(hostile_direct, sends_what_was_there, .init = kit_init, .fini = kit_fini)
{
    struct fx_buf region = fx_node_buf(&kit.node, (size_t)SENDS * 2 * SIZE);

    for (unsigned crc = 0; crc < 2; crc++) {
        struct hk_victim victim;

        hk_victim(&kit, &victim, HK_CONNECT, startups[crc]);
        victim.peer.crc = crc == 0;
        hk_wake(&victim);
        CHECK(send_all_from(&victim, &region) > 0);
        for (unsigned i = 0; i < SENDS; i++) {
            memset(wanted, (int)i, HEAD);
            fx_fill(wanted + HEAD, SIZE, i);
            receive_message(&victim);
            fx_check_same(wanted, got, sizeof(got));
            fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, i, HEAD + SIZE);
        }
        hk_part(&victim);
    }
}

/* ---- itx_ep_aim ----------------------------------------------------------------------------- */

static unsigned char payload[70000];
static unsigned char place[PLACE + 1];

static void aim_at_place(const struct hk_victim *victim)
{
    const struct itx_aim aim = {.size = sizeof(aim),
                                .octets = place,
                                .length = PLACE,
                                .skip = HEAD,
                                .least = 8192,
                                .mark = MARK};

    memset(place, 0, sizeof(place));
    CHECK_OK(itx_ep_aim(victim->ep, &aim, NULL));
}

static void add_segment(struct raw_bytes *stream, const struct hk_victim *victim, uint32_t msn,
                        uint32_t offset, size_t length, bool last)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_SEND, 0, msn, offset, payload + offset, length, last, 0);
    raw_fpdu(stream, &ulpdu, victim->peer.crc);
}

static void arrives(const struct hk_victim *victim, it_dto_cookie_t cookie, size_t length)
{
    fx_done_len(kit.node.recv_evd, victim->ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, length);
}

/* Slots of 80,000 octets. */
static void post_slots(const struct hk_victim *victim, const struct fx_buf *slots)
{
    memset(slots->data, 0, slots->size);
    for (unsigned i = 0; i < 4; i++)
        fx_recv(victim->ep, slots, (size_t)i * 80000, 80000, i);
}

static void messages(struct hk_victim *victim, const struct fx_buf *slots)
{
    RAW_BYTES(stream);
    it_length_t used = 0;

    post_slots(victim, slots);
    aim_at_place(victim);
    add_segment(&stream, victim, 1, 0, 8000, true);      /* too short */
    add_segment(&stream, victim, 2, 0, 40000, true);     /* fits */
    add_segment(&stream, victim, 3, 0, 50000, false);    /* fits in part */
    add_segment(&stream, victim, 3, 50000, 20000, true); /* the second FPDU of it */
    add_segment(&stream, victim, 4, 0, 40000, true);     /* no room */
    CHECK(raw_send(&victim->peer, &stream));
    arrives(victim, 0, 8000);
    arrives(victim, 1 | MARK, 40000);
    arrives(victim, 2 | MARK, 70000);
    arrives(victim, 3, 40000);
    CHECK_OK(itx_ep_aim(victim->ep, NULL, &used));
    CHECK_EQ(PLACE, used);
    fx_check_same(payload, slots->data, 8000);
    fx_check_same(payload, slots->data + 80000, HEAD);
    CHECK(fx_is_byte(slots->data + 80000 + HEAD, 80000 - HEAD, 0));
    fx_check_same(payload + HEAD, place, 40000 - HEAD);
    fx_check_same(payload + HEAD, place + 40000 - HEAD, PLACE - (40000 - HEAD));
    fx_check_same(payload + HEAD + PLACE - (40000 - HEAD),
                  slots->data + 160000 + HEAD + PLACE - (40000 - HEAD),
                  70000 - HEAD - (PLACE - (40000 - HEAD)));
    fx_check_same(payload, slots->data + 240000, 40000);
    CHECK(place[PLACE] == 0);
}

static uint64_t octets_in(const struct hk_victim *victim)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(victim->ep, &counters));
    return counters.bytes_received;
}

/* Ends the aim when `part` octets of two FPDUs have arrived. */
static void withdrawn(struct hk_victim *victim, const struct fx_buf *slots, size_t part)
{
    RAW_BYTES(stream);
    uint64_t before = octets_in(victim);
    it_length_t used = 1;

    fx_recv(victim->ep, slots, 0, 80000, 9);
    memset(slots->data, 0, 80000);
    aim_at_place(victim);
    add_segment(&stream, victim, 5, 0, 50000, false);
    add_segment(&stream, victim, 5, 50000, 20000, true);
    CHECK(raw_send_part(&victim->peer, stream.data, part));
    FX_WAIT_WHILE(octets_in(victim) < before + part, "the first part");
    CHECK_OK(itx_ep_aim(victim->ep, NULL, &used));
    CHECK_EQ(0, used);
    memset(place, 0x77, sizeof(place));
    CHECK(raw_send_part(&victim->peer, stream.data + part, stream.len - part));
    arrives(victim, 9, 70000);
    fx_check_same(payload, slots->data, 70000);
    CHECK(fx_is_byte(place, sizeof(place), 0x77));
}

static void aimed(void (*scene)(struct hk_victim *victim, const struct fx_buf *slots, size_t part),
                  size_t part)
{
    struct fx_buf slots = fx_node_buf(&kit.node, 320000);

    fx_fill(payload, sizeof(payload), 5);
    for (unsigned crc = 0; crc < 2; crc++) {
        struct hk_victim victim;

        hk_victim(&kit, &victim, HK_LISTEN, startups[crc]);
        victim.peer.crc = true;
        messages(&victim, &slots);
        if (scene)
            scene(&victim, &slots, part);
        hk_part(&victim);
    }
}

Test(hostile_direct, messages_are_aimed, .init = kit_init, .fini = kit_fini)
{
    aimed(NULL, 0);
}

Test(hostile_direct, withdrawn_in_the_head, .init = kit_init, .fini = kit_fini)
{
    aimed(withdrawn, 30);
}

Test(hostile_direct, withdrawn_in_a_segment, .init = kit_init, .fini = kit_fini)
{
    aimed(withdrawn, 30000);
}

Test(hostile_direct, withdrawn_between_segments, .init = kit_init, .fini = kit_fini)
{
    aimed(withdrawn, 50024);
}

Test(hostile_direct, withdrawn_in_the_last_segment, .init = kit_init, .fini = kit_fini)
{
    aimed(withdrawn, 60000);
}
