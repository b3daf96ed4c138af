/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting and completions of the verbs provider, on the stub device. */
#include "verbs/fixture_stub.h"

#include "itx_api.h"
#include "vp/verbs/device/verbs_ep.h"

#include <criterion/criterion.h>

TestSuite(verbs_data, .init = stub_start);

Test(verbs_data, operations_complete_in_order, .init = stub_pair, .fini = stub_close)
{
    fx_fill(n.buf.data, 64, 1);
    fx_recv(n.b, &n.buf, 1024, 128, 10);
    fx_send(n.a, &n.buf, 0, 64, 1, FX_SIGNAL);
    fx_write(n.a, &n.buf, 0, 64, &n.buf, 2048, 2, FX_SIGNAL);
    fx_read(n.a, &n.buf, 4096, 64, &n.buf, 2048, 3, FX_SIGNAL);
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 10, 64);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 1, 64);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 64);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_READ_CMPL_EVENT, 3, 64);
    CHECK(fx_is_filled(n.buf.data + 1024, 64, 1));
    CHECK(fx_is_filled(n.buf.data + 2048, 64, 1));
    CHECK(fx_is_filled(n.buf.data + 4096, 64, 1));
    fx_empty(n.fx.request_evd);
}

/* The device itself keeps the order of fenced requests. */
Test(verbs_data, fences_reach_the_device, .init = stub_pair, .fini = stub_close)
{
    const it_dto_flags_t fenced = (it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG);

    fx_recv(n.b, &n.buf, 1024, 128, 1);
    fx_recv(n.b, &n.buf, 1024, 128, 2);
    fx_send(n.a, &n.buf, 0, 64, 3, fenced);
    CHECK(stub_posted(stub_qp(n.a)).flags & IBV_SEND_FENCE);
    fx_send(n.a, &n.buf, 0, 64, 4, FX_SIGNAL);
    CHECK(!(stub_posted(stub_qp(n.a)).flags & IBV_SEND_FENCE));
    fx_write(n.a, &n.buf, 0, 64, &n.buf, 2048, 5, fenced);
    CHECK(stub_posted(stub_qp(n.a)).flags & IBV_SEND_FENCE);
    fx_read(n.a, &n.buf, 4096, 64, &n.buf, 2048, 6, fenced);
    CHECK(stub_posted(stub_qp(n.a)).flags & IBV_SEND_FENCE);
}

Test(verbs_data, atomics_return_what_was_there, .init = stub_pair, .fini = stub_close)
{
    it_lmr_triplet_t result;
    uint64_t *word;

    word = (uint64_t *)(void *)n.buf.data;
    *word = 40;
    result = fx_seg(&n.buf, 64, 8);
    CHECK_OK(it_post_atomic(n.a, IT_FETCH_AND_ADD, 2, 0, &result, 1, FX_SIGNAL, fx_addr(&n.buf, 0),
                            n.buf.key));
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_FETCH_ADD_CMPL_EVENT, 1, 8);
    CHECK_EQ(42, *word);
    CHECK_EQ(40, word[8]);
    CHECK_OK(it_post_atomic(n.a, IT_COMPARE_AND_SWAP, 7, 42, &result, 2, FX_SIGNAL,
                            fx_addr(&n.buf, 0), n.buf.key));
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_CMP_SWAP_CMPL_EVENT, 2, 8);
    CHECK_EQ(7, *word);
    CHECK_EQ(42, word[8]);
}

Test(verbs_data, immediate_values_arrive_where_agreed, .init = stub_pair, .fini = stub_close)
{
    it_lmr_triplet_t segment;
    it_event_t event;
    uint64_t value;

    CHECK_OK(itx_ep_enable_immediate(n.a, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(n.b, IT_TRUE));
    fx_recv(n.b, &n.buf, 0, 64, 1);
    segment = fx_seg(&n.buf, 128, 16);
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE,
                 itx_post_send_imm(n.a, &segment, 1, 2, FX_SIGNAL, UINT64_C(1) << 32));
    CHECK_OK(itx_post_send_imm(n.a, &segment, 1, 2, FX_SIGNAL, 0xdeadbeef));
    event = fx_next(n.fx.recv_evd);
    CHECK(itx_event_immediate(&event, &value));
    CHECK_EQ(0xdeadbeef, value);
    CHECK_EQ(16, event.dto_cmpl.transferred_length);
}

/* Slots of requests without events stay in use while an event before them is queued. */
Test(verbs_data, quiet_requests_behind_an_event)
{
    struct stub_shape shape = {.requests = 4, .events = 8};
    it_lmr_triplet_t segment;
    it_status_t status;

    stub_start();
    stub_node_pair(&n, &shape);
    segment = fx_seg(&n.buf, 0, 8);
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_SIGNAL);
    for (unsigned k = 2; k <= 4; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_QUIET);
    for (unsigned k = 0; k < 2; k++) {
        status = it_post_rdma_write(n.a, &segment, 1, 5, FX_QUIET, fx_addr(&n.buf, 64), n.buf.key);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, status);
    }
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 8);
    for (unsigned k = 5; k < 40; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_QUIET);
    fx_empty(n.fx.request_evd);
    stub_close();
}

