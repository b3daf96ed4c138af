/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of rdma_cm: the content of a request, which id gets an event, and queue pairs that programs
 * name.
 */
#include "cm_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <string.h>
#include <unistd.h>

/* ---- Requests ------------------------------------------------------------------------------- */

/* A request has the addresses of its connection, whatever address its listener has. */
static void ends_of_a_request(uint32_t listens_at)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(listens_at, 0);
    struct rdma_cm_id *caller = cm_kit_call(2, rdma_get_src_port(listener), "hello");
    struct rdma_cm_id *called = cm_kit_requested("hello");
    struct sockaddr_in *own = &called->route.addr.src_sin;
    uint16_t port = rdma_get_dst_port(called);

    CHECK_EQ(htonl(0x7f000002u), own->sin_addr.s_addr);
    CHECK_EQ(rdma_get_src_port(listener), own->sin_port);
    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == caller);
    CHECK(port != 0);
    CHECK_EQ(rdma_get_src_port(caller), port);
    CHECK_EQ(rdma_get_dst_port(called), port);
    cm_kit_destroy(caller);
    cm_kit_destroy(called);
    cm_kit_destroy(listener);
}

static bool somebody_listens(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = cm_kit_local(last, port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    (void)close(fd);
    return connected;
}

/* Two ids listen on one port at two addresses, and at no others. */
static void one_address(void)
{
    struct rdma_cm_id *first = cm_kit_listen_at(2, 0);
    struct rdma_cm_id *second = cm_kit_listen_at(3, rdma_get_src_port(first));
    struct rdma_cm_id *caller = cm_kit_call(3, rdma_get_src_port(first), "second");
    struct rdma_cm_event *event = cm_kit_expect(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *called = event->id;

    CHECK(event->listen_id == second);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK(!somebody_listens(1, rdma_get_src_port(first)));
    cm_kit_destroy(called);
    cm_kit_destroy(caller);
    cm_kit_destroy(first);
    cm_kit_destroy(second);
}

/* After a program's rejection the port is not tried again, unlike a port where nobody listens. */
static void rejected_once(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(2, 0);
    struct rdma_cm_id *caller = cm_kit_call(2, rdma_get_src_port(listener), "first");
    struct rdma_cm_id *called = cm_kit_requested("first");
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_reject(called, "no", 3));
    cm_kit_destroy(called);
    event = cm_kit_expect(cm_kit.client, RDMA_CM_EVENT_REJECTED);
    CHECK(strcmp("no", event->param.conn.private_data) == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    cm_kit_destroy(caller);
    caller = cm_kit_call(2, rdma_get_src_port(listener), "second");
    called = cm_kit_requested("second");
    cm_kit_destroy(called);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_REJECTED) == caller);
    cm_kit_destroy(caller);
    cm_kit_destroy(listener);
}

/* ---- Queue pairs that the program names ------------------------------------------------------ */

static void move(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask;

    CHECK_EQ(0, rdma_init_qp_attr(id, &attr, &mask));
    CHECK_EQ(0, ibv_modify_qp(qp, &attr, mask));
}

static struct ibv_qp *make_qp(const struct rdma_cm_id *id, struct ibv_cq *cq)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(id->pd, &attr);

    CHECK(qp);
    return qp;
}

/* Destroying a queue pair ends its connection. Its id stays, and calls on it are safe. */
static void destroyed_under_its_id(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(2, 0);
    struct rdma_cm_id *caller = cm_kit_resolve(2, rdma_get_src_port(listener));
    struct ibv_cq *cq = ibv_create_cq(caller->verbs, 16, NULL, NULL, 0);
    struct ibv_qp *qp = make_qp(caller, cq);
    struct rdma_conn_param param = {.qp_num = qp->qp_num, .retry_count = 7};
    struct rdma_cm_event *event;
    struct rdma_cm_id *called;

    move(caller, qp, IBV_QPS_INIT);
    CHECK_EQ(0, rdma_connect(caller, &param));
    event = cm_kit_expect(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    called = event->id;
    CHECK_EQ(0, rdma_ack_cm_event(event));
    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_CONNECT_RESPONSE) == caller);
    move(caller, qp, IBV_QPS_RTR);
    move(caller, qp, IBV_QPS_RTS);
    CHECK_EQ(0, rdma_establish(caller));
    errno = 0;
    CHECK_EQ(-1, rdma_establish(caller)); /* once */
    CHECK_EQ(EINVAL, errno);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_DISCONNECTED) == caller);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_DISCONNECTED) == called);
    CHECK_EQ(0, rdma_disconnect(caller));
    CHECK_EQ(0, ibv_destroy_cq(cq));
    cm_kit_destroy(caller);
    cm_kit_destroy(called);
    cm_kit_destroy(listener);
}

