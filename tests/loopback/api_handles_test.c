/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles: null, freed, of every other kind, and of another IA, in every handle parameter of every
 * call. Each must give the code of that argument and change nothing.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"

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
    zoo->buf = fx_buf_make(&zoo->node, 64);
    zoo->listener = fx_listen(&zoo->node, &zoo->port);
}

static void zoo_close(struct zoo *zoo)
{
    fx_buf_free(&zoo->buf);
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

/* A handle of this kind that has been freed. */
static void *stale_handle(const struct zoo *zoo, enum kind kind)
{
    static unsigned char memory[16];
    it_ia_handle_t ia = NULL;
    it_pz_handle_t pz = NULL;
    it_evd_handle_t evd = NULL;
    it_ep_handle_t ep = NULL;
    it_lmr_handle_t lmr = NULL;
    it_listen_handle_t listener = NULL;
    uint16_t port = 0;

    switch (kind) {
    case KIND_IA:
        CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
        CHECK_OK(it_ia_free(ia));
        return ia;
    case KIND_PZ:
        CHECK_OK(it_pz_create(zoo->node.ia, &pz));
        CHECK_OK(it_pz_free(pz));
        return pz;
    case KIND_EVD:
        evd = fx_evd(&zoo->node, IT_DTO_EVENT_STREAM, 10, 0);
        CHECK_OK(it_evd_free(evd));
        return evd;
    case KIND_EP:
        ep = fx_ep(&zoo->node, NULL);
        CHECK_OK(it_ep_free(ep));
        return ep;
    case KIND_LMR:
        CHECK_OK(it_lmr_create21(zoo->node.pz, memory, NULL, 16, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL));
        CHECK_OK(it_lmr_free(lmr));
        return lmr;
    case KIND_LISTEN:
        listener = fx_listen(&zoo->node, &port);
        CHECK_OK(it_listen_free(listener));
        return listener;
    case KINDS:
    default:
        return NULL;
    }
}

/* ---- Calls with one handle ------------------------------------------------------------------ */

static union {
    it_pz_param_t pz;
    it_evd_param_t evd;
    it_ep_param_t ep;
    it_listen_param_t listen;
    it_lmr_param_t lmr;
    struct itx_mpa_params mpa;
    struct itx_mpa_info info;
    struct itx_counters counters;
    it_event_t event;
} scratch;

static it_ep_attributes_t attr;
static it_path_t path;
static it_conn_qual_t qual;

static it_status_t ia_query(void *h)
{
    it_ia_info_t *info = NULL;

    return it_ia_query(h, &info);
}

static it_status_t ia_free(void *h)
{
    return it_ia_free(h);
}

static it_status_t get_pathinfo(void *h)
{
    it_net_addr_t address = {.addr_type = IT_IPV4};
    size_t count = 0;
    size_t total = 0;

    return it_get_pathinfo(h, 0, &address, &count, &total, NULL);
}

static it_status_t pz_create(void *h)
{
    it_pz_handle_t pz = NULL;

    return it_pz_create(h, &pz);
}

static it_status_t evd_create(void *h)
{
    it_evd_handle_t evd = NULL;

    return it_evd_create(h, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, 10, 0, NULL, &evd, NULL);
}

static it_status_t query_counters(void *h)
{
    scratch.counters.size = sizeof(scratch.counters);
    return itx_ia_query_counters(h, &scratch.counters);
}

static it_status_t pz_query(void *h)
{
    return it_pz_query(h, IT_PZ_PARAM_ALL, &scratch.pz);
}

static it_status_t pz_free(void *h)
{
    return it_pz_free(h);
}

static it_status_t lmr_create10(void *h)
{
    static unsigned char memory[8];
    it_lmr_handle_t lmr = NULL;

    return it_lmr_create10(h, memory, 8, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL);
}

static it_status_t lmr_create20(void *h)
{
    static unsigned char memory[8];
    it_lmr_handle_t lmr = NULL;

    return it_lmr_create20(h, memory, 8, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                           &lmr, NULL);
}

static it_status_t lmr_create21(void *h)
{
    static unsigned char memory[8];
    it_lmr_handle_t lmr = NULL;

    return it_lmr_create21(h, memory, NULL, 8, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                           IT_LMR_FLAG_NONE, 0, &lmr, NULL);
}

static it_status_t evd_query(void *h)
{
    return it_evd_query(h, IT_EVD_PARAM_ALL, &scratch.evd);
}

static it_status_t evd_wait(void *h)
{
    return it_evd_wait(h, 0, &scratch.event, NULL);
}

static it_status_t evd_dequeue(void *h)
{
    return it_evd_dequeue(h, &scratch.event);
}

static it_status_t evd_free(void *h)
{
    return it_evd_free(h);
}

static it_status_t ep_query(void *h)
{
    return it_ep_query(h, IT_EP_PARAM_ALL, &scratch.ep);
}

static it_status_t ep_modify(void *h)
{
    return it_ep_modify(h, IT_EP_PARAM_MAX_ORD, &attr);
}

static it_status_t ep_reset(void *h)
{
    return it_ep_reset(h);
}

static it_status_t ep_free(void *h)
{
    return it_ep_free(h);
}

static it_status_t ep_connect(void *h)
{
    return it_ep_connect(h, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

static it_status_t ep_accept(void *h)
{
    return it_ep_accept(h, 1, NULL, 0);
}

static it_status_t ep_disconnect(void *h)
{
    return it_ep_disconnect(h, NULL, 0);
}

static it_status_t socket_convert(void *h)
{
    return it_socket_convert(-1, h, IT_SC_DEFAULT, NULL, 0);
}

static it_status_t socket_convert_x(void *h)
{
    return itx_socket_convert(-1, h, IT_SC_DEFAULT, NULL);
}

static it_status_t set_mpa(void *h)
{
    scratch.mpa.size = sizeof(scratch.mpa);
    scratch.mpa.revision = 2;
    return itx_ep_set_mpa_params(h, &scratch.mpa);
}

static it_status_t get_mpa(void *h)
{
    scratch.mpa.size = sizeof(scratch.mpa);
    return itx_ep_get_mpa_params(h, &scratch.mpa);
}

static it_status_t query_mpa(void *h)
{
    scratch.info.size = sizeof(scratch.info);
    return itx_ep_query_mpa(h, &scratch.info);
}

static it_status_t post_send(void *h)
{
    return it_post_send(h, NULL, 0, 0, FX_QUIET);
}

static it_status_t post_write(void *h)
{
    return it_post_rdma_write(h, NULL, 0, 0, FX_QUIET, 0, 0);
}

static it_status_t post_read(void *h)
{
    return it_post_rdma_read(h, NULL, 0, 0, FX_QUIET, 0, 0);
}

static it_status_t post_recv(void *h)
{
    return it_post_recv(h, NULL, 0, 0, FX_QUIET);
}

static it_status_t listen_query(void *h)
{
    return it_listen_query(h, IT_LISTEN_PARAM_ALL, &scratch.listen);
}

static it_status_t listen_free(void *h)
{
    return it_listen_free(h);
}

static it_status_t lmr_query(void *h)
{
    return it_lmr_query(h, IT_LMR_PARAM_ALL, &scratch.lmr);
}

static it_status_t lmr_free(void *h)
{
    return it_lmr_free(h);
}

struct call {
    const char *name;
    it_status_t (*run)(void *handle);
    enum kind kind;
    it_status_t refusal;
};

static const struct call calls[] = {
    {"it_ia_query", ia_query, KIND_IA, IT_ERR_INVALID_IA},
    {"it_ia_free", ia_free, KIND_IA, IT_ERR_INVALID_IA},
    {"it_get_pathinfo", get_pathinfo, KIND_IA, IT_ERR_INVALID_IA},
    {"it_pz_create", pz_create, KIND_IA, IT_ERR_INVALID_IA},
    {"it_evd_create", evd_create, KIND_IA, IT_ERR_INVALID_IA},
    {"itx_ia_query_counters", query_counters, KIND_IA, IT_ERR_INVALID_IA},
    {"it_pz_query", pz_query, KIND_PZ, IT_ERR_INVALID_PZ},
    {"it_pz_free", pz_free, KIND_PZ, IT_ERR_INVALID_PZ},
    {"it_lmr_create10", lmr_create10, KIND_PZ, IT_ERR_INVALID_PZ},
    {"it_lmr_create20", lmr_create20, KIND_PZ, IT_ERR_INVALID_PZ},
    {"it_lmr_create21", lmr_create21, KIND_PZ, IT_ERR_INVALID_PZ},
    {"it_evd_query", evd_query, KIND_EVD, IT_ERR_INVALID_EVD},
    {"it_evd_wait", evd_wait, KIND_EVD, IT_ERR_INVALID_EVD},
    {"it_evd_dequeue", evd_dequeue, KIND_EVD, IT_ERR_INVALID_EVD},
    {"it_evd_free", evd_free, KIND_EVD, IT_ERR_INVALID_EVD},
    {"it_ep_query", ep_query, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_modify", ep_modify, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_reset", ep_reset, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_free", ep_free, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_connect", ep_connect, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_accept", ep_accept, KIND_EP, IT_ERR_INVALID_EP},
    {"it_ep_disconnect", ep_disconnect, KIND_EP, IT_ERR_INVALID_EP},
    {"it_socket_convert", socket_convert, KIND_EP, IT_ERR_INVALID_EP},
    {"itx_socket_convert", socket_convert_x, KIND_EP, IT_ERR_INVALID_EP},
    {"itx_ep_set_mpa_params", set_mpa, KIND_EP, IT_ERR_INVALID_EP},
    {"itx_ep_get_mpa_params", get_mpa, KIND_EP, IT_ERR_INVALID_EP},
    {"itx_ep_query_mpa", query_mpa, KIND_EP, IT_ERR_INVALID_EP},
    {"it_post_send", post_send, KIND_EP, IT_ERR_INVALID_EP},
    {"it_post_rdma_write", post_write, KIND_EP, IT_ERR_INVALID_EP},
    {"it_post_rdma_read", post_read, KIND_EP, IT_ERR_INVALID_EP},
    {"it_post_recv", post_recv, KIND_EP, IT_ERR_INVALID_HANDLE},
    {"it_listen_query", listen_query, KIND_LISTEN, IT_ERR_INVALID_LISTEN},
    {"it_listen_free", listen_free, KIND_LISTEN, IT_ERR_INVALID_LISTEN},
    {"it_lmr_query", lmr_query, KIND_LMR, IT_ERR_INVALID_LMR},
    {"it_lmr_free", lmr_free, KIND_LMR, IT_ERR_INVALID_LMR},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void all_unchanged(struct zoo *zoo)
{
    static const it_handle_type_enum_t types[] = {IT_HANDLE_TYPE_IA,  IT_HANDLE_TYPE_PZ,
                                                  IT_HANDLE_TYPE_EVD, IT_HANDLE_TYPE_EP,
                                                  IT_HANDLE_TYPE_LMR, IT_HANDLE_TYPE_LISTEN};

    for (int kind = 0; kind < KINDS; kind++) {
        it_handle_type_enum_t type = IT_HANDLE_TYPE_SRQ;

        EXPECT_OK(it_get_handle_type(handle_of(zoo, (enum kind)kind), &type));
        EXPECT_EQ(types[kind], type);
    }
}

Test(api_handles, null, .timeout = 60)
{
    struct zoo zoo;

    zoo_open(&zoo);
    attr = fx_ep_attr();
    path = fx_path(&zoo.node);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = zoo.port;
    for (size_t i = 0; i < CALLS; i++) {
        check_context(calls[i].name);
        EXPECT_STATUS(calls[i].refusal, calls[i].run(NULL));
    }
    check_context(NULL);
    all_unchanged(&zoo);
    zoo_close(&zoo);
    check_done();
}

Test(api_handles, wrong_kind, .timeout = 60)
{
    struct zoo zoo;

    zoo_open(&zoo);
    attr = fx_ep_attr();
    path = fx_path(&zoo.node);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = zoo.port;
    for (size_t i = 0; i < CALLS; i++) {
        check_context(calls[i].name);
        for (int kind = 0; kind < KINDS; kind++) {
            if ((enum kind)kind != calls[i].kind)
                EXPECT_STATUS(calls[i].refusal, calls[i].run(handle_of(&zoo, (enum kind)kind)));
        }
    }
    check_context(NULL);
    all_unchanged(&zoo);
    zoo_close(&zoo);
    check_done();
}

Test(api_handles, stale, .timeout = 60)
{
    struct zoo zoo;

    zoo_open(&zoo);
    attr = fx_ep_attr();
    path = fx_path(&zoo.node);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = zoo.port;
    for (size_t i = 0; i < CALLS; i++) {
        check_context(calls[i].name);
        for (int kind = 0; kind < KINDS; kind++)
            EXPECT_STATUS(calls[i].refusal, calls[i].run(stale_handle(&zoo, (enum kind)kind)));
    }
    check_context(NULL);
    all_unchanged(&zoo);
    zoo_close(&zoo);
    check_done();
}

/* Memory that never was an object. */
Test(api_handles, garbage, .timeout = 60)
{
    struct zoo zoo;
    static uint64_t garbage[64];

    zoo_open(&zoo);
    memset(garbage, 0xa5, sizeof(garbage));
    for (size_t i = 0; i < CALLS; i++) {
        check_context(calls[i].name);
        EXPECT_STATUS(calls[i].refusal, calls[i].run(garbage));
    }
    memset(garbage, 0, sizeof(garbage));
    for (size_t i = 0; i < CALLS; i++) {
        check_context(calls[i].name);
        EXPECT_STATUS(calls[i].refusal, calls[i].run(garbage));
    }
    check_context(NULL);
    zoo_close(&zoo);
    check_done();
}

/* ---- Calls with several handles ------------------------------------------------------------- */

static it_status_t create_ep(it_pz_handle_t pz, it_evd_handle_t request, it_evd_handle_t recv,
                             it_evd_handle_t conn)
{
    it_ep_handle_t ep = NULL;
    it_ep_attributes_t standard = fx_ep_attr();
    it_status_t status = it_ep_rc_create(pz, request, recv, conn, IT_EP_NO_FLAG, &standard, &ep);

    if (status != IT_SUCCESS)
        EXPECT(ep == NULL);
    return status;
}

static void ep_create_with(struct zoo *zoo, void *bad)
{
    struct fx_node *n = &zoo->node;

    EXPECT_STATUS(IT_ERR_INVALID_PZ, create_ep(bad, n->request_evd, n->recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_REQ_EVD, create_ep(n->pz, bad, n->recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_RECV_EVD, create_ep(n->pz, n->request_evd, bad, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_ep(n->pz, n->request_evd, n->recv_evd, bad));
}

Test(api_handles, ep_create, .timeout = 60)
{
    struct zoo zoo;
    struct zoo other;
    it_evd_handle_t aevd = NULL;
    struct fx_node *n = &zoo.node;

    zoo_open(&zoo);
    zoo_open(&other);
    ep_create_with(&zoo, NULL);
    ep_create_with(&zoo, zoo.node.ia);
    ep_create_with(&zoo, zoo.ep);
    ep_create_with(&zoo, zoo.buf.lmr);
    ep_create_with(&zoo, zoo.listener);
    ep_create_with(&zoo, stale_handle(&zoo, KIND_EVD));
    ep_create_with(&zoo, stale_handle(&zoo, KIND_PZ));
    /* EVDs of the wrong stream. */
    EXPECT_STATUS(IT_ERR_INVALID_REQ_EVD, create_ep(n->pz, n->conn_evd, n->recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_REQ_EVD, create_ep(n->pz, n->aff_evd, n->recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_RECV_EVD,
                  create_ep(n->pz, n->request_evd, n->listen_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD,
                  create_ep(n->pz, n->request_evd, n->recv_evd, n->listen_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD,
                  create_ep(n->pz, n->request_evd, n->recv_evd, n->recv_evd));
    /* EVDs of another IA. */
    EXPECT_STATUS(IT_ERR_INVALID_REQ_EVD,
                  create_ep(n->pz, other.node.request_evd, n->recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_RECV_EVD,
                  create_ep(n->pz, n->request_evd, other.node.recv_evd, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD,
                  create_ep(n->pz, n->request_evd, n->recv_evd, other.node.conn_evd));
    /* An aggregate EVD, if this build has them. */
    if (it_evd_create(n->ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0, NULL,
                      &aevd, NULL) == IT_SUCCESS) {
        EXPECT_STATUS(IT_ERR_AEVD_NOT_ALLOWED, create_ep(n->pz, aevd, n->recv_evd, n->conn_evd));
        EXPECT_STATUS(IT_ERR_AEVD_NOT_ALLOWED, create_ep(n->pz, n->request_evd, aevd, n->conn_evd));
        EXPECT_STATUS(IT_ERR_AEVD_NOT_ALLOWED, create_ep(n->pz, n->request_evd, n->recv_evd, aevd));
    }
    /* One EVD for both kinds of completions is fine. */
    EXPECT_OK(create_ep(n->pz, n->recv_evd, n->recv_evd, n->conn_evd));
    zoo_close(&zoo);
    zoo_close(&other);
    check_done();
}

static it_status_t create_listener(it_ia_handle_t ia, size_t spigot, it_evd_handle_t evd)
{
    it_listen_handle_t listener = NULL;
    it_conn_qual_t any;
    it_status_t status;

    memset(&any, 0, sizeof(any));
    any.type = IT_IANA_PORT;
    status = it_listen_create(ia, spigot, evd, IT_LISTEN_NO_FLAG, &any, &listener);
    if (status != IT_SUCCESS)
        EXPECT(listener == NULL);
    return status;
}

Test(api_handles, listen_create, .timeout = 60)
{
    struct zoo zoo;
    struct zoo other;
    struct fx_node *n = &zoo.node;
    size_t s;

    zoo_open(&zoo);
    zoo_open(&other);
    s = n->spigot;
    EXPECT_STATUS(IT_ERR_INVALID_IA, create_listener(NULL, s, n->listen_evd));
    EXPECT_STATUS(IT_ERR_INVALID_IA, create_listener((void *)n->pz, s, n->listen_evd));
    EXPECT_STATUS(IT_ERR_INVALID_IA,
                  create_listener(stale_handle(&zoo, KIND_IA), s, n->listen_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, (void *)zoo.ep));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, n->conn_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, n->request_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, other.node.listen_evd));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_EVD, create_listener(n->ia, s, stale_handle(&zoo, KIND_EVD)));
    zoo_close(&zoo);
    zoo_close(&other);
    check_done();
}

/* The region of a segment: bad ones fail at once, in every position of the list. */
static void posts_with(it_ep_handle_t ep, const it_lmr_triplet_t *segments, it_status_t want)
{
    EXPECT_STATUS(want, it_post_send(ep, segments, 3, 0, FX_SIGNAL));
    EXPECT_STATUS(want, it_post_recv(ep, segments, 3, 0, FX_SIGNAL));
    EXPECT_STATUS(want, it_post_rdma_write(ep, segments, 3, 0, FX_SIGNAL, 0, 0));
    EXPECT_STATUS(want, it_post_rdma_read(ep, segments, 3, 0, FX_SIGNAL, 0, 0));
}

Test(api_handles, segments, .timeout = 60)
{
    struct fx_pair pair;
    struct zoo zoo;
    struct fx_buf buf;
    void *bad[6];

    fx_pair_open(&pair);
    zoo_open(&zoo);
    buf = fx_buf_make(&pair.a, 64);
    bad[0] = NULL;
    bad[1] = pair.a.pz;
    bad[2] = pair.a_ep;
    bad[3] = stale_handle(&zoo, KIND_LMR);
    bad[4] = pair.a.ia;
    bad[5] = pair.a.recv_evd;
    for (size_t i = 0; i < 6; i++) {
        for (size_t at = 0; at < 3; at++) {
            it_lmr_triplet_t segments[3];

            for (size_t k = 0; k < 3; k++)
                segments[k] = fx_seg(&buf, 0, 8);
            segments[at].lmr = bad[i];
            posts_with(pair.a_ep, segments, IT_ERR_INVALID_LMR);
        }
    }
    /* Nothing was started by any of them. */
    fx_pair_ping(&pair);
    fx_empty(pair.a.request_evd);
    fx_empty(pair.a.recv_evd);
    fx_buf_free(&buf);
    zoo_close(&zoo);
    fx_pair_close(&pair);
    check_done();
}

/* it_ep_accept with an identifier of another IA. */
Test(api_handles, foreign_identifier, .timeout = 60)
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

/* ---- Utilities on any handle ---------------------------------------------------------------- */

Test(api_handles, types_and_contexts, .timeout = 60)
{
    struct zoo zoo;
    it_context_t context;
    it_handle_type_enum_t type;
    void *stale;

    zoo_open(&zoo);
    all_unchanged(&zoo);
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
        EXPECT_STATUS(IT_ERR_FAULT, it_get_consumer_context(h, NULL));
        EXPECT_STATUS(IT_ERR_FAULT, it_get_handle_type(h, NULL));
        stale = stale_handle(&zoo, (enum kind)kind);
        EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_handle_type(stale, &type));
        EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_set_consumer_context(stale, context));
        EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_consumer_context(stale, &context));
    }
    EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_handle_type(NULL, &type));
    EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_set_consumer_context(NULL, context));
    EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_consumer_context(NULL, &context));
    zoo_close(&zoo);
    check_done();
}

/* A new object in the place of a freed one has no context of the old one. */
Test(api_handles, context_is_not_inherited, .timeout = 60)
{
    struct fx_node node;
    it_context_t context = {.index = 5};
    it_pz_handle_t pz = NULL;

    fx_node_open(&node);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_OK(it_pz_create(node.ia, &pz));
        EXPECT_STATUS(IT_ERR_NO_CONTEXT, it_get_consumer_context(pz, &context));
        EXPECT_OK(it_set_consumer_context(pz, context));
        CHECK_OK(it_pz_free(pz));
    }
    fx_node_close(&node);
    check_done();
}
