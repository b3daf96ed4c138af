/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/stub_node.h"

#include "vp/verbs/device/verbs.h"

#include <stdlib.h>
#include <string.h>

static size_t node_or(size_t value, size_t usual)
{
    return value ? value : usual;
}

static it_evd_handle_t node_evd(const struct stub_node *node, const struct stub_shape *shape)
{
    it_evd_handle_t evd;
    int fd;

    CHECK_OK(it_evd_create(node->fx.ia, IT_DTO_EVENT_STREAM, shape->flags,
                           node_or(shape->events, 64), node_or(shape->threshold, 1), shape->aevd,
                           &evd, &fd));
    return evd;
}

void stub_node_open(struct stub_node *node, const struct stub_shape *shape)
{
    memset(node, 0, sizeof(*node));
    CHECK_OK(it_ia_create(STUB_NAME, 2, 1, &node->fx.ia));
    CHECK_OK(it_pz_create(node->fx.ia, &node->fx.pz));
    node->fx.request_evd = node_evd(node, shape);
    node->fx.recv_evd = node_evd(node, shape);
    node->fx.conn_evd = fx_evd(&node->fx, IT_CM_MSG_EVENT_STREAM, 16, 1);
    node->fx.aff_evd = fx_evd(&node->fx, IT_ASYNC_AFF_EVENT_STREAM, 16, 1);
    node->buf = fx_buf_make(&node->fx, NODE_MEMORY);
}

it_ep_handle_t stub_node_ep(const struct stub_node *node, const struct stub_shape *shape)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;

    attr.max_request_dtos = node_or(shape->requests, 16);
    attr.max_recv_dtos = node_or(shape->receives, 16);
    attr.srv.rc.atomics_enable = IT_TRUE;
    CHECK_OK(it_ep_rc_create(node->fx.pz, node->fx.request_evd, node->fx.recv_evd,
                             node->fx.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    return ep;
}

void stub_node_pair(struct stub_node *node, const struct stub_shape *shape)
{
    stub_node_open(node, shape);
    node->a = stub_node_ep(node, shape);
    node->b = stub_node_ep(node, shape);
    stub_connect(node->a, node->b);
}

static void node_nothing(void *argument)
{
    (void)argument;
}

void stub_settle(const struct stub_node *node)
{
    for (unsigned i = 0; i < 3; i++) /* work may submit work */
        verbs_host->ia_call((struct ual_ia *)(void *)node->fx.ia, node_nothing, NULL);
}

void stub_node_close(struct stub_node *node)
{
    CHECK_OK(it_ia_free(node->fx.ia));
    free(node->buf.data);
    CHECK_EQ(0, stub_objects());
}
