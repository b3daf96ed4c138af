/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itx_ep_aim and itx_post_send_from beside other extensions: values without payload, Sends that
 * have waited for a receive, shared receives, another connection, frozen endpoints.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"

#define SIZE ((size_t)200000)
#define HEAD 16u
#define MARK ((it_dto_cookie_t)1 << 40)

static struct {
    struct fx_pair pair;
    struct fx_buf from;
    struct fx_buf to;
} bed;

static unsigned char place[SIZE];

static void bed_open_as(const struct fx_pair_setup *setup)
{
    fx_pair_open_as(&bed.pair, setup);
    bed.from = fx_node_buf(&bed.pair.a, SIZE);
    bed.to = fx_node_buf(&bed.pair.b, SIZE);
    fx_fill(bed.from.data, SIZE, 3);
    memset(bed.to.data, 0, SIZE);
}

static void bed_open(void)
{
    bed_open_as(&(struct fx_pair_setup){0});
}

/* Sends wait for a receive. */
static void bed_open_patient(void)
{
    const struct itx_mpa_params mpa = {.size = sizeof(mpa),
                                       .revision = 2,
                                       .crc = IT_TRUE,
                                       .peer_to_peer = IT_TRUE,
                                       .rtr_types = ITX_RTR_WRITE | ITX_RTR_READ,
                                       .own_peer = ITX_OWN_PEER_HOLD,
                                       .hold_us = (uint64_t)FX_PATIENCE_MS * 1000};

    bed_open_as(&(struct fx_pair_setup){.a_mpa = &mpa, .b_mpa = &mpa});
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
}

static struct itx_aim aim_from(uint32_t least)
{
    return (struct itx_aim){.size = sizeof(struct itx_aim),
                            .octets = place,
                            .length = SIZE,
                            .skip = HEAD,
                            .least = least,
                            .mark = MARK};
}

static void aim_at_place(it_ep_handle_t ep, uint32_t least)
{
    const struct itx_aim aim = aim_from(least);

    CHECK_OK(itx_ep_aim(ep, &aim, NULL));
}

static void sends(it_ep_handle_t ep, size_t length)
{
    fx_send(ep, &bed.from, 0, length, 7, FX_SIGNAL);
    fx_done(bed.pair.a.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 7, IT_DTO_SUCCESS);
}

/* All octets behind the first HEAD are at the place, none in the receive. */
static void has_arrived(it_ep_handle_t ep, it_dto_cookie_t cookie, size_t length)
{
    fx_done_len(bed.pair.b.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie | MARK, length);
    fx_check_same(bed.from.data, bed.to.data, HEAD);
    fx_check_same(bed.from.data + HEAD, place, length - HEAD);
    CHECK(fx_is_byte(bed.to.data + HEAD, SIZE - HEAD, 0));
}

/* A value alone has no payload, so nothing of it is aimed, whatever `least` says. */
Test(data_aim, value, .init = bed_open, .fini = bed_close)
{
    it_length_t used = 1;

    CHECK_OK(itx_ep_enable_immediate(bed.pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed.pair.b_ep, IT_TRUE));
    for (unsigned i = 0; i < 3; i++)
        fx_recv(bed.pair.b_ep, &bed.to, 0, SIZE, i);
    aim_at_place(bed.pair.b_ep, 0);
    CHECK_OK(itx_post_send_imm(bed.pair.a_ep, NULL, 0, 1, FX_QUIET, UINT64_C(1) << 40));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, 0);
    aim_at_place(bed.pair.b_ep, 1000);
    sends(bed.pair.a_ep, 999);
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 999);
    fx_check_same(bed.from.data, bed.to.data, 999);
    memset(bed.to.data, 0, SIZE);
    sends(bed.pair.a_ep, 1000);
    has_arrived(bed.pair.b_ep, 2, 1000);
    CHECK_OK(itx_ep_aim(bed.pair.b_ep, NULL, &used));
    CHECK_EQ(1000 - HEAD, used);
}

static uint64_t octets_in(void)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(bed.pair.b_ep, &counters));
    return counters.bytes_received;
}

/* The Send arrives before its receive is posted. */
Test(data_aim, waited, .init = bed_open_patient, .fini = bed_close)
{
    aim_at_place(bed.pair.b_ep, 8192);
    fx_send(bed.pair.a_ep, &bed.from, 0, 100000, 7, FX_SIGNAL);
    FX_WAIT_WHILE(octets_in() < 100000, "the Send");
    fx_recv(bed.pair.b_ep, &bed.to, 0, SIZE, 5);
    has_arrived(bed.pair.b_ep, 5, 100000);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 7, IT_DTO_SUCCESS);
}

Test(data_aim, shared_receives, .init = bed_open, .fini = bed_close)
{
    it_srq_handle_t srq = fx_srq(&bed.pair.b, 1, 4);
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t drawer = fx_srq_ep(&bed.pair.b, srq, &attr);
    it_ep_handle_t sender = fx_ep(&bed.pair.a, &attr);

    fx_srq_recv(srq, &bed.to, 0, SIZE, 6);
    fx_join(&bed.pair.a, sender, &bed.pair.b, drawer);
    aim_at_place(drawer, 8192);
    sends(sender, SIZE);
    has_arrived(drawer, 6, SIZE);
    CHECK_OK(it_ep_free(sender));
    CHECK_OK(it_ep_free(drawer));
    CHECK_OK(it_srq_free(srq));
}

/* An aim stays for the next connection, but not for the next endpoint. */
Test(data_aim, outlives_a_connection, .init = bed_open, .fini = bed_close)
{
    it_ep_attributes_t attr = fx_ep_attr();

    aim_at_place(bed.pair.b_ep, 8192);
    CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_pair_rejoin(&bed.pair);
    fx_recv(bed.pair.b_ep, &bed.to, 0, SIZE, 1);
    sends(bed.pair.a_ep, 50000);
    has_arrived(bed.pair.b_ep, 1, 50000);

    CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(bed.pair.a_ep));
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    bed.pair.a_ep = fx_ep(&bed.pair.a, &attr);
    bed.pair.b_ep = fx_ep(&bed.pair.b, &attr);
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    fx_recv(bed.pair.b_ep, &bed.to, 0, SIZE, 2);
    sends(bed.pair.a_ep, 50000);
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 50000);
    fx_check_same(bed.from.data, bed.to.data, 50000);
}

/* Both calls wait for tokens, which a frozen endpoint does not give back. */
Test(data_aim, frozen, .init = bed_open, .fini = bed_close)
{
    const struct itx_aim aim = aim_from(8192);
    it_lmr_triplet_t segment = fx_seg(&bed.to, 0, SIZE);

    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, itx_ep_aim(bed.pair.b_ep, &aim, NULL));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE,
                 itx_post_send_from(bed.pair.b_ep, &segment, 1, 1, FX_SIGNAL, place, NULL));
    CHECK_OK(itx_ep_claim(bed.pair.b_ep));
    fx_fill(place, SIZE, 9);
    fx_recv(bed.pair.a_ep, &bed.from, 0, SIZE, 2);
    CHECK_OK(itx_post_send_from(bed.pair.b_ep, &segment, 1, 1, FX_SIGNAL, place, NULL));
    fx_done_len(bed.pair.a.recv_evd, bed.pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, SIZE);
    fx_check_same(place, bed.from.data, SIZE);
    fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    CHECK_OK(itx_ep_aim(bed.pair.b_ep, &aim, NULL));
}
