/* SPDX-License-Identifier: BSD-2-Clause */
/* Order of completions and of effects, fences, depths. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_pair.h"

/* A Send posted after a Read completes after it, even if the Read takes long. */
Test(data_order, send_completes_after_read, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf sink = fx_node_buf(&pair.a, 2u << 20);
    struct fx_buf source = fx_node_buf(&pair.b, 2u << 20);

    fx_fill(source.data, source.size, 5);
    for (uint64_t i = 0; i < 5; i++) {
        memset(sink.data, 0, sink.size);
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        fx_read(pair.a_ep, &sink, 0, sink.size, &source, 0, 2 * i, FX_SIGNAL);
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 2 * i + 1, FX_SIGNAL));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2 * i, sink.size);
        fx_check_same(source.data, sink.data, sink.size);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2 * i + 1, 0);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
    }
}

/* Successful unsignalled requests leave no event. Signalled ones do, in their order. */
Test(data_order, unsignalled, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_node_buf(&pair.a, 4096);
    struct fx_buf remote = fx_node_buf(&pair.b, 4096);

    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 63; i++) {
            if (i % 2 == 0)
                fx_write(pair.a_ep, &buf, 0, 100, &remote, 0, i, FX_QUIET);
            else
                fx_read(pair.a_ep, &buf, 200, 100, &remote, 200, i, IT_NOTIFY_FLAG);
        }
        fx_write(pair.a_ep, &buf, 0, 1, &remote, 0, 1000 + round, FX_SIGNAL);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1000 + round, 1);
        fx_empty(pair.a.request_evd);
    }
}

/* A Read sees the data of earlier Writes on the same connection. */
Test(data_order, write_then_read, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf out = fx_node_buf(&pair.a, 100000);
    struct fx_buf back = fx_node_buf(&pair.a, 100000);
    struct fx_buf remote = fx_node_buf(&pair.b, 100000);

    for (uint64_t i = 0; i < 30; i++) {
        fx_fill(out.data, out.size, (uint32_t)i);
        fx_write(pair.a_ep, &out, 0, out.size, &remote, 0, i, FX_QUIET);
        fx_read(pair.a_ep, &back, 0, back.size, &remote, 0, i, FX_SIGNAL);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, back.size);
        fx_check_same(out.data, back.data, out.size);
    }
}

/* A fenced Write waits for earlier Reads, which do not see its data. */
Test(data_order, fenced_write_after_read, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf fresh = fx_node_buf(&pair.a, 1u << 20);
    struct fx_buf back = fx_node_buf(&pair.a, 1u << 20);
    struct fx_buf remote = fx_node_buf(&pair.b, 1u << 20);

    memset(fresh.data, 0x22, fresh.size);
    for (uint64_t i = 0; i < 10; i++) {
        memset(remote.data, 0x11, remote.size);
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        fx_read(pair.a_ep, &back, 0, back.size, &remote, 0, i, FX_SIGNAL);
        fx_write(pair.a_ep, &fresh, 0, fresh.size, &remote, 0, i,
                 (it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG));
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_QUIET));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, back.size);
        CHECK(fx_is_byte(back.data, back.size, 0x11));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, fresh.size);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        CHECK(fx_is_byte(remote.data, remote.size, 0x22));
    }
}

/* Fences requests of every kind, with and without Reads before them. */
Test(data_order, fenced_requests_of_every_kind, .init = pair_init, .fini = pair_fini)
{
    it_dto_flags_t fenced = (it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG);
    struct fx_buf local = fx_node_buf(&pair.a, 4096);
    struct fx_buf remote = fx_node_buf(&pair.b, 4096);

    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, fenced));
        fx_read(pair.a_ep, &local, 0, 2048, &remote, 0, 1, FX_SIGNAL);
        fx_read(pair.a_ep, &local, 2048, 2048, &remote, 2048, 2, fenced);
        fx_write(pair.a_ep, &local, 0, 2048, &remote, 0, 3, fenced);
        fx_read(pair.a_ep, &local, 0, 2048, &remote, 0, 4, FX_SIGNAL);
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 5, fenced));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 0, 0);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 2048);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 2048);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, 2048);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, 2048);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 5, 0);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
    }
}

/* Of more Reads than the ORD some wait, and all complete. */
static void reads_beyond(uint32_t ord, uint32_t ird)
{
    it_ep_attributes_t a_attr = fx_ep_attr();
    it_ep_attributes_t b_attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &a_attr, .b_attr = &b_attr};
    struct fx_buf sink;
    struct fx_buf source;

    a_attr.srv.rc.rdma_read_ord = ord;
    b_attr.srv.rc.rdma_read_ird = ird;
    fx_pair_open_as(&pair, &setup);
    sink = fx_node_buf(&pair.a, 60 * 3000);
    source = fx_node_buf(&pair.b, 60 * 3000);
    fx_fill(source.data, source.size, 4);
    for (unsigned round = 0; round < 4; round++) {
        memset(sink.data, 0, sink.size);
        for (uint64_t i = 0; i < 60; i++)
            fx_read(pair.a_ep, &sink, i * 3000, 3000, &source, i * 3000, i, FX_SIGNAL);
        for (uint64_t i = 0; i < 60; i++)
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 3000);
        fx_check_same(source.data, sink.data, source.size);
    }
    fx_empty(pair.a.aff_evd);
    fx_empty(pair.b.aff_evd);
    fx_pair_close(&pair);
}

Test(data_order, reads_beyond_own_ord)
{
    reads_beyond(1, 8);
    reads_beyond(3, 8);
}

Test(data_order, reads_beyond_peers_ird)
{
    reads_beyond(8, 1);
    reads_beyond(8, 2);
}

/* Posts a Read on an endpoint with an ORD of 0. */
Test(data_order, read_with_ord_zero)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr};
    struct fx_buf sink;
    struct fx_buf source;

    attr.srv.rc.rdma_read_ord = 0;
    fx_pair_open_as(&pair, &setup);
    sink = fx_node_buf(&pair.a, 64);
    source = fx_node_buf(&pair.b, 64);
    fx_read(pair.a_ep, &sink, 0, 64, &source, 0, 1, FX_SIGNAL);
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_EP);
    fx_pair_close(&pair);
}

/* Large messages go both ways at once: neither side may wait for the other to read. */
Test(data_order, large_messages_cross, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf a_out;
    struct fx_buf a_in;
    struct fx_buf b_out;
    struct fx_buf b_in;
    const size_t size = 4u << 20;

    fx_pair_ping(&pair);
    a_out = fx_node_buf(&pair.a, size);
    a_in = fx_node_buf(&pair.a, size);
    b_out = fx_node_buf(&pair.b, size);
    b_in = fx_node_buf(&pair.b, size);
    fx_fill(a_out.data, size, 1);
    fx_fill(b_out.data, size, 2);
    fx_recv(pair.a_ep, &a_in, 0, size, 1);
    fx_recv(pair.b_ep, &b_in, 0, size, 2);
    fx_send(pair.a_ep, &a_out, 0, size, 3, FX_SIGNAL);
    fx_send(pair.b_ep, &b_out, 0, size, 4, FX_SIGNAL);
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, size);
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, size);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 3, size);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 4, size);
    fx_check_same(a_out.data, b_in.data, size);
    fx_check_same(b_out.data, a_in.data, size);
}
