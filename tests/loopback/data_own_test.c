/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITX_OWN_PEER_ACKS, _HOLD and _IMM: agreed on if both sides ask, completions that wait for the
 * peer, Terminates that name their request, Sends that wait for a receive, values within Sends.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"

#define SIZE     ((size_t)1 << 20)
#define BOTH     (ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD)
#define ALL      (BOTH | ITX_OWN_PEER_IMM)
#define FOREVER  IT_TIMEOUT_INFINITE
#define POLLS    2000
#define BRIEF_US 20000

static struct {
    struct fx_pair pair;
    struct fx_buf a, b;
} bed;

static struct itx_mpa_params settings(uint32_t own_peer, uint64_t hold_us)
{
    struct itx_mpa_params params;

    memset(&params, 0, sizeof(params));
    params.size = sizeof(params);
    params.revision = 2;
    params.crc = IT_TRUE;
    params.peer_to_peer = IT_TRUE;
    params.rtr_types = ITX_RTR_WRITE | ITX_RTR_READ;
    params.own_peer = own_peer;
    params.hold_us = hold_us;
    return params;
}

static void bed_open_as(uint32_t a, uint32_t b, uint64_t hold_us, const it_ep_attributes_t *attr)
{
    struct itx_mpa_params a_mpa = settings(a, hold_us);
    struct itx_mpa_params b_mpa = settings(b, hold_us);
    struct fx_pair_setup setup = {.a_attr = attr, .b_attr = attr, .a_mpa = &a_mpa, .b_mpa = &b_mpa};

    fx_pair_open_as(&bed.pair, &setup);
    bed.a = fx_node_buf(&bed.pair.a, SIZE);
    bed.b = fx_node_buf(&bed.pair.b, SIZE);
    fx_fill(bed.a.data, SIZE, 3);
}

static void bed_open(void)
{
    bed_open_as(BOTH, BOTH, FOREVER, NULL);
}

static void bed_open_brief(void)
{
    bed_open_as(BOTH, BOTH, BRIEF_US, NULL);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
    check_done();
}

static struct itx_mpa_info info_of(it_ep_handle_t ep)
{
    struct itx_mpa_info info;

    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(ep, &info));
    return info;
}

/* Lets b read from a. When the Read completes, each side has handled the other's earlier octets. */
static void round_trip(void)
{
    fx_read(bed.pair.b_ep, &bed.b, 0, 8, &bed.a, 0, 99, FX_SIGNAL);
    fx_done_len(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 99, 8);
}

static void sent(it_dto_cookie_t cookie, it_dto_status_t status)
{
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, cookie, status);
}

static void written(it_dto_cookie_t cookie, it_dto_status_t status)
{
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, cookie, status);
}

static void received(it_dto_cookie_t cookie, size_t length)
{
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, length);
}

static void nothing_completes(void)
{
    for (unsigned i = 0; i < POLLS; i++)
        fx_empty(bed.pair.a.request_evd);
}

/* Connects again after the connection has ended on both sides. */
static void again(void)
{
    fx_drain(bed.pair.a.request_evd);
    fx_drain(bed.pair.b.recv_evd);
    fx_drain(bed.pair.a.aff_evd);
    fx_drain(bed.pair.b.aff_evd);
    fx_pair_rejoin(&bed.pair);
}

