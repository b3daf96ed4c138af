/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that flood with the cheapest frames delay other peers by no more than one turn each. The IA
 * is on an event base of this thread, so only counted work runs between the flood's octets in the
 * sockets and the honest message behind them. The test counts FPDUs, never time.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "hostile/hostile_kit.h"
#include "support/test_row.h"

#define FLOODERS 16u
#define ROUNDS   5u
#define HONEST   1000u /* cookie of the honest endpoint's receives */
/*
 * The limits of FPDUs before the honest one when the leader serves all streams in turn: two turns
 * of each stream. The smallest FPDU has 20 octets, so the first read holds 3,276 of them, and later
 * ones hold 819.
 */
#define FIRST_TURNS (2 * FLOODERS * 3280u)
#define LATER_TURNS (2 * FLOODERS * 820u)
/* The loop does its other work after each MiB and the rest of a round; twice. */
#define LOOP_TURNS (2 * (1u << 20) / 20 + FIRST_TURNS)
/* A flooder must have this much ready. Otherwise the test would prove nothing. */
#define FLOOD_LEAST  (20u * 3276u)
#define FLOOD_OCTETS (1u << 16)

struct bed {
    struct hk kit;
    struct event_base *base;
    struct hk_victim honest;
    struct fx_buf in;
    struct hk_victim flooders[FLOODERS];
    struct raw_bytes flood; /* many copies of one FPDU */
    size_t fpdu;            /* length of that FPDU */
    size_t sent[FLOODERS];  /* octets sent since the start */
    uint32_t message;       /* MSN of the honest peer */
};

/* ---- The flood ------------------------------------------------------------------------------ */

