/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ofa_endpoint REQUESTS: prints the heap bytes of each of 64 idle endpoints, made as queue pairs
 * make theirs. ofa_cost.sh subtracts them from those of queue pairs.
 */
#include "support/it_fixture.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COUNT = 64
};

int main(int argc, char **argv)
{
    it_ep_attributes_t attributes = {
        .max_dto_payload_size = 1u << 31,
        .max_request_dtos = argc > 1 ? strtoul(argv[1], NULL, 10) : 16,
        .max_recv_dtos = 16,
        .max_send_segments = 1,
        .max_recv_segments = 1,
        .srv.rc = {.rdma_read_enable = IT_TRUE,
                   .rdma_write_enable = IT_TRUE,
                   .max_rdma_read_segments = 1,
                   .max_rdma_write_segments = 1,
                   .rdma_read_ird = 16,
                   .rdma_read_ord = 16,
                   .atomics_enable = IT_TRUE,
                   .hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE},
    };
    struct fx_node node;
    struct mallinfo2 before;
    struct mallinfo2 after;
    it_ep_handle_t ep;

    fx_node_open(&node);
    before = mallinfo2();
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(it_ep_rc_create(node.pz, node.request_evd, node.recv_evd, node.conn_evd,
                                 IT_EP_NO_FLAG, &attributes, &ep));
        CHECK_OK(itx_ep_enable_immediate(ep, IT_TRUE));
    }
    after = mallinfo2();
    printf("%zu\n", (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / COUNT);
    return 0;
}
