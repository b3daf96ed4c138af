/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection counts wraps at 2^32: MSNs, indexes of queues, rounds of the leader. The tests
 * move all of it close to the wrap while nothing is under way, then go on as any program does.
 */
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/queue/uiw_token.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "uiw_bed.h"

#define BEGIN  (UINT32_MAX - 20)
#define ROUNDS 64u
#define PIECE  1000u
#define LARGE  ((size_t)200000) /* several FPDUs */
#define DEPTH  8u

static struct fx_pair pair;
static struct uiw_bed a, b;
static struct fx_buf a_buf, b_buf;

/* Each index differs, so that none is taken for another one. */
static void move_indexes(struct uiw_ep *ep)
{
    uiw_bed_begin_at(&ep->sq, BEGIN);
    atomic_store(&ep->sq_ready, BEGIN);
    uiw_bed_begin_at(&ep->rq, BEGIN - 1);
    ep->tx.cursor = (struct uiw_cursor){.sq = BEGIN, .irq = BEGIN + 2};
    atomic_store(&ep->reads.orq_head, BEGIN + 1);
    atomic_store(&ep->reads.orq_tail, BEGIN + 1);
    atomic_store(&ep->reads.irq_head, BEGIN + 2);
    atomic_store(&ep->reads.irq_sent, BEGIN + 2);
    atomic_store(&ep->reads.irq_tail, BEGIN + 2);
}

/* Both directions have the same numbers, so both ends agree. */
static void move_msns(struct uiw_ep *ep)
{
    ep->tx.next_send_msn = ep->rx.iw.next_msn[IW_QN_SEND] = BEGIN + 3;
    ep->tx.next_read_msn = ep->rx.iw.next_msn[IW_QN_READ_REQUEST] = BEGIN + 4;
    ep->rx.iw.next_msn[IW_QN_ATOMIC] = BEGIN + 5;
    ep->rx.atomics = BEGIN + 4; /* of the last one */
}

static void move_counters(struct uiw_ep *ep)
{
    _Atomic uint64_t *counters[] = {&ep->tx.fpdus,    &ep->tx.octets,   &ep->tx.calls,
                                    &ep->rx.fpdus_in, &ep->rx.calls_in, &ep->rx.octets_in};

    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        atomic_store(counters[i], UINT64_MAX - 5);
}

static void move(struct uiw_bed *side)
{
    uiw_reader_take(side->ep);
    uiw_token_wait(side->ep);
    base_lock_take(&side->ual->lock);
    move_indexes(side->ep);
    move_msns(side->ep);
    move_counters(side->ep);
    base_lock_drop(&side->ual->lock);
    uiw_token_drop(side->ep);
    uiw_reader_drop(side->ep);
}

static void open_bed(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr};
    it_mem_priv_t privs = (it_mem_priv_t)(FX_PRIVS_ALL | IT_PRIV_ATOMIC);

    attr.max_request_dtos = DEPTH;
    attr.max_recv_dtos = DEPTH;
    attr.srv.rc.rdma_read_ird = attr.srv.rc.rdma_read_ord = 4;
    attr.srv.rc.atomics_enable = IT_TRUE;
    fx_pair_open_as(&pair, &setup);
    uiw_bed_use(&a, pair.a_ep);
    uiw_bed_use(&b, pair.b_ep);
    a_buf = fx_buf_make_as(pair.a.pz, 2 * LARGE, privs, IT_ADDR_MODE_ABSOLUTE);
    b_buf = fx_buf_make_as(pair.b.pz, 2 * LARGE, privs, IT_ADDR_MODE_ABSOLUTE);
    fx_fill(a_buf.data, LARGE, 1);
    fx_fill(b_buf.data + LARGE, LARGE, 2);
    fx_pair_ping(&pair);
    move(&a);
    move(&b);
}

static void close_bed(void)
{
    fx_buf_free(&a_buf);
    fx_buf_free(&b_buf);
    fx_pair_close(&pair);
    check_done();
}

