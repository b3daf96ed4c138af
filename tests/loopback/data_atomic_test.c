/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic operations between two endpoints of this library: values, order, rights, refusals. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"

#define WORDS 32u

static const it_mem_priv_t word_privs =
    (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE | IT_PRIV_ATOMIC);

static struct {
    struct fx_pair pair;
    struct fx_buf results; /* of the requester */
    struct fx_buf words;   /* of the peer */
} bed;

static it_ep_attributes_t atomic_attr(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.atomics_enable = IT_TRUE;
    return attr;
}

static void bed_open_as(const it_ep_attributes_t *a, const it_ep_attributes_t *b)
{
    struct fx_pair_setup setup = {.a_attr = a, .b_attr = b};

    memset(&bed, 0, sizeof(bed));
    fx_pair_open_as(&bed.pair, &setup);
    bed.results = fx_buf_make(&bed.pair.a, WORDS * 8);
    bed.words = fx_buf_make_as(bed.pair.b.pz, WORDS * 8, word_privs, IT_ADDR_MODE_ABSOLUTE);
}

static void bed_open(void)
{
    it_ep_attributes_t attr = atomic_attr();

    bed_open_as(&attr, &attr);
}

static void bed_close(void)
{
    fx_buf_free(&bed.results);
    fx_buf_free(&bed.words);
    fx_pair_close(&bed.pair);
}

static uint64_t *word(struct fx_buf *buf, size_t index)
{
    return (uint64_t *)(void *)buf->data + index;
}

static it_status_t post(it_atomic_op_t op, uint64_t operand, uint64_t compare, size_t result,
                        size_t target, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(&bed.results, result * 8, 8);

    return it_post_atomic(bed.pair.a_ep, op, operand, compare, &segment, cookie, flags,
                          fx_addr(&bed.words, target * 8), bed.words.key);
}

static void done(it_event_type_t number, it_dto_cookie_t cookie)
{
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, number, cookie, 8);
}

/* ---- Values --------------------------------------------------------------------------------- */

Test(data_atomic, announced, .init = node_init, .fini = node_fini)
{
    it_ia_info_t *info;
    struct itx_features features = {.size = sizeof(features)};

    CHECK_OK(it_ia_query(node.ia, &info));
    CHECK_EQ(IT_TRUE, info->atomic_support);
    it_ia_info_free(info);
    CHECK_OK(itx_ia_query_features(node.ia, &features));
    CHECK_EQ(IT_TRUE, features.atomic_swap);
    CHECK_STATUS(IT_ERR_FAULT, itx_ia_query_features(node.ia, NULL));
    CHECK_STATUS(IT_ERR_INVALID_IA, itx_ia_query_features(NULL, &features));
    features.size = sizeof(size_t);
    CHECK_STATUS(IT_ERR_INVALID_LENGTH, itx_ia_query_features(node.ia, &features));
}

/* With relative addresses the base of the region must be aligned. */
Test(data_atomic, relative_addresses, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment;
    struct fx_buf words = fx_buf_make_as(bed.pair.b.pz, 64, word_privs, IT_ADDR_MODE_RELATIVE);
    struct fx_buf results = fx_buf_make_as(bed.pair.a.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);

    *word(&words, 7) = 3;
    segment = fx_seg(&results, 16, 8);
    CHECK_OK(it_post_atomic(bed.pair.a_ep, IT_FETCH_AND_ADD, 4, 0, &segment, 1, FX_SIGNAL,
                            fx_addr(&words, 56), words.key));
    done(IT_DTO_FETCH_ADD_CMPL_EVENT, 1);
    CHECK_EQ(3, *word(&results, 2));
    CHECK_EQ(7, *word(&words, 7));
    fx_buf_free(&words);
    fx_buf_free(&results);
}

/* ---- Order ---------------------------------------------------------------------------------- */

/*
 * More atomics than the ORD are posted at once. They complete in order, and each sees the sum of
 * those before.
 */
Test(data_atomic, many_at_once, .init = bed_open, .fini = bed_close)
{
    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t i = 0; i < WORDS; i++)
            CHECK_OK(post(IT_FETCH_AND_ADD, i + 1, 0, i, 5, i, FX_SIGNAL));
        for (uint64_t i = 0; i < WORDS; i++) {
            done(IT_DTO_FETCH_ADD_CMPL_EVENT, i);
            CHECK_EQ(round * (WORDS * (WORDS + 1) / 2) + i * (i + 1) / 2, *word(&bed.results, i));
        }
    }
}