/* A Write without octets, and a part of a message that never ends. */
static void empty_write(struct raw_bytes *ulpdu)
{
    raw_tagged(ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
}

static void empty_piece(struct raw_bytes *ulpdu)
{
    raw_untagged(ulpdu, RAW_SEND, 0, 1, 0, NULL, 0, false, 0);
}

static void flood_make(struct bed *bed, void (*make)(struct raw_bytes *ulpdu))
{
    RAW_BYTES(ulpdu);

    make(&ulpdu);
    do {
        raw_fpdu(&bed->flood, &ulpdu, true);
        if (bed->fpdu == 0)
            bed->fpdu = bed->flood.len;
    } while (bed->flood.len < FLOOD_OCTETS);
}

/* Sends as much as the sockets take. */
static void flood_one(struct bed *bed, unsigned i)
{
    ssize_t sent;

    do {
        size_t at = bed->sent[i] % bed->flood.len;

        sent = send(bed->flooders[i].peer.fd, bed->flood.data + at, bed->flood.len - at,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
        CHECK(sent > 0 || errno == EAGAIN);
        bed->sent[i] += sent > 0 ? (size_t)sent : 0;
    } while (sent > 0);
}

static void flood(struct bed *bed)
{
    for (unsigned i = 0; i < FLOODERS; i++)
        flood_one(bed, i);
}

/* ---- The IA ---------------------------------------------------------------------------------- */

static void bed_open(struct bed *bed, void (*make)(struct raw_bytes *ulpdu))
{
    memset(bed, 0, sizeof(*bed));
    bed->base = event_base_new();
    CHECK(bed->base != NULL);
    hk_open(&bed->kit);
    bed->in = fx_node_buf(&bed->kit.node, 64);
    hk_victim(&bed->kit, &bed->honest, HK_LISTEN, &hk_plain);
    for (unsigned i = 0; i < FLOODERS; i++) {
        hk_victim(&bed->kit, &bed->flooders[i], HK_LISTEN, &hk_plain);
        fx_recv(bed->flooders[i].ep, &bed->in, 0, 0, i);
    }
    flood_make(bed, make);
    CHECK_OK(itx_ia_set_event_base(bed->kit.node.ia, bed->base));
}

static void bed_close(struct bed *bed)
{
    hk_victim_close(&bed->honest);
    for (unsigned i = 0; i < FLOODERS; i++)
        hk_victim_close(&bed->flooders[i]);
    raw_free(&bed->flood);
    fx_node_close(&bed->kit.node);
    fx_node_close(&bed->kit.good.b);
    event_base_free(bed->base);
    check_done();
}

static uint64_t fpdus(const struct bed *bed)
{
    struct itx_counters now = {.size = sizeof(now)};

    CHECK_OK(itx_ia_stats(bed->kit.node.ia, &now));
    return now.fpdus_received;
}

/* ---- The honest one -------------------------------------------------------------------------- */

static void send_message(struct bed *bed)
{
    RAW_BYTES(ulpdu);

    fx_recv(bed->honest.ep, &bed->in, 0, bed->in.size, HONEST);
    raw_untagged(&ulpdu, RAW_SEND, 0, ++bed->message, 0, "honest", 6, true, 0);
    CHECK(raw_send_ulpdu(&bed->honest.peer, &ulpdu));
}

/* Sends a message to a waiting consumer. */
static void wait_for_message(struct bed *bed)
{
    it_event_t event;

    send_message(bed);
    event = fx_wait(bed->kit.node.recv_evd);
    CHECK_EQ(HONEST, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
}

/* Sends a message to a polling consumer. In the loop's own thread polling also serves the loop. */
static void poll_for_message(struct bed *bed)
{
    it_event_t event;

    send_message(bed);
    FX_WAIT_WHILE(it_evd_dequeue(bed->kit.node.recv_evd, &event) == IT_ERR_QUEUE_EMPTY,
                  "the honest message");
    CHECK_EQ(HONEST, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
}

/* Sends a Read while nobody polls: the event base serves it. */
static void run_for_answer(struct bed *bed)
{
    static struct raw_segment segment;
    struct fx_patience patience = fx_patience_start("the answer");
    struct pollfd answer = {.fd = bed->honest.peer.fd, .events = POLLIN};
    RAW_BYTES(ulpdu);

    raw_read_request(&ulpdu, ++bed->message, 1, 0, 0, 1, 0);
    CHECK(raw_send_ulpdu(&bed->honest.peer, &ulpdu));
    while (poll(&answer, 1, 0) == 0) {
        CHECK(event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
        fx_patience_check(&patience);
    }
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&bed->honest.peer, &segment));
    CHECK_EQ(RAW_READ_RESPONSE, segment.op);
}

static void request_came(it_evd_handle_t evd, void *argument)
{
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    CHECK_OK(it_reject(event.conn_req.cn_est_id, NULL, 0));
    *(bool *)argument = true;
}

/* Connects while nobody polls. */
static void run_for_request(struct bed *bed)
{
    struct fx_patience patience = fx_patience_start("the connection request");
    RAW_BYTES(frame);
    struct raw_peer peer;
    bool came = false;

    CHECK_OK(it_evd_callback_attach(bed->kit.node.listen_evd, request_came, &came));
    raw_connect(&peer, bed->kit.port);
    raw_mpa1(&frame, false, RAW_MPA_C);
    CHECK(raw_send(&peer, &frame));
    while (!came) {
        CHECK(event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
        fx_patience_check(&patience);
    }
    CHECK_OK(it_evd_callback_detach(bed->kit.node.listen_evd));
    raw_close(&peer);
}

static void hold_up(void (*make)(struct raw_bytes *ulpdu), void (*round)(struct bed *bed),
                    uint64_t first, uint64_t later)
{
    static struct bed bed;

    bed_open(&bed, make);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t before;
        uint64_t came;

        flood(&bed);
        before = fpdus(&bed);
        round(&bed);
        came = fpdus(&bed) - before;
        if (came > (i == 0 ? first : later))
            CHECK_FAIL("round %u: %llu FPDUs before the honest one", i, (unsigned long long)came);
    }
    for (unsigned i = 0; i < FLOODERS; i++)
        CHECK(bed.sent[i] / bed.fpdu >= FLOOD_LEAST);
    bed_close(&bed);
}

TEST_ROW(hostile_flood, writes_before_a_message_that_is_waited_for, hold_up, empty_write,
         wait_for_message, FIRST_TURNS, LATER_TURNS);
TEST_ROW(hostile_flood, pieces_before_a_message_that_is_waited_for, hold_up, empty_piece,
         wait_for_message, FIRST_TURNS, LATER_TURNS);
TEST_ROW(hostile_flood, writes_before_a_message_that_is_polled_for, hold_up, empty_write,
         poll_for_message, LOOP_TURNS, LOOP_TURNS);
TEST_ROW(hostile_flood, writes_before_a_read_that_the_loop_answers, hold_up, empty_write,
         run_for_answer, LOOP_TURNS, LOOP_TURNS);
TEST_ROW(hostile_flood, writes_before_a_connection, hold_up, empty_write, run_for_request,
         LOOP_TURNS, LOOP_TURNS);
