/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile peers attack from several threads while there is good traffic on the same IA. The program
 * ends connections at the moment when they fail by themselves.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define ATTACKERS 2u
#define ATTACKS   100u

struct attacker {
    pthread_t thread;
    uint16_t port;
    uint32_t stag;
    uint64_t to;
    unsigned number;
    atomic_uint *finished;
};

static void add_attack(struct raw_bytes *stream, const struct attacker *attacker, unsigned kind)
{
    RAW_BYTES(ulpdu);

    switch (kind) {
    case 0: /* a Write that is not allowed */
        raw_tagged(&ulpdu, RAW_WRITE, attacker->stag ^ 1u, attacker->to, "x", 1, true);
        break;
    case 1: /* a Read beyond the end */
        raw_read_request(&ulpdu, 2, 1, 0, 1u << 30, attacker->stag, attacker->to);
        break;
    case 2: /* a Send without a receive */
        raw_untagged(&ulpdu, RAW_SEND, 0, 9, 0, "x", 1, true, 0);
        break;
    case 3: /* a Terminate */
        raw_terminate(&ulpdu, 1, 2, 2, 0, NULL, 0, NULL, 0);
        break;
    default: /* an unknown opcode */
        raw_untagged(&ulpdu, (enum raw_op)12, 0, 1, 0, "x", 1, true, 0);
        break;
    }
    raw_fpdu(stream, &ulpdu, kind != 4);
}

static void one_attack(const struct attacker *attacker, unsigned round)
{
    struct raw_peer peer;
    struct raw_mpa_frame frame;
    RAW_BYTES(stream);
    RAW_BYTES(ulpdu);

    raw_connect(&peer, attacker->port);
    raw_mpa1(&stream, false, RAW_MPA_C);
    CHECK(raw_send(&peer, &stream));
    if (raw_receive_mpa(&peer, &frame) == RAW_OK && (frame.flags & RAW_MPA_R) == 0) {
        raw_reset(&stream);
        /* A good Write, a Read that must be answered, and an attack. */
        raw_tagged(&ulpdu, RAW_WRITE, attacker->stag, attacker->to, "fine", 4, true);
        raw_fpdu(&stream, &ulpdu, true);
        raw_read_request(&ulpdu, 1, 1, 0, 4000, attacker->stag, attacker->to);
        raw_fpdu(&stream, &ulpdu, true);
        add_attack(&stream, attacker, round % 5);
        (void)raw_send(&peer, &stream);
        if (round % 3 != 0)
            (void)raw_drain(&peer);
    }
    if (round % 2 == 0)
        raw_close_with_reset(&peer);
    else
        raw_close(&peer);
}

static void *attacker_main(void *argument)
{
    const struct attacker *attacker = argument;

    for (unsigned round = 0; round < ATTACKS; round++)
        one_attack(attacker, round + attacker->number);
    atomic_fetch_add(attacker->finished, 1);
    return NULL;
}

/* Good traffic from one end of the pair, in its own thread. */
struct traffic {
    pthread_t thread;
    struct fx_pair *pair;
    atomic_bool stop;
};

static void *traffic_main(void *argument)
{
    struct traffic *traffic = argument;
    struct fx_buf local = fx_buf_make(&traffic->pair->a, 5000);
    struct fx_buf back = fx_buf_make(&traffic->pair->a, 5000);
    struct fx_buf remote = fx_buf_make(&traffic->pair->b, 5000);

    for (uint32_t i = 0; !atomic_load(&traffic->stop); i++) {
        fx_fill(local.data, local.size, i);
        fx_write(traffic->pair->a_ep, &local, 0, local.size, &remote, 0, i, FX_QUIET);
        fx_read(traffic->pair->a_ep, &back, 0, back.size, &remote, 0, i, FX_SIGNAL);
        fx_done_len(traffic->pair->a.request_evd, traffic->pair->a_ep, IT_DTO_RDMA_READ_CMPL_EVENT,
                    i, back.size);
        fx_check_same(local.data, back.data, local.size);
    }
    fx_buf_free(&local);
    fx_buf_free(&back);
    fx_buf_free(&remote);
    return NULL;
}

