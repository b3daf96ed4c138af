/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Initiators without the peer-to-peer model, of revisions 1 and 2: strict ones, which allow nothing
 * before their first FPDU, and those that wait for the responder's.
 */
#include <criterion/criterion.h>
#include <linux/filter.h>
#include <poll.h>
#include <sys/socket.h>

#include "hostile/fixture_kit.h"
#include "support/test_row.h"

/*
 * How long the test waits for a frame that must not come: acknowledgements may take 40 ms, or 200
 * ms if one is lost.
 */
#define GRACE_MS 300
/* No test waits for this long. */
#define LONG_US UINT64_C(100000000)

static const struct hk_startup startups[] = {{1, RAW_MPA_C, 0}, {2, RAW_MPA_C, 4u << 16 | 4u}};

static bool says_nothing(struct hk_victim *victim)
{
    struct pollfd wait = {victim->peer.fd, POLLIN, 0};

    return poll(&wait, 1, GRACE_MS) == 0;
}

static it_ep_handle_t endpoint(uint64_t release_us)
{
    it_ep_handle_t ep = fx_ep(&kit.node, NULL);
    struct itx_mpa_params params = fx_mpa(ep);

    params.release_us = release_us;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
    return ep;
}

static uint64_t sent(const struct hk_victim *victim)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(victim->ep, &counters));
    return counters.fpdus_sent;
}

static void post(const struct hk_victim *victim)
{
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(victim->ep));
    CHECK_OK(it_post_send(victim->ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_rdma_write(victim->ep, NULL, 0, 2, FX_SIGNAL, 0, 0));
}

static void takes_posts(struct hk_victim *victim)
{
    static struct raw_segment segment;
    const struct fx_node *node = &victim->kit->node;

    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
    CHECK_EQ(RAW_SEND, segment.op);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim->peer, &segment));
    CHECK_EQ(RAW_WRITE, segment.op);
    fx_done_len(node->request_evd, victim->ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    fx_done_len(node->request_evd, victim->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 0);
}

/* ---- Strict initiators ---------------------------------------------------------------------- */

/* Nothing is sent before a valid first FPDU of the peer has arrived. */
static void strict(enum hk_role role, uint64_t release_us)
{
    hk_open(&kit);
    for (unsigned i = 0; i < 2; i++) {
        struct hk_victim victim;

        hk_victim_of(&kit, &victim, endpoint(release_us), role, &startups[i]);
        post(&victim);
        CHECK(says_nothing(&victim));
        fx_empty(kit.node.request_evd);
        hk_wake(&victim);
        takes_posts(&victim);
        hk_part(&victim);
    }
    hk_close(&kit);
}

/* release_us is 0: as RFC 5044 7.1.2 demands. */
TEST_ROW(hostile_silence, never, strict, HK_LISTEN, 0);

/* The peer sends before the time is over. */
TEST_ROW(hostile_silence, not_before_the_time_is_over, strict, HK_LISTEN, LONG_US);

/* More microseconds than a count of nanoseconds holds. */
TEST_ROW(hostile_silence, for_ever, strict, HK_LISTEN, UINT64_MAX);

Test(hostile_silence, never_on_a_converted_socket)
{
    strict(HK_CONVERT_RESPONDER, 0);
    strict(HK_CONVERT_RESPONDER, 1);
}

/* ---- Silent ones ---------------------------------------------------------------------------- */

/* By default silent peers get the posted messages, but not at once. */
Test(hostile_silence, by_default, .init = kit_init, .fini = kit_fini)
{
    for (unsigned i = 0; i < 2; i++) {
        struct hk_victim victim;
        uint64_t begin = fx_now_us();

        hk_victim(&kit, &victim, HK_LISTEN, &startups[i]);
        post(&victim);
        takes_posts(&victim);
        CHECK(fx_now_us() - begin >= ITX_RELEASE_US);
        /* Later messages are sent at once, and the peer may still send. */
        post(&victim);
        takes_posts(&victim);
        hk_wake(&victim);
        post(&victim);
        takes_posts(&victim);
        hk_part(&victim);
    }
}

/* If nothing is posted for a long time, a later post does not wait. */
Test(hostile_silence, posted_late, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    hk_victim_of(&kit, &victim, endpoint(1), HK_LISTEN, &hk_plain);
    CHECK(says_nothing(&victim));
    post(&victim);
    takes_posts(&victim);
    hk_part(&victim);
}

/* The peer closes before the time is over: nothing was sent. */
Test(hostile_silence, peer_goes_away, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    hk_victim_of(&kit, &victim, endpoint(LONG_US), HK_LISTEN, &hk_plain);
    CHECK_OK(it_post_send(victim.ep, NULL, 0, 1, FX_SIGNAL));
    raw_finish(&victim.peer);
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    hk_victim_close(&victim);
}

/* Drops all packets to the socket before its TCP sees them. */
static void deaf(const struct raw_peer *peer, bool on)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {.len = 1, .filter = &nothing};
    int option = on ? SO_ATTACH_FILTER : SO_DETACH_FILTER;

    CHECK(setsockopt(peer->fd, SOL_SOCKET, option, &program, sizeof(program)) == 0);
}

/* Connects. The Reply was sent, but the peer's TCP has not got it. */
static void open_deaf(struct hk_victim *victim)
{
    RAW_BYTES(bytes);
    it_cn_est_identifier_t id;

    hk_victim_start(&kit, victim, endpoint(1), HK_LISTEN);
    raw_mpa1(&bytes, false, RAW_MPA_C);
    CHECK(raw_send(&victim->peer, &bytes));
    id = fx_request(&kit.node, NULL);
    deaf(&victim->peer, true);
    CHECK_OK(it_ep_accept(victim->ep, id, NULL, 0));
    fx_conn(kit.node.conn_evd, victim->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    victim->peer.crc = true;
}

/* A Reply that the peer's TCP has not acknowledged starts no time limit, however old it is. */
Test(hostile_silence, not_before_the_reply_is_acknowledged, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;

    open_deaf(&victim);
    post(&victim);
    CHECK(says_nothing(&victim));
    CHECK_EQ(0, sent(&victim));
    deaf(&victim.peer, false);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    takes_posts(&victim);
    hk_part(&victim);
}

/*
 * The first octets of an FPDU have arrived: the peer has sent, so the library waits for the rest.
 */
Test(hostile_silence, not_into_the_first_fpdu, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    RAW_BYTES(fpdu);

    open_deaf(&victim);
    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    raw_fpdu(&fpdu, &ulpdu, true);
    CHECK(raw_send_part(&victim.peer, fpdu.data, 5));
    post(&victim);
    deaf(&victim.peer, false);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim.peer, &victim.theirs));
    CHECK(says_nothing(&victim));
    CHECK(raw_send_part(&victim.peer, fpdu.data + 5, fpdu.len - 5));
    takes_posts(&victim);
    hk_part(&victim);
}
