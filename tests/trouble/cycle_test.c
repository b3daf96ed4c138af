/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does everything that a usual program does twice, and frees everything. It is meant for valgrind,
 * which reports lost memory; the test itself counts descriptors.
 */
#include "support/it_fixture.h"
#include "trouble/small.h"

#define LENGTH 1000u

struct end {
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_buf buf;
};

static void end_open(struct end *end)
{
    fx_node_open(&end->node);
    end->buf = fx_node_buf(&end->node, 2 * LENGTH);
    end->ep = small_ep(&end->node);
}

static void end_close(struct end *end)
{
    CHECK_OK(it_ep_free(end->ep));
    fx_node_close(&end->node);
}

static void transfer(struct end *near, struct end *far)
{
    fx_fill(near->buf.data, LENGTH, 1);
    fx_recv(far->ep, &far->buf, 0, LENGTH, 1);
    fx_send(near->ep, &near->buf, 0, LENGTH, 2, FX_SIGNAL);
    fx_done(near->node.request_evd, near->ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    fx_done_len(far->node.recv_evd, far->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, LENGTH);
    fx_check_same(near->buf.data, far->buf.data, LENGTH);

    fx_write(near->ep, &near->buf, 0, LENGTH, &far->buf, LENGTH, 3, FX_SIGNAL);
    fx_done(near->node.request_evd, near->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, IT_DTO_SUCCESS);
    fx_read(near->ep, &near->buf, LENGTH, LENGTH, &far->buf, LENGTH, 4, FX_SIGNAL);
    fx_done(near->node.request_evd, near->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, IT_DTO_SUCCESS);
    fx_check_same(near->buf.data, near->buf.data + LENGTH, LENGTH);
}

static void part(struct end *near, struct end *far)
{
    fx_recv(far->ep, &far->buf, 0, LENGTH, 5); /* left behind */
    CHECK_OK(it_ep_disconnect(near->ep, NULL, 0));
    fx_conn(near->node.conn_evd, near->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(far->node.conn_evd, far->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_done(far->node.recv_evd, far->ep, IT_DTO_RC_RECV_CMPL_EVENT, 5, IT_DTO_ERR_FLUSHED);
}

/* One attempt is rejected by the peer, and one is never answered. */
static void refused(struct end *near, struct end *far)
{
    uint16_t port = 0;
    it_listen_handle_t listener = fx_listen(&far->node, &port);

    fx_connect(&near->node, near->ep, port);
    CHECK_OK(it_reject(fx_request(&far->node, NULL), (const unsigned char *)"no", 2));
    fx_conn(near->node.conn_evd, near->ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_OK(it_ep_reset(near->ep));
    CHECK_OK(it_listen_free(listener));
    fx_connect(&near->node, near->ep, port);
    fx_conn(near->node.conn_evd, near->ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_OK(it_ep_reset(near->ep));
}

static void cycle(void)
{
    struct end near;
    struct end far;

    end_open(&near);
    end_open(&far);
    for (int again = 0; again < 2; again++) {
        fx_join(&near.node, near.ep, &far.node, far.ep);
        transfer(&near, &far);
        part(&near, &far);
        CHECK_OK(it_ep_reset(near.ep));
        CHECK_OK(it_ep_reset(far.ep));
    }
    refused(&near, &far);
    fx_join(&near.node, near.ep, &far.node, far.ep);
    end_close(&near); /* connected */
    end_close(&far);
}

int main(void)
{
    size_t descriptors;

    cycle();
    descriptors = fx_fd_count(); /* rdma-core keeps some open after the first use */
    cycle();
    fx_fd_settle(descriptors);
    check_done();
    return 0;
}
