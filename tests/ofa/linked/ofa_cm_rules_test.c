/* SPDX-License-Identifier: BSD-2-Clause */
/* What rdma_cm refuses, and what it does to a queue pair: as on Linux's rxe. */
#include "cm_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

enum {
    BACKLOG = 2,
    CALLERS = 4,
    REJECTED_BY_LIBRARY = 28
};

static void refused(int result, int error)
{
    CHECK_EQ(-1, result);
    CHECK_EQ(error, errno);
}

static struct rdma_cm_id *new_id(void)
{
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(cm_kit.server, &id, NULL, RDMA_PS_TCP));
    return id;
}

/* ---- States --------------------------------------------------------------------------------- */

/* Each call needs the one before it. */
static void in_order(void)
{
    struct ibv_qp_init_attr datagrams = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
    struct sockaddr_in address = cm_kit_local(1, htons(9));
    struct rdma_cm_id *id = new_id();

    refused(rdma_bind_addr(id, NULL), EINVAL);
    refused(rdma_resolve_addr(id, NULL, NULL, 1), EINVAL);
    refused(rdma_resolve_route(id, 1), EINVAL);
    refused(rdma_connect(id, NULL), EINVAL);
    refused(rdma_accept(id, NULL), EINVAL);
    refused(rdma_disconnect(id), EINVAL);
    refused(rdma_establish(id), EINVAL);
    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
    refused(rdma_create_qp(id, NULL, &datagrams), EINVAL);
    cm_kit_equip(id);
    refused(rdma_connect(id, NULL), EINVAL);
    CHECK_EQ(0, rdma_resolve_route(id, 1000));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
    refused(rdma_disconnect(id), EINVAL);
    CHECK_EQ(IBV_QPS_INIT, id->qp->state);
    cm_kit_destroy(id);
}

/* The address that an id is bound to has the family of its peer. */
static void of_one_family(void)
{
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in own = cm_kit_local(1, 0);
    struct rdma_cm_id *id = new_id();

    CHECK_EQ(0, rdma_bind_addr(id, (struct sockaddr *)&own));
    refused(rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 1000), EINVAL);
    cm_kit_destroy(id);
}

/*
 * A group is no address of this host, and there is no way to one without a scope. An address of
 * another host has the errno of Linux's rdma_cm, too.
 */
static void foreign_addresses(void)
{
    struct sockaddr_in6 scopeless = {.sin6_family = AF_INET6,
                                     .sin6_addr = {.s6_addr = {0xff, 0x02, [15] = 1}}};
    const uint32_t foreign[] = {0xe0000001, INADDR_BROADCAST, 0xc6336401 /* RFC 5737 */};
    struct sockaddr_in own = cm_kit_local(1, 0);
    struct rdma_cm_id *id = new_id();

    for (int i = 0; i < 3; i++) {
        own.sin_addr.s_addr = htonl(foreign[i]);
        refused(rdma_bind_addr(id, (struct sockaddr *)&own), EADDRNOTAVAIL);
    }
    CHECK_EQ(-1, rdma_resolve_addr(id, NULL, (struct sockaddr *)&scopeless, 1000));
    cm_kit_destroy(id);
}

/* ---- Ports ---------------------------------------------------------------------------------- */

/* A port belongs to the id that is bound to it, whether it listens or not. */
static void one_owner(void)
{
    struct rdma_cm_id *first = new_id();
    struct rdma_cm_id *second = new_id();
    struct sockaddr_in address = cm_kit_local(1, 0);

    CHECK_EQ(0, rdma_bind_addr(first, (struct sockaddr *)&address));
    address.sin_port = rdma_get_src_port(first);
    refused(rdma_bind_addr(second, (struct sockaddr *)&address), EADDRINUSE);
    CHECK_EQ(0, rdma_listen(first, 1));
    refused(rdma_bind_addr(second, (struct sockaddr *)&address), EADDRINUSE);
    cm_kit_destroy(first);
    CHECK_EQ(0, rdma_bind_addr(second, (struct sockaddr *)&address));
    cm_kit_destroy(second);
}