static void part(it_ep_handle_t who)
{
    CHECK_OK(it_ep_disconnect(who, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- What is agreed on ---------------------------------------------------------------------- */

static void agrees(uint32_t a, uint32_t b, const it_ep_attributes_t *attr)
{
    bed_open_as(a, b, FOREVER, attr);
    fx_pair_ping(&bed.pair);
    CHECK_EQ(a & b, info_of(bed.pair.a_ep).own_peer);
    CHECK_EQ(a & b, info_of(bed.pair.b_ep).own_peer);
    part(bed.pair.a_ep);
    again();
    fx_pair_ping(&bed.pair);
    CHECK_EQ(a & b, info_of(bed.pair.a_ep).own_peer);
    CHECK_EQ(a & b, info_of(bed.pair.b_ep).own_peer);
    fx_pair_close(&bed.pair);
}

Test(data_own, both_must_ask)
{
    for (uint32_t a = 0; a <= ALL; a++) {
        for (uint32_t b = 0; b <= ALL; b++)
            agrees(a, b, NULL);
    }
    check_done();
}

Test(data_own, without_read_depths)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.rdma_read_ird = 0;
    attr.srv.rc.rdma_read_ord = 0;
    agrees(BOTH, BOTH, &attr);
    check_done();
}

Test(data_own, nothing_without_the_read)
{
    struct itx_mpa_params asks = settings(BOTH, FOREVER);
    struct itx_mpa_params writes = settings(BOTH, FOREVER);
    struct fx_pair_setup setup = {.a_mpa = &asks, .b_mpa = &writes};

    writes.rtr_types = ITX_RTR_WRITE;
    fx_pair_open_as(&bed.pair, &setup);
    fx_pair_ping(&bed.pair);
    CHECK_EQ(0, info_of(bed.pair.a_ep).own_peer);
    CHECK_EQ(0, info_of(bed.pair.b_ep).own_peer);
    fx_pair_close(&bed.pair);
    check_done();
}

Test(data_own, unknown_bits, .init = bed_open, .fini = bed_close)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = fx_ep(&bed.pair.a, &attr);
    struct itx_mpa_params params = settings(ALL + 1, FOREVER);

    CHECK_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    CHECK_OK(it_ep_free(ep));
}

/* ---- Acknowledgements ----------------------------------------------------------------------- */

Test(data_own, every_kind_of_request, .init = bed_open, .fini = bed_close)
{
    static const size_t sizes[] = {0, 1, 500, 4096, 65537, SIZE};

    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        it_lmr_triplet_t segment = fx_seg(&bed.a, 0, sizes[i]);

        fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, 1);
        fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, 2);
        fx_send(bed.pair.a_ep, &bed.a, 0, sizes[i], 3, FX_SIGNAL);
        fx_write(bed.pair.a_ep, &bed.a, 0, sizes[i], &bed.b, 0, 4, FX_SIGNAL);
        CHECK_OK(itx_post_rdma_write_imm(bed.pair.a_ep, &segment, sizes[i] ? 1 : 0, 5, FX_SIGNAL,
                                         fx_addr(&bed.b, 0), bed.b.key, 7));
        fx_read(bed.pair.a_ep, &bed.a, 0, sizes[i], &bed.b, 0, 6, FX_SIGNAL);
        sent(3, IT_DTO_SUCCESS);
        written(4, IT_DTO_SUCCESS);
        written(5, IT_DTO_SUCCESS);
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 6,
                IT_DTO_SUCCESS);
        received(1, sizes[i]);
        received(2, 0);
        fx_check_same(bed.a.data, bed.b.data, sizes[i]);
    }
}

/* No thread polls or waits at the other side: its loop acknowledges. */
Test(data_own, a_passive_peer_acknowledges, .init = bed_open, .fini = bed_close)
{
    for (uint64_t i = 0; i < 200; i++) {
        fx_write(bed.pair.a_ep, &bed.a, 0, 64, &bed.b, 0, i, FX_SIGNAL);
        written(i, IT_DTO_SUCCESS);
    }
}

/* When the completion is there, the data is there. */
Test(data_own, completion_means_arrival, .init = bed_open, .fini = bed_close)
{
    for (uint32_t i = 0; i < 100; i++) {
        fx_fill(bed.a.data, 5000, i);
        fx_write(bed.pair.a_ep, &bed.a, 0, 5000, &bed.b, 0, i, FX_SIGNAL);
        written(i, IT_DTO_SUCCESS);
        CHECK(fx_is_filled(bed.b.data, 5000, i));
    }
}

/* A side that has a message and disconnects has acknowledged it. */
Test(data_own, acknowledged_before_the_end)
{
    bed_open();
    for (uint64_t i = 0; i < 50; i++) {
        fx_recv(bed.pair.b_ep, &bed.b, 0, 64, 1);
        fx_send(bed.pair.a_ep, &bed.a, 0, 64, 2, FX_SIGNAL);
        received(1, 64);
        part(bed.pair.b_ep);
        sent(2, IT_DTO_SUCCESS);
        again();
    }
    bed_close();
}

