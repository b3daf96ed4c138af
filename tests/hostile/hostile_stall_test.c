/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers stop reading, or close only half of the connection. Nobody else is delayed, and the
 * victim's program gets rid of them at once.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include "hostile/hostile_kit.h"

#define BIG (16u << 20)

struct bed {
    struct hk kit;
    struct hk_victim victim;
    struct fx_buf big;
};

/* Makes a victim with far more to send than fits, and a peer that does not read. */
static void bed_open(struct bed *bed, enum hk_role role)
{
    memset(bed, 0, sizeof(*bed));
    hk_open(&bed->kit);
    bed->big = fx_buf_make(&bed->kit.node, BIG);
    hk_victim(&bed->kit, &bed->victim, role, &hk_plain);
    hk_wake(&bed->victim);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_OK(it_post_recv(bed->victim.ep, NULL, 0, i, FX_SIGNAL));
    fx_send(bed->victim.ep, &bed->big, 0, BIG, 100, FX_SIGNAL);
    for (uint64_t i = 1; i < 20; i++)
        fx_send(bed->victim.ep, &bed->big, 0, 1000, 100 + i, FX_QUIET);
}

static void bed_close(struct bed *bed)
{
    hk_healthy(&bed->kit);
    raw_close(&bed->victim.peer);
    fx_buf_free(&bed->big);
    hk_close(&bed->kit);
}

/*
 * A stalled peer was disconnected on another IA. The library gives it up after a while. A call that
 * waited for the peer, or for this, would still be waiting then.
 */
