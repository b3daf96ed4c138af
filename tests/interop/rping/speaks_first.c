/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speaks_first COUNT SIZE: a server that sends first, like ucmatose's. As soon as its one client is
 * connected it sends COUNT messages of SIZE octets, waits for as many, and disconnects.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/it_fixture.h"

#define COUNT_MAX 60u

static void converse(const struct fx_node *node, it_ep_handle_t ep, const struct fx_buf *out,
                     unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++)
        fx_send(ep, out, 0, size, i, FX_SIGNAL);
    for (unsigned i = 0; i < count; i++)
        fx_done_len(node->request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, size);
    for (unsigned i = 0; i < count; i++)
        fx_done_len(node->recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, size);
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    struct fx_node node;
    struct fx_buf in;
    struct fx_buf out;
    uint16_t port;
    it_listen_handle_t listener;
    it_ep_handle_t ep;

    CHECK(count > 0 && count <= COUNT_MAX && size > 0);
    fx_node_open(&node);
    in = fx_buf_make(&node, count * size);
    out = fx_buf_make(&node, size);
    ep = fx_ep(&node, NULL);
    for (unsigned i = 0; i < count; i++)
        fx_recv(ep, &in, i * size, size, i);
    listener = fx_listen(&node, &port);
    printf("listening on port %u\n", ntohs(port));
    (void)fflush(stdout);
    CHECK_OK(it_ep_accept(ep, fx_request(&node, NULL), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    converse(&node, ep, &out, count, size);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_ep_free(ep));
    fx_buf_free(&in);
    fx_buf_free(&out);
    fx_node_close(&node);
    check_done();
    return EXIT_SUCCESS;
}