/* Accepts every request and sometimes ends the connection itself. */
static void accept_one(const struct fx_node *node, it_evd_handle_t recv_evd, unsigned round)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;
    it_event_t event;
    it_status_t status;

    if (it_evd_wait(node->listen_evd, 20000, &event, NULL) != IT_SUCCESS)
        return;
    CHECK_OK(
        it_ep_rc_create(node->pz, recv_evd, recv_evd, node->conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    for (uint64_t i = 0; i < 4; i++)
        CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
    status = it_ep_accept(ep, event.conn_req.cn_est_id, NULL, 0);
    if (status == IT_SUCCESS) {
        (void)it_post_rdma_write(ep, NULL, 0, 10, FX_SIGNAL, 0, 0);
        if (round % 4 == 0)
            (void)it_ep_disconnect(ep, NULL, 0);
        if (round % 4 != 1) {
            event = fx_next(node->conn_evd);
            if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
                event = fx_next(node->conn_evd);
            CHECK(event.conn.ep == ep);
            CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
        }
    } else {
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
    }
    CHECK_OK(it_ep_free(ep));
    /* Events of a freed endpoint may remain. */
    while (it_evd_dequeue(node->conn_evd, &event) == IT_SUCCESS)
        CHECK(event.conn.ep == ep);
    while (it_evd_dequeue(recv_evd, &event) == IT_SUCCESS)
        CHECK(event.dto_cmpl.ep == ep);
    while (it_evd_dequeue(node->aff_evd, &event) == IT_SUCCESS)
        continue;
}

/* Checks that the attacks have reached the library. */
static void was_attacked(const struct fx_node *node)
{
    struct itx_counters counters;

    memset(&counters, 0, sizeof(counters));
    counters.size = sizeof(counters);
    CHECK_OK(itx_ia_stats(node->ia, &counters));
    CHECK(counters.connections_accepted > ATTACKERS * ATTACKS / 2);
    CHECK(counters.protocol_errors > ATTACKERS * ATTACKS / 5);
    CHECK(counters.terminates_sent > ATTACKERS * ATTACKS / 5);
    CHECK(counters.terminates_received > 0);
}

int main(void)
{
    struct fx_pair pair;
    struct fx_buf target;
    struct traffic traffic;
    struct attacker attackers[ATTACKERS];
    it_evd_handle_t recv_evd;
    atomic_uint finished = 0;
    uint16_t port = 0;
    unsigned round = 0;

    fx_pair_open(&pair);
    target = fx_node_buf(&pair.b, 4000);
    recv_evd = fx_evd(&pair.b, IT_DTO_EVENT_STREAM, 256, 0);
    (void)fx_listen(&pair.b, &port);
    memset(&traffic, 0, sizeof(traffic));
    traffic.pair = &pair;
    CHECK(pthread_create(&traffic.thread, NULL, traffic_main, &traffic) == 0);
    for (unsigned i = 0; i < ATTACKERS; i++) {
        attackers[i] = (struct attacker){.port = port,
                                         .stag = (uint32_t)target.key,
                                         .to = fx_addr(&target, 0),
                                         .number = i,
                                         .finished = &finished};
        CHECK(pthread_create(&attackers[i].thread, NULL, attacker_main, &attackers[i]) == 0);
    }
    while (atomic_load(&finished) < ATTACKERS)
        accept_one(&pair.b, recv_evd, round++);
    for (unsigned i = 0; i < ATTACKERS; i++)
        CHECK(pthread_join(attackers[i].thread, NULL) == 0);
    atomic_store(&traffic.stop, true);
    CHECK(pthread_join(traffic.thread, NULL) == 0);
    fx_pair_ping(&pair);
    was_attacked(&pair.b);
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
    check_done();
    return 0;
}