/* ---- Terminates ----------------------------------------------------------------------------- */

static void ends_with(it_dto_cookie_t cookie, uint32_t terminate)
{
    struct itx_mpa_info info = info_of(bed.pair.a_ep);

    CHECK_EQ(terminate, info.terminate);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, cookie,
            IT_DTO_ERR_FLUSHED);
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}

Test(data_own, a_terminate_finds_the_write, .init = bed_open, .fini = bed_close)
{
    struct fx_buf none = bed.b;

    none.key ^= 0x10000;
    for (uint64_t i = 0; i < 3; i++)
        fx_write(bed.pair.a_ep, &bed.a, 0, 100, &bed.b, 0, i, FX_QUIET);
    fx_write(bed.pair.a_ep, &bed.a, 0, 100, &bed.b, 0, 3, FX_SIGNAL);
    fx_write(bed.pair.a_ep, &bed.a, 0, 70000, &none, 0, 4, FX_QUIET);
    fx_write(bed.pair.a_ep, &bed.a, 0, 100, &bed.b, 0, 5, FX_QUIET);
    written(3, IT_DTO_SUCCESS);
    written(4, IT_DTO_ERR_REMOTE_ACCESS);
    ends_with(5, 0x11100);
}

Test(data_own, a_terminate_finds_the_send, .init = bed_open, .fini = bed_close)
{
    fx_recv(bed.pair.b_ep, &bed.b, 0, 10, 1);
    fx_recv(bed.pair.b_ep, &bed.b, 0, 10, 2);
    fx_send(bed.pair.a_ep, &bed.a, 0, 10, 1, FX_SIGNAL);
    fx_send(bed.pair.a_ep, &bed.a, 0, 11, 2, FX_SIGNAL);
    fx_write(bed.pair.a_ep, &bed.a, 0, 100, &bed.b, 0, 3, FX_QUIET);
    sent(1, IT_DTO_SUCCESS);
    sent(2, IT_DTO_ERR_REMOTE_RESPONDER);
    ends_with(3, 0x11205);
}

/* ---- Sends that wait ------------------------------------------------------------------------ */

Test(data_own, a_send_waits_for_its_receive, .init = bed_open, .fini = bed_close)
{
    fx_send(bed.pair.a_ep, &bed.a, 0, 5000, 1, FX_SIGNAL);
    fx_send(bed.pair.a_ep, &bed.a, 7, 300000, 2, FX_SIGNAL);
    fx_send(bed.pair.a_ep, &bed.a, 0, 0, 3, FX_SIGNAL);
    fx_write(bed.pair.a_ep, &bed.a, 9, 100, &bed.b, SIZE - 100, 4, FX_SIGNAL);
    /*
     * The stream continues while the Send waits: Reads of the other side are answered, and the
     * Write arrives.
     */
    round_trip();
    nothing_completes();
    fx_recv(bed.pair.b_ep, &bed.b, 0, 5000, 1);
    received(1, 5000);
    fx_check_same(bed.a.data, bed.b.data, 5000);
    sent(1, IT_DTO_SUCCESS);
    nothing_completes();
    fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE - 100, 2);
    fx_recv(bed.pair.b_ep, &bed.b, 0, 0, 3);
    received(2, 300000);
    received(3, 0);
    fx_check_same(bed.a.data + 7, bed.b.data, 300000);
    sent(2, IT_DTO_SUCCESS);
    sent(3, IT_DTO_SUCCESS);
    written(4, IT_DTO_SUCCESS);
    fx_check_same(bed.a.data + 9, bed.b.data + SIZE - 100, 100);
    fx_pair_ping(&bed.pair);
}

