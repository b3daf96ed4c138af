/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert/stranger.h"

#include "support/check.h"
#include "support/it_fixture.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static void stranger_open(struct stranger *stranger)
{
    if (!stranger->channel)
        stranger->channel = rdma_create_event_channel();
    CHECK(stranger->channel != NULL);
}

/* Takes the next event. Keeps its private data and, for a request, its id. */
static enum rdma_cm_event_type next_event(struct stranger *stranger)
{
    struct pollfd ready = {.fd = stranger->channel->fd, .events = POLLIN};
    enum rdma_cm_event_type type;
    struct rdma_cm_event *event;

    if (poll(&ready, 1, FX_PATIENCE_MS) != 1)
        CHECK_FAIL("no event of rdma_cm within %d ms", FX_PATIENCE_MS);
    CHECK_EQ(0, rdma_get_cm_event(stranger->channel, &event));
    type = event->event;
    stranger->private_length = 0;
    if ((type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_ESTABLISHED ||
         type == RDMA_CM_EVENT_REJECTED) &&
        event->param.conn.private_data) {
        stranger->private_length = event->param.conn.private_data_len;
        memcpy(stranger->private_data, event->param.conn.private_data, stranger->private_length);
    }
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
        stranger->id = event->id;
    CHECK_EQ(0, rdma_ack_cm_event(event));
    return type;
}

static void make_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };

    CHECK_EQ(0, rdma_create_qp(id, NULL, &attributes));
}

static struct rdma_conn_param parameters(const void *private_data, size_t length)
{
    return (struct rdma_conn_param){
        .private_data = private_data,
        .private_data_len = (uint8_t)length,
        .responder_resources = 1,
        .initiator_depth = 1,
        .retry_count = 7,
        .rnr_retry_count = 7,
    };
}

static void drop_id(struct stranger *stranger)
{
    if (stranger->id->qp)
        rdma_destroy_qp(stranger->id);
    CHECK_EQ(0, rdma_destroy_id(stranger->id));
    stranger->id = NULL;
}

/*
 * siw uses TCP's ports, but rdma_cm chooses a port without asking TCP. A socket may have that port,
 * or a connection in time-wait. Then the next port is tried.
 */
static bool is_taken(int result, const struct fx_patience *patience)
{
    if (result == 0 || errno != EADDRINUSE)
        return false;
    fx_patience_check(patience);
    return true;
}

/* Returns the result of rdma_connect, with errno. */
static int ask(struct stranger *stranger, struct sockaddr_in *from, struct sockaddr_in *to,
               struct rdma_conn_param *param)
{
    CHECK_EQ(0, rdma_create_id(stranger->channel, &stranger->id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0,
             rdma_resolve_addr(stranger->id, (struct sockaddr *)from, (struct sockaddr *)to, 5000));
    CHECK_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, next_event(stranger));
    CHECK_EQ(0, rdma_resolve_route(stranger->id, 5000));
    CHECK_EQ(RDMA_CM_EVENT_ROUTE_RESOLVED, next_event(stranger));
    make_qp(stranger->id);
    return rdma_connect(stranger->id, param);
}

bool stranger_connect(struct stranger *stranger, const struct sockaddr_in *address, uint16_t port,
                      const void *private_data, size_t length)
{
    struct fx_patience patience = fx_patience_start("a free port of a stranger");
    struct rdma_conn_param param = parameters(private_data, length);
    struct sockaddr_in from = *address;
    struct sockaddr_in to = *address;
    int result;

    from.sin_port = 0;
    to.sin_port = port;
    stranger_open(stranger);
    while (is_taken(result = ask(stranger, &from, &to, &param), &patience))
        drop_id(stranger);
    return result == 0 && next_event(stranger) == RDMA_CM_EVENT_ESTABLISHED;
}

/* Returns the result of rdma_listen, with errno. */
static int listen_somewhere(struct stranger *stranger, struct sockaddr_in *at)
{
    CHECK_EQ(0, rdma_create_id(stranger->channel, &stranger->listener, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_bind_addr(stranger->listener, (struct sockaddr *)at));
    return rdma_listen(stranger->listener, 4);
}

uint16_t stranger_listen(struct stranger *stranger, const struct sockaddr_in *address)
{
    struct fx_patience patience = fx_patience_start("a free port of a listening stranger");
    struct sockaddr_in at = *address;
    int result;

    at.sin_port = 0;
    stranger_open(stranger);
    while (is_taken(result = listen_somewhere(stranger, &at), &patience))
        CHECK_EQ(0, rdma_destroy_id(stranger->listener));
    CHECK_EQ(0, result);
    return rdma_get_src_port(stranger->listener);
}

void stranger_takes_request(struct stranger *stranger)
{
    CHECK_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, next_event(stranger));
}

void stranger_accepts(struct stranger *stranger, const void *private_data, size_t length)
{
    struct rdma_conn_param param = parameters(private_data, length);

    make_qp(stranger->id);
    CHECK_EQ(0, rdma_accept(stranger->id, &param));
    CHECK_EQ(RDMA_CM_EVENT_ESTABLISHED, next_event(stranger));
}

void stranger_rejects(struct stranger *stranger)
{
    CHECK_EQ(0, rdma_reject(stranger->id, NULL, 0));
}

void stranger_sees_end(struct stranger *stranger)
{
    CHECK_EQ(RDMA_CM_EVENT_DISCONNECTED, next_event(stranger));
}

void stranger_close(struct stranger *stranger)
{
    if (stranger->id)
        drop_id(stranger);
    if (stranger->listener)
        CHECK_EQ(0, rdma_destroy_id(stranger->listener));
    if (stranger->channel)
        rdma_destroy_event_channel(stranger->channel);
    memset(stranger, 0, sizeof(*stranger));
}