/* A resolved id has a port, which the peer sees. */
static void port_of_a_caller(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *caller = cm_kit_resolve(1, rdma_get_src_port(listener));
    uint16_t port = rdma_get_src_port(caller);
    struct rdma_conn_param param = {.private_data = "port", .private_data_len = 5};
    struct rdma_cm_id *called;

    CHECK(port != 0);
    cm_kit_equip(caller);
    CHECK_EQ(0, rdma_connect(caller, &param));
    called = cm_kit_requested("port");
    CHECK_EQ(port, rdma_get_dst_port(called));
    cm_kit_destroy(called);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_REJECTED) == caller);
    CHECK_EQ(port, rdma_get_src_port(caller));
    cm_kit_destroy(caller);
    cm_kit_destroy(listener);
}

/* ---- Options -------------------------------------------------------------------------------- */

static void options(void)
{
    struct rdma_cm_id *id = cm_kit_listen_at(1, 0);
    uint8_t timeout = 40;
    int on = 1;

    refused(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), EINVAL);
    refused(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), EINVAL);
    refused(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &on, sizeof(on)), EINVAL);
    refused(rdma_set_option(id, RDMA_OPTION_ID, 99, &on, sizeof(on)), ENOSYS);
    refused(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &on, sizeof(on)), EINVAL);
    CHECK_EQ(0, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1));
    cm_kit_destroy(id);
}

/* ---- Private data --------------------------------------------------------------------------- */

/* InfiniBand has room for so many octets. */
static void room_for_data(void)
{
    static const char data[256];
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *caller = cm_kit_resolve(1, rdma_get_src_port(listener));
    struct rdma_conn_param param = {.private_data = data, .private_data_len = 57};
    struct rdma_cm_event *event;
    struct rdma_cm_id *called;

    cm_kit_equip(caller);
    refused(rdma_connect(caller, &param), EINVAL);
    param.private_data_len = 56;
    CHECK_EQ(0, rdma_connect(caller, &param));
    called = cm_kit_requested("");
    refused(rdma_notify(called, IBV_EVENT_COMM_EST), EINVAL);
    refused(rdma_reject(called, data, 149), EINVAL);
    cm_kit_equip(called);
    param.private_data_len = 197;
    refused(rdma_accept(called, &param), EINVAL); /* which rejects the request */
    CHECK_EQ(IBV_QPS_ERR, called->qp->state);
    refused(rdma_accept(called, NULL), EINVAL);
    event = cm_kit_expect(cm_kit.client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(REJECTED_BY_LIBRARY, event->status);
    CHECK_EQ(148, event->param.conn.private_data_len);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    cm_kit_destroy(called);
    cm_kit_destroy(caller);
    cm_kit_destroy(listener);
}

/* ---- Requests that the program does not take ------------------------------------------------- */

/* More requests than the backlog are rejected, as long as the program has not got an event. */
static void backlog(void)
{
    struct sockaddr_in address = cm_kit_local(1, 0);
    struct rdma_cm_id *listener = new_id();
    struct rdma_cm_id *callers[CALLERS];
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_bind_addr(listener, (struct sockaddr *)&address));
    CHECK_EQ(0, rdma_listen(listener, BACKLOG));
    for (int i = 0; i < CALLERS; i++)
        callers[i] = cm_kit_resolve(1, rdma_get_src_port(listener));
    for (int i = 0; i < CALLERS; i++) {
        cm_kit_equip(callers[i]);
        CHECK_EQ(0, rdma_connect(callers[i], NULL));
    }
    for (int i = BACKLOG; i < CALLERS; i++) {
        event = cm_kit_expect(cm_kit.client, RDMA_CM_EVENT_REJECTED);
        CHECK_EQ(REJECTED_BY_LIBRARY, event->status);
        CHECK_EQ(0, rdma_ack_cm_event(event));
    }
    for (int i = 0; i < BACKLOG; i++) {
        cm_kit_destroy(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST));
        (void)cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_REJECTED);
    }
    for (int i = 0; i < CALLERS; i++)
        cm_kit_destroy(callers[i]);
    cm_kit_destroy(listener);
}

