/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program looks at its objects while a thread of the library changes them. ThreadSanitizer
 * notices what is not guarded; without it, the test checks that no look sees half a change.
 */
#include "cm_kit.h"
#include "rs_kit.h"
#include "verbs_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

enum {
    ROUNDS = 100,
    DATAGRAM_ROUNDS = 200,
    NUMBERS = 300 /* more than one port has */
};

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, 0) == 1;
}

/* ---- Ids that connect ----------------------------------------------------------------------- */

/* Looks at a caller until its event is there. */
static void look_at_caller(struct rdma_cm_id *caller, uint16_t port)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    do {
        CHECK_EQ(0, ibv_query_qp(caller->qp, &attr, IBV_QP_STATE, &init));
        CHECK(attr.qp_state == IBV_QPS_INIT || attr.qp_state == IBV_QPS_RTS);
        CHECK_EQ(htonl(INADDR_LOOPBACK), caller->route.addr.src_sin.sin_addr.s_addr);
        CHECK_EQ(port, rdma_get_dst_port(caller));
    } while (!is_readable(cm_kit.client->fd));
}

static void connect_once(struct rdma_cm_id *listener)
{
    uint16_t port = rdma_get_src_port(listener);
    struct rdma_cm_id *caller = cm_kit_call(1, port, "seen");
    struct rdma_cm_id *called = cm_kit_requested("seen");

    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    look_at_caller(caller, port);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == caller);
    CHECK_EQ(IBV_QPS_RTS, caller->qp->state);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK_EQ(IBV_QPS_RTS, called->qp->state);
    cm_kit_destroy(caller);
    cm_kit_destroy(called);
}

static void callers(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);

    for (int i = 0; i < ROUNDS; i++)
        connect_once(listener);
    cm_kit_destroy(listener);
}

/* A caller that gives up while its connection may come. */
static void give_up_once(struct rdma_cm_id *listener)
{
    struct rdma_cm_id *caller = cm_kit_call(1, rdma_get_src_port(listener), "gone");
    struct rdma_cm_id *called = cm_kit_requested("gone");

    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK_EQ(0, rdma_disconnect(caller));
    CHECK_EQ(IBV_QPS_ERR, caller->qp->state);
    cm_kit_destroy(caller);
    cm_kit_destroy(called);
}

static void quitters(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);

    for (int i = 0; i < ROUNDS; i++)
        give_up_once(listener);
    cm_kit_destroy(listener);
}

/* ---- Rsockets that connect ------------------------------------------------------------------ */

static void rsocket_once(int listener, const struct sockaddr_in *address)
{
    struct sockaddr_in name;
    socklen_t length;
    int ends[2];

    ends[0] = rsocket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(0, rfcntl(ends[0], F_SETFL, O_NONBLOCK));
    CHECK_EQ(-1, rconnect(ends[0], (const struct sockaddr *)address, sizeof(*address)));
    CHECK_EQ(EINPROGRESS, errno);
    ends[1] = raccept(listener, NULL, NULL);
    do {
        length = sizeof(name);
        CHECK_EQ(0, rgetsockname(ends[0], (struct sockaddr *)&name, &length));
        CHECK_EQ(htonl(INADDR_LOOPBACK), name.sin_addr.s_addr);
        length = sizeof(name);
        CHECK_EQ(0, rgetpeername(ends[0], (struct sockaddr *)&name, &length));
        CHECK_EQ(address->sin_port, name.sin_port);
    } while (!is_readable(ends[0])); /* the descriptor of its event channel */
    CHECK_EQ(POLLOUT, rs_kit_poll(ends[0], POLLOUT));
    rs_kit_close(ends);
}

static void rsockets(void)
{
    struct sockaddr_in address;
    int listener = rs_kit_listen(&address, NULL);

    for (int i = 0; i < ROUNDS; i++)
        rsocket_once(listener, &address);
    CHECK_EQ(0, rclose(listener));
}

/* ---- Datagram ids while requests arrive ------------------------------------------------------ */

static struct rdma_cm_id *datagram_id(struct rdma_event_channel *channel)
{
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
    return id;
}

static struct rdma_cm_id *call_datagrams(uint16_t port)
{
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
    struct sockaddr_in address = cm_kit_local(1, port);
    struct rdma_cm_id *id = datagram_id(cm_kit.client);

    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
    CHECK_EQ(0, rdma_resolve_route(id, 1000));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
    CHECK_EQ(0, rdma_create_qp(id, NULL, &attr));
    CHECK_EQ(0, rdma_connect(id, NULL));
    return id;
}

/* The requests wait until the end. */
static void datagrams(void)
{
    struct sockaddr_in address = cm_kit_local(1, 0);
    struct rdma_cm_id *listener = datagram_id(cm_kit.server);
    struct rdma_cm_id *id[DATAGRAM_ROUNDS];

    CHECK_EQ(0, rdma_bind_addr(listener, (struct sockaddr *)&address));
    CHECK_EQ(0, rdma_listen(listener, 0));
    for (int i = 0; i < DATAGRAM_ROUNDS; i++)
        id[i] = call_datagrams(rdma_get_src_port(listener));
    for (int i = 0; i < DATAGRAM_ROUNDS; i++)
        cm_kit_destroy(id[i]);
    cm_kit_destroy(listener);
}

/* ---- Queue pairs that are connected by hand -------------------------------------------------- */

static struct ibv_qp *new_qp(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &init);

    CHECK(qp != NULL);
    return qp;
}

/* Each pair becomes ready while those before it are still connecting. */
static void by_hand(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, NUMBERS, NULL, NULL, 0);
    struct ibv_qp *qp[NUMBERS];

    CHECK(cq != NULL);
    for (int i = 0; i < NUMBERS; i += 2) {
        qp[i] = new_qp(cq);
        qp[i + 1] = new_qp(cq);
        verbs_kit_bring_up(qp[i], qp[i + 1]->qp_num);
        verbs_kit_bring_up(qp[i + 1], qp[i]->qp_num);
    }
    for (int i = 0; i < NUMBERS; i++)
        CHECK_EQ(0, ibv_destroy_qp(qp[i]));
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

int main(void)
{
    cm_kit_open();
    verbs_kit_open();
    callers();
    quitters();
    rsockets();
    datagrams();
    by_hand();
    verbs_kit_close();
    cm_kit_close();
    check_done();
    return 0;
}
