/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callbacks on uiwarp run even if no thread polls or waits. They may do what a thread may do: post,
 * accept, connect, wait, free their endpoint.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/it_fixture.h"
#include "support/test_row.h"

static void await(atomic_uint *counter, unsigned value, const char *what)
{
    FX_WAIT_WHILE(atomic_load(counter) < value, what);
    CHECK_EQ(value, atomic_load(counter));
}

static void nap(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

/* ---- Ping-pong ------------------------------------------------------------------------------ */

#define ROUNDS 2000u

/* One end. It answers each message until it has received enough. */
struct player {
    it_ep_handle_t ep;
    it_evd_handle_t request_evd;
    atomic_uint received;
    unsigned sent;
    unsigned completed;
};

/*
 * The callback may find one message after the other, so it frees the slots of the send queue
 * itself.
 */
static void take_completions(struct player *player)
{
    it_event_t event;

    while (it_evd_dequeue(player->request_evd, &event) == IT_SUCCESS) {
        CHECK_EQ(IT_DTO_SEND_CMPL_EVENT, event.event_number);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        player->completed++;
    }
}

static void play(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        unsigned number = atomic_load(&player->received) + 1;

        CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
        CHECK_EQ(number - 1, event.dto_cmpl.cookie);
        if (number > ROUNDS)
            return; /* flushed: the match is over */
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_OK(it_post_recv(player->ep, NULL, 0, number, FX_SIGNAL));
        if (player->sent < ROUNDS) {
            CHECK_OK(it_post_send(player->ep, NULL, 0, number, FX_SIGNAL));
            player->sent++;
        }
        take_completions(player);
        atomic_store(&player->received, number);
    }
}

struct match {
    struct fx_pair pair;
    struct player players[2];
};

static void match_start(struct match *match)
{
    struct fx_pair *pair = &match->pair;

    memset(match, 0, sizeof(*match));
    fx_pair_open(pair);
    match->players[0].ep = pair->a_ep;
    match->players[0].request_evd = pair->a.request_evd;
    match->players[1].ep = pair->b_ep;
    match->players[1].request_evd = pair->b.request_evd;
    CHECK_OK(it_post_recv(pair->a_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_post_recv(pair->b_ep, NULL, 0, 0, FX_SIGNAL));
    match->players[0].sent = 1;
    CHECK_OK(it_evd_callback_attach(pair->a.recv_evd, play, &match->players[0]));
    CHECK_OK(it_evd_callback_attach(pair->b.recv_evd, play, &match->players[1]));
    CHECK_OK(it_post_send(pair->a_ep, NULL, 0, 0, FX_SIGNAL));
}

static void match_end(struct match *match)
{
    for (unsigned i = 0; i < 2; i++) {
        await(&match->players[i].received, ROUNDS, "messages");
        CHECK_OK(it_evd_callback_detach(i == 0 ? match->pair.a.recv_evd : match->pair.b.recv_evd));
        for (; match->players[i].completed < ROUNDS; match->players[i].completed++)
            CHECK_EQ(IT_DTO_SUCCESS, fx_next(match->players[i].request_evd).dto_cmpl.dto_status);
    }
    fx_pair_close(&match->pair);
}

/* Only callbacks work: no thread of the program calls the library. */
Test(data_callback, ping_pong_by_callbacks_alone)
{
    struct match match;

    match_start(&match);
    match_end(&match);
}

struct poller {
    pthread_t thread;
    it_evd_handle_t evd;
    unsigned style; /* 0: polls, 1: sleeps, 2: waits for a short time, 3: polls now and then */
    atomic_bool done;
};

static void *poller_main(void *argument)
{
    struct poller *poller = argument;

    while (!atomic_load(&poller->done)) {
        it_event_t event;
        it_status_t status;

        if (poller->style == 0 || poller->style == 3)
            status = it_evd_dequeue(poller->evd, &event);
        else
            status = it_evd_wait(poller->evd, poller->style == 1 ? 50000 : 50, &event, NULL);
        CHECK(status == IT_ERR_QUEUE_EMPTY || status == IT_ERR_TIMEOUT_EXPIRED);
        if (poller->style == 3)
            sched_yield();
    }
    return NULL;
}

/* Threads that use other EVDs of the same IAs take over the reading, but not the callbacks. */
static void match_beside_pollers(unsigned style)
{
    struct match match;
    struct poller pollers[2];

    match_start(&match);
    for (unsigned i = 0; i < 2; i++) {
        pollers[i].evd = i == 0 ? match.pair.a.conn_evd : match.pair.b.conn_evd;
        pollers[i].style = style;
        atomic_init(&pollers[i].done, false);
        CHECK(pthread_create(&pollers[i].thread, NULL, poller_main, &pollers[i]) == 0);
    }
    for (unsigned i = 0; i < 2; i++)
        await(&match.players[i].received, ROUNDS, "messages");
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&pollers[i].done, true);
        CHECK(pthread_join(pollers[i].thread, NULL) == 0);
    }
    match_end(&match);
}