/* Posts many times the queue's depth although nobody polls the EVD. */
Test(verbs_data, quiet_requests_give_their_slots_back)
{
    const size_t depths[] = {1, 2, 3, 8};

    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        struct stub_shape shape = {.requests = depths[i], .events = 4};

        stub_start();
        stub_node_pair(&n, &shape);
        for (unsigned k = 0; k < 200; k++)
            fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_QUIET);
        fx_empty(n.fx.request_evd);
        stub_node_close(&n);
    }
}

/* Some requests have an event, which must be dequeued first. */
Test(verbs_data, mixed_requests_give_their_slots_back, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 8};

    stub_node_pair(&n, &shape);
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned k = 0; k < 8; k++)
            fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, k == round % 8 ? FX_SIGNAL : FX_QUIET);
        fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, round % 8, 8);
        fx_empty(n.fx.request_evd);
    }
}

Test(verbs_data, a_slot_is_taken_until_its_event_is_dequeued, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 4, .receives = 4};
    it_lmr_triplet_t segment;

    stub_node_pair(&n, &shape);
    segment = fx_seg(&n.buf, 0, 8);
    for (unsigned k = 0; k < 4; k++) {
        fx_recv(n.b, &n.buf, 64, 8, k);
        fx_send(n.a, &n.buf, 0, 8, k, FX_SIGNAL);
    }
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_send(n.a, &segment, 1, 4, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv((it_handle_t)n.b, &segment, 1, 4, FX_QUIET));
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 0, IT_DTO_SUCCESS);
    fx_done(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 0, IT_DTO_SUCCESS);
    fx_recv(n.b, &n.buf, 64, 8, 4);
    fx_send(n.a, &n.buf, 0, 8, 4, FX_SIGNAL);
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_send(n.a, &segment, 1, 5, FX_SIGNAL));
    for (unsigned k = 1; k <= 4; k++) {
        fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, k, IT_DTO_SUCCESS);
        fx_done(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, k, IT_DTO_SUCCESS);
    }
}

/* The device completes later requests before a Read. The consumer notices nothing. */
Test(verbs_data, reads_are_not_overtaken, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 8};

    stub.like_siw = true;
    stub_node_pair(&n, &shape);
    for (unsigned round = 0; round < 20; round++) {
        stub_hold(stub_qp(n.a), true);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 0, FX_QUIET);
        fx_read(n.a, &n.buf, 0, 8, &n.buf, 64, 1, round % 2 ? FX_SIGNAL : FX_QUIET);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 2, FX_SIGNAL);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 3, FX_QUIET);
        fx_read(n.a, &n.buf, 0, 8, &n.buf, 64, 4, FX_SIGNAL);
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 5, FX_SIGNAL);
        stub_hold(stub_qp(n.a), false);
        if (round % 2)
            fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 8);
        fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 8);
        fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_READ_CMPL_EVENT, 4, 8);
        fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 5, 8);
        fx_empty(n.fx.request_evd);
        /* The Read's completion implies the Write's: no later request reports it. */
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 6, FX_QUIET);
        fx_read(n.a, &n.buf, 0, 8, &n.buf, 64, 7, FX_SIGNAL);
        fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_READ_CMPL_EVENT, 7, 8);
    }
}

/* More completions than the EVD has room for wait below it. */
Test(verbs_data, a_small_evd_loses_nothing, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 16, .events = 3};

    stub_node_pair(&n, &shape);
    for (unsigned k = 0; k < 16; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    /* Take the first ones with a wait, which moves as many completions up as there is room for. */
    for (unsigned k = 0; k < 16; k++) {
        it_event_t event = k < 8 ? fx_wait(n.fx.request_evd) : fx_next(n.fx.request_evd);

        CHECK_EQ(k, event.dto_cmpl.cookie);
    }
    fx_empty(n.fx.request_evd);
}

Test(verbs_data, many_events_are_taken_at_once, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 100, .events = 200};
    it_event_t events[200];
    size_t count;

    stub_node_pair(&n, &shape);
    for (unsigned k = 0; k < 100; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    CHECK_OK(itx_evd_dequeue_n(n.fx.request_evd, 200, events, &count));
    CHECK_EQ(100, count);
    for (unsigned k = 0; k < 100; k++)
        CHECK_EQ(k, events[k].dto_cmpl.cookie);
}

/* Endpoints with the longest queues that an IA announces can be made. */
static void make_longest_queues(bool has_windows)
{
    struct itx_features features = {.size = sizeof(features)};
    struct stub_shape shape = {0};

    stub.max_cqe = 64;
    stub.has_windows = has_windows;
    stub_node_open(&n, &shape);
    CHECK_OK(itx_ia_query_features(n.fx.ia, &features));
    shape.requests = features.max_request_dtos;
    shape.receives = features.max_recv_dtos;
    CHECK(shape.requests > 16 && shape.receives > 16);
    stub_connect(stub_node_ep(&n, &shape), stub_node_ep(&n, &shape));
}

Test(verbs_data, the_longest_queues_fit_in_a_cq, .fini = stub_close)
{
    make_longest_queues(false);
}

