/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifiers of requests belong to one IA; contexts belong to one object. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"

/* One object of each kind, on one IA. */
struct zoo {
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_buf buf;
    it_listen_handle_t listener;
    uint16_t port;
};

static void zoo_open(struct zoo *zoo)
{
    memset(zoo, 0, sizeof(*zoo));
    fx_node_open(&zoo->node);
    zoo->ep = fx_ep(&zoo->node, NULL);
    zoo->buf = fx_node_buf(&zoo->node, 64);
    zoo->listener = fx_listen(&zoo->node, &zoo->port);
}

static void zoo_close(struct zoo *zoo)
{
    fx_node_close(&zoo->node);
}

enum kind {
    KIND_IA,
    KIND_PZ,
    KIND_EVD,
    KIND_EP,
    KIND_LMR,
    KIND_LISTEN,
    KINDS
};

static void *handle_of(const struct zoo *zoo, enum kind kind)
{
    switch (kind) {
    case KIND_IA:
        return zoo->node.ia;
    case KIND_PZ:
        return zoo->node.pz;
    case KIND_EVD:
        return zoo->node.request_evd;
    case KIND_EP:
        return zoo->ep;
    case KIND_LMR:
        return zoo->buf.lmr;
    case KIND_LISTEN:
        return zoo->listener;
    case KINDS:
    default:
        return NULL;
    }
}

/* Passes it_ep_accept an identifier of another IA. */
Test(api_handles, foreign_identifier)
{
    struct zoo zoo;
    struct zoo other;
    struct fx_node client;
    it_ep_handle_t ep;
    it_cn_est_identifier_t id;

    zoo_open(&zoo);
    zoo_open(&other);
    fx_node_open(&client);
    ep = fx_ep(&client, NULL);
    fx_connect(&client, ep, zoo.port);
    id = fx_request(&zoo.node, NULL);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(other.ep, id, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(zoo.ep, 0, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(zoo.ep, id + 1, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(zoo.ep, UINT64_MAX, NULL, 0));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(zoo.ep));
    EXPECT_OK(it_ep_accept(zoo.ep, id, NULL, 0));
    fx_conn(client.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    /* Used up. */
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(zoo.ep, id, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(0, NULL, 0));
    fx_node_close(&client);
    zoo_close(&zoo);
    zoo_close(&other);
    check_done();
}

/* ---- Contexts -------------------------------------------------------------------------------- */

Test(api_handles, each_object_keeps_its_own)
{
    struct zoo zoo;
    it_context_t context;

    zoo_open(&zoo);
    for (int kind = 0; kind < KINDS; kind++) {
        void *h = handle_of(&zoo, (enum kind)kind);

        context.index = 0;
        EXPECT_STATUS(IT_ERR_NO_CONTEXT, it_get_consumer_context(h, &context));
        context.index = 1000u + (unsigned)kind;
        EXPECT_OK(it_set_consumer_context(h, context));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        void *h = handle_of(&zoo, (enum kind)kind);

        context.index = 0;
        EXPECT_OK(it_get_consumer_context(h, &context));
        EXPECT_EQ(1000u + (unsigned)kind, context.index);
        context.index = 0;
        EXPECT_OK(it_set_consumer_context(h, context));
        EXPECT_OK(it_get_consumer_context(h, &context));
    }
    zoo_close(&zoo);
    check_done();
}

/* A new object at the address of a freed one does not inherit its context. */
Test(api_handles, context_is_not_inherited, .init = node_init, .fini = node_fini)
{
    it_context_t context = {.index = 5};
    it_pz_handle_t pz = NULL;

    for (unsigned i = 0; i < 4; i++) {
        CHECK_OK(it_pz_create(node.ia, &pz));
        EXPECT_STATUS(IT_ERR_NO_CONTEXT, it_get_consumer_context(pz, &context));
        EXPECT_OK(it_set_consumer_context(pz, context));
        CHECK_OK(it_pz_free(pz));
    }
}
