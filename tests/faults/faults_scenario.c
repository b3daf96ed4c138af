/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_scenario.h"

#include "faults/faults_side.h"
#include "support/it_fixture.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE    (200u * 1024)
#define MESSAGES 6u /* receives of each side in a round */
/* Offsets in the memory of a side. */
#define AT_RECV        0u
#define AT_SEND        8192u
#define AT_WRITE       16384u
#define AT_WORD        24576u
#define AT_BEFORE_WORD 24640u
#define AT_LARGE       32768u
#define AT_BYSTANDER   300000u

static const char *stage = "";
static struct side sides[3]; /* left connects, right accepts, and one more */
static struct leg legs[2];
static struct leg bystanders[2];
static struct leg shared_queue;
static struct leg *all_legs[4];
static uint64_t round_number;

const enum fault_call scenario_unreached[] = {FAULT_MAP, FAULT_PAIR, FAULT_FILE, FAULT_DATAGRAM,
                                              FAULT_CALLS};

const bool scenario_pools = false;
const bool scenario_repeats = true;

const char *scenario_stage(void)
{
    return stage;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static const char *leg_text(const struct leg *leg)
{
    return leg->ended         ? "ended"
           : leg->established ? "established"
           : leg->failed      ? "failed"
           : leg->pending     ? "pending"
                              : "idle";
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        uint64_t end_us = fx_now_us() + (uint64_t)time_limit_ms(10000) * 1000u;                    \
                                                                                                   \
        while (!(condition)) {                                                                     \
            sides_look(sides, 2);                                                                  \
            if (fx_now_us() > end_us) {                                                            \
                find_say("never: %s; left %s, right %s", #condition, leg_text(&legs[0]),           \
                         leg_text(&legs[1]));                                                      \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static bool any_ended(void)
{
    return legs[0].ended || legs[1].ended;
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static void legs_begin(void)
{
    for (unsigned i = 0; i < 2; i++) {
        legs[i] = (struct leg){.name = i ? "right" : "left"};
        all_legs[i] = &legs[i];
    }
    shared_queue = (struct leg){.name = "shared queue"};
    sides_legs(all_legs, 4);
    judge_round();
    round_number++;
}

static bool leg_open(unsigned i, it_srq_handle_t srq)
{
    struct side *side = &sides[i];
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.atomics_enable = IT_TRUE;
    attr.srv.rc.srq = srq;
    return JUDGE(it_ep_rc_create,
                 (side->pz, side->request_evd, side->recv_evd, side->conn_evd,
                  srq ? IT_EP_REUSEADDR | IT_EP_SRQ : IT_EP_REUSEADDR, &attr, &legs[i].ep));
}

static void leg_receives(unsigned i, it_srq_handle_t srq)
{
    for (unsigned n = 0; n < MESSAGES; n++) {
        it_lmr_triplet_t segment = side_segment(&sides[i], AT_RECV + n * 1024, 1024);
        it_handle_t queue = srq ? (it_handle_t)srq : (it_handle_t)legs[i].ep;

        struct leg *leg = srq ? &shared_queue : &legs[i];

        (void)POST(leg, it_post_recv, (queue, &segment, 1, judge_cookie(leg), SIDE_SIGNAL));
    }
}

static it_listen_handle_t listen_open(uint16_t *port)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener = NULL;

    if (!JUDGE(it_listen_create, (sides[1].ia, sides[1].spigot, sides[1].listen_evd,
                                  IT_LISTEN_NO_FLAG, &qual, &listener)))
        return NULL;
    *port = qual.conn_qual.port;
    return listener;
}

static bool connect_left(uint16_t port)
{
    it_net_addr_t address = fx_address_from("127.0.0.1");
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port};
    it_path_t path;
    size_t count = 1, total = 0;

    if (!JUDGE(it_get_pathinfo, (sides[0].ia, sides[0].spigot, &address, &count, &total, &path)))
        return false;
    if (count == 0)
        return false; /* the library could not find a path */
    legs[0].pending =
        JUDGE(it_ep_connect, (legs[0].ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    return legs[0].pending;
}

/*
 * If its first request was lost, the left side may have tried again with revision 1: rejects that.
 */
static bool is_settled(void)
{
    if (sides[1].request)
        (void)it_reject(sides[1].request, NULL, 0);
    sides[1].request = 0;
    return !legs[0].pending && !legs[1].pending;
}

/* Makes one attempt with a new listen point. The right side accepts or rejects. */
static void connect_both(bool accept)
{
    uint16_t port = 0;
    it_listen_handle_t listener = listen_open(&port);

    sides[1].request = 0;
    if (listener && connect_left(port)) {
        AWAIT(sides[1].request || legs[0].failed);
        if (sides[1].request && accept)
            legs[1].pending = JUDGE(it_ep_accept, (legs[1].ep, sides[1].request, NULL, 0));
        else if (sides[1].request)
            (void)JUDGE(it_reject, (sides[1].request, NULL, 0));
        if (sides[1].request && accept && !legs[1].pending)
            (void)it_reject(sides[1].request, NULL, 0); /* in case it still exists */
        sides[1].request = 0;
        AWAIT(is_settled());
    }
    if (listener)
        MUST(it_listen_free, (listener));
    sides_look(sides, 2); /* takes a late request, which the library withdraws */
    sides[1].request = 0;
}

static bool tcp_pair(int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(fds[0], (struct sockaddr *)&address, length) != 0)
        find_say("the scenario's own sockets fail");
    fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    (void)close(listener);
    return fds[1] >= 0;
}

static void convert_both(void)
{
    int fds[2];

    if (!tcp_pair(fds))
        return;
    for (unsigned i = 0; i < 2; i++)
        legs[i].pending = JUDGE(
            it_socket_convert, (fds[i], legs[i].ep,
                                (it_sc_flags_t)(i ? ITX_SC_RESPONDER : ITX_SC_INITIATOR), NULL, 0));
    (void)close(fds[0]);
    (void)close(fds[1]);
    AWAIT(!legs[0].pending && !legs[1].pending);
}

/* ---- Traffic --------------------------------------------------------------------------------- */

static bool both_established(void)
{
    return legs[0].established && legs[1].established && !any_ended();
}

static bool send_from(unsigned i, unsigned message, size_t length)
{
    it_lmr_triplet_t segment = side_segment(&sides[i], AT_SEND + message * 1024, length);

    fx_fill(sides[i].data + AT_SEND + message * 1024, length, (uint32_t)round_number + message);
    return POST(&legs[i], it_post_send,
                (legs[i].ep, &segment, 1, judge_cookie(&legs[i]), SIDE_SIGNAL));
}

/* Checks the octets of message number `message` from the other side. */
static void check_received(unsigned i, unsigned message, size_t length)
{
    if (legs[i].received > message && !fx_is_filled(sides[i].data + AT_RECV + message * 1024,
                                                    length, (uint32_t)round_number + message))
        find_say("%s: message %u is not what was sent", legs[i].name, message);
}

static const size_t lengths[3] = {24, 1000, 1};

static void exchange_messages(void)
{
    for (unsigned n = 0; n < 3; n++) {
        (void)send_from(0, n, lengths[n]);
        AWAIT(legs[1].received > n || any_ended());
        (void)send_from(1, n, lengths[n]);
        AWAIT(legs[0].received > n || any_ended());
        check_received(0, n, lengths[n]);
        check_received(1, n, lengths[n]);
    }
}

static void write_and_read(void)
{
    it_lmr_triplet_t from = side_segment(&sides[0], AT_LARGE, LARGE);
    it_lmr_triplet_t back = side_segment(&sides[0], AT_WRITE, 3000);
    it_dto_status_t status;
    it_dto_cookie_t cookie;

    memset(sides[0].data + AT_WRITE, 0, 3000);
    fx_fill(sides[0].data + AT_LARGE, LARGE, (uint32_t)round_number);
    (void)POST(&legs[0], it_post_rdma_write,
               (legs[0].ep, &from, 1, judge_cookie(&legs[0]), SIDE_SIGNAL,
                side_address(&sides[1], AT_LARGE), sides[1].key));
    cookie = judge_cookie(&legs[0]);
    if (!POST(&legs[0], it_post_rdma_read,
              (legs[0].ep, &back, 1, cookie, SIDE_SIGNAL, side_address(&sides[1], AT_LARGE),
               sides[1].key)))
        return;
    AWAIT(judge_is_done(cookie, &status));
    if (!judge_is_done(cookie, &status) || status != IT_DTO_SUCCESS)
        return;
    if (!fx_is_filled(sides[1].data + AT_LARGE, LARGE, (uint32_t)round_number))
        find_say("what was written is not there");
    if (!fx_is_filled(sides[0].data + AT_WRITE, 3000, (uint32_t)round_number))
        find_say("what was read is not what is there");
}

static void count_up(void)
{
    uint64_t *word = (uint64_t *)(void *)(sides[1].data + AT_WORD);
    uint64_t *before = (uint64_t *)(void *)(sides[0].data + AT_BEFORE_WORD);
    it_lmr_triplet_t result = side_segment(&sides[0], AT_BEFORE_WORD, 8);
    it_dto_cookie_t cookie = judge_cookie(&legs[0]);
    it_dto_status_t status;

    *word = 40;
    *before = 0;
    if (!POST(&legs[0], it_post_atomic,
              (legs[0].ep, IT_FETCH_AND_ADD, 2, 0, &result, cookie, SIDE_SIGNAL,
               side_address(&sides[1], AT_WORD), sides[1].key)))
        return;
    AWAIT(judge_is_done(cookie, &status));
    if (judge_is_done(cookie, &status) && status == IT_DTO_SUCCESS &&
        (*word != 42 || *before != 40))
        find_say("fetch and add made %u of %u", (unsigned)*word, (unsigned)*before);
}

/* Posts a burst of small requests, which share system calls or wait for one another. */
static void burst(void)
{
    it_lmr_triplet_t from = side_segment(&sides[0], AT_SEND, 64);

    for (unsigned n = 0; n < 40; n++)
        (void)POST(&legs[0], it_post_rdma_write,
                   (legs[0].ep, &from, 1, judge_cookie(&legs[0]), SIDE_SIGNAL,
                    side_address(&sides[1], AT_WRITE + n * 64), sides[1].key));
    AWAIT(legs[0].due <= MESSAGES || any_ended());
}

static void window(void)
{
    it_lmr_triplet_t from = side_segment(&sides[0], AT_SEND, 200);
    it_rmr_handle_t rmr = NULL;
    it_rmr_context_t key = 0;
    it_dto_cookie_t cookie;
    it_dto_status_t status;

    if (!JUDGE(it_rmr_create20, (sides[1].pz, IT_RMR_TYPE_NARROW, &rmr)))
        return;
    cookie = judge_cookie(&legs[1]);
    if (POST(&legs[1], it_rmr_link,
             (rmr, sides[1].lmr, sides[1].data + AT_WRITE, 4096, IT_ADDR_MODE_ABSOLUTE,
              IT_PRIV_REMOTE, legs[1].ep, cookie, SIDE_SIGNAL, &key))) {
        AWAIT(judge_is_done(cookie, &status));
        if (status == IT_DTO_SUCCESS)
            (void)POST(&legs[0], it_post_rdma_write,
                       (legs[0].ep, &from, 1, judge_cookie(&legs[0]), SIDE_SIGNAL,
                        side_address(&sides[1], AT_WRITE), key));
        if (status == IT_DTO_SUCCESS &&
            POST(&legs[0], it_post_send_and_unlink,
                 (legs[0].ep, &from, 1, judge_cookie(&legs[0]), SIDE_SIGNAL, key)))
            AWAIT(legs[1].received > 3 || any_ended());
        (void)POST(&legs[1], it_rmr_unlink, (rmr, legs[1].ep, judge_cookie(&legs[1]), SIDE_SIGNAL));
        AWAIT(legs[1].due <= MESSAGES || any_ended());
    }
    MUST(it_rmr_free, (rmr));
}

/* ---- The end of a connection ----------------------------------------------------------------- */

static void end_both(bool in_order)
{
    if (legs[0].established && legs[1].established) {
        if (!in_order) {
            MUST(it_ep_free, (legs[0].ep));
            legs[0].freed = true;
        } else {
            (void)JUDGE(it_ep_disconnect, (legs[0].ep, NULL, 0));
        }
    } else if (legs[0].established) { /* the other side failed after its answer */
        AWAIT(legs[0].ended);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (legs[i].established && !legs[i].freed)
            AWAIT(legs[i].ended && legs[i].due == 0);
    }
}

static void legs_close(void)
{
    for (unsigned i = 0; i < 2; i++) {
        if (legs[i].ep && !legs[i].freed)
            MUST(it_ep_free, (legs[i].ep));
    }
    /* Takes the events that are still queued. */
    sides_look(sides, 2);
    for (unsigned i = 0; i < 2; i++)
        legs[i].ep = NULL;
}

/* ---- The bystander --------------------------------------------------------------------------- */

static void bystander_ping(void)
{
    const char *during = stage;

    if (!bystanders[0].ep)
        return;
    stage = "bystander";
    for (unsigned i = 0; i < 2; i++) {
        struct leg *from = &bystanders[i], *to = &bystanders[1 - i];
        unsigned before = to->received;
        it_lmr_triplet_t segment = side_segment(&sides[1 - i], AT_BYSTANDER, 500);

        memset(segment.addr.abs, 0, 500);
        (void)POST(to, it_post_recv, (to->ep, &segment, 1, judge_cookie(to), SIDE_SIGNAL));
        segment = side_segment(&sides[i], AT_BYSTANDER + 1000, 500);
        fx_fill(segment.addr.abs, 500, ++before);
        (void)POST(from, it_post_send, (from->ep, &segment, 1, judge_cookie(from), SIDE_SIGNAL));
        AWAIT(to->received == before && from->due == 0);
        if (!fx_is_filled(sides[1 - i].data + AT_BYSTANDER, 500, before))
            find_say("the bystander's data is wrong");
    }
    stage = during;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

enum round {
    ROUND_WHOLE,
    ROUND_SHARED,
    ROUND_REJECTED,
    ROUND_CONVERTED,
    ROUND_FREED
};

static void run_traffic(enum round round)
{
    exchange_messages();
    if (round != ROUND_WHOLE)
        return;
    write_and_read();
    count_up();
    burst();
    if (both_established())
        window();
}

static void run_round(enum round round)
{
    it_srq_handle_t srq = NULL;

    legs_begin();
    if (round == ROUND_SHARED && !JUDGE(it_srq_create, (sides[1].pz, 2, 64, &srq)))
        return;
    if (leg_open(0, NULL) && leg_open(1, srq)) {
        leg_receives(0, NULL);
        leg_receives(1, srq);
        if (round == ROUND_CONVERTED)
            convert_both();
        else
            connect_both(round != ROUND_REJECTED);
        bystander_ping();
        if (both_established())
            run_traffic(round);
        end_both(round != ROUND_FREED);
    }
    legs_close();
    if (srq)
        MUST(it_srq_free, (srq));
    bystander_ping();
}

static void run_rounds(void)
{
    static const struct {
        enum round round;
        const char *stage;
    } rounds[] = {
        {ROUND_WHOLE, "whole"},       {ROUND_SHARED, "shared receive queue"},
        {ROUND_REJECTED, "rejected"}, {ROUND_CONVERTED, "converted"},
        {ROUND_FREED, "freed"},
    };

    for (unsigned i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        stage = rounds[i].stage;
        run_round(rounds[i].round);
    }
}

static void bystander_open(void)
{
    legs_begin();
    if (!leg_open(0, NULL) || !leg_open(1, NULL))
        return;
    convert_both();
    for (unsigned i = 0; i < 2; i++) {
        bystanders[i] = legs[i];
        bystanders[i].strict = true;
        bystanders[i].name = i ? "right bystander" : "left bystander";
        legs[i].ep = NULL;
    }
}

static void sides_open(void)
{
    stage = "open";
    if (side_open(&sides[0], false))
        (void)side_open(&sides[1], true);
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool strict,
                  struct fault_findings *findings)
{
    struct find_resources before = find_resources();

    judge_begin(findings, strict);
    memset(bystanders, 0, sizeof(bystanders));
    all_legs[2] = &bystanders[0];
    all_legs[3] = &bystanders[1];
    if (mode == FAULT_ALONE)
        faults_arm(plan);
    sides_open();
    if (mode == FAULT_BESIDE) {
        bystander_open();
        faults_arm(plan);
    }
    if (sides[0].ia && sides[1].ia)
        run_rounds();
    if (mode == FAULT_BESIDE) {
        stage = "one more IA";
        if (side_open(&sides[2], true))
            side_close(&sides[2]);
        bystander_ping();
    }
    stage = "close";
    for (unsigned i = 0; i < 2; i++) {
        if (sides[i].ia)
            side_close(&sides[i]);
    }
    faults_disarm();
    find_left(&before);
}