/* The event of a rejection moves the queue pair to ERR, so its receives complete. */
static void rejection_flushes(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *caller = cm_kit_resolve(1, rdma_get_src_port(listener));
    char room[8];
    struct ibv_mr *mr;
    struct ibv_wc wc;

    cm_kit_equip(caller);
    mr = rdma_reg_msgs(caller, room, sizeof(room));
    CHECK(mr != NULL);
    CHECK_EQ(0, rdma_post_recv(caller, NULL, room, sizeof(room), mr));
    CHECK_EQ(0, rdma_connect(caller, NULL));
    cm_kit_destroy(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_REJECTED) == caller);
    CHECK_EQ(1, rdma_get_recv_comp(caller, &wc));
    CHECK_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
    CHECK_EQ(0, rdma_dereg_mr(mr));
    cm_kit_destroy(caller);
    cm_kit_destroy(listener);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* The peer is told when an id is destroyed, even if its queue pair stays. */
static void destroyed_before_its_queue_pair(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *caller = cm_kit_call(1, rdma_get_src_port(listener), "leave");
    struct rdma_cm_id *called = cm_kit_requested("leave");
    struct ibv_qp *stays;
    struct ibv_cq *cqs[2];

    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == caller);
    stays = caller->qp;
    cqs[0] = caller->send_cq;
    cqs[1] = caller->recv_cq;
    CHECK_EQ(0, rdma_destroy_id(caller));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_DISCONNECTED) == called);
    CHECK_EQ(0, ibv_destroy_qp(stays));
    for (int i = 0; i < 2; i++) {
        struct ibv_comp_channel *channel = cqs[i]->channel;

        CHECK_EQ(0, ibv_destroy_cq(cqs[i]));
        CHECK_EQ(0, ibv_destroy_comp_channel(channel));
    }
    cm_kit_destroy(called);
    cm_kit_destroy(listener);
}

/* Takes events of the client up to this one. */
static void pass_until(enum rdma_cm_event_type type, const struct rdma_cm_id *id)
{
    struct rdma_cm_event *event;
    bool found;

    do {
        CHECK_EQ(0, rdma_get_cm_event(cm_kit.client, &event));
        found = event->event == type && event->id == id;
        CHECK_EQ(0, rdma_ack_cm_event(event));
    } while (!found);
}

/* A channel's ids end with it: connections, requests and listeners. They can be destroyed later. */
static void channel_goes_first(void)
{
    struct rdma_event_channel *server = cm_kit.server;
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *connected = cm_kit_call(1, rdma_get_src_port(listener), "one");
    struct rdma_cm_id *called = cm_kit_requested("one");
    struct rdma_cm_id *caller;
    struct rdma_conn_param param = {.retry_count = 7};

    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == connected);
    caller = cm_kit_resolve(1, rdma_get_src_port(listener));
    cm_kit_equip(caller);
    CHECK_EQ(0, rdma_connect(caller, &param));
    cm_kit.server = rdma_create_event_channel();
    CHECK(cm_kit.server != NULL);
    rdma_destroy_event_channel(server);
    pass_until(RDMA_CM_EVENT_REJECTED, caller);
    cm_kit_destroy(called);
    cm_kit_destroy(listener);
    cm_kit_destroy(connected);
    cm_kit_destroy(caller);
}

int main(void)
{
    cm_kit_open();
    in_order();
    of_one_family();
    foreign_addresses();
    one_owner();
    port_of_a_caller();
    options();
    room_for_data();
    backlog();
    rejection_flushes();
    destroyed_before_its_queue_pair();
    channel_goes_first();
    cm_kit_close();
    check_done();
    return 0;
}