TEST_ROW(data_callback, ping_pong_beside_a_poller, match_beside_pollers, 0);
TEST_ROW(data_callback, ping_pong_beside_a_sleeper, match_beside_pollers, 1);
TEST_ROW(data_callback, ping_pong_beside_short_waits, match_beside_pollers, 2);
TEST_ROW(data_callback, ping_pong_beside_an_occasional_poller, match_beside_pollers, 3);

/* ---- When it runs --------------------------------------------------------------------------- */

struct counted {
    atomic_uint runs;
    atomic_uint taken;
};

static void take_all(it_evd_handle_t evd, void *argument)
{
    struct counted *counted = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        atomic_fetch_add(&counted->taken, 1);
    atomic_fetch_add(&counted->runs, 1);
}

/* A receive asks for no notification, so the callback runs only if the message is solicited. */
Test(data_callback, solicited_events)
{
    struct fx_pair pair;
    struct counted counted;

    memset(&counted, 0, sizeof(counted));
    fx_pair_open(&pair);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, IT_COMPLETION_FLAG));
    CHECK_OK(it_evd_callback_attach(pair.b.recv_evd, take_all, &counted));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 0, IT_DTO_SUCCESS);
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 2, FX_SIGNAL | IT_SOLICITED_WAIT_FLAG));
    await(&counted.runs, 1, "the callback");
    CHECK_EQ(3, atomic_load(&counted.taken));
    fx_pair_close(&pair);
}

/* An attached callback costs nothing while nothing happens. */
Test(data_callback, idle_ia_wakes_nobody)
{
    struct counted counted;
    struct fx_pair pair;
    unsigned quiet = 0;

    memset(&counted, 0, sizeof(counted));
    fx_pair_open(&pair);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_evd_callback_attach(pair.b.recv_evd, take_all, &counted));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    await(&counted.runs, 1, "the callback");
    for (unsigned i = 0; i < 10 && quiet < 2; i++) {
        uint64_t before = fx_counters(&pair.b).thread_wakeups;

        nap(100);
        quiet = fx_counters(&pair.b).thread_wakeups == before ? quiet + 1 : 0;
    }
    CHECK(quiet >= 2);
    CHECK_EQ(1, atomic_load(&counted.runs));
    fx_pair_close(&pair);
}

/* ---- What may be done inside ---------------------------------------------------------------- */

static void free_ep(it_evd_handle_t evd, void *argument)
{
    atomic_uint *freed = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
            continue;
        CHECK_OK(it_ep_free(event.dto_cmpl.ep));
        CHECK_STATUS(IT_ERR_INVALID_EP, it_ep_free(event.dto_cmpl.ep));
        atomic_fetch_add(freed, 1);
    }
}

Test(data_callback, frees_its_endpoint)
{
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    atomic_uint freed;

    atomic_init(&freed, 0);
    fx_node_open(&a);
    fx_node_open(&b);
    CHECK_OK(it_evd_callback_attach(b.recv_evd, free_ep, &freed));
    for (unsigned round = 1; round <= 20; round++) {
        it_event_type_t end;

        a_ep = fx_ep(&a, NULL);
        b_ep = fx_ep(&b, NULL);
        fx_join(&a, a_ep, &b, b_ep);
        for (uint64_t i = 0; i < 3; i++)
            CHECK_OK(it_post_recv(b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_send(a_ep, NULL, 0, 0, FX_QUIET));
        await(&freed, round, "the free");
        end = fx_next(a.conn_evd).event_number;
        CHECK(end == IT_CM_MSG_CONN_DISCONNECT_EVENT || end == IT_CM_MSG_CONN_BROKEN_EVENT);
        CHECK_OK(it_ep_free(a_ep));
    }
    fx_node_close(&a);
    fx_node_close(&b);
}

#define CLIENTS 10u

/* A server made of callbacks only. */
struct server {
    struct fx_node node;
    it_listen_handle_t listener;
    atomic_uint accepted;
    atomic_uint established;
    atomic_uint gone;
};

static void serve_requests(it_evd_handle_t evd, void *argument)
{
    struct server *server = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_ep_handle_t ep = fx_ep(&server->node, NULL);

        CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
        CHECK_OK(it_ep_accept(ep, event.conn_req.cn_est_id, NULL, 0));
        atomic_fetch_add(&server->accepted, 1);
    }
}