static void given_up_begin(struct bed *other)
{
    bed_open(other, HK_CONNECT);
    CHECK_OK(it_ep_disconnect(other->victim.ep, NULL, 0));
    hk_ended(&other->victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

static bool is_given_up(const struct bed *other)
{
    struct pollfd peer = {.fd = other->victim.peer.fd};

    CHECK(poll(&peer, 1, 0) >= 0);
    return (peer.revents & (POLLERR | POLLHUP)) != 0;
}

static void given_up_end(struct bed *other)
{
    fx_buf_free(&other->big);
    fx_node_close(&other->kit.node);
    raw_close(&other->victim.peer);
    fx_node_close(&other->kit.good.b);
}

static void flushed(struct bed *bed, bool requests)
{
    for (uint64_t i = 0; i < 4; i++)
        fx_done(bed->kit.node.recv_evd, bed->victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, i,
                IT_DTO_ERR_FLUSHED);
    for (uint64_t i = 0; requests && i < 20; i++) {
        it_event_t event = fx_next(bed->kit.node.request_evd);

        EXPECT_EQ(100 + i, event.dto_cmpl.cookie);
        EXPECT(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
               (i == 0 && event.dto_cmpl.dto_status == IT_DTO_ERR_TRANSPORT));
    }
}

Test(hostile_stall, others_go_on)
{
    struct bed bed;

    bed_open(&bed, HK_CONNECT);
    for (unsigned i = 0; i < 50; i++)
        fx_pair_ping(&bed.kit.good);
    fx_empty(bed.kit.node.request_evd);
    CHECK_OK(it_ep_free(bed.victim.ep));
    bed_close(&bed);
    check_done();
}

Test(hostile_stall, disconnect_returns)
{
    for (int role = 0; role < HK_ROLES; role++) {
        struct bed bed, other;

        bed_open(&bed, (enum hk_role)role);
        given_up_begin(&other);
        CHECK_OK(it_ep_disconnect(bed.victim.ep, NULL, 0));
        hk_ended(&bed.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        flushed(&bed, true);
        CHECK_OK(it_ep_free(bed.victim.ep));
        CHECK(!is_given_up(&other));
        given_up_end(&other);
        bed_close(&bed);
    }
    check_done();
}

Test(hostile_stall, free_returns)
{
    struct bed bed, other;

    bed_open(&bed, HK_LISTEN);
    given_up_begin(&other);
    CHECK_OK(it_ep_free(bed.victim.ep));
    CHECK(!is_given_up(&other));
    given_up_end(&other);
    fx_empty(bed.kit.node.conn_evd);
    bed_close(&bed);
}

Test(hostile_stall, lmr_free_returns)
{
    struct bed bed, other;

    bed_open(&bed, HK_LISTEN);
    given_up_begin(&other);
    CHECK_OK(it_lmr_free(bed.big.lmr));
    CHECK(!is_given_up(&other));
    given_up_end(&other);
    bed.big.lmr = NULL;
    CHECK_OK(it_ep_free(bed.victim.ep));
    while (it_evd_dequeue(bed.kit.node.conn_evd, &(it_event_t){0}) == IT_SUCCESS ||
           it_evd_dequeue(bed.kit.node.aff_evd, &(it_event_t){0}) == IT_SUCCESS ||
           it_evd_dequeue(bed.kit.node.recv_evd, &(it_event_t){0}) == IT_SUCCESS ||
           it_evd_dequeue(bed.kit.node.request_evd, &(it_event_t){0}) == IT_SUCCESS)
        continue;
    bed_close(&bed);
}

Test(hostile_stall, ia_free_returns)
{
    struct bed bed, other;

    bed_open(&bed, HK_LISTEN);
    given_up_begin(&other);
    CHECK_OK(it_ia_free(bed.kit.node.ia));
    CHECK(!is_given_up(&other));
    given_up_end(&other);
    CHECK(raw_drain(&bed.victim.peer) != RAW_TIMEOUT);
    raw_close(&bed.victim.peer);
    fx_node_close(&bed.kit.good.b);
}

/* The peer violates a rule while the victim's messages to it are stuck. */
Test(hostile_stall, bad_peer_that_does_not_read)
{
    struct bed bed;
    RAW_BYTES(ulpdu);

    bed_open(&bed, HK_CONNECT);
    raw_tagged(&ulpdu, RAW_WRITE, 0, 0, "x", 1, true);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
    flushed(&bed, true);
    hk_healthy(&bed.kit);
    CHECK_OK(it_ep_free(bed.victim.ep));
    bed_close(&bed);
    check_done();
}

/* The same, but then the peer reads: everything up to a frame's end, then the Terminate. */
Test(hostile_stall, terminate_comes_at_a_boundary)
{
    struct bed bed;
    RAW_BYTES(ulpdu);

    bed_open(&bed, HK_CONNECT);
    raw_tagged(&ulpdu, RAW_WRITE, 0, 0, "x", 1, true);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    EXPECT_EQ(0x1100, hk_terminated(&bed.victim, &ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
    flushed(&bed, true);
    CHECK_OK(it_ep_free(bed.victim.ep));
    bed_close(&bed);
    check_done();
}

/* The peer closes its direction and still reads. That ends the connection. */
Test(hostile_stall, half_close)
{
    struct hk kit;

    hk_open(&kit);
    for (int role = 0; role < HK_ROLES; role++) {
        struct hk_victim victim;

        hk_victim(&kit, &victim, (enum hk_role)role, &hk_plain);
        CHECK_OK(it_post_recv(victim.ep, NULL, 0, 1, FX_SIGNAL));
        raw_finish(&victim.peer);
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
        CHECK_EQ(RAW_EOF, raw_drain(&victim.peer));
        hk_victim_close(&victim);
    }
    hk_close(&kit);
    check_done();
}

/*
 * A disconnect sends a FIN behind a whole FPDU, without Terminate and RST, even if the peer stays.
 */
Test(hostile_stall, orderly_disconnect_on_the_wire)
{
    static struct raw_segment segment;
    struct hk kit;

    hk_open(&kit);
    for (int role = 0; role < HK_ROLES; role++) {
        struct hk_victim victim;
        struct fx_buf out = fx_buf_make(&kit.node, 100);
        enum raw_result result;

        hk_victim(&kit, &victim, (enum hk_role)role, &hk_plain);
        hk_wake(&victim);
        fx_send(victim.ep, &out, 0, out.size, 1, FX_SIGNAL);
        fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 1, out.size);
        CHECK_OK(it_ep_disconnect(victim.ep, NULL, 0));
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_SEND, segment.op);
        result = raw_receive_fpdu(&victim.peer, &segment);
        CHECK_EQ(RAW_EOF, result);
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        hk_victim_close(&victim);
        fx_buf_free(&out);
    }
    hk_close(&kit);
    check_done();
}
