/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port space UDP of rdma_cm: which program answers a request for a number, and the content of
 * the events.
 */
#include "support/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REQUEST_DATA = 180, /* the length that InfiniBand always reports */
    REPLY_DATA = 136,
    REJECTED = 2,
    NO_SERVICE = 1,
    STRANGERS = 1100,
    WAITING_MOST = 1024
};

static struct rdma_event_channel *channel;

static struct sockaddr_in loopback(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct rdma_cm_event *next_event(enum rdma_cm_event_type type, int status)
{
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_get_cm_event(channel, &event));
    check_context(rdma_event_str(event->event));
    CHECK_EQ(type, event->event);
    CHECK_EQ(status, event->status);
    check_context(NULL);
    return event;
}

static void expect(enum rdma_cm_event_type type, int status)
{
    CHECK_EQ(0, rdma_ack_cm_event(next_event(type, status)));
}

static bool is_event_there(int ms)
{
    struct pollfd poll_fd = {.fd = channel->fd, .events = POLLIN};

    return poll(&poll_fd, 1, ms) == 1;
}

/* ---- Ids ------------------------------------------------------------------------------------ */

static struct rdma_cm_id *listen_to(struct sockaddr_in *address)
{
    struct rdma_cm_id *id;

    *address = loopback();
    CHECK_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
    CHECK_EQ(IBV_QPT_UD, id->qp_type);
    CHECK_EQ(0, rdma_bind_addr(id, (struct sockaddr *)address));
    CHECK_EQ(0, rdma_listen(id, 0));
    address->sin_port = rdma_get_src_port(id);
    return id;
}

static void give_queue_pair(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
    struct ibv_qp_attr found;

    CHECK_EQ(0, rdma_create_qp(id, NULL, &attr));
    CHECK_EQ(0, ibv_query_qp(id->qp, &found, IBV_QP_STATE | IBV_QP_QKEY, &attr));
    CHECK_EQ(IBV_QPS_RTS, found.qp_state);
    CHECK_EQ(RDMA_UDP_QKEY, found.qkey);
}

