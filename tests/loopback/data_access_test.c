/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forbidden access to memory between two endpoints of this library: what the requester, the target
 * and the memory see.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture_node.h"

static struct {
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_node_buf(&bed.pair.a, 256);
    bed.remote = fx_node_buf(&bed.pair.b, 256);
    memset(bed.remote.data, 0x33, 256);
    memset(bed.local.data, 0x44, 256);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
}

static bool aff_is(it_evd_handle_t evd, it_ep_handle_t ep, it_event_type_t number)
{
    it_event_t event = fx_next(evd);

    if (event.event_number != number)
        check_note(__FILE__, __LINE__, "%s instead of %s", itx_event_string(event.event_number),
                   itx_event_string(number));
    return event.event_number == number && event.aff_async.cause.ep == ep;
}

/* Checks that both sides break once and that the memory is unchanged. */
static void both_broken(void)
{
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(bed.pair.a_ep));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(bed.pair.b_ep));
    fx_empty(bed.pair.a.conn_evd);
    fx_empty(bed.pair.b.conn_evd);
}

static void reconnect(void)
{
    fx_pair_rejoin(&bed.pair);
    fx_pair_ping(&bed.pair);
}

/* Posts a Read that the peer refuses, then requests and receives that are flushed. */
static void refused_read(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);
    it_ep_handle_t a = bed.pair.a_ep;
    it_ep_handle_t b = bed.pair.b_ep;

    CHECK_OK(it_post_recv(a, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(b, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_rdma_read(a, &segment, 1, 3, FX_QUIET, address, key));
    fx_done(bed.pair.a.request_evd, a, IT_DTO_RDMA_READ_CMPL_EVENT, 3, IT_DTO_ERR_REMOTE_ACCESS);
    fx_done(bed.pair.a.recv_evd, a, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_done(bed.pair.b.recv_evd, b, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    both_broken();
    CHECK(aff_is(bed.pair.b.aff_evd, b, IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION));
    CHECK(aff_is(bed.pair.a.aff_evd, a, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION));
    CHECK(fx_is_byte(bed.local.data, 256, 0x44));
    reconnect();
}

/* Posts a Write that the peer refuses. At this side the Write may have completed before that. */
static void refused_write(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);
    it_ep_handle_t a = bed.pair.a_ep;
    it_ep_handle_t b = bed.pair.b_ep;
    it_event_t event;

    CHECK_OK(it_post_recv(b, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_rdma_write(a, &segment, 1, 3, FX_SIGNAL, address, key));
    event = fx_next(bed.pair.a.request_evd);
    CHECK(event.dto_cmpl.cookie == 3);
    CHECK(event.dto_cmpl.dto_status == IT_DTO_SUCCESS ||
          event.dto_cmpl.dto_status == IT_DTO_ERR_REMOTE_ACCESS);
    fx_done(bed.pair.b.recv_evd, b, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    both_broken();
    CHECK(aff_is(bed.pair.b.aff_evd, b, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION));
    CHECK(aff_is(bed.pair.a.aff_evd, a, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION));
    CHECK(fx_is_byte(bed.remote.data, 256, 0x33));
    reconnect();
}

Test(data_access, ranges, .init = bed_open, .fini = bed_close)
{
    it_rdma_addr_t start = fx_addr(&bed.remote, 0);
    it_rmr_context_t key = bed.remote.key;

    refused_read(start - 1, key, 2);
    refused_read(start + 255, key, 2);
    refused_read(start + 256, key, 1);
    refused_read(UINT64_MAX, key, 2);
    refused_read(0, key, 1);
    refused_write(start - 1, key, 2);
    refused_write(start + 255, key, 2);
    refused_write(start + 256, key, 1);
    refused_write(UINT64_MAX, key, 2);
    refused_write(0, key, 1);
}

Test(data_access, wrong_keys, .init = bed_open, .fini = bed_close)
{
    it_rdma_addr_t start = fx_addr(&bed.remote, 0);

    for (unsigned bit = 0; bit < 32; bit += 7) {
        refused_read(start, bed.remote.key ^ (1ull << bit), 8);
        refused_write(start, bed.remote.key ^ (1ull << bit), 8);
    }
    refused_read(start, 0, 8);
    refused_write(start, 0, 8);
}

/* ---- Keys of more bits than an STag has ----------------------------------------------------- */

enum wide {
    WIDE_WRITE,
    WIDE_WRITE_QUIET, /* reported although it is unsignalled */
    WIDE_WRITE_IMM,
    WIDE_READ,
    WIDE_FETCH_ADD,
    WIDE_CMP_SWAP,
    WIDE_SWAP,
    WIDE_SEND_UNLINK,
    WIDE_KINDS
};

static it_event_type_t post_wide(enum wide kind, it_rmr_context_t key)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, 8);
    it_rdma_addr_t address = fx_addr(&bed.remote, 0);
    it_ep_handle_t a = bed.pair.a_ep;

    switch (kind) {
    case WIDE_WRITE:
    case WIDE_WRITE_QUIET:
        CHECK_OK(it_post_rdma_write(a, &segment, 1, 3, kind == WIDE_WRITE ? FX_SIGNAL : FX_QUIET,
                                    address, key));
        return IT_DTO_RDMA_WRITE_CMPL_EVENT;
    case WIDE_WRITE_IMM:
        CHECK_OK(itx_post_rdma_write_imm(a, &segment, 1, 3, FX_SIGNAL, address, key, 77));
        return IT_DTO_RDMA_WRITE_CMPL_EVENT;
    case WIDE_READ:
        CHECK_OK(it_post_rdma_read(a, &segment, 1, 3, FX_SIGNAL, address, key));
        return IT_DTO_RDMA_READ_CMPL_EVENT;
    case WIDE_FETCH_ADD:
        CHECK_OK(it_post_atomic(a, IT_FETCH_AND_ADD, 1, 0, &segment, 3, FX_SIGNAL, address, key));
        return IT_DTO_FETCH_ADD_CMPL_EVENT;
    case WIDE_CMP_SWAP:
        CHECK_OK(
            it_post_atomic(a, IT_COMPARE_AND_SWAP, 1, 2, &segment, 3, FX_SIGNAL, address, key));
        return IT_DTO_CMP_SWAP_CMPL_EVENT;
    case WIDE_SWAP:
        CHECK_OK(itx_post_atomic_swap(a, 1, &segment, 3, FX_SIGNAL, address, key));
        return IT_DTO_CMP_SWAP_CMPL_EVENT;
    case WIDE_SEND_UNLINK:
        CHECK_OK(it_post_send_and_unlink(a, &segment, 1, 3, FX_SIGNAL, key));
        return IT_DTO_SEND_CMPL_EVENT;
    case WIDE_KINDS:
        break;
    }
    CHECK_FAIL("no such request");
}

/* Requests posted before complete, the refused one fails in its turn, later ones are flushed. */
static void refused_wide(enum wide kind, it_rmr_context_t key)
{
    it_ep_handle_t a = bed.pair.a_ep;
    it_ep_handle_t b = bed.pair.b_ep;
    it_event_type_t number;

    CHECK_OK(itx_ep_enable_immediate(a, IT_TRUE));
    CHECK_OK(it_post_recv(b, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(b, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_send(a, NULL, 0, 2, FX_SIGNAL));
    number = post_wide(kind, key);
    CHECK_OK(it_post_send(a, NULL, 0, 4, FX_SIGNAL));
    fx_done(bed.pair.a.request_evd, a, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    fx_done(bed.pair.a.request_evd, a, number, 3, IT_DTO_ERR_REMOTE_ACCESS);
    fx_done(bed.pair.a.request_evd, a, IT_DTO_SEND_CMPL_EVENT, 4, IT_DTO_ERR_FLUSHED);
    fx_done(bed.pair.b.recv_evd, b, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done(bed.pair.b.recv_evd, b, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    both_broken();
    CHECK(aff_is(bed.pair.a.aff_evd, a, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION));
    CHECK(aff_is(bed.pair.b.aff_evd, b, IT_ASYNC_AFF_EP_R_ERROR));
    CHECK(fx_is_byte(bed.local.data, 256, 0x44));
    CHECK(fx_is_byte(bed.remote.data, 256, 0x33));
    reconnect();
}

Test(data_access, wide_keys, .init = bed_open, .fini = bed_close)
{
    for (enum wide kind = 0; kind < WIDE_KINDS; kind++) {
        refused_wide(kind, bed.remote.key | 1ull << 32);
        refused_wide(kind, bed.remote.key | 1ull << 63);
    }
    refused_wide(WIDE_WRITE, UINT64_MAX);
}

/* A large Write takes another path than one of a single FPDU. */
Test(data_access, wide_key_of_a_large_write, .init = bed_open, .fini = bed_close)
{
    const size_t size = 262144;
    struct fx_buf from, to;

    from = fx_node_buf(&bed.pair.a, size);
    to = fx_node_buf(&bed.pair.b, size);
    memset(from.data, 0x55, size);
    to.key |= 1ull << 40;
    fx_write(bed.pair.a_ep, &from, 0, size, &to, 0, 1, FX_SIGNAL);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1,
            IT_DTO_ERR_REMOTE_ACCESS);
    both_broken();
    CHECK(fx_is_byte(to.data, size, 0));
}

/* Without octets to move the key is not checked, as with other keys. */
Test(data_access, wide_keys_without_length, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, 0);

    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, &segment, 1, 1, FX_SIGNAL, 5, UINT64_MAX));
    CHECK_OK(it_post_rdma_read(bed.pair.a_ep, &segment, 1, 2, FX_SIGNAL, 5, UINT64_MAX));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 0);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 0);
    fx_pair_ping(&bed.pair);
}

Test(data_access, freed_key, .init = bed_open, .fini = bed_close)
{
    struct fx_buf gone;
    it_rdma_addr_t start;

    for (unsigned i = 0; i < 3; i++) {
        gone = fx_buf_make(&bed.pair.b, 64);
        start = fx_addr(&gone, 0);
        CHECK_OK(it_lmr_free(gone.lmr));
        refused_read(start, gone.key, 8);
        refused_write(start, gone.key, 8);
        CHECK(fx_is_byte(gone.data, gone.size, 0));
        free(gone.data);
    }
}

/* Regions with each set of rights, and the outcome of a Write and a Read to each of them. */
Test(data_access, rights, .init = bed_open, .fini = bed_close)
{
    static const it_mem_priv_t rights[] = {
        IT_PRIV_LOCAL,
        (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ),
        (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE),
        (it_mem_priv_t)(IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ),
        (it_mem_priv_t)(IT_PRIV_LOCAL_WRITE | IT_PRIV_REMOTE_WRITE),
    };

    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        struct fx_buf buf = fx_buf_make_as(bed.pair.b.pz, 64, rights[i], IT_ADDR_MODE_ABSOLUTE);
        struct fx_buf sink = fx_buf_make(&bed.pair.a, 64);

        if ((rights[i] & IT_PRIV_REMOTE_READ) != 0) {
            fx_read(bed.pair.a_ep, &sink, 0, 8, &buf, 0, 1, FX_SIGNAL);
            fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 8);
        } else {
            refused_read(fx_addr(&buf, 0), buf.key, 8);
        }
        if ((rights[i] & IT_PRIV_REMOTE_WRITE) != 0) {
            fx_write(bed.pair.a_ep, &bed.local, 0, 8, &buf, 0, 1, FX_SIGNAL);
            fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 8);
            fx_pair_ping(&bed.pair);
            CHECK(fx_is_byte(buf.data, 8, 0x44));
        } else {
            refused_write(fx_addr(&buf, 0), buf.key, 8);
            CHECK(fx_is_byte(buf.data, 64, 0));
        }
        fx_buf_free(&buf);
        fx_buf_free(&sink);
    }
}