/* An atomic keeps its place between the Writes, Sends and Reads around it. */
Test(data_atomic, order_with_other_requests, .init = bed_open, .fini = bed_close)
{
    struct fx_buf local = fx_node_buf(&bed.pair.a, 32);

    for (uint64_t i = 1; i <= 200; i++) {
        uint64_t *from = word(&local, 0);

        from[0] = 1000 * i;
        from[1] = 1000 * i + 500;
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, i, FX_SIGNAL));
        fx_write(bed.pair.a_ep, &local, 0, 8, &bed.words, 0, 1, FX_QUIET);
        CHECK_OK(post(IT_FETCH_AND_ADD, 7, 0, 0, 0, 2, FX_QUIET));
        fx_read(bed.pair.a_ep, &local, 16, 8, &bed.words, 0, 3, FX_QUIET);
        CHECK_OK(post(IT_FETCH_AND_ADD, 9, 0, 1, 0, 4, IT_BARRIER_FENCE_FLAG));
        fx_write(bed.pair.a_ep, &local, 8, 8, &bed.words, 0, 5, FX_QUIET);
        CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, 6, FX_SIGNAL));
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        CHECK_EQ(1000 * i + 500, *word(&bed.words, 0));
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 6, 0);
        CHECK_EQ(1000 * i, *word(&bed.results, 0));
        CHECK_EQ(1000 * i + 7, *word(&local, 2));
        CHECK_EQ(1000 * i + 7, *word(&bed.results, 1));
    }
}

/* Atomics run in both directions at once over one connection with the smallest depths. */
Test(data_atomic, both_ways_with_depth_1)
{
    it_ep_attributes_t attr = atomic_attr();
    struct fx_buf a_word;
    struct fx_buf b_result;
    it_lmr_triplet_t segment;

    attr.srv.rc.rdma_read_ird = 1;
    attr.srv.rc.rdma_read_ord = 1;
    bed_open_as(&attr, &attr);
    a_word = fx_buf_make_as(bed.pair.a.pz, 8, word_privs, IT_ADDR_MODE_ABSOLUTE);
    b_result = fx_buf_make(&bed.pair.b, 8);
    segment = fx_seg(&b_result, 0, 8);
    for (uint64_t i = 0; i < 300; i++) {
        CHECK_OK(post(IT_FETCH_AND_ADD, 1, 0, 0, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_atomic(bed.pair.b_ep, IT_FETCH_AND_ADD, 1, 0, &segment, i, FX_SIGNAL,
                                fx_addr(&a_word, 0), a_word.key));
        done(IT_DTO_FETCH_ADD_CMPL_EVENT, i);
        fx_done_len(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_FETCH_ADD_CMPL_EVENT, i, 8);
        CHECK_EQ(i, *word(&bed.results, 0));
        CHECK_EQ(i, *word(&b_result, 0));
    }
    fx_buf_free(&a_word);
    fx_buf_free(&b_result);
    bed_close();
}

/* ---- Refused ------------------------------------------------------------------------------- */

static void reconnect(void)
{
    fx_pair_rejoin(&bed.pair);
    fx_pair_ping(&bed.pair);
}

static void both_broken(it_event_type_t a_event, it_event_type_t b_event)
{
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_EQ(a_event, fx_next(bed.pair.a.aff_evd).event_number);
    CHECK_EQ(b_event, fx_next(bed.pair.b.aff_evd).event_number);
}

/* Posts three atomics: the peer refuses the second, and the third is flushed. */
static void refused(it_rdma_addr_t address, it_rmr_context_t key, it_dto_status_t status,
                    it_event_type_t a_event, it_event_type_t b_event)
{
    it_lmr_triplet_t segment = fx_seg(&bed.results, 0, 8);
    uint64_t before = *word(&bed.words, 1);

    CHECK_OK(post(IT_FETCH_AND_ADD, 1, 0, 1, 0, 1, FX_SIGNAL));
    *word(&bed.results, 0) = 0x5555;
    CHECK_OK(
        it_post_atomic(bed.pair.a_ep, IT_FETCH_AND_ADD, 1, 0, &segment, 2, FX_QUIET, address, key));
    CHECK_OK(post(IT_FETCH_AND_ADD, 1, 0, 2, 1, 3, FX_QUIET));
    done(IT_DTO_FETCH_ADD_CMPL_EVENT, 1);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 2, status);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 3,
            IT_DTO_ERR_FLUSHED);
    both_broken(a_event, b_event);
    CHECK_EQ(0x5555, *word(&bed.results, 0));
    CHECK_EQ(before, *word(&bed.words, 1));
    reconnect();
}