static struct rdma_cm_id *ask(const struct sockaddr_in *address, const char *text)
{
    struct rdma_conn_param param = {.private_data = text,
                                    .private_data_len = (uint8_t)(strlen(text) + 1)};
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
    CHECK_EQ(0, rdma_resolve_addr(id, NULL, (struct sockaddr *)(uintptr_t)address, 2000));
    expect(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    CHECK_EQ(0, rdma_resolve_route(id, 2000));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    give_queue_pair(id);
    CHECK_EQ(0, rdma_connect(id, &param));
    return id;
}

static void destroy(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    CHECK_EQ(0, rdma_destroy_id(id));
}

/* ---- Data on the way that the events tell --------------------------------------------------- */

static void send_inline(struct rdma_cm_id *id, const struct rdma_ud_param *to)
{
    struct ibv_ah *ah = ibv_create_ah(id->pd, (struct ibv_ah_attr *)(uintptr_t)&to->ah_attr);
    char text[] = "hello";
    struct ibv_wc wc;

    CHECK(ah != NULL);
    CHECK_EQ(0, rdma_post_ud_send(id, NULL, text, sizeof(text), NULL,
                                  IBV_SEND_INLINE | IBV_SEND_SIGNALED, ah, to->qp_num));
    CHECK_EQ(1, rdma_get_send_comp(id, &wc));
    CHECK_EQ(0, ibv_destroy_ah(ah));
}

static void exchange(void)
{
    struct sockaddr_in address;
    struct rdma_cm_id *listener = listen_to(&address);
    struct rdma_cm_id *asking = ask(&address, "question");
    struct rdma_cm_event *event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    struct rdma_conn_param param = {.private_data = "answer", .private_data_len = 7};
    struct rdma_cm_id *asked = event->id;
    char room[64];
    struct ibv_mr *mr;
    struct ibv_wc wc;

    CHECK(event->listen_id == listener && asked->ps == RDMA_PS_UDP && asked->verbs);
    CHECK_EQ(REQUEST_DATA, event->param.ud.private_data_len);
    CHECK(strcmp(event->param.ud.private_data, "question") == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK_EQ(AF_INET, rdma_get_peer_addr(asked)->sa_family);
    CHECK(rdma_get_dst_port(asked) == rdma_get_src_port(asking));
    give_queue_pair(asked);
    mr = rdma_reg_msgs(asked, room, sizeof(room));
    CHECK(mr != NULL);
    CHECK_EQ(0, rdma_post_recv(asked, NULL, room, sizeof(room), mr));
    CHECK_EQ(0, rdma_accept(asked, &param));
    CHECK(rdma_accept(asked, &param) == -1 && errno == EINVAL);
    event = next_event(RDMA_CM_EVENT_ESTABLISHED, 0);
    CHECK(event->id == asking);
    CHECK_EQ(REPLY_DATA, event->param.ud.private_data_len);
    CHECK(strcmp(event->param.ud.private_data, "answer") == 0);
    CHECK_EQ(asked->qp->qp_num, event->param.ud.qp_num);
    CHECK_EQ(RDMA_UDP_QKEY, event->param.ud.qkey);
    send_inline(asking, &event->param.ud);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK_EQ(1, rdma_get_recv_comp(asked, &wc));
    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    CHECK(strcmp(room + sizeof(struct ibv_grh), "hello") == 0);
    CHECK_EQ(0, rdma_disconnect(asked));
    CHECK_EQ(0, rdma_dereg_mr(mr));
    destroy(listener);
    destroy(asked);
    destroy(asking);
}

/* ---- No ------------------------------------------------------------------------------------- */

static void rejected(void)
{
    struct sockaddr_in address;
    struct rdma_cm_id *listener = listen_to(&address);
    struct rdma_cm_id *asking = ask(&address, "question");
    struct rdma_cm_event *event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    struct rdma_cm_id *asked = event->id;

    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK_EQ(0, rdma_reject(asked, "no", 3));
    event = next_event(RDMA_CM_EVENT_UNREACHABLE, REJECTED);
    CHECK(strcmp(event->param.ud.private_data, "no") == 0);
    CHECK_EQ(0, rdma_ack_cm_event(event));
    destroy(asked);
    destroy(asking);

    /* A program that does not want the request destroys its id. */
    asking = ask(&address, "question");
    event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    asked = event->id;
    CHECK_EQ(0, rdma_ack_cm_event(event));
    destroy(asked);
    expect(RDMA_CM_EVENT_UNREACHABLE, REJECTED);
    destroy(asking);

    /* The listener is destroyed before anybody has looked at the request. */
    asking = ask(&address, "question");
    CHECK(is_event_there(10000));
    destroy(listener);
    expect(RDMA_CM_EVENT_UNREACHABLE, REJECTED);
    destroy(asking);
    asking = ask(&address, "question");
    expect(RDMA_CM_EVENT_UNREACHABLE, NO_SERVICE);
    destroy(asking);
}

/* ---- Listeners of all addresses -------------------------------------------------------------- */

/* A request has the address that the peer has called, and the answer comes from there. */
static void called_address(sa_family_t family)
{
    struct sockaddr_storage any = {.ss_family = family};
    struct sockaddr_in address = loopback();
    struct rdma_cm_id *listener;
    struct rdma_cm_id *asking;
    struct rdma_cm_id *asked;
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP));
    CHECK_EQ(0, rdma_bind_addr(listener, (struct sockaddr *)&any));
    CHECK_EQ(0, rdma_listen(listener, 0));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    address.sin_port = rdma_get_src_port(listener);
    asking = ask(&address, "question");
    event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    asked = event->id;
    CHECK_EQ(0, rdma_ack_cm_event(event));
    CHECK_EQ(AF_INET, rdma_get_local_addr(asked)->sa_family);
    CHECK_EQ(address.sin_addr.s_addr, asked->route.addr.src_sin.sin_addr.s_addr);
    CHECK_EQ(address.sin_port, rdma_get_src_port(asked));
    CHECK_EQ(AF_INET, rdma_get_peer_addr(asked)->sa_family);
    CHECK_EQ(rdma_get_src_port(asking), rdma_get_dst_port(asked));
    give_queue_pair(asked);
    CHECK_EQ(0, rdma_accept(asked, NULL));
    expect(RDMA_CM_EVENT_ESTABLISHED, 0);
    destroy(asked);
    destroy(asking);
    destroy(listener);
}