TestSuite(uiw_wrap, .init = open_bed, .fini = close_bed);

/* Most indexes begin with BEGIN, and each operation moves some. */
static void require_wrapped(const struct uiw_bed *side)
{
    cr_assert_lt(atomic_load(&side->ep->sq.tail), UINT32_MAX / 2);
    cr_assert_lt(atomic_load(&side->ep->rq.tail), UINT32_MAX / 2);
    cr_assert_lt(side->ep->tx.next_send_msn, UINT32_MAX / 2);
    cr_assert_lt(side->ep->rx.iw.next_msn[IW_QN_SEND], UINT32_MAX / 2);
}

/* ---------------------------------------------------------------- each operation */

static void send_each_way(unsigned i, size_t length)
{
    fx_recv(pair.b_ep, &b_buf, 0, length, i);
    fx_send(pair.a_ep, &a_buf, 0, length, i, FX_SIGNAL);
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, length);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, length);
    fx_check_same(a_buf.data, b_buf.data, length);
    fx_recv(pair.a_ep, &a_buf, LARGE, length, i);
    fx_send(pair.b_ep, &b_buf, LARGE, length, i, FX_SIGNAL);
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, length);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, i, length);
    fx_check_same(b_buf.data + LARGE, a_buf.data + LARGE, length);
}

Test(uiw_wrap, sends)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        send_each_way(i, i % 4 ? PIECE : LARGE);
    require_wrapped(&a);
    require_wrapped(&b);
}

Test(uiw_wrap, writes_and_reads)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t length = i % 4 ? PIECE : LARGE;

        fx_write(pair.a_ep, &a_buf, 0, length, &b_buf, 0, i, FX_SIGNAL);
        fx_read(pair.a_ep, &a_buf, LARGE, length, &b_buf, LARGE, i, FX_SIGNAL);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, length);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, length);
        fx_check_same(a_buf.data, b_buf.data, length);
        fx_check_same(b_buf.data + LARGE, a_buf.data + LARGE, length);
        memset(a_buf.data + LARGE, 0, length);
    }
    cr_assert_lt(atomic_load(&a.ep->reads.orq_head), UINT32_MAX / 2);
    cr_assert_lt(atomic_load(&b.ep->reads.irq_head), UINT32_MAX / 2);
    send_each_way(ROUNDS, PIECE);
}

/* As many as the peer allows are open all the time. */
Test(uiw_wrap, reads_and_atomics_that_overlap)
{
    uint64_t *words = (uint64_t *)(void *)a_buf.data;
    uint64_t *word = (uint64_t *)(void *)b_buf.data;
    it_lmr_triplet_t segment;

    *word = 0;
    for (unsigned i = 0; i < ROUNDS * 2; i++) {
        segment = fx_seg(&a_buf, 8 * (size_t)i, 8);
        if (i >= DEPTH - 1)
            (void)fx_next(pair.a.request_evd);
        if (i % 2)
            fx_read(pair.a_ep, &a_buf, 8 * (size_t)i, 8, &b_buf, 0, i, FX_SIGNAL);
        else
            CHECK_OK(it_post_atomic(pair.a_ep, IT_FETCH_AND_ADD, 1, 0, &segment, i, FX_SIGNAL,
                                    fx_addr(&b_buf, 0), b_buf.key));
    }
    for (unsigned i = 0; i < DEPTH - 1; i++)
        CHECK_EQ(IT_DTO_SUCCESS, fx_next(pair.a.request_evd).dto_cmpl.dto_status);
    /* An operation behind a Read may be executed before its answer is read from memory. */
    for (unsigned i = 0; i < ROUNDS * 2; i++) {
        cr_expect_geq(words[i], (i + 1) / 2, "operation %u", i);
        cr_expect_leq(words[i], (i + 1) / 2 + (i % 2 ? DEPTH : 0), "operation %u", i);
    }
    cr_assert_lt(b.ep->rx.atomics, UINT32_MAX / 2);
}

