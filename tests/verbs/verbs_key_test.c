/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of more than 32 bits: no device has such a key, so the provider does not ask the device. */
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <string.h>

enum wide {
    WIDE_WRITE, /* the usual operations */
    WIDE_WRITE_LONG,
    WIDE_READ,
    WIDE_WRITE_QUIET, /* the others */
    WIDE_READ_FENCED,
    WIDE_FETCH_ADD,
    WIDE_CMP_SWAP,
    WIDE_SEND_UNLINK,
    WIDE_KINDS
};

static it_event_type_t post_wide(enum wide kind, it_rmr_context_t key)
{
    const it_dto_flags_t fenced = (it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG);
    it_lmr_triplet_t segment = fx_seg(&n.buf, 0, kind == WIDE_WRITE_LONG ? 4096 : 8);
    it_rdma_addr_t to = fx_addr(&n.buf, NODE_MEMORY / 2);

    switch (kind) {
    case WIDE_WRITE:
    case WIDE_WRITE_LONG:
        CHECK_OK(it_post_rdma_write(n.a, &segment, 1, 3, FX_SIGNAL, to, key));
        return IT_DTO_RDMA_WRITE_CMPL_EVENT;
    case WIDE_WRITE_QUIET:
        CHECK_OK(it_post_rdma_write(n.a, &segment, 1, 3, FX_QUIET, to, key));
        return IT_DTO_RDMA_WRITE_CMPL_EVENT;
    case WIDE_READ:
        CHECK_OK(it_post_rdma_read(n.a, &segment, 1, 3, FX_SIGNAL, to, key));
        return IT_DTO_RDMA_READ_CMPL_EVENT;
    case WIDE_READ_FENCED:
        CHECK_OK(it_post_rdma_read(n.a, &segment, 1, 3, fenced, to, key));
        return IT_DTO_RDMA_READ_CMPL_EVENT;
    case WIDE_FETCH_ADD:
        CHECK_OK(it_post_atomic(n.a, IT_FETCH_AND_ADD, 1, 0, &segment, 3, FX_SIGNAL, to, key));
        return IT_DTO_FETCH_ADD_CMPL_EVENT;
    case WIDE_CMP_SWAP:
        CHECK_OK(it_post_atomic(n.a, IT_COMPARE_AND_SWAP, 1, 0, &segment, 3, FX_SIGNAL, to, key));
        return IT_DTO_CMP_SWAP_CMPL_EVENT;
    case WIDE_SEND_UNLINK:
        CHECK_OK(it_post_send_and_unlink(n.a, &segment, 1, 3, FX_SIGNAL, key));
        return IT_DTO_SEND_CMPL_EVENT;
    case WIDE_KINDS:
        break;
    }
    CHECK_FAIL("no such request");
}

/* Earlier requests complete, later ones are flushed. */
static void refused(enum wide kind, bool like_siw, unsigned bit)
{
    it_event_type_t number;

    stub_start();
    stub.like_siw = like_siw;
    stub_node_pair(&n, &usual);
    memset(n.buf.data, 0x44, NODE_MEMORY / 2);
    memset(n.buf.data + NODE_MEMORY / 2, 0x33, NODE_MEMORY / 2);
    fx_write(n.a, &n.buf, 0, 1, &n.buf, 1, 1, FX_SIGNAL); /* later posts of n.buf are usual */
    fx_write(n.a, &n.buf, 0, 1, &n.buf, 1, 2, FX_SIGNAL);
    number = post_wide(kind, n.buf.key | 1ull << bit);
    fx_write(n.a, &n.buf, 0, 1, &n.buf, 1, 4, FX_SIGNAL);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    fx_done(n.fx.request_evd, n.a, number, 3, IT_DTO_ERR_REMOTE_ACCESS);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 4, IT_DTO_ERR_FLUSHED);
    fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
    fx_empty(n.fx.request_evd);
    CHECK(stub_failures() > 0);
    CHECK(fx_is_byte(n.buf.data, NODE_MEMORY / 2, 0x44));
    CHECK(fx_is_byte(n.buf.data + NODE_MEMORY / 2, NODE_MEMORY / 2, 0x33));
    stub_node_close(&n);
}

Test(verbs_key, of_more_bits_than_the_device_has)
{
    for (enum wide kind = 0; kind < WIDE_KINDS; kind++) {
        check_context("an InfiniBand device");
        refused(kind, false, 32);
        refused(kind, false, 63);
        check_context("siw");
        if (kind != WIDE_FETCH_ADD && kind != WIDE_CMP_SWAP) /* siw has no atomics */
            refused(kind, true, 47);
    }
}

/* Without octets to move the key is not checked, as with other keys. */
Test(verbs_key, without_length, .fini = stub_close)
{
    it_lmr_triplet_t segment;

    stub_start();
    stub_node_pair(&n, &usual);
    segment = fx_seg(&n.buf, 0, 0);
    CHECK_OK(it_post_rdma_write(n.a, &segment, 1, 1, FX_SIGNAL, 5, UINT64_MAX));
    CHECK_OK(it_post_rdma_read(n.a, &segment, 1, 2, FX_SIGNAL, 5, UINT64_MAX));
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 0);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 0);
}