static void serve_connections(it_evd_handle_t evd, void *argument)
{
    struct server *server = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
            CHECK_OK(it_post_send(event.conn.ep, NULL, 0, 0, FX_QUIET));
            atomic_fetch_add(&server->established, 1);
        } else {
            CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, event.event_number);
            CHECK_OK(it_ep_free(event.conn.ep));
            /*
             * The listener is freed first, since the thread that sees the last client gone closes
             * the IA.
             */
            if (atomic_load(&server->gone) == CLIENTS - 1)
                CHECK_OK(it_listen_free(server->listener));
            atomic_fetch_add(&server->gone, 1);
        }
    }
}

Test(data_callback, server_of_callbacks)
{
    struct server server;
    struct fx_node client;
    uint16_t port;

    memset(&server, 0, sizeof(server));
    fx_node_open(&server.node);
    fx_node_open(&client);
    server.listener = fx_listen(&server.node, &port);
    CHECK_OK(it_evd_callback_attach(server.node.listen_evd, serve_requests, &server));
    CHECK_OK(it_evd_callback_attach(server.node.conn_evd, serve_connections, &server));
    for (unsigned i = 1; i <= CLIENTS; i++) {
        it_ep_handle_t ep = fx_ep(&client, NULL);

        CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
        fx_connect(&client, ep, port);
        fx_conn(client.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_done(client.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_SUCCESS);
        CHECK_OK(it_ep_disconnect(ep, NULL, 0));
        fx_conn(client.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_free(ep));
        await(&server.gone, i, "the disconnect");
    }
    CHECK_EQ(CLIENTS, atomic_load(&server.accepted));
    CHECK_EQ(CLIENTS, atomic_load(&server.established));
    fx_node_close(&client);
    fx_node_close(&server.node);
}

/* Connects to its own IA and waits for the event, on the thread that has to do all the work. */
static void connect_and_wait(it_evd_handle_t evd, void *argument)
{
    struct fx_node *node = argument;
    it_event_t event;
    it_ep_handle_t one;
    it_ep_handle_t two;

    CHECK_OK(it_evd_dequeue(evd, &event));
    one = fx_ep(node, NULL);
    two = fx_ep(node, NULL);
    fx_join(node, one, node, two);
    CHECK_OK(it_post_recv(one, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(two, NULL, 0, 2, FX_SIGNAL));
    CHECK_EQ(1, fx_wait(node->recv_evd).dto_cmpl.cookie);
    CHECK_EQ(2, fx_wait(node->request_evd).dto_cmpl.cookie);
    CHECK_OK(it_ep_free(one));
    CHECK_OK(it_ep_free(two));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_ia_free(node->ia));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_evd_free(evd));
    atomic_fetch_add((atomic_uint *)event.sw.data, 1);
}

Test(data_callback, connects_and_waits)
{
    struct fx_node node;
    it_evd_handle_t evd;
    atomic_uint done;

    atomic_init(&done, 0);
    fx_node_open(&node);
    evd = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    CHECK_OK(it_evd_callback_attach(evd, connect_and_wait, &node));
    CHECK_OK(it_evd_post_se(evd, &done));
    await(&done, 1, "the callback");
    fx_node_close(&node);
}

static it_event_t poll_for(it_evd_handle_t evd)
{
    struct fx_patience patience = fx_patience_start("an event");
    it_event_t event;

    while (it_evd_dequeue(evd, &event) != IT_SUCCESS) {
        if (fx_now_us() > patience.end_us)
            fx_patience_check(&patience);
    }
    return event;
}

/* Does the same by polling only. */
static void connect_and_poll(it_evd_handle_t evd, void *argument)
{
    struct fx_node *node = argument;
    it_event_t event;
    it_ep_handle_t one;
    it_ep_handle_t two;
    uint16_t port;

    CHECK_OK(it_evd_dequeue(evd, &event));
    one = fx_ep(node, NULL);
    two = fx_ep(node, NULL);
    (void)fx_listen(node, &port);
    CHECK_OK(it_post_recv(two, NULL, 0, 1, FX_SIGNAL));
    fx_connect(node, one, port);
    CHECK_OK(it_ep_accept(two, poll_for(node->listen_evd).conn_req.cn_est_id, NULL, 0));
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, poll_for(node->conn_evd).event_number);
    CHECK_OK(it_post_send(one, NULL, 0, 2, FX_SIGNAL));
    CHECK_EQ(1, poll_for(node->recv_evd).dto_cmpl.cookie);
    CHECK_EQ(2, poll_for(node->request_evd).dto_cmpl.cookie);
    atomic_fetch_add((atomic_uint *)event.sw.data, 1);
}

