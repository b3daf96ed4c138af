/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of rdma_cm: what a request tells, who hears of it, and queue pairs that programs name. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#define RESOLVE_MS 2000

static struct rdma_event_channel *server;
static struct rdma_event_channel *client;

static void bed_open(void)
{
    server = rdma_create_event_channel();
    client = rdma_create_event_channel();
    CHECK(server && client);
}

static void bed_close(void)
{
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static struct sockaddr_in local(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};

    address.sin_addr.s_addr = htonl(0x7f000000u + last);
    return address;
}

static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
                                    enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = NULL;

    CHECK_EQ(0, rdma_get_cm_event(channel, &event));
    CHECK_EQ(type, event->event);
    return event;
}

/* Returns the id that the event is about. */
static struct rdma_cm_id *pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = expect(channel, type);
    struct rdma_cm_id *id = event->id;

    CHECK_EQ(0, rdma_ack_cm_event(event));
    return id;
}

/* On 127.0.0.last; port 0: any. */
static struct rdma_cm_id *listen_at(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = local(last, port);
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(server, &id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_bind_addr(id, (struct sockaddr *)&address));
    CHECK_EQ(0, rdma_listen(id, 8));
    return id;
}

static struct rdma_cm_id *resolve(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = local(last, port);
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(client, &id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS));
    CHECK(pass(client, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
    CHECK_EQ(0, rdma_resolve_route(id, RESOLVE_MS));
    CHECK(pass(client, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
    return id;
}

static void equip(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

    CHECK_EQ(0, rdma_create_qp(id, NULL, &attr));
}

/* With this word as private data. */
static struct rdma_cm_id *call(uint32_t last, uint16_t port, const char *word)
{
    struct rdma_conn_param param = {.private_data = word,
                                    .private_data_len = (uint8_t)(strlen(word) + 1)};
    struct rdma_cm_id *id = resolve(last, port);

    equip(id);
    CHECK_EQ(0, rdma_connect(id, &param));
    return id;
}

static struct rdma_cm_id *requested(const char *word)
{
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *id = event->id;

    CHECK(strcmp(word, event->param.conn.private_data) == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    return id;
}

static void destroy(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    CHECK_EQ(0, rdma_destroy_id(id));
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* The ends of a request are those of its connection. */
static void ends_of_a_request(void)
{
    struct rdma_cm_id *listener = listen_at(2, 0);
    struct rdma_cm_id *caller = call(2, rdma_get_src_port(listener), "hello");
    struct rdma_cm_id *called = requested("hello");
    struct sockaddr_in *own = &called->route.addr.src_sin;
    uint16_t port = rdma_get_dst_port(called);

    CHECK_EQ(htonl(0x7f000002u), own->sin_addr.s_addr);
    CHECK_EQ(rdma_get_src_port(listener), own->sin_port);
    equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(pass(server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK(pass(client, RDMA_CM_EVENT_ESTABLISHED) == caller);
    CHECK(port != 0);
    CHECK_EQ(rdma_get_src_port(caller), port);
    CHECK_EQ(rdma_get_dst_port(called), port);
    destroy(caller);
    destroy(called);
    destroy(listener);
}

static bool somebody_listens(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = local(last, port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    (void)close(fd);
    return connected;
}

/* Two ids serve one port on two addresses, and no other one. */
static void one_address(void)
{
    struct rdma_cm_id *first = listen_at(2, 0);
    struct rdma_cm_id *second = listen_at(3, rdma_get_src_port(first));
    struct rdma_cm_id *caller = call(3, rdma_get_src_port(first), "second");
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *called = event->id;

    CHECK(event->listen_id == second);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK(!somebody_listens(1, rdma_get_src_port(first)));
    destroy(called);
    destroy(caller);
    destroy(first);
    destroy(second);
}

/* A program's rejection is not asked again, as a port is where nobody listens. */
static void rejected_once(void)
{
    struct rdma_cm_id *listener = listen_at(2, 0);
    struct rdma_cm_id *caller = call(2, rdma_get_src_port(listener), "first");
    struct rdma_cm_id *called = requested("first");
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_reject(called, "no", 3));
    destroy(called);
    event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK(strcmp("no", event->param.conn.private_data) == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    destroy(caller);
    caller = call(2, rdma_get_src_port(listener), "second");
    called = requested("second");
    destroy(called);
    CHECK(pass(client, RDMA_CM_EVENT_REJECTED) == caller);
    destroy(caller);
    destroy(listener);
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

/* One that is gone takes its connection along; its id stays, and can be asked what it likes. */
static void destroyed_under_its_id(void)
{
    struct rdma_cm_id *listener = listen_at(2, 0);
    struct rdma_cm_id *caller = resolve(2, rdma_get_src_port(listener));
    struct ibv_cq *cq = ibv_create_cq(caller->verbs, 16, NULL, NULL, 0);
    struct ibv_qp *qp = make_qp(caller, cq);
    struct rdma_conn_param param = {.qp_num = qp->qp_num, .retry_count = 7};
    struct rdma_cm_event *event;
    struct rdma_cm_id *called;

    move(caller, qp, IBV_QPS_INIT);
    CHECK_EQ(0, rdma_connect(caller, &param));
    event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    called = event->id;
    CHECK_EQ(0, rdma_ack_cm_event(event));
    equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(pass(client, RDMA_CM_EVENT_CONNECT_RESPONSE) == caller);
    move(caller, qp, IBV_QPS_RTR);
    move(caller, qp, IBV_QPS_RTS);
    CHECK_EQ(0, rdma_establish(caller));
    CHECK(pass(server, RDMA_CM_EVENT_ESTABLISHED) == called);
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK(pass(client, RDMA_CM_EVENT_DISCONNECTED) == caller);
    CHECK(pass(server, RDMA_CM_EVENT_DISCONNECTED) == called);
    errno = 0;
    CHECK_EQ(-1, rdma_disconnect(caller));
    CHECK_EQ(EINVAL, errno);
    CHECK_EQ(0, ibv_destroy_cq(cq));
    destroy(caller);
    destroy(called);
    destroy(listener);
}

int main(void)
{
    bed_open();
    ends_of_a_request();
    one_address();
    rejected_once();
    destroyed_under_its_id();
    bed_close();
    check_done();
    return 0;
}
