/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_mpa_params.release_us: an accepting side that sends first without the peer-to-peer model. */
#include <criterion/criterion.h>

#include "support/fixture_pair.h"
#include "support/test_row.h"

#define RELEASE_US 5000u

static struct itx_mpa_params settings(uint32_t revision, it_boolean_t peer_to_peer,
                                      uint64_t release_us)
{
    return (struct itx_mpa_params){.size = sizeof(struct itx_mpa_params),
                                   .revision = revision,
                                   .crc = IT_TRUE,
                                   .peer_to_peer = peer_to_peer,
                                   .rtr_types = ITX_RTR_READ | ITX_RTR_WRITE,
                                   .request_markers = IT_FALSE,
                                   .release_us = release_us};
}

static void open_with(struct itx_mpa_params a, struct itx_mpa_params b)
{
    struct fx_pair_setup setup = {.a_mpa = &a, .b_mpa = &b};

    fx_pair_open_as(&pair, &setup);
}

/*
 * The accepting side sends, writes and reads before the other side has posted anything except
 * receives.
 */
static void accepting_side_first(uint32_t revision)
{
    struct fx_buf a;
    struct fx_buf b;

    open_with(settings(revision, IT_FALSE, 0), settings(revision, IT_FALSE, RELEASE_US));
    a = fx_node_buf(&pair.a, 4096);
    b = fx_node_buf(&pair.b, 4096);
    fx_fill(b.data, b.size, revision);
    fx_recv(pair.a_ep, &a, 0, 1000, 1);
    fx_send(pair.b_ep, &b, 0, 1000, 2, FX_SIGNAL);
    fx_write(pair.b_ep, &b, 1000, 1000, &a, 1000, 3, FX_SIGNAL);
    fx_read(pair.b_ep, &b, 3000, 500, &a, 500, 4, FX_SIGNAL);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 2, 1000);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, 1000);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, 500);
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 1000);
    fx_check_same(b.data, a.data, 2000);
    fx_check_same(b.data + 500, b.data + 3000, 500);
    fx_pair_close(&pair);
}

TEST_ROW(data_release, accepting_side_first_revision_1, accepting_side_first, 1);
TEST_ROW(data_release, accepting_side_first_revision_2, accepting_side_first, 2);

/*
 * The program does not set release_us: one side uses the first version of the struct, which lacks
 * it, the other leaves it 0.
 */
Test(data_release, by_default, .fini = pair_fini)
{
    struct itx_mpa_params a = settings(1, IT_FALSE, 0);
    struct itx_mpa_params b = settings(1, IT_FALSE, 0);
    struct itx_mpa_params params = {.size = sizeof(params)};
    struct fx_buf buf;

    b.size = offsetof(struct itx_mpa_params, release_us);
    open_with(a, b);
    CHECK_OK(itx_ep_get_mpa_params(pair.b_ep, &params));
    CHECK_EQ(ITX_RELEASE_US, params.release_us);
    buf = fx_node_buf(&pair.b, 64);
    CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    fx_send(pair.b_ep, &buf, 0, 0, 2, FX_SIGNAL);
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
}

/* The accepting side's program sleeps in it_evd_wait from the start, so nobody polls. */
Test(data_release, while_its_consumer_waits, .fini = pair_fini)
{
    struct fx_buf b;
    it_event_t event;

    open_with(settings(1, IT_FALSE, 0), settings(1, IT_FALSE, RELEASE_US));
    b = fx_node_buf(&pair.b, 64);
    CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    fx_send(pair.b_ep, &b, 0, 0, 2, FX_SIGNAL);
    event = fx_wait(pair.b.request_evd);
    CHECK_EQ(IT_DTO_SEND_CMPL_EVENT, event.event_number);
    fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
}

/* The initiator sends before the time is over, so the time makes no difference. */
Test(data_release, initiator_first, .fini = pair_fini)
{
    open_with(settings(1, IT_FALSE, 0), settings(1, IT_FALSE, UINT64_MAX / 2000));
    fx_pair_ping(&pair);
}

/*
 * With the peer-to-peer model the ready-to-receive message releases the posts, and the setting has
 * no effect.
 */
Test(data_release, peer_to_peer, .fini = pair_fini)
{
    struct itx_mpa_params params = {.size = sizeof(params)};

    open_with(settings(2, IT_TRUE, 0), settings(2, IT_TRUE, UINT64_MAX));
    CHECK_OK(itx_ep_get_mpa_params(pair.b_ep, &params));
    CHECK_EQ(UINT64_MAX, params.release_us);
    fx_pair_ping(&pair);
}

/* A disconnect ends the wait. Posted requests are flushed. */
Test(data_release, disconnected_before, .fini = pair_fini)
{
    struct fx_buf b;

    open_with(settings(1, IT_FALSE, 0), settings(1, IT_FALSE, UINT64_C(3600000000)));
    b = fx_node_buf(&pair.b, 64);
    fx_send(pair.b_ep, &b, 0, 64, 2, FX_SIGNAL);
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_done(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}
