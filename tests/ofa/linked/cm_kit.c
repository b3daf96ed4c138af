/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm_kit.h"

#include <arpa/inet.h>
#include <string.h>

#define RESOLVE_MS 2000

struct cm_kit cm_kit;

void cm_kit_open(void)
{
    cm_kit.server = rdma_create_event_channel();
    cm_kit.client = rdma_create_event_channel();
    CHECK(cm_kit.server && cm_kit.client);
}

void cm_kit_close(void)
{
    rdma_destroy_event_channel(cm_kit.server);
    rdma_destroy_event_channel(cm_kit.client);
}

struct sockaddr_in cm_kit_local(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};

    address.sin_addr.s_addr = htonl(last == 0 ? INADDR_ANY : 0x7f000000u + last);
    return address;
}

struct rdma_cm_event *cm_kit_expect(struct rdma_event_channel *channel,
                                    enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = NULL;

    CHECK_EQ(0, rdma_get_cm_event(channel, &event));
    CHECK_EQ(type, event->event);
    return event;
}

/* Takes the next event, of this type. Returns its id. */
struct rdma_cm_id *cm_kit_pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = cm_kit_expect(channel, type);
    struct rdma_cm_id *id = event->id;

    CHECK_EQ(0, rdma_ack_cm_event(event));
    return id;
}

/* Listens on 127.0.0.last; port 0: any. */
struct rdma_cm_id *cm_kit_listen_at(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = cm_kit_local(last, port);
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(cm_kit.server, &id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_bind_addr(id, (struct sockaddr *)&address));
    CHECK_EQ(0, rdma_listen(id, 8));
    return id;
}

struct rdma_cm_id *cm_kit_resolve(uint32_t last, uint16_t port)
{
    struct sockaddr_in address = cm_kit_local(last, port);
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(cm_kit.client, &id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
    CHECK_EQ(0, rdma_resolve_route(id, RESOLVE_MS));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
    return id;
}

void cm_kit_equip(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

    CHECK_EQ(0, rdma_create_qp(id, NULL, &attr));
}

/* Connects with this word as private data. */
struct rdma_cm_id *cm_kit_call(uint32_t last, uint16_t port, const char *word)
{
    struct rdma_conn_param param = {.private_data = word,
                                    .private_data_len = (uint8_t)(strlen(word) + 1),
                                    .retry_count = 7,
                                    .rnr_retry_count = 7};
    struct rdma_cm_id *id = cm_kit_resolve(last, port);

    cm_kit_equip(id);
    CHECK_EQ(0, rdma_connect(id, &param));
    return id;
}

struct rdma_cm_id *cm_kit_requested(const char *word)
{
    struct rdma_cm_event *event = cm_kit_expect(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *id = event->id;

    CHECK(strcmp(word, event->param.conn.private_data) == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    return id;
}

void cm_kit_destroy(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    CHECK_EQ(0, rdma_destroy_id(id));
}
