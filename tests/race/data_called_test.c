/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callbacks work on endpoints that other threads use, too: endpoints are freed by their own
 * callback while the peer sends and disconnects, answers are posted while the endpoint is
 * disconnected, and IAs are closed at the same time.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "support/it_fixture.h"

#define ROUNDS 1000u

static void await(atomic_uint *counter, unsigned value, const char *what)
{
    struct fx_patience patience = fx_patience_start(what);

    while (atomic_load(counter) < value) {
        if (fx_now_us() > patience.end_us)
            fx_patience_check(&patience);
        sched_yield();
    }
}

/* ---- An endpoint freed by its own callback --------------------------------------------------- */

struct server {
    struct fx_node node;
    atomic_uint freed;
    atomic_uint established;
};

static void serve_requests(it_evd_handle_t evd, void *argument)
{
    struct server *server = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_ep_handle_t ep = fx_ep(&server->node, NULL);

        for (uint64_t i = 0; i < 4; i++)
            CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_ep_accept(ep, event.conn_req.cn_est_id, NULL, 0));
    }
}

/* The first message makes the callback free the endpoint. Later calls find an invalid handle. */
static void serve_messages(it_evd_handle_t evd, void *argument)
{
    struct server *server = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_status_t status = it_ep_free(event.dto_cmpl.ep);

        if (status == IT_SUCCESS)
            atomic_fetch_add(&server->freed, 1);
        else
            CHECK_STATUS(IT_ERR_INVALID_EP, status);
    }
}

static void serve_connections(it_evd_handle_t evd, void *argument)
{
    struct server *server = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
            atomic_fetch_add(&server->established, 1);
    }
}

struct spectator {
    pthread_t thread;
    it_evd_handle_t evd;
    atomic_bool done;
};

/* Leads from time to time, so that two threads read the endpoints' streams. */
static void *spectate(void *argument)
{
    struct spectator *spectator = argument;
    it_event_t event;

    while (!atomic_load(&spectator->done)) {
        (void)it_evd_dequeue(spectator->evd, &event);
        (void)it_evd_wait(spectator->evd, 300, &event, NULL);
    }
    return NULL;
}

static void freed_by_its_callback(void)
{
    struct server server;
    struct fx_node client;
    struct spectator spectator;
    uint16_t port;

    memset(&server, 0, sizeof(server));
    fx_node_open(&server.node);
    fx_node_open(&client);
    (void)fx_listen(&server.node, &port);
    CHECK_OK(it_evd_callback_attach(server.node.listen_evd, serve_requests, &server));
    CHECK_OK(it_evd_callback_attach(server.node.recv_evd, serve_messages, &server));
    CHECK_OK(it_evd_callback_attach(server.node.conn_evd, serve_connections, &server));
    spectator.evd = fx_evd(&server.node, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    atomic_init(&spectator.done, false);
    CHECK(pthread_create(&spectator.thread, NULL, spectate, &spectator) == 0);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        it_ep_handle_t ep = fx_ep(&client, NULL);

        fx_connect(&client, ep, port);
        fx_conn(client.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        for (uint64_t i = 0; i < 1 + round % 3; i++) {
            it_status_t status = it_post_send(ep, NULL, 0, i, FX_QUIET);

            CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE);
        }
        if (round % 4 == 0) {
            it_status_t status = it_ep_disconnect(ep, NULL, 0);

            CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE);
        }
        await(&server.freed, round, "the free");
        CHECK_OK(it_ep_free(ep));
        fx_drain(client.conn_evd);
        fx_drain(client.request_evd);
    }
    CHECK_EQ(ROUNDS, atomic_load(&server.freed));
    atomic_store(&spectator.done, true);
    CHECK(pthread_join(spectator.thread, NULL) == 0);
    fx_node_close(&client);
    fx_node_close(&server.node);
}

/* ---- Answers against disconnect ------------------------------------------------------------- */

