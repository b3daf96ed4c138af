/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw uses TCP port numbers that rdma_cm has found free in a space of its own. If TCP has such a
 * port in use, a port that the program has not chosen is replaced by another one, and a chosen one
 * is reported as busy.
 */
#include "vp/verbs/cm/verbs_cm.h"
#include "verbs_cm/cm_kit.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>

static void open_siw(struct kit *kit)
{
    kit_start(KIT_SIW);
    kit_open(kit, KIT_SIW);
}

Test(cm_retry, connect)
{
    struct kit kit;
    uint16_t port;

    open_siw(&kit);
    stub_rdma_fail(STUB_CONNECT, EADDRINUSE, 0, 2);
    CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, 0));
    port = rdma_get_src_port(kit.id);
    kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    CHECK(kit_resolve_again(&kit, 1) != port);
    (void)kit_resolve_again(&kit, 2);
    kit_wait_calls(&kit, STUB_CONNECT, 3);
    kit_tell(&kit, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(0, kit_warnings());
    kit_close(&kit);
}

Test(cm_retry, connect_gives_up)
{
    struct kit kit;

    open_siw(&kit);
    stub_rdma_fail(STUB_CONNECT, EADDRINUSE, 0, UINT32_MAX);
    /* Its own time does not end the attempt here. */
    CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, UINT64_C(3600000000)));
    kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    for (unsigned i = 1; i < VERBS_PORT_TRIES; i++)
        (void)kit_resolve_again(&kit, i);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(VERBS_PORT_TRIES, stub_rdma_count(STUB_CONNECT));
    CHECK(kit_warnings() > 0);
    kit_close(&kit);
}

/* No new id can be made for the next try. */
Test(cm_retry, connect_cannot_try_again)
{
    static const enum stub_call calls[] = {STUB_CREATE_ID, STUB_BIND, STUB_RESOLVE_ADDR};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct kit kit;

        open_siw(&kit);
        stub_rdma_fail(STUB_CONNECT, EADDRINUSE, 0, 1);
        stub_rdma_fail(calls[i], ENOMEM, 1, 1);
        CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, 0));
        kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
        kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
        fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        CHECK_EQ(1, stub_rdma_count(STUB_CONNECT));
        CHECK(kit_warnings() > 0);
        kit_close(&kit);
    }
}

Test(cm_retry, connect_from_a_chosen_port)
{
    it_conn_qual_t qual = {.type = IT_IANA_LR_PORT};
    struct kit kit;
    it_path_t path;

    open_siw(&kit);
    path = fx_path(&kit.node);
    qual.conn_qual.lr_port.local = htons(4713);
    qual.conn_qual.lr_port.remote = htons(4714);
    stub_rdma_fail(STUB_CONNECT, EADDRINUSE, 0, 1);
    CHECK_OK(it_ep_connect(kit.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    kit.id = stub_rdma_newest(RDMA_PS_TCP);
    CHECK_EQ(htons(4713), rdma_get_src_port(kit.id));
    kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(1, stub_rdma_count(STUB_CONNECT));
    kit_close(&kit);
}

/* ---------------------------------------------------------------- listening */

static it_status_t listen_at(struct kit *kit, uint16_t port)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port};

    return it_listen_create(kit->node.ia, kit->node.spigot, kit->node.listen_evd,
                            port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG, &qual,
                            &kit->listener);
}

static void listens(enum stub_call call)
{
    struct kit kit;

    open_siw(&kit);
    stub_rdma_fail(call, EADDRINUSE, 0, 3);
    CHECK_OK(listen_at(&kit, 0));
    CHECK_EQ(0, kit_warnings());
    CHECK_OK(it_listen_free(kit.listener));

    stub_rdma_fail(call, EADDRINUSE, 0, VERBS_PORT_TRIES);
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, listen_at(&kit, 0));
    CHECK(kit_warnings() > 0);
    CHECK_OK(listen_at(&kit, 0)); /* all failures are used up, so there were as many tries */
    CHECK_OK(it_listen_free(kit.listener));

    stub_rdma_fail(call, EADDRINUSE, 0, 1);
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, listen_at(&kit, htons(4715)));
    CHECK_OK(listen_at(&kit, htons(4715)));
    kit_close(&kit);
}

Test(cm_retry, listen)
{
    listens(STUB_LISTEN);
    listens(STUB_BIND);
}