/* A bind may have two completions. */
Test(verbs_data, the_longest_queues_fit_in_a_cq_with_windows, .fini = stub_close)
{
    make_longest_queues(true);
}

/* The device's CQs are small, so the EVD gets several. */
Test(verbs_data, an_evd_outgrows_one_cq, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 16, .receives = 16};
    it_ep_handle_t eps[16];

    stub.max_cqe = 64;
    stub_node_open(&n, &shape);
    for (unsigned i = 0; i < 16; i++)
        eps[i] = stub_node_ep(&n, &shape);
    for (unsigned i = 0; i < 16; i += 2)
        stub_connect(eps[i], eps[i + 1]);
    for (unsigned k = 0; k < 16; k++)
        for (unsigned i = 0; i < 16; i++)
            fx_write(eps[i], &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    {
        unsigned seen[16] = {0};

        for (unsigned k = 0; k < 256; k++) {
            it_event_t event = fx_next(n.fx.request_evd);
            unsigned i = 0;

            while (eps[i] != event.dto_cmpl.ep)
                i++;
            CHECK_EQ(seen[i]++, event.dto_cmpl.cookie);
        }
    }
    fx_empty(n.fx.request_evd);
    for (unsigned i = 0; i < 16; i++)
        CHECK_OK(it_ep_free(eps[i]));
    /* The room in the CQs is free again. */
    for (unsigned i = 0; i < 16; i++)
        eps[i] = stub_node_ep(&n, &shape);
}

Test(verbs_data, what_the_device_refuses_is_told, .init = stub_open, .fini = stub_close)
{
    it_ep_attributes_t attr = fx_ep_attr();
    unsigned char memory[64];
    it_lmr_handle_t lmr;
    it_ep_handle_t ep;

    stub.refuse_memory = true;
    CHECK_STATUS(IT_ERR_RESOURCES, it_lmr_create(n.fx.pz, memory, sizeof(memory), IT_PRIV_LOCAL,
                                                 IT_LMR_FLAG_NONE, 0, &lmr, NULL));
    stub.refuse_qps = 4; /* fails with every size of inline data */
    CHECK_STATUS(IT_ERR_RESOURCES, it_ep_rc_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd,
                                                   n.fx.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    CHECK_OK(it_ep_rc_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd, n.fx.conn_evd, IT_EP_NO_FLAG,
                             &attr, &ep));
}

/* No earlier post exists to which a usual post could be compared. */
Test(verbs_data, no_lmr_is_refused_from_the_first_post_on, .init = stub_pair, .fini = stub_close)
{
    it_lmr_triplet_t none = {.length = 8};

    none.addr.abs = n.buf.data;
    CHECK_STATUS(IT_ERR_INVALID_LMR, it_post_recv(n.a, &none, 1, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_LMR, it_post_send(n.a, &none, 1, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_LMR,
                 it_post_rdma_write(n.a, &none, 1, 1, FX_SIGNAL, fx_addr(&n.buf, 0), n.buf.key));
    CHECK_STATUS(IT_ERR_INVALID_LMR,
                 it_post_rdma_read(n.a, &none, 1, 1, FX_SIGNAL, fx_addr(&n.buf, 0), n.buf.key));
}

/* The limit also holds for data that is sent inline. */
Test(verbs_data, no_payload_is_longer_than_the_endpoint_allows, .fini = stub_close)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_lmr_triplet_t segment;

    attr.max_dto_payload_size = 16;
    stub_node_open(&n, &usual);
    CHECK_OK(it_ep_rc_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd, n.fx.conn_evd, IT_EP_NO_FLAG,
                             &attr, &n.a));
    n.b = stub_node_ep(&n, &usual);
    stub_connect(n.a, n.b);
    segment = fx_seg(&n.buf, 0, 16);
    fx_recv(n.b, &n.buf, 64, 64, 1);
    CHECK_OK(it_post_send(n.a, &segment, 1, 1, FX_SIGNAL));
    segment.length = 17;
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE, it_post_send(n.a, &segment, 1, 2, FX_SIGNAL));
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    CHECK_OK(it_post_rdma_write(n.a, &segment, 1, 3, FX_SIGNAL, fx_addr(&n.buf, 0), n.buf.key));
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, IT_DTO_SUCCESS);
}

/* Queued events stay. Completions that are not queued yet are dropped with the endpoint. */
Test(verbs_data, an_endpoint_goes_with_completions_under_way, .fini = stub_close)
{
    const struct stub_shape shape = {.requests = 16, .events = 4};

    stub_node_pair(&n, &shape);
    for (unsigned k = 0; k < 16; k++)
        fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, k, FX_SIGNAL);
    fx_write(n.b, &n.buf, 0, 8, &n.buf, 64, 99, FX_SIGNAL);
    CHECK_OK(it_ep_free(n.a));
    for (unsigned k = 0; k < 4; k++)
        fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, k, IT_DTO_SUCCESS);
    fx_done(n.fx.request_evd, n.b, IT_DTO_RDMA_WRITE_CMPL_EVENT, 99, IT_DTO_SUCCESS);
    fx_empty(n.fx.request_evd);
}