/* A connection of a queue pair that the program has created and moves itself. */
struct by_program {
    struct rdma_cm_id *listener;
    struct rdma_cm_id *caller;
    struct rdma_cm_id *called;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

/* Connects up to the answer. */
static struct by_program answered(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(2, 0);
    struct rdma_cm_id *caller = cm_kit_resolve(2, rdma_get_src_port(listener));
    struct ibv_cq *cq = ibv_create_cq(caller->verbs, 16, NULL, NULL, 0);
    struct by_program by = {listener, caller, NULL, cq, make_qp(caller, cq)};
    struct rdma_conn_param param = {.qp_num = by.qp->qp_num, .retry_count = 7};

    move(caller, by.qp, IBV_QPS_INIT);
    CHECK_EQ(0, rdma_connect(caller, &param));
    by.called = cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    cm_kit_equip(by.called);
    CHECK_EQ(0, rdma_accept(by.called, NULL));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_CONNECT_RESPONSE) == caller);
    move(caller, by.qp, IBV_QPS_RTR);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == by.called);
    return by;
}

static void close_by_program(const struct by_program *by)
{
    CHECK_EQ(0, ibv_destroy_qp(by->qp));
    CHECK_EQ(0, ibv_destroy_cq(by->cq));
    cm_kit_destroy(by->caller);
    cm_kit_destroy(by->called);
    cm_kit_destroy(by->listener);
}

/* The caller may reject the answer, once. */
static void rejected_answer(void)
{
    struct by_program by = answered();

    CHECK_EQ(0, rdma_reject(by.caller, NULL, 0));
    CHECK_EQ(-1, rdma_reject(by.caller, NULL, 0));
    CHECK_EQ(EINVAL, errno);
    CHECK_EQ(-1, rdma_establish(by.caller));
    CHECK_EQ(EINVAL, errno);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_DISCONNECTED) == by.called);
    CHECK_EQ(IBV_QPS_RTR, by.qp->state);
    close_by_program(&by);
}

/* A synchronous id that was refused has nothing to wait for when it disconnects. */
static void refused_and_disconnected(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(2, 0);
    struct sockaddr_in peer = cm_kit_local(2, rdma_get_src_port(listener));
    struct rdma_cm_id *caller;

    cm_kit_destroy(listener);
    CHECK_EQ(0, rdma_create_id(NULL, &caller, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_resolve_addr(caller, NULL, (struct sockaddr *)&peer, 1000));
    CHECK_EQ(0, rdma_resolve_route(caller, 1000));
    cm_kit_equip(caller);
    CHECK_EQ(-1, rdma_connect(caller, NULL));
    CHECK_EQ(ECONNREFUSED, errno);
    CHECK_EQ(0, rdma_disconnect(caller));
    cm_kit_destroy(caller);
}

/* A queue pair that does not belong to the id stays in its state when the connection ends. */
static void program_moves_it(void)
{
    struct by_program by = answered();
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    move(by.caller, by.qp, IBV_QPS_RTS);
    CHECK_EQ(0, rdma_establish(by.caller));
    CHECK_EQ(0, rdma_disconnect(by.caller));
    CHECK_EQ(0, rdma_disconnect(by.caller)); /* no harm */
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_DISCONNECTED) == by.caller);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_DISCONNECTED) == by.called);
    CHECK_EQ(0, ibv_query_qp(by.qp, &attr, IBV_QP_STATE, &init));
    CHECK_EQ(IBV_QPS_RTS, attr.qp_state);
    close_by_program(&by);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* Without names there is nothing to look up: the hints have the addresses. */
static void addresses_of_hints(void)
{
    struct sockaddr_in peer = cm_kit_local(5, 7);
    struct sockaddr_in own = cm_kit_local(6, 0);
    struct rdma_addrinfo hints = {.ai_family = AF_INET,
                                  .ai_port_space = RDMA_PS_TCP,
                                  .ai_dst_addr = (struct sockaddr *)&peer,
                                  .ai_dst_len = sizeof(peer),
                                  .ai_src_addr = (struct sockaddr *)&own,
                                  .ai_src_len = sizeof(own)};
    struct rdma_addrinfo *info;

    CHECK_EQ(0, rdma_getaddrinfo(NULL, NULL, &hints, &info));
    CHECK_EQ(AF_INET, info->ai_family);
    CHECK_EQ(IBV_QPT_RC, info->ai_qp_type);
    CHECK(info->ai_dst_len == sizeof(peer) && memcmp(info->ai_dst_addr, &peer, sizeof(peer)) == 0);
    CHECK(info->ai_src_len == sizeof(own) && memcmp(info->ai_src_addr, &own, sizeof(own)) == 0);
    CHECK_EQ(NULL, info->ai_next);
    rdma_freeaddrinfo(info);
    errno = 0;
    CHECK_EQ(-1, rdma_getaddrinfo(NULL, NULL, NULL, &info));
    CHECK_EQ(EINVAL, errno);
}

int main(void)
{
    cm_kit_open();
    ends_of_a_request(2);
    ends_of_a_request(0);
    one_address();
    rejected_once();
    destroyed_under_its_id();
    rejected_answer();
    refused_and_disconnected();
    program_moves_it();
    addresses_of_hints();
    cm_kit_close();
    check_done();
    return 0;
}