/* ---- Strangers ------------------------------------------------------------------------------ */

static size_t request(unsigned char bytes[40], uint32_t transaction)
{
    memset(bytes, 0, 40);
    memcpy(bytes, "itapi.ofa.sidr\0\1", 16);
    bytes[16] = 1;
    bytes[18] = 4;
    memcpy(bytes + 20, &transaction, sizeof(transaction));
    return 40;
}

/* A repeated request is delivered once. Many requests are delivered as far as there is room. */
static void strangers(void)
{
    struct sockaddr_in address;
    struct rdma_cm_id *listener = listen_to(&address);
    int stranger = socket(AF_INET, SOCK_DGRAM, 0);
    unsigned char bytes[40];
    unsigned char answer[300];
    static struct rdma_cm_id *ids[WAITING_MOST];
    unsigned int heard = 0;

    CHECK_EQ(0, connect(stranger, (struct sockaddr *)&address, sizeof(address)));
    CHECK_EQ(3, send(stranger, "abc", 3, 0));
    CHECK_EQ(39, send(stranger, bytes, request(bytes, 0) - 1, 0));
    for (uint32_t i = 0; i < STRANGERS; i++) {
        for (int again = 0; again < 2; again++)
            CHECK_EQ(40, send(stranger, bytes, request(bytes, i), 0));
        while (heard < WAITING_MOST && is_event_there(heard == i ? 10000 : 0)) {
            struct rdma_cm_event *event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, 0);

            ids[heard++] = event->id;
            CHECK_EQ(0, rdma_ack_cm_event(event));
        }
    }
    CHECK_EQ(WAITING_MOST, heard);
    CHECK(!is_event_there(200));
    CHECK(recv(stranger, answer, sizeof(answer), MSG_DONTWAIT) == -1);
    CHECK_EQ(0, close(stranger));
    while (heard > 0)
        destroy(ids[--heard]);
    destroy(listener);
}

/* ---- Without an event channel --------------------------------------------------------------- */

static void *connect_synchronously(void *argument)
{
    const struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP};
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
    struct rdma_addrinfo *info;
    struct rdma_cm_id *id;

    CHECK_EQ(0, rdma_getaddrinfo("127.0.0.1", argument, &hints, &info));
    CHECK_EQ(0, rdma_create_ep(&id, info, NULL, &attr));
    CHECK_EQ(0, rdma_connect(id, NULL));
    CHECK_EQ(RDMA_CM_EVENT_ESTABLISHED, id->event->event);
    rdma_freeaddrinfo(info);
    rdma_destroy_ep(id);
    return NULL;
}

static void synchronous(void)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP, .ai_flags = RAI_PASSIVE};
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
    struct rdma_addrinfo *info;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *id;
    pthread_t thread;
    char port[8];

    CHECK_EQ(0, rdma_getaddrinfo("127.0.0.1", "0", &hints, &info));
    CHECK_EQ(0, rdma_create_ep(&listener, info, NULL, &attr));
    rdma_freeaddrinfo(info);
    CHECK_EQ(0, rdma_listen(listener, 0));
    (void)snprintf(port, sizeof(port), "%u", ntohs(rdma_get_src_port(listener)));
    CHECK_EQ(0, pthread_create(&thread, NULL, connect_synchronously, port));
    CHECK_EQ(0, rdma_get_request(listener, &id));
    CHECK(id->qp && id->qp->qp_type == IBV_QPT_UD);
    CHECK_EQ(0, rdma_accept(id, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    rdma_destroy_ep(id);
    rdma_destroy_ep(listener);
}

int main(void)
{
    channel = rdma_create_event_channel();
    CHECK(channel != NULL);
    exchange();
    rejected();
    called_address(AF_INET);
    called_address(AF_INET6);
    strangers();
    synchronous();
    rdma_destroy_event_channel(channel);
    check_done();
    return 0;
}
