/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of bad FPDUs, each on a new connection in each of the four roles. Checks the Terminate,
 * the affiliated event, one BROKEN event, that posted requests are flushed, that nothing behind the
 * bad FPDU is placed or delivered, and that other connections are not affected.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "hostile/hostile_rows.h"
#include "support/test_row.h"

static void receive_is(struct hk_victim *victim, it_dto_cookie_t cookie, it_dto_status_t want)
{
    it_event_t event = fx_next(victim->kit->node.recv_evd);

    EXPECT_EQ(cookie, event.dto_cmpl.cookie);
    if (want == HOSTILE_NOT_GOOD)
        EXPECT(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
    else
        EXPECT_EQ(want, event.dto_cmpl.dto_status);
}

static void attack_once(struct hostile_bed *bed, const struct hostile_row *row, enum hk_role role,
                        const struct hk_startup *startup)
{
    struct hostile_attack attack = {.bed = bed};
    RAW_BYTES(offender);
    struct hk_victim victim;
    unsigned code;

    hk_victim(&bed->kit, &victim, role, startup);
    fx_recv(victim.ep, &bed->in, 0, BED_REGION, 1);
    fx_recv(victim.ep, &bed->in, BED_REGION, BED_REGION, 2);
    attack.crc = victim.peer.crc;
    row->build(&attack, row->arg);
    raw_add(&offender, attack.ulpdu.data, attack.ulpdu.len);
    /* A good FPDU follows. */
    hostile_add_good(&attack);
    CHECK(raw_send(&victim.peer, &attack.stream));

    code = hk_terminated(&victim, &offender);
    if (code != row->codes[0] && code != row->codes[1])
        check_note(__FILE__, __LINE__, "Terminate %04x instead of %04x", code, row->codes[0]);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, row->affiliated[0], row->affiliated[1]);
    receive_is(&victim, 1, row->first);
    receive_is(&victim, 2, row->second);
    EXPECT(fx_is_byte(bed->writable.data, BED_REGION, 0));
    EXPECT(fx_is_byte(bed->foreign.data, BED_REGION, 0));
    raw_close(&victim.peer);
    hk_healthy(&bed->kit);
    hk_quiet(&bed->kit);
    hk_victim_close(&victim);
    raw_free(&attack.stream);
    raw_free(&attack.ulpdu);
}

static void attack_all(enum hk_role role, const struct hk_startup *startup)
{
    struct hostile_bed bed;
    char context[128];

    bed_open(&bed);
    for (size_t i = 0; i < hostile_row_count; i++) {
        if ((startup->flags & RAW_MPA_C) == 0 && hostile_rows[i].needs_crc)
            continue;
        (void)snprintf(context, sizeof(context), "%s, %s", hostile_rows[i].name,
                       hk_role_name(role));
        check_context(context);
        attack_once(&bed, &hostile_rows[i], role, startup);
    }
    check_context(NULL);
    bed_close(&bed);
    check_done();
}

TEST_ROW(hostile_negative, listener, attack_all, HK_LISTEN, &hk_plain);
TEST_ROW(hostile_negative, connect, attack_all, HK_CONNECT, &hk_plain);
TEST_ROW(hostile_negative, convert_responder, attack_all, HK_CONVERT_RESPONDER, &hk_plain);
TEST_ROW(hostile_negative, convert_initiator, attack_all, HK_CONVERT_INITIATOR, &hk_plain);

Test(hostile_negative, connect_revision_2)
{
    static const struct hk_startup startup = {2, RAW_MPA_C, 8u << 16 | 8u};

    attack_all(HK_CONNECT, &startup);
}

/* The library's Terminates to a peer that wants markers and no CRC. */
Test(hostile_negative, connect_with_markers)
{
    static const struct hk_startup startup = {1, RAW_MPA_M, 0};

    attack_all(HK_CONNECT, &startup);
}