Test(data_access, another_protection_zone, .init = bed_open, .fini = bed_close)
{
    struct fx_buf other;
    it_pz_handle_t pz = NULL;

    CHECK_OK(it_pz_create(bed.pair.b.ia, &pz));
    other = fx_buf_make_as(pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    refused_read(fx_addr(&other, 0), other.key, 8);
    refused_write(fx_addr(&other, 0), other.key, 8);
    CHECK(fx_is_byte(other.data, 64, 0));
    fx_buf_free(&other);
    CHECK_OK(it_pz_free(pz));
}

/* The endpoint disables remote reads and writes, whatever rights the regions give. */
Test(data_access, endpoint_disabled, .init = bed_open, .fini = bed_close)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.rdma_read_enable = IT_FALSE;
    attr.srv.rc.rdma_write_enable = IT_FALSE;
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    (void)fx_next(bed.pair.a.conn_evd);
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    bed.pair.b_ep = fx_ep(&bed.pair.b, &attr);
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    refused_read(fx_addr(&bed.remote, 0), bed.remote.key, 8);
    refused_write(fx_addr(&bed.remote, 0), bed.remote.key, 8);
}

/* In relative mode the offset counts from the start of the region. Other addresses fail. */
Test(data_access, relative_addresses, .init = bed_open, .fini = bed_close)
{
    struct fx_buf rel = fx_buf_make_as(bed.pair.b.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);

    fx_fill(rel.data, 64, 6);
    fx_read(bed.pair.a_ep, &bed.local, 10, 54, &rel, 10, 1, FX_SIGNAL);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 54);
    fx_check_same(rel.data + 10, bed.local.data + 10, 54);
    memset(bed.local.data, 0x44, 256);
    refused_read(63, rel.key, 2);
    refused_read((uintptr_t)rel.data, rel.key, 1);
    refused_write(64, rel.key, 1);
    refused_write((uintptr_t)rel.data, rel.key, 1);
    refused_write(UINT64_MAX, rel.key, 1);
    fx_buf_free(&rel);
}