Test(data_own, values_wait_too, .init = bed_open, .fini = bed_close)
{
    it_lmr_triplet_t segment = fx_seg(&bed.a, 0, 600);
    uint64_t value = 0;
    it_event_t event;

    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    CHECK_OK(itx_post_send_imm(bed.pair.a_ep, &segment, 1, 1, FX_SIGNAL, 55));
    fx_send(bed.pair.a_ep, &bed.a, 0, 10, 2, FX_SIGNAL);
    round_trip();
    nothing_completes();
    for (uint64_t i = 0; i < 3; i++)
        fx_recv(bed.pair.b_ep, &bed.b, 0, 1000, i);
    received(0, 600);
    event = fx_next(bed.pair.b.recv_evd);
    CHECK_EQ(IT_TRUE, itx_event_immediate(&event, &value));
    CHECK_EQ(55, value);
    received(2, 10);
    sent(1, IT_DTO_SUCCESS);
    sent(2, IT_DTO_SUCCESS);
}

Test(data_own, a_shared_queue_is_waited_for)
{
    struct itx_mpa_params params = settings(BOTH, FOREVER);
    it_srq_handle_t srq;
    it_ep_handle_t ep;

    bed_open();
    srq = fx_srq(&bed.pair.b, 1, 8);
    ep = fx_srq_ep(&bed.pair.b, srq, NULL);
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
    CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    bed.pair.b_ep = ep;
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_drain(bed.pair.b.conn_evd);
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, ep);
    fx_send(bed.pair.a_ep, &bed.a, 0, 100, 1, FX_SIGNAL);
    fx_send(bed.pair.a_ep, &bed.a, 0, 200, 2, FX_SIGNAL);
    round_trip();
    nothing_completes();
    fx_srq_recv(srq, &bed.b, 0, 1000, 1);
    received(1, 100);
    sent(1, IT_DTO_SUCCESS);
    fx_srq_recv(srq, &bed.b, 0, 1000, 2);
    received(2, 200);
    sent(2, IT_DTO_SUCCESS);
    CHECK_OK(it_ep_free(ep));
    CHECK_OK(it_srq_free(srq));
    bed.pair.b_ep = fx_ep(&bed.pair.b, NULL);
    bed_close();
}

Test(data_own, the_time_is_over, .init = bed_open_brief, .fini = bed_close)
{
    fx_send(bed.pair.a_ep, &bed.a, 0, 100, 1, FX_SIGNAL);
    fx_send(bed.pair.a_ep, &bed.a, 0, 100, 2, FX_SIGNAL);
    fx_write(bed.pair.a_ep, &bed.a, 0, 100, &bed.b, 0, 3, FX_QUIET);
    sent(1, IT_DTO_ERR_RECEIVER_NOT_READY);
    sent(2, IT_DTO_ERR_FLUSHED);
    ends_with(3, 0x11202);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    /* The failed connection has returned its resources: the pair works again. */
    again();
    fx_pair_ping(&bed.pair);
}

/*
 * A limit holds for its side, whether it was set before the connection, before the Send, or while
 * the Send waits.
 */
static void limited(unsigned when)
{
    if (when == 0) {
        CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
        fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(itx_ep_limit_hold(bed.pair.a_ep, 2, 0));
        again();
    }
    CHECK_OK(itx_ep_limit_hold(bed.pair.b_ep, ITX_HOLD_TRIES, BRIEF_US));
    if (when == 1)
        CHECK_OK(itx_ep_limit_hold(bed.pair.a_ep, 2, 0));
    fx_send(bed.pair.a_ep, &bed.a, 0, 100, 1, FX_SIGNAL);
    if (when == 2) {
        round_trip();
        CHECK_OK(itx_ep_limit_hold(bed.pair.a_ep, 0, 0));
    }
    sent(1, IT_DTO_ERR_RECEIVER_NOT_READY);
    CHECK_EQ(0x11202, info_of(bed.pair.a_ep).terminate);
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_OK(itx_ep_limit_hold(bed.pair.a_ep, ITX_HOLD_TRIES, 0));
    again();
}

Test(data_own, the_tries_are_over, .init = bed_open, .fini = bed_close)
{
    for (unsigned when = 0; when < 3; when++)
        limited(when);
    /* The other direction has no limit of tries. */
    CHECK_OK(itx_ep_limit_hold(bed.pair.b_ep, 0, 0));
    fx_send(bed.pair.a_ep, &bed.a, 0, 100, 1, FX_SIGNAL);
    round_trip();
    nothing_completes();
    fx_recv(bed.pair.b_ep, &bed.b, 0, 100, 1);
    received(1, 100);
    sent(1, IT_DTO_SUCCESS);
}

