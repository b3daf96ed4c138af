/* SPDX-License-Identifier: BSD-2-Clause */
/* Reasons of a refusal as both sides see them, up to the consumer's event. */
#include "verbs_cm/cm_kit.h"
#include "support/test_row.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REASON_PROGRAM 28 /* InfiniBand: the consumer's own reason */
#define REASONS        40 /* 33 are defined */

struct expected {
    bool by_consumer; /* PEER_REJECT; otherwise NONPEER_REJECT with this code */
    it_conn_reject_code_t code;
};

static struct expected of_infiniband(int reason)
{
    static const struct {
        int reason;
        it_conn_reject_code_t code;
    } codes[] = {
        {1, IT_CN_REJ_RESOURCES},       {2, IT_CN_REJ_RESOURCES},   {3, IT_CN_REJ_RESOURCES},
        {4, IT_CN_REJ_TIMEOUT},         {10, IT_CN_REJ_STALE_CONN}, {12, IT_CN_REJ_BAD_PATH},
        {13, IT_CN_REJ_BAD_PATH},       {14, IT_CN_REJ_BAD_PATH},   {15, IT_CN_REJ_BAD_PATH},
        {16, IT_CN_REJ_BAD_PATH},       {17, IT_CN_REJ_BAD_PATH},   {25, IT_CN_REJ_BAD_PATH},
        {26, IT_CN_REJ_BAD_CONN_PARMS}, {27, IT_CN_REJ_BAD_ORD},    {29, IT_CN_REJ_BAD_CONN_PARMS},
    };
    struct expected expected = {.by_consumer = reason == REASON_PROGRAM, .code = IT_CN_REJ_OTHER};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].reason == reason)
            expected.code = codes[i].code;
    return expected;
}

static void rejected(enum kit_kind kind, enum kit_stage stage, int status,
                     const struct expected *expected)
{
    static const struct stub_news news = {.data = "no, thanks", .length = 10};
    struct kit kit;
    it_event_t event;
    char about[96];

    (void)snprintf(about, sizeof(about), "%s, %s, status %d", kit_kind_name(kind),
                   kit_stage_name(stage), status);
    check_context(about);
    kit_start(kind);
    kit_open(&kit, kind);
    kit_reach(&kit, stage);
    kit_tell(&kit, RDMA_CM_EVENT_REJECTED, status, &news);
    event = fx_next(kit.node.conn_evd);
    EXPECT_EQ(expected->by_consumer ? IT_CM_MSG_CONN_PEER_REJECT_EVENT
                                    : IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
              event.event_number);
    EXPECT_EQ(expected->by_consumer, event.conn.private_data_present);
    if (expected->by_consumer)
        EXPECT(memcmp(event.conn.private_data, news.data, news.length) == 0);
    else
        EXPECT_EQ(expected->code, event.conn.reject_reason_code);
    EXPECT_EQ(!expected->by_consumer, kit_warnings() > 0);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, kit_state(&kit));
    kit_close(&kit);
    check_context(NULL);
}

/* Tries unknown reasons, too, and numbers that are no reason of InfiniBand. */
static void infiniband_on(enum kit_kind kind)
{
    for (int reason = -2; reason < REASONS; reason++) {
        struct expected expected = of_infiniband(reason);

        rejected(kind, KIT_REPLY, reason, &expected);
        rejected(kind, KIT_CONFIRM, reason, &expected);
    }
    check_done();
}

TEST_ROW(cm_reason, infiniband, infiniband_on, KIT_INFINIBAND);
TEST_ROW(cm_reason, roce, infiniband_on, KIT_ROCE);

Test(cm_reason, iwarp)
{
    static const struct {
        enum kit_kind kind;
        int status;
        struct expected expected;
    } rows[] = {
        {KIT_SIW, -ECONNRESET, {true, IT_CN_REJ_OTHER}},
        {KIT_SIW, -ECONNREFUSED, {false, IT_CN_REJ_BAD_CONN_PARMS}},
        {KIT_SIW, -ETIMEDOUT, {false, IT_CN_REJ_OTHER}},
        {KIT_SIW, 0, {false, IT_CN_REJ_OTHER}},
        {KIT_SIW, REASON_PROGRAM, {false, IT_CN_REJ_OTHER}},
        {KIT_IWARP, -ECONNREFUSED, {true, IT_CN_REJ_OTHER}},
        {KIT_IWARP, -ECONNRESET, {false, IT_CN_REJ_OTHER}},
        {KIT_IWARP, -ETIMEDOUT, {false, IT_CN_REJ_OTHER}},
        {KIT_IWARP, REASON_PROGRAM, {false, IT_CN_REJ_OTHER}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rejected(rows[i].kind, KIT_REPLY, rows[i].status, &rows[i].expected);
        rejected(rows[i].kind, KIT_CONFIRM, rows[i].status, &rows[i].expected);
    }
    check_done();
}