Test(data_callback, connects_and_polls)
{
    struct fx_node node;
    it_evd_handle_t evd;
    atomic_uint done;

    atomic_init(&done, 0);
    fx_node_open(&node);
    evd = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    CHECK_OK(it_evd_callback_attach(evd, connect_and_poll, &node));
    CHECK_OK(it_evd_post_se(evd, &done));
    await(&done, 1, "the callback");
    fx_node_close(&node);
}

/* ---- Two callbacks of two IAs ---------------------------------------------------------------- */

/* A relay: it passes each message or the end of one side to the other. */
struct side {
    it_ep_handle_t other;
    atomic_uint ended;
};

static void relay(it_evd_handle_t evd, void *argument)
{
    struct side *side = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_status_t status = it_ep_disconnect(side->other, NULL, 0);

        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE);
        status = it_ep_reset(side->other);
        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE);
        atomic_fetch_add(&side->ended, 1);
    }
}

/* Both ends disconnect at once, and each callback disconnects the endpoint of the other IA. */
Test(data_callback, callbacks_that_call_each_others_ia)
{
    for (unsigned round = 0; round < 100; round++) {
        struct fx_pair pairs[2];
        struct side sides[2];

        for (unsigned i = 0; i < 2; i++) {
            fx_pair_open(&pairs[i]);
            atomic_init(&sides[i].ended, 0);
        }
        sides[0].other = pairs[1].b_ep;
        sides[1].other = pairs[0].b_ep;
        for (unsigned i = 0; i < 2; i++)
            CHECK_OK(it_evd_callback_attach(pairs[i].b.conn_evd, relay, &sides[i]));
        for (unsigned i = 0; i < 2; i++) {
            it_status_t status = it_ep_disconnect(pairs[i].a_ep, NULL, 0);

            /* The relay may have passed on the other end's disconnect. */
            CHECK(status == IT_SUCCESS || (i == 1 && status == IT_ERR_INVALID_EP_STATE));
        }
        for (unsigned i = 0; i < 2; i++) {
            FX_WAIT_WHILE(atomic_load(&sides[i].ended) == 0, "the relay");
        }
        for (unsigned i = 0; i < 2; i++)
            fx_node_close(&pairs[i].a);
        for (unsigned i = 0; i < 2; i++)
            CHECK_OK(it_evd_callback_detach(pairs[i].b.conn_evd));
        for (unsigned i = 0; i < 2; i++)
            fx_node_close(&pairs[i].b);
    }
}

/* ---- The IA is closed ----------------------------------------------------------------------- */

#define CIRCLING 4 /* messages: far fewer than receives, even if one end is slow */

struct circle {
    it_ep_handle_t ep;
    atomic_uint taken;
};

static void keep_going(it_evd_handle_t evd, void *argument)
{
    struct circle *circle = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        atomic_fetch_add(&circle->taken, 1);
        if (event.event_number != IT_DTO_RC_RECV_CMPL_EVENT ||
            event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
            continue;
        CHECK_OK(it_post_recv(circle->ep, NULL, 0, 0, FX_SIGNAL));
        CHECK_OK(it_post_send(circle->ep, NULL, 0, 0, FX_SIGNAL));
    }
}

static void circle_begin(struct circle *circle, const struct fx_node *node, it_ep_handle_t ep)
{
    circle->ep = ep;
    for (unsigned i = 0; i < 32; i++)
        CHECK_OK(it_post_recv(ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_evd_callback_attach(node->recv_evd, keep_going, circle));
    CHECK_OK(it_evd_callback_attach(node->request_evd, keep_going, circle));
}

/* Frees the IA with all its objects while callbacks use them. */
Test(data_callback, ia_closed_under_callbacks)
{
    for (unsigned round = 0; round < 10; round++) {
        struct fx_pair pair;
        struct circle a = {.taken = 0};
        struct circle b = {.taken = 0};

        fx_pair_open(&pair);
        circle_begin(&a, &pair.a, pair.a_ep);
        circle_begin(&b, &pair.b, pair.b_ep);
        for (unsigned i = 0; i < CIRCLING; i++)
            CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
        FX_WAIT_WHILE(atomic_load(&a.taken) < 50 || atomic_load(&b.taken) < 50, "traffic");
        CHECK_OK(it_ia_free(round % 2 ? pair.a.ia : pair.b.ia));
        CHECK_OK(it_ia_free(round % 2 ? pair.b.ia : pair.a.ia));
    }
}