struct player {
    it_ep_handle_t ep;
    atomic_uint received;
    atomic_uint flushed;
};

static void play(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_status_t status;

        if (event.event_number != IT_DTO_RC_RECV_CMPL_EVENT)
            continue;
        if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS) {
            atomic_fetch_add(&player->flushed, 1);
            continue;
        }
        atomic_fetch_add(&player->received, 1);
        status = it_post_recv(player->ep, NULL, 0, 0, FX_SIGNAL);
        if (status == IT_SUCCESS)
            status = it_post_send(player->ep, NULL, 0, 0, FX_SIGNAL);
        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE ||
              status == IT_ERR_TOO_MANY_POSTS);
    }
}

static void answers_against_disconnect(void)
{
    struct fx_node nodes[2];

    for (unsigned i = 0; i < 2; i++) {
        fx_node_open(&nodes[i]);
        nodes[i].request_evd = nodes[i].recv_evd; /* one callback handles all events */
    }
    for (unsigned round = 0; round < ROUNDS / 4; round++) {
        struct player players[2];

        memset(players, 0, sizeof(players));
        for (unsigned i = 0; i < 2; i++)
            players[i].ep = fx_ep(&nodes[i], NULL);
        fx_join(&nodes[0], players[0].ep, &nodes[1], players[1].ep);
        for (unsigned i = 0; i < 2; i++) {
            CHECK_OK(it_post_recv(players[i].ep, NULL, 0, 0, FX_SIGNAL));
            CHECK_OK(it_post_recv(players[i].ep, NULL, 0, 0, FX_SIGNAL));
            CHECK_OK(it_evd_callback_attach(nodes[i].recv_evd, play, &players[i]));
        }
        CHECK_OK(it_post_send(players[0].ep, NULL, 0, 0, FX_SIGNAL));
        await(&players[0].received, round % 20, "messages");
        if (round % 2)
            CHECK_OK(it_ep_disconnect(players[round % 4 / 2].ep, NULL, 0));
        for (unsigned i = 0; i < 2; i++) {
            if (round % 2)
                await(&players[i].flushed, 2, "flushed receives");
            else
                CHECK_OK(it_evd_callback_detach(nodes[i].recv_evd));
        }
        for (unsigned i = 0; i < 2; i++) {
            if (round % 2)
                CHECK_OK(it_evd_callback_detach(nodes[i].recv_evd));
            CHECK_OK(it_ep_free(players[i].ep));
            fx_drain(nodes[i].recv_evd);
        }
        for (unsigned i = 0; i < 2; i++) {
            fx_drain(nodes[i].conn_evd);
        }
    }
    fx_node_close(&nodes[0]);
    fx_node_close(&nodes[1]);
}

/* ---- The IA closed --------------------------------------------------------------------------- */

static void ia_closed(void)
{
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        struct fx_pair pair;
        struct player players[2];

        memset(players, 0, sizeof(players));
        fx_pair_open(&pair);
        players[0].ep = pair.a_ep;
        players[1].ep = pair.b_ep;
        for (unsigned i = 0; i < 4; i++) {
            CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
            CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
        }
        CHECK_OK(it_evd_callback_attach(pair.a.recv_evd, play, &players[0]));
        CHECK_OK(it_evd_callback_attach(pair.b.recv_evd, play, &players[1]));
        CHECK_OK(it_evd_callback_attach(pair.a.request_evd, play, &players[0]));
        CHECK_OK(it_evd_callback_attach(pair.b.request_evd, play, &players[1]));
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
        await(&players[round % 2].received, round % 10, "messages");
        CHECK_OK(it_ia_free(round % 2 ? pair.a.ia : pair.b.ia));
        CHECK_OK(it_ia_free(round % 2 ? pair.b.ia : pair.a.ia));
    }
}

int main(void)
{
    freed_by_its_callback();
    answers_against_disconnect();
    ia_closed();
    check_done();
    return 0;
}
