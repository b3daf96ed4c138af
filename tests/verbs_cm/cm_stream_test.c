/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of a stream are converted over siw's ports, which may be in use (cm_retry_test.c). It
 * is a plain program so that it can run under ThreadSanitizer.
 */
#include "verbs_cm/cm_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <unistd.h>

struct pair {
    struct kit kit; /* its endpoint connects */
    it_ep_handle_t responder;
    int sds[2];
};

static void open_streams(int sds[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&at, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0);
    sds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(sds[0], (struct sockaddr *)&at, length) == 0);
    sds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(sds[1] >= 0);
    (void)close(listener);
}

static void pair_open(struct pair *pair, enum stub_call fails)
{
    kit_start(KIT_SIW);
    kit_open(&pair->kit, KIT_SIW);
    stub_rdma_fail(fails, EADDRINUSE, 0, 1);
    pair->responder = fx_ep(&pair->kit.node, NULL);
    open_streams(pair->sds);
    CHECK_OK(it_socket_convert(pair->sds[1], pair->responder, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_socket_convert(pair->sds[0], pair->kit.ep, ITX_SC_INITIATOR, NULL, 0));
}

static void pair_close(struct pair *pair)
{
    kit_close(&pair->kit);
    (void)close(pair->sds[0]);
    (void)close(pair->sds[1]);
}

/* Carries a request or an answer to the other end, as rdma_cm would. */
static void carry_over(struct pair *pair, struct rdma_cm_id *listener)
{
    struct kit *kit = &pair->kit;
    struct rdma_conn_param param = stub_rdma_param();
    struct stub_news news = {.data = param.private_data, .length = param.private_data_len};
    struct rdma_cm_id *asked =
        stub_rdma_asked(listener, (struct sockaddr *)&kit->id->route.addr.src_addr);

    stub_rdma_tell(asked, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &news);
    kit_wait_calls(kit, STUB_ACCEPT, 1);
    param = stub_rdma_param();
    news = (struct stub_news){.data = param.private_data, .length = param.private_data_len};
    stub_rdma_tell(asked, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    kit_tell(kit, RDMA_CM_EVENT_ESTABLISHED, 0, &news);
}

static void converted(enum stub_call fails)
{
    struct rdma_cm_id *listener;
    struct pair pair;
    struct kit *kit = &pair.kit;
    unsigned connects = fails == STUB_CONNECT ? 2 : 1;

    pair_open(&pair, fails);
    kit_wait_calls(kit, STUB_RESOLVE_ADDR, 1);
    kit->id = stub_rdma_newest(RDMA_PS_TCP);
    listener = stub_rdma_listener();
    CHECK(listener != NULL && listener != kit->id);
    kit_tell(kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    if (fails == STUB_CONNECT)
        (void)kit_resolve_again(kit, 1);
    kit_wait_calls(kit, STUB_CONNECT, connects);
    carry_over(&pair, listener);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, fx_next(kit->node.conn_evd).event_number);
    CHECK_EQ(0, kit_warnings());
    pair_close(&pair);
}

int main(void)
{
    for (int round = 0; round < 10; round++) {
        converted(STUB_CONNECT);
        converted(STUB_LISTEN);
    }
    return 0;
}
