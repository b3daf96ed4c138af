/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection startup with everything at once: endpoints that connect and are disconnected, reset or
 * freed at any moment, a server that accepts, rejects, hands off or forgets requests, and peers
 * that die. Checks that each attempt has one outcome, that a freed endpoint gets no event, and that
 * nothing is left at the end. It is a plain program so that it can run under ThreadSanitizer.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define CLIENTS 3
#define ROUNDS  150
#define KEPT    4096 /* more endpoints than the server ever accepts with */

struct server {
    struct fx_node node;
    uint16_t ports[2];
    it_ep_handle_t eps[KEPT]; /* endpoints that accepted and are not freed; server thread only */
    size_t ep_count;
    _Atomic bool stop;
};

static void answer(struct server *server, it_cn_est_identifier_t id, uint32_t dice)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = server->ports[dice % 2]};
    it_ep_handle_t ep;
    it_status_t status;

    switch (dice % 8) {
    case 0:
        status = it_reject(id, NULL, 0);
        break;
    case 1:
        status = it_handoff(&qual, server->node.spigot, id);
        break;
    case 2:
        return; /* forgotten */
    default:
        ep = fx_ep(&server->node, NULL);
        status = it_ep_accept(ep, id, (const unsigned char *)"yes", 3);
        if (status != IT_SUCCESS || dice % 3 == 0) {
            CHECK_OK(it_ep_free(ep)); /* some are freed at once, the others when they end */
        } else {
            CHECK(server->ep_count < KEPT);
            server->eps[server->ep_count++] = ep;
        }
        break;
    }
    CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_CN_EST_ID || status == IT_ERR_RESOURCES);
}

/*
 * The event may belong to an endpoint that was freed before the event was read, and whose handle
 * may now name another one.
 */
static void free_kept(struct server *server, it_ep_handle_t ep)
{
    for (size_t i = 0; i < server->ep_count; i++) {
        if (server->eps[i] != ep)
            continue;
        CHECK_OK(it_ep_free(ep));
        server->eps[i] = server->eps[--server->ep_count];
        return;
    }
}

static void *serve(void *argument)
{
    struct server *server = argument;
    uint32_t seed = 77;

    while (!atomic_load(&server->stop)) {
        it_event_t event;

        while (it_evd_dequeue(server->node.listen_evd, &event) == IT_SUCCESS)
            answer(server, event.conn_req.cn_est_id, fx_random(&seed) >> 8);
        while (it_evd_dequeue(server->node.conn_evd, &event) == IT_SUCCESS)
            if (event.event_number != IT_CM_MSG_CONN_ESTABLISHED_EVENT)
                free_kept(server, event.conn.ep);
        (void)poll(NULL, 0, 1);
    }
    return NULL;
}

/* Reads the outcome of an attempt. Returns true if it was established. */
static bool outcome(const struct fx_node *node, it_ep_handle_t ep)
{
    it_event_t event = fx_next(node->conn_evd);

    CHECK(event.conn.ep == ep);
    CHECK(event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT ||
          event.event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT);
    return event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT;
}

static void attempt(const struct fx_node *node, it_ep_handle_t *ep, uint16_t port, uint32_t dice)
{
    it_path_t path = fx_path(node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port};

    path.timeout = 30000; /* ends attempts whose requests are forgotten */
    CHECK_OK(it_ep_connect(*ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    if (dice % 5 == 0) {
        it_event_t event;

        (void)poll(NULL, 0, (int)(dice / 8 % 3));
        CHECK_OK(it_ep_free(*ep));
        while (it_evd_dequeue(node->conn_evd, &event) == IT_SUCCESS)
            ; /* drops events queued before the free */
        *ep = fx_ep(node, NULL);
        return;
    }
    if (dice % 5 == 1)
        (void)it_ep_disconnect(*ep, NULL, 0); /* fails if it has already ended */
    if (outcome(node, *ep)) {
        it_status_t status = it_ep_disconnect(*ep, NULL, 0);
        it_event_t event = fx_next(node->conn_evd);

        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_STATE);
        CHECK(event.conn.ep == *ep);
        CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
              event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    }
    fx_empty(node->conn_evd);
    CHECK_OK(it_ep_reset(*ep));
}

struct client {
    struct server *server;
    uint32_t seed;
};

static void *call(void *argument)
{
    struct client *client = argument;
    uint32_t seed = client->seed;
    it_ep_handle_t ep;
    struct fx_node node;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t dice = fx_random(&seed) >> 8;

        attempt(&node, &ep, client->server->ports[dice % 2], dice);
    }
    fx_node_close(&node);
    return NULL;
}

/* Raw peers send a part of a Request and close. */
static void *annoy(void *argument)
{
    struct client *client = argument;
    uint32_t seed = client->seed;
    RAW_BYTES(out);

    raw_mpa1(&out, false, RAW_MPA_C);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        uint32_t dice = fx_random(&seed) >> 8;
        struct raw_peer peer;

        raw_connect(&peer, client->server->ports[dice % 2]);
        (void)raw_send_part(&peer, out.data, dice % (out.len + 1));
        if (dice % 3 == 0)
            (void)raw_send(&peer, &out);
        if (dice % 7 == 0)
            (void)poll(NULL, 0, 1);
        if (dice % 2)
            raw_close_with_reset(&peer);
        else
            raw_close(&peer);
    }
    return NULL;
}

int main(void)
{
    size_t before = fx_fd_count();
    static struct server server;
    struct client clients[CLIENTS + 1];
    pthread_t threads[CLIENTS + 1];
    pthread_t service;

    fx_node_open(&server.node);
    (void)fx_listen(&server.node, &server.ports[0]);
    (void)fx_listen(&server.node, &server.ports[1]);
    CHECK(pthread_create(&service, NULL, serve, &server) == 0);
    for (int i = 0; i <= CLIENTS; i++) {
        clients[i] = (struct client){&server, 1000u + (uint32_t)i};
        CHECK(pthread_create(&threads[i], NULL, i < CLIENTS ? call : annoy, &clients[i]) == 0);
    }
    for (int i = 0; i <= CLIENTS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    atomic_store(&server.stop, true);
    CHECK(pthread_join(service, NULL) == 0);
    fx_node_close(&server.node);
    fx_fd_settle(before);
    check_done();
    puts("cm_churn: ok");
    return 0;
}