/* Posts that share a system call, and posts that are held. */
Test(uiw_wrap, bursts)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        it_dto_flags_t held = i % 2 ? IT_COALESCE_WR_FLAG : (it_dto_flags_t)0;

        for (unsigned k = 0; k < DEPTH; k++)
            fx_recv(pair.b_ep, &b_buf, k * PIECE, PIECE, k);
        for (unsigned k = 0; k < DEPTH; k++)
            fx_send(pair.a_ep, &a_buf, k * PIECE, PIECE, k,
                    (it_dto_flags_t)(FX_SIGNAL | (k + 1 < DEPTH ? held : (it_dto_flags_t)0)));
        for (unsigned k = 0; k < DEPTH; k++)
            fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, k, PIECE);
        for (unsigned k = 0; k < DEPTH; k++)
            fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, k, PIECE);
        fx_check_same(a_buf.data, b_buf.data, DEPTH * PIECE);
        memset(b_buf.data, 0, DEPTH * PIECE);
    }
    cr_assert_lt(atomic_load(&a.ep->sq.tail), UINT32_MAX / 2);
}

Test(uiw_wrap, counters)
{
    struct itx_counters before = fx_counters(&pair.a), after;

    for (unsigned i = 0; i < 10; i++)
        send_each_way(i, PIECE);
    after = fx_counters(&pair.a);
    cr_expect_geq(after.bytes_sent - before.bytes_sent, 10 * PIECE);
    cr_expect_lt(after.bytes_sent - before.bytes_sent, 20 * PIECE);
    cr_expect_geq(after.fpdus_sent - before.fpdus_sent, 10);
    cr_expect_lt(after.fpdus_sent - before.fpdus_sent, 20);
}

/* ---------------------------------------------------------------- the end of a connection */

/* Brings the next index of each queue to the wrap, less `left`. */
static void go_to_the_wrap(unsigned left)
{
    while (atomic_load(&a.ep->sq.tail) != 0 - left || atomic_load(&a.ep->rq.tail) != 0 - left) {
        if (atomic_load(&a.ep->rq.tail) != 0 - left) {
            fx_recv(pair.a_ep, &a_buf, LARGE, PIECE, 0);
            fx_send(pair.b_ep, &b_buf, LARGE, PIECE, 0, FX_SIGNAL);
            (void)fx_next(pair.a.recv_evd);
            (void)fx_next(pair.b.request_evd);
        }
        if (atomic_load(&a.ep->sq.tail) != 0 - left) {
            fx_write(pair.a_ep, &a_buf, 0, 8, &b_buf, 0, 0, FX_SIGNAL);
            (void)fx_next(pair.a.request_evd);
        }
    }
}

/* What is posted on both sides of the wrap is flushed in order, once. */
Test(uiw_wrap, flush)
{
    go_to_the_wrap(3);
    for (unsigned i = 0; i < DEPTH; i++)
        fx_recv(pair.a_ep, &a_buf, LARGE, PIECE, i);
    CHECK_OK(it_ep_disconnect(pair.b_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    for (unsigned i = 0; i < DEPTH; i++)
        (void)fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
    for (unsigned i = 0; i < DEPTH; i++) {
        fx_write(pair.a_ep, &a_buf, 0, 8, &b_buf, 0, i, FX_SIGNAL);
        (void)fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i,
                      IT_DTO_ERR_FLUSHED);
    }
    fx_empty(pair.a.recv_evd);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* The peer's Terminate quotes the header of a Read, whose MSN tells which one it was. */
Test(uiw_wrap, refused_read)
{
    it_rmr_context_t key = b_buf.key;

    while (a.ep->tx.next_read_msn != UINT32_MAX) {
        fx_read(pair.a_ep, &a_buf, LARGE, 8, &b_buf, LARGE, 0, FX_SIGNAL);
        (void)fx_next(pair.a.request_evd);
    }
    for (unsigned i = 0; i < 3; i++) {
        b_buf.key = i == 1 ? key ^ 0x100 : key;
        fx_read(pair.a_ep, &a_buf, LARGE, 8, &b_buf, LARGE, i, FX_SIGNAL);
    }
    b_buf.key = key;
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 0, 8);
    (void)fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
                  IT_DTO_ERR_REMOTE_ACCESS);
    (void)fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2,
                  IT_DTO_ERR_FLUSHED);
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}