/* A message longer than its receive, and one without a receive. */
Test(data_access, message_too_long, .init = bed_open, .fini = bed_close)
{
    it_event_t event;

    fx_recv(bed.pair.b_ep, &bed.remote, 0, 63, 1);
    fx_recv(bed.pair.b_ep, &bed.remote, 64, 63, 2);
    fx_send(bed.pair.a_ep, &bed.local, 0, 64, 3, FX_SIGNAL);
    fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
            IT_DTO_ERR_LOCAL_LENGTH);
    fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    event = fx_next(bed.pair.a.request_evd);
    CHECK_EQ(3, event.dto_cmpl.cookie);
    both_broken();
    CHECK(aff_is(bed.pair.a.aff_evd, bed.pair.a_ep, IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR));
    CHECK(fx_is_byte(bed.remote.data + 63, 256 - 63, 0x33));
}

Test(data_access, no_receive_posted, .init = bed_open, .fini = bed_close)
{
    fx_send(bed.pair.a_ep, &bed.local, 0, 64, 3, FX_SIGNAL);
    both_broken();
    CHECK(aff_is(bed.pair.a.aff_evd, bed.pair.a_ep, IT_ASYNC_AFF_EP_R_ERROR));
    (void)fx_next(bed.pair.b.aff_evd);
    fx_empty(bed.pair.b.recv_evd);
}

