/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports of listen points, which are free again at once. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <unistd.h>

#include "support/fixture_node.h"

/* The port is free when the listen point is freed. */
Test(cm_listen, freed, .init = node_init, .fini = node_fini)
{
    it_listen_handle_t listener;
    it_listen_handle_t again = NULL;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    uint16_t port = 0;

    listener = fx_listen(&node, &port);
    qual.conn_qual.port = port;
    EXPECT_OK(it_listen_free(listener));
    EXPECT_OK(it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                               &qual, &again));
    EXPECT_EQ(port, qual.conn_qual.port);
    EXPECT_OK(it_listen_free(again));
}

/*
 * Listens with a qualifier of the given type. The library chooses a port with the type that one can
 * listen on, and endpoints can connect to it. A request of type IT_IANA_LR_PORT also names the
 * connecting EP's port.
 */
static void chosen(it_conn_qual_type_t given, it_conn_qual_type_t type)
{
    it_conn_qual_t qual = {.type = given};
    it_listen_handle_t listener = NULL;
    it_cn_est_identifier_t request;
    it_listen_param_t params;
    it_event_t event;
    it_ep_handle_t ep;
    uint16_t port;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    CHECK_OK(it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_NO_FLAG, &qual,
                              &listener));
    CHECK_EQ(type, qual.type);
    port = type == IT_IANA_LR_PORT ? qual.conn_qual.lr_port.local : qual.conn_qual.port;
    CHECK(port != 0);
    CHECK_OK(it_listen_query(listener, IT_LISTEN_PARAM_ALL, &params));
    CHECK_EQ(type, params.connect_qual.type);
    fx_connect(&node, ep, port);
    request = fx_request(&node, &event);
    CHECK_EQ(type, event.conn_req.conn_qual.type);
    if (type == IT_IANA_LR_PORT) {
        CHECK_EQ(port, event.conn_req.conn_qual.conn_qual.lr_port.local);
        CHECK(event.conn_req.conn_qual.conn_qual.lr_port.remote != 0);
    } else {
        CHECK_EQ(port, event.conn_req.conn_qual.conn_qual.port);
    }
    CHECK_OK(it_reject(request, NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_OK(it_listen_free(listener));
    fx_node_close(&node);
}

Test(cm_listen, the_type_of_a_chosen_qualifier)
{
    chosen(IT_IANA_LR_PORT, IT_IANA_LR_PORT);
    chosen(IT_IANA_PORT, IT_IANA_PORT);
    chosen(IT_IB_SERVICEID, IT_IANA_PORT);
    chosen((it_conn_qual_type_t)0, IT_IANA_PORT);
    chosen((it_conn_qual_type_t)(IT_IANA_PORT | IT_IANA_LR_PORT), IT_IANA_PORT);
    chosen((it_conn_qual_type_t)77, IT_IANA_PORT);
}

/* Nobody can answer a request that goes with its EVD, so the peer is told at once. */
Test(cm_listen, a_request_in_an_evd_that_is_freed, .init = node_init, .fini = node_fini)
{
    const size_t many = 4;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener;
    it_evd_handle_t aevd;
    it_evd_handle_t evd;
    it_ep_handle_t ep = fx_ep(&node, NULL);
    it_event_t event;

    CHECK_OK(it_evd_create(node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, IT_EVD_DEQUEUE_NOTIFICATIONS,
                           0, 0, NULL, &aevd, NULL));
    CHECK_OK(it_evd_create(node.ia, IT_CM_REQ_EVENT_STREAM, (it_evd_flags_t)0, many, 0, aevd, &evd,
                           NULL));
    CHECK_OK(it_listen_create(node.ia, node.spigot, evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    fx_connect(&node, ep, qual.conn_qual.port);
    event = fx_wait(aevd); /* the request stays in its EVD */
    CHECK_EQ(IT_AEVD_NOTIFICATION_EVENT, event.event_number);
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_evd_free(evd));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_OK(it_evd_free(aevd));
    CHECK_OK(it_ep_free(ep));
}

/* Ended connections do not keep their port: a server can be restarted at once. */
Test(cm_listen, after_connections)
{
    struct fx_node a;
    struct fx_node b;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    listener = fx_listen(&b, &port);
    qual.conn_qual.port = port;
    for (unsigned round = 0; round < 3; round++) {
        it_ep_handle_t a_ep = fx_ep(&a, NULL);
        it_ep_handle_t b_ep = fx_ep(&b, NULL);

        fx_connect(&a, a_ep, port);
        CHECK_OK(it_ep_accept(b_ep, fx_request(&b, NULL), NULL, 0));
        fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        /* The server ends the connection, so that the time-wait is on its side. */
        CHECK_OK(it_ep_disconnect(b_ep, NULL, 0));
        fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_free(a_ep));
        CHECK_OK(it_ep_free(b_ep));
        CHECK_OK(it_listen_free(listener));
        CHECK_OK(it_listen_create(b.ia, b.spigot, b.listen_evd, IT_LISTEN_CONN_QUAL_INPUT, &qual,
                                  &listener));
    }
    fx_node_close(&a);
    fx_node_close(&b);
}

/* Spigot 0 is the only one in every call that takes a Spigot, and all reports name it. */
Test(cm_listen, only_spigot)
{
    struct fx_node a;
    struct fx_node b;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener;
    it_listen_param_t listens;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_event_t event;
    it_path_t path;

    fx_node_open(&a);
    fx_node_open(&b);
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, NULL);
    CHECK_OK(it_listen_create(b.ia, 0, b.listen_evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    CHECK_OK(it_listen_query(listener, IT_LISTEN_PARAM_SPIGOT_ID, &listens));
    EXPECT_EQ(b.spigot, listens.spigot_id);

    path = fx_path(&a);
    path.spigot_id = 0;
    path.timeout = 0;
    CHECK_OK(it_ep_connect(a_ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    (void)fx_request(&b, &event);
    EXPECT_EQ(b.spigot, event.conn_req.spigot_id);
    CHECK_OK(it_handoff(&qual, 0, event.conn_req.cn_est_id));
    CHECK_OK(it_ep_accept(b_ep, fx_request(&b, NULL), NULL, 0));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(a.spigot, event.conn.dst_path.spigot_id);
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
}

/* ---- On one address ------------------------------------------------------------------------- */

static struct sockaddr_in local(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};

    address.sin_addr.s_addr = htonl(0x7f000000u + last);
    return address;
}

static it_listen_handle_t listen_at(uint32_t last, it_conn_qual_t *qual)
{
    struct sockaddr_in address = local(last, htons(1)); /* the port is ignored */
    it_listen_flags_t flags = qual->conn_qual.port ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG;
    it_listen_handle_t listener = NULL;

    CHECK_OK(itx_listen_create_at(node.ia, node.listen_evd, flags, (struct sockaddr *)&address,
                                  qual, &listener));
    return listener;
}

static bool somebody_listens(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = local(last, port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    (void)close(fd);
    return connected;
}

Test(cm_listen, on_one_address, .init = node_init, .fini = node_fini)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t first = listen_at(2, &qual);
    it_listen_handle_t second;
    uint16_t port = qual.conn_qual.port;

    EXPECT(somebody_listens(2, port));
    EXPECT(!somebody_listens(3, port));
    second = listen_at(3, &qual);
    EXPECT_EQ(port, qual.conn_qual.port);
    EXPECT(somebody_listens(3, port));
    EXPECT_OK(it_listen_free(first));
    EXPECT(!somebody_listens(2, port));
    EXPECT(somebody_listens(3, port));
    EXPECT_OK(it_listen_free(second));
}
