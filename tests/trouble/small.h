/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of endpoints that any device supports. */
#ifndef ITAPI_TESTS_TROUBLE_SMALL_H
#define ITAPI_TESTS_TROUBLE_SMALL_H

#include "support/it_fixture.h"

static inline it_ep_attributes_t small_attr(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = 1;
    attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.rdma_read_ird = 4;
    attr.srv.rc.rdma_read_ord = 4;
    return attr;
}

static inline it_ep_handle_t small_ep(const struct fx_node *node)
{
    it_ep_attributes_t attr = small_attr();

    return fx_ep(node, &attr);
}

#endif