Test(data_own, the_room_is_used_up, .init = bed_open, .fini = bed_close)
{
    uint64_t most = ITX_HOLD_OCTETS / 2 / SIZE;
    it_event_t event;
    uint64_t i;

    for (i = 0; i < most + 1; i++) {
        if (it_post_send(
                bed.pair.a_ep,
                &(it_lmr_triplet_t){.lmr = bed.a.lmr, .addr.abs = bed.a.data, .length = SIZE}, 1, i,
                FX_SIGNAL) != IT_SUCCESS)
            break;
    }
    CHECK(i > most / 2);
    event = fx_next(bed.pair.a.request_evd);
    CHECK_EQ(0, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_ERR_RECEIVER_NOT_READY, event.dto_cmpl.dto_status);
    CHECK_EQ(0x11202, info_of(bed.pair.a_ep).terminate);
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    again();
    fx_send(bed.pair.a_ep, &bed.a, 0, SIZE, 1, FX_SIGNAL);
    fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, 1);
    received(1, SIZE);
    sent(1, IT_DTO_SUCCESS);
}

/* ---- Values within Sends -------------------------------------------------------------------- */

static void send_value(size_t length, it_dto_cookie_t cookie, uint64_t value)
{
    it_lmr_triplet_t segment = fx_seg(&bed.a, 0, length);

    CHECK_OK(itx_post_send_imm(bed.pair.a_ep, length ? &segment : NULL, length ? 1 : 0, cookie,
                               FX_SIGNAL, value));
}

/* Takes the next completion of the receiver, which must have this length and this value. */
static void value_arrives(it_dto_cookie_t cookie, size_t length, uint64_t want)
{
    it_event_t event = fx_next(bed.pair.b.recv_evd);
    uint64_t value = 0;

    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(length, event.dto_cmpl.transferred_length);
    CHECK(event.dto_cmpl.unlinked_mr_handle == NULL);
    CHECK_EQ(IT_TRUE, itx_event_immediate(&event, &value));
    CHECK_EQ(want, value);
}

/* Both ends send values. The values are posted before the peer has sent anything. */
static void values_go_within(uint32_t bits)
{
    static const size_t sizes[] = {0, 1, 1000, 70000};
    static const uint64_t values[] = {0, 1, 0x80000001, UINT32_MAX};

    bed_open_as(bits | ITX_OWN_PEER_IMM, ALL, FOREVER, NULL);
    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    for (uint64_t i = 0; i < 4; i++) {
        memset(bed.b.data, 0, sizes[i]);
        fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, i);
        send_value(sizes[i], 10 + i, values[i]);
        value_arrives(i, sizes[i], values[i]);
        fx_check_same(bed.a.data, bed.b.data, sizes[i]);
        sent(10 + i, IT_DTO_SUCCESS);
    }
    /* A value of more bits is sent separately, as usual. */
    fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, 1);
    fx_recv(bed.pair.b_ep, &bed.b, 0, SIZE, 2);
    send_value(100, 3, UINT64_C(1) << 32);
    received(1, 100);
    value_arrives(2, 0, UINT64_C(1) << 32);
    sent(3, IT_DTO_SUCCESS);
    fx_pair_close(&bed.pair);
}

Test(data_own, values_within_sends)
{
    for (uint32_t bits = 0; bits <= BOTH; bits++)
        values_go_within(bits);
    check_done();
}

Test(data_own, values_within_sends_wait_too)
{
    bed_open_as(ALL, ALL, FOREVER, NULL);
    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    send_value(600, 1, 55);
    send_value(0, 2, 0);
    round_trip();
    nothing_completes();
    fx_recv(bed.pair.b_ep, &bed.b, 0, 1000, 8);
    fx_recv(bed.pair.b_ep, &bed.b, 0, 1000, 9);
    value_arrives(8, 600, 55);
    value_arrives(9, 0, 0);
    sent(1, IT_DTO_SUCCESS);
    sent(2, IT_DTO_SUCCESS);
    bed_close();
}