#define REFUSED_ACCESS(address, key)                                                               \
    refused((address), (key), IT_DTO_ERR_REMOTE_ACCESS, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION,        \
            IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION)

Test(data_atomic, access_violations, .init = bed_open, .fini = bed_close)
{
    it_mem_priv_t no_write = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ);
    struct fx_buf plain;
    struct fx_buf foreign;
    it_pz_handle_t other_pz;

    CHECK_OK(it_pz_create(bed.pair.b.ia, &other_pz));
    foreign = fx_buf_make_as(other_pz, 64, word_privs, IT_ADDR_MODE_ABSOLUTE);
    REFUSED_ACCESS(fx_addr(&foreign, 0), foreign.key);
    plain = fx_buf_make(&bed.pair.b, 64);
    REFUSED_ACCESS(fx_addr(&plain, 0), plain.key);
    fx_buf_free(&plain);
    plain = fx_buf_make_as(bed.pair.b.pz, 64, no_write, IT_ADDR_MODE_ABSOLUTE);
    REFUSED_ACCESS(fx_addr(&plain, 0), plain.key);
    REFUSED_ACCESS(fx_addr(&bed.words, WORDS * 8), bed.words.key);
    REFUSED_ACCESS(fx_addr(&bed.words, 0) - 8, bed.words.key);
    REFUSED_ACCESS(UINT64_MAX - 7, bed.words.key);
    REFUSED_ACCESS(fx_addr(&bed.words, 0), bed.words.key ^ 0x100);
    CHECK(fx_is_byte(plain.data, 64, 0) && fx_is_byte(foreign.data, 64, 0));
    fx_buf_free(&plain);
    fx_buf_free(&foreign);
    CHECK_OK(it_pz_free(other_pz));
}

/* The region's atomic right suffices: an atomic is neither a Write nor a Read. */
Test(data_atomic, atomic_right_is_enough, .init = bed_open, .fini = bed_close)
{
    it_mem_priv_t only = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_ATOMIC);

    fx_buf_free(&bed.words);
    bed.words = fx_buf_make_as(bed.pair.b.pz, WORDS * 8, only, IT_ADDR_MODE_ABSOLUTE);
    CHECK_OK(post(IT_FETCH_AND_ADD, 2, 0, 0, 0, 1, FX_SIGNAL));
    done(IT_DTO_FETCH_ADD_CMPL_EVENT, 1);
    CHECK_EQ(2, *word(&bed.words, 0));
}

/* The region has relative addresses and an unaligned base. */
Test(data_atomic, misaligned_memory)
{
    static _Alignas(8) unsigned char memory[32];
    it_lmr_handle_t lmr;
    it_rmr_context_t key;

    bed_open();
    CHECK_OK(it_lmr_create20(bed.pair.b.pz, memory + 4, 24, IT_ADDR_MODE_RELATIVE, word_privs,
                             IT_LMR_FLAG_NONE, 0, &lmr, &key));
    refused(8, key, IT_DTO_ERR_REMOTE_RESPONDER, IT_ASYNC_AFF_EP_R_ERROR,
            IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR);
    CHECK(fx_is_byte(memory, sizeof(memory), 0));
    CHECK_OK(it_lmr_free(lmr));
    bed_close();
}

/* it_ep_modify turns atomics of the peer on and off while connected. */
Test(data_atomic, enabled_by_the_endpoint)
{
    it_ep_attributes_t on = atomic_attr();
    it_ep_attributes_t off = fx_ep_attr();
    it_ep_param_t params;

    bed_open_as(&on, &off);
    CHECK_OK(it_ep_modify(bed.pair.b_ep, IT_EP_PARAM_ATOMICS_ENABLE, &on));
    CHECK_OK(it_ep_query(bed.pair.b_ep, IT_EP_PARAM_ATOMICS_ENABLE, &params));
    CHECK_EQ(IT_TRUE, params.attr.srv.rc.atomics_enable);
    CHECK_OK(post(IT_FETCH_AND_ADD, 2, 0, 0, 0, 1, FX_SIGNAL));
    done(IT_DTO_FETCH_ADD_CMPL_EVENT, 1);
    CHECK_OK(it_ep_modify(bed.pair.b_ep, IT_EP_PARAM_ATOMICS_ENABLE, &off));
    CHECK_OK(post(IT_FETCH_AND_ADD, 2, 0, 0, 0, 2, FX_QUIET));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 2,
            IT_DTO_ERR_REMOTE_ACCESS);
    both_broken(IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION);
    CHECK_EQ(2, *word(&bed.words, 0));
    bed_close();
}