Test(uiw_wrap, connections_of_an_endpoint)
{
    CHECK_OK(it_ep_disconnect(pair.b_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    a.ep->generation = UINT32_MAX;
    fx_pair_rejoin(&pair);
    cr_assert_eq(a.ep->generation, 1, "0 stands for any connection");
    fx_pair_ping(&pair);
}

/* ---------------------------------------------------------------- shared receives, and the lead */

Test(uiw_wrap, shared_receives)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_srq_handle_t srq = fx_srq(&pair.b, 1, DEPTH);
    struct uiw_srq *queue = uiw_srq_of((struct ual_srq *)(void *)srq);
    it_ep_handle_t from = fx_ep(&pair.a, NULL);
    it_ep_handle_t to = fx_srq_ep(&pair.b, srq, &attr);

    fx_join(&pair.a, from, &pair.b, to);
    queue->head = queue->tail = BEGIN;
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned k = 0; k < DEPTH; k++)
            fx_srq_recv(srq, &b_buf, k * PIECE, PIECE, k);
        for (unsigned k = 0; k < DEPTH; k++) {
            fx_send(from, &a_buf, k * PIECE, PIECE, k, FX_SIGNAL);
            fx_done_len(pair.b.recv_evd, to, IT_DTO_RC_RECV_CMPL_EVENT, k, PIECE);
            (void)fx_next(pair.a.request_evd);
        }
    }
    cr_assert_lt(queue->tail, UINT32_MAX / 2);
    fx_check_same(a_buf.data, b_buf.data, DEPTH * PIECE);
    CHECK_OK(it_ep_free(from));
    CHECK_OK(it_ep_free(to));
    CHECK_OK(it_srq_free(srq));
}

static _Atomic bool stop;

static void *poll_all_the_time(void *argument)
{
    it_event_t event;

    while (!atomic_load(&stop))
        (void)it_evd_dequeue(argument, &event);
    return NULL;
}

/* An endpoint is freed while the leader's rounds, and the number of those freed, wrap. */
Test(uiw_wrap, rounds_of_the_leader)
{
    struct uiw_progress *progress = &a.ep->ia->progress;
    it_evd_handle_t evd = fx_evd(&pair.a, IT_DTO_EVENT_STREAM, 8, 1);
    pthread_t poller;

    FX_WAIT_WHILE(atomic_load(&progress->leader) != UIW_LEADER_NONE, "the lead to be free");
    atomic_store(&progress->rounds, UINT32_MAX - 1000);
    atomic_store(&progress->stints, UINT32_MAX - 1000);
    atomic_store(&progress->purge, UINT32_MAX - 1);
    progress->purged = UINT32_MAX - 1;
    progress->polls = UINT32_MAX - 1000;
    CHECK_EQ(0, pthread_create(&poller, NULL, poll_all_the_time, evd));
    for (unsigned i = 0; i < 5; i++) {
        it_ep_handle_t ep = fx_ep(&pair.a, NULL);

        CHECK_OK(it_ep_free(ep));
        send_each_way(i, PIECE);
    }
    FX_WAIT_WHILE(atomic_load(&progress->rounds) > UINT32_MAX / 2, "more rounds");
    atomic_store(&stop, true);
    CHECK_EQ(0, pthread_join(poller, NULL));
    cr_assert_lt(atomic_load(&progress->purge), UINT32_MAX / 2);
    send_each_way(5, LARGE);
    CHECK_OK(it_evd_free(evd));
}
