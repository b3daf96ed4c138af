/* SPDX-License-Identifier: BSD-2-Clause */
/* A refused it_handoff leaves the request unchanged under the id that the consumer knows. */
#include "verbs_cm/cm_kit.h"
#include "support/test_row.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

/* A second listen point. */
struct elsewhere {
    it_evd_handle_t evd;
    it_listen_handle_t listener;
    it_conn_qual_t qual;
};

static struct elsewhere listen_elsewhere(const struct kit *kit)
{
    struct elsewhere there = {.qual = {.type = IT_IANA_PORT}};

    there.evd = fx_evd(&kit->node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(kit->node.ia, kit->node.spigot, there.evd, IT_LISTEN_NO_FLAG,
                              &there.qual, &there.listener));
    return there;
}

/* Ids are consecutive, so the next ones would be those of the failed attempts. */
static void expect_no_other_id(it_cn_est_identifier_t last)
{
    for (it_cn_est_identifier_t id = last + 1; id < last + 8; id++)
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
}

static void expect_accepted(struct kit *kit, it_cn_est_identifier_t id)
{
    CHECK_OK(it_ep_accept(kit->ep, id, NULL, 0));
    kit_tell(kit, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(IT_EP_STATE_CONNECTED, kit_state(kit));
}

/* The other EVD is full: it has room for one request. */
static void no_room(struct kit *kit)
{
    struct elsewhere there = listen_elsewhere(kit);
    it_cn_est_identifier_t first, second, moved;
    it_evd_param_t param;

    kit_reach(kit, KIT_ANNOUNCED);
    first = kit->request;
    kit_ask(kit);
    second = fx_request(&kit->node, NULL);
    CHECK_OK(it_handoff(&there.qual, kit->node.spigot, first));
    for (unsigned i = 0; i < 3; i++)
        CHECK_STATUS(IT_ERR_RESOURCES, it_handoff(&there.qual, kit->node.spigot, second));
    CHECK_OK(it_evd_query(there.evd, IT_EVD_PARAM_ALL, &param));
    CHECK_EQ(IT_FALSE, param.evd_overflowed);
    moved = fx_next(there.evd).conn_req.cn_est_id;
    fx_empty(there.evd);
    fx_empty(kit->node.listen_evd);
    expect_no_other_id(moved);
    CHECK_OK(it_reject(moved, NULL, 0));
    expect_accepted(kit, second);
    CHECK_OK(it_listen_free(there.listener));
}

static void nobody_listens(struct kit *kit)
{
    it_conn_qual_t nobody = {.type = IT_IANA_PORT, .conn_qual.port = htons(1)};

    kit_reach(kit, KIT_ANNOUNCED);
    for (unsigned i = 0; i < 3; i++)
        CHECK_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&nobody, kit->node.spigot, kit->request));
    fx_empty(kit->node.listen_evd);
    expect_no_other_id(kit->request);
    expect_accepted(kit, kit->request);
}

/* The answer that an active side gets in three-way connecting cannot be handed off. */
static void answer_is_no_request(struct kit *kit)
{
    struct elsewhere there = listen_elsewhere(kit);

    if (kit_has_stage(kit->kind, KIT_ARRIVED)) {
        kit_reach(kit, KIT_ARRIVED);
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID,
                     it_handoff(&there.qual, kit->node.spigot, kit->request));
        expect_no_other_id(kit->request);
        CHECK_OK(it_ep_accept(kit->ep, kit->request, NULL, 0));
        fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    }
    fx_empty(there.evd);
    CHECK_OK(it_listen_free(there.listener));
}

TEST_ROW(cm_refused_handoff, no_room, kit_each_kind, no_room);
TEST_ROW(cm_refused_handoff, nobody_listens, kit_each_kind, nobody_listens);
TEST_ROW(cm_refused_handoff, answer_is_no_request, kit_each_kind, answer_is_no_request);