Test(data_atomic, without_depth)
{
    it_ep_attributes_t none = atomic_attr();
    it_ep_attributes_t attr = atomic_attr();

    none.srv.rc.rdma_read_ord = 0;
    bed_open_as(&none, &attr);
    CHECK_OK(post(IT_COMPARE_AND_SWAP, 1, 0, 0, 0, 3, FX_QUIET));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 3,
            IT_DTO_ERR_LOCAL_EP);
    CHECK_EQ(0, *word(&bed.words, 0));
    bed_close();
}

/* If the old value cannot be stored, the operation is not done. */
Test(data_atomic, result_not_writable, .init = bed_open, .fini = bed_close)
{
    fx_buf_free(&bed.results);
    bed.results = fx_buf_make_as(bed.pair.a.pz, 64, IT_PRIV_LOCAL_READ, IT_ADDR_MODE_ABSOLUTE);
    CHECK_OK(post(IT_FETCH_AND_ADD, 1, 0, 0, 0, 3, FX_QUIET));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_FETCH_ADD_CMPL_EVENT, 3,
            IT_DTO_ERR_LOCAL_PROTECTION);
    both_broken(IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION, IT_ASYNC_AFF_EP_R_ERROR);
    CHECK_EQ(0, *word(&bed.words, 0));
}

/* ---- Arguments ------------------------------------------------------------------------------ */

Test(data_atomic, arguments, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t bad;
    it_ep_handle_t ep = bed.pair.a_ep;
    it_rdma_addr_t at = fx_addr(&bed.words, 0);
    it_rmr_context_t key = bed.words.key;
    it_lmr_triplet_t good = fx_seg(&bed.results, 0, 8);

#define POST(ep, op, segment, flags, at)                                                           \
    it_post_atomic((ep), (op), 1, 2, (segment), 0, (it_dto_flags_t)(flags), (at), key)
    CHECK_STATUS(IT_ERR_INVALID_EP, POST(NULL, IT_FETCH_AND_ADD, &good, 0, at));
    CHECK_STATUS(IT_ERR_FAULT, POST(ep, IT_FETCH_AND_ADD, NULL, 0, at));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                 POST(ep, (it_atomic_op_t)2, &good, IT_SOLICITED_WAIT_FLAG, at));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS, POST(ep, IT_FETCH_AND_ADD, &good, 0x8000, at));
    CHECK_STATUS(IT_ERR_INVALID_ATOMIC_OP, POST(ep, (it_atomic_op_t)2, &good, 0, at + 1));
    CHECK_STATUS(IT_ERR_ADDRESS, POST(ep, IT_FETCH_AND_ADD, &good, 0, at + 4));
    bad = good;
    bad.lmr = (it_lmr_handle_t)(void *)ep;
    CHECK_STATUS(IT_ERR_INVALID_LMR, POST(ep, IT_FETCH_AND_ADD, &bad, 0, at));
    bad.lmr = bed.words.lmr; /* of another IA */
    CHECK_STATUS(IT_ERR_INVALID_LMR, POST(ep, IT_FETCH_AND_ADD, &bad, 0, at));
    bad = fx_seg(&bed.results, 0, 4);
    CHECK_STATUS(IT_ERR_INVALID_LENGTH, POST(ep, IT_FETCH_AND_ADD, &bad, 0, at));
    bad = fx_seg(&bed.results, 4, 8);
    CHECK_STATUS(IT_ERR_ADDRESS, POST(ep, IT_FETCH_AND_ADD, &bad, 0, at));
    CHECK_STATUS(IT_ERR_ADDRESS, itx_post_atomic_swap(ep, 1, &bad, 0, FX_QUIET, at, key));
    CHECK_STATUS(IT_ERR_INVALID_EP, itx_post_atomic_swap(NULL, 1, &good, 0, FX_QUIET, at, key));
    fx_pair_ping(&bed.pair);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    CHECK_OK(POST(ep, IT_COMPARE_AND_SWAP, &good, 0, at));
    fx_done(bed.pair.a.request_evd, ep, IT_DTO_CMP_SWAP_CMPL_EVENT, 0, IT_DTO_ERR_FLUSHED);
    CHECK_OK(it_ep_reset(ep));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, POST(ep, IT_COMPARE_AND_SWAP, &good, 0, at));
#undef POST
}
