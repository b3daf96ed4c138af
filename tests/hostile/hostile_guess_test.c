/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer guesses STags. With any operation a wrong guess costs the connection, and frames behind
 * the guess have no effect.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define SIZE 64u
#define STAG_BIT                                                                                   \
    32u /* guesses that differ from a valid STag in one bit; then two that were valid once */
#define GUESSES (STAG_BIT + 2)

static const struct hk_startup depth_2 = {2, RAW_MPA_C, 2u << 16 | 2u};

static struct {
    struct hk kit;
    struct fx_buf memory;
    struct fx_buf in;
    uint32_t guesses[GUESSES];
} bed;

struct kind {
    const char *name;
    void (*build)(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag, uint64_t to);
    unsigned code;
    it_event_type_t affiliated;
};

static void build_write(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag, uint64_t to)
{
    (void)msn;
    raw_tagged(ulpdu, RAW_WRITE, stag, to, "guessed", 8, true);
}

static void build_read(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag, uint64_t to)
{
    raw_read_request(ulpdu, msn, 1, 0, 8, stag, to);
}

static void build_atomic(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag, uint64_t to)
{
    RAW_BYTES(request);

    raw_add_be32(&request, 0); /* Fetch and Add */
    raw_add_be32(&request, msn);
    raw_add_be32(&request, stag);
    raw_add_be64(&request, to);
    raw_add_be64(&request, 1);
    raw_add_fill(&request, 0, 24); /* masks, compare */
    raw_untagged(ulpdu, RAW_ATOMIC_REQUEST, 1, msn, 0, request.data, request.len, true, 0);
}

static void build_invalidate(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag, uint64_t to)
{
    (void)to;
    raw_untagged(ulpdu, RAW_SEND_INV, 0, msn, 0, "guessed", 8, true, stag);
}

static void build_solicited_invalidate(struct raw_bytes *ulpdu, uint32_t msn, uint32_t stag,
                                       uint64_t to)
{
    (void)to;
    raw_untagged(ulpdu, RAW_SEND_SE_INV, 0, msn, 0, "guessed", 8, true, stag);
}

static const struct kind kinds[] = {
    {"Write", build_write, 0x1100, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION},
    {"Read", build_read, 0x0100, IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION},
    {"atomic", build_atomic, 0x0100, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION},
    {"Send with Invalidate", build_invalidate, 0x0109, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION},
    {"Send with Solicited Event and Invalidate", build_solicited_invalidate, 0x0109,
     IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION},
};

static void bed_open(void)
{
    it_lmr_param_t param = {.privs = IT_PRIV_ALL};
    struct fx_buf freed;

    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    bed.in = fx_node_buf(&bed.kit.node, SIZE);
    bed.memory = fx_node_buf(&bed.kit.node, SIZE);
    bed.guesses[STAG_BIT] = (uint32_t)bed.memory.key;
    CHECK_OK(it_lmr_modify(bed.memory.lmr, IT_LMR_PARAM_MEM_PRIV, &param));
    CHECK_OK(it_lmr_query(bed.memory.lmr, IT_LMR_PARAM_RMR_CONTEXT, &param));
    bed.memory.key = param.rmr_context;
    for (unsigned bit = 0; bit < STAG_BIT; bit++)
        bed.guesses[bit] = (uint32_t)bed.memory.key ^ UINT32_C(1) << bit;
    freed = fx_buf_make(&bed.kit.node, SIZE);
    bed.guesses[STAG_BIT + 1] = (uint32_t)freed.key;
    fx_buf_free(&freed);
}

static void bed_close(void)
{
    hk_close(&bed.kit);
    check_done();
}

static void victim_open(struct hk_victim *victim)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;

    attr.srv.rc.atomics_enable = IT_TRUE;
    attr.srv.rc.rdma_read_ird = 2;
    ep = fx_ep(&bed.kit.node, &attr);
    hk_victim_of(&bed.kit, victim, ep, HK_LISTEN, &depth_2);
}

/* Sends the wrong guess and, in the same piece, a right one. */
static void guess_once(const struct kind *kind, uint32_t guess)
{
    static struct raw_segment answer;
    struct hk_victim victim;
    RAW_BYTES(stream);
    RAW_BYTES(ulpdu);
    uint64_t to = fx_addr(&bed.memory, 0);

    victim_open(&victim);
    fx_recv(victim.ep, &bed.in, 0, SIZE / 2, 1);
    fx_recv(victim.ep, &bed.in, SIZE / 2, SIZE / 2, 2);
    kind->build(&ulpdu, 1, guess, to);
    raw_fpdu(&stream, &ulpdu, true);
    kind->build(&ulpdu, 2, (uint32_t)bed.memory.key, to);
    raw_fpdu(&stream, &ulpdu, true);
    CHECK(raw_send(&victim.peer, &stream));
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &answer));
    CHECK_EQ(RAW_TERMINATE, answer.op);
    EXPECT_EQ(kind->code, hk_code(&answer));
    EXPECT_EQ(RAW_EOF, raw_drain(&victim.peer));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, kind->affiliated, kind->affiliated);
    fx_done(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_done(bed.kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    EXPECT(fx_is_byte(bed.memory.data, SIZE, 0));
    raw_close(&victim.peer);
    hk_quiet(&bed.kit);
    hk_victim_close(&victim);
}

/* The key still works after all that. */
static void right_guess(void)
{
    RAW_BYTES(ulpdu);
    struct hk_victim victim;

    victim_open(&victim);
    build_write(&ulpdu, 0, (uint32_t)bed.memory.key, fx_addr(&bed.memory, 0));
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    raw_finish(&victim.peer);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    EXPECT(memcmp(bed.memory.data, "guessed", 8) == 0);
    hk_victim_close(&victim);
}

static void guess_all(const struct kind *kind)
{
    char context[128];

    bed_open();
    for (unsigned i = 0; i < GUESSES; i++) {
        (void)snprintf(context, sizeof(context), "%s, guess %u", kind->name, i);
        check_context(context);
        guess_once(kind, bed.guesses[i]);
    }
    check_context(NULL);
    right_guess();
    bed_close();
}

TEST_ROW(hostile_guess, write, guess_all, &kinds[0]);
TEST_ROW(hostile_guess, read, guess_all, &kinds[1]);
TEST_ROW(hostile_guess, atomic, guess_all, &kinds[2]);
TEST_ROW(hostile_guess, invalidate, guess_all, &kinds[3]);
TEST_ROW(hostile_guess, solicited_invalidate, guess_all, &kinds[4]);