/* A receive without segments for a message of one octet. */
Test(data_access, receive_without_segments, .init = bed_open, .fini = bed_close)
{
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_send(bed.pair.a_ep, &bed.local, 0, 1, 3, FX_SIGNAL);
    fx_done(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
            IT_DTO_ERR_LOCAL_LENGTH);
    both_broken();
}

/* Keys are sparse, differ from the one before, and dead ones do not come back soon. */
Test(data_access, keys_are_hard_to_guess, .init = node_init, .fini = node_fini)
{
    static unsigned char memory[64];
    uint64_t last = 0;
    uint64_t step = 0;
    unsigned equal_steps = 0;
    unsigned small_steps = 0;

    for (unsigned i = 0; i < 1000; i++) {
        it_lmr_handle_t lmr = NULL;
        it_rmr_context_t key = 0;

        CHECK_OK(it_lmr_create21(node.pz, memory, NULL, sizeof(memory), IT_ADDR_MODE_ABSOLUTE,
                                 FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &lmr, &key));
        CHECK(key != 0 && key <= UINT32_MAX);
        CHECK(key != last);
        equal_steps += key - last == step;
        small_steps += (key > last ? key - last : last - key) < 512;
        step = key - last;
        last = key;
        CHECK_OK(it_lmr_free(lmr));
    }
    CHECK(equal_steps < 50);
    CHECK(small_steps < 500);
}
