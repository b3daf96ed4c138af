/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends of a connection that connect_basic_test.c does not test: with open requests, from both sides
 * at once, by freeing or destroying in place of disconnecting.
 */
#include <stdio.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define PIECE 65536u

static void connect_beside(struct wire *wire, struct wire *host, enum wire_role role,
                           const char *what)
{
    struct wire_setup setup = {.place = host->setup.place, .role = role, .beside = host};
    static char about[128];

    (void)snprintf(about, sizeof(about), "%s, %s", wire_name(&setup), what);
    check_context(about);
    wire_connect(wire, &setup);
    wire_ping_from_there(wire, 10);
    wire_ping_from_here(wire, 10);
}

/*
 * Checks that earlier requests complete in order, successful or flushed, and that none succeeds
 * after the first flushed one.
 */
static void check_completions(const struct wire *wire, it_event_type_t number, unsigned count)
{
    it_dto_status_t before = IT_DTO_SUCCESS;

    for (unsigned i = 0; i < count; i++) {
        it_event_t event = fx_next(wire->node->request_evd);

        CHECK_EQ(number, event.event_number);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        CHECK(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
              (event.dto_cmpl.dto_status == IT_DTO_SUCCESS && before == IT_DTO_SUCCESS));
        before = event.dto_cmpl.dto_status;
    }
}

/* The library disconnects while its Reads and Writes are open. */
static void with_requests(struct wire *host, enum wire_role role, bool reads)
{
    struct peer_mem mem = peer_mem_make(host->peer, 16 * PIECE, "lwr");
    struct fx_buf buf = fx_buf_make(host->node, 16 * PIECE);
    struct wire wire;

    connect_beside(&wire, host, role, reads ? "Reads outstanding" : "Writes outstanding");
    for (unsigned i = 0; i < 16; i++) {
        if (reads)
            wire_read(&wire, &buf, i * PIECE, PIECE, &mem, i * PIECE, i, FX_SIGNAL);
        else
            wire_write(&wire, &buf, i * PIECE, PIECE, &mem, i * PIECE, i, FX_SIGNAL);
    }
    CHECK_OK(it_ep_disconnect(wire.ep, NULL, 0));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire.ep));
    fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    check_completions(&wire, reads ? IT_DTO_RDMA_READ_CMPL_EVENT : IT_DTO_RDMA_WRITE_CMPL_EVENT,
                      16);
    peer_ask(wire.peer, NULL, "wait %u disconnected " PEER_WAIT, wire.conn);
    wire_close(&wire);
    fx_buf_free(&buf);
    peer_ask(host->peer, NULL, "free %u", mem.id);
}

static void both_at_once(struct wire *host, enum wire_role role)
{
    struct wire wire;

    connect_beside(&wire, host, role, "both at once");
    peer_tell(wire.peer, "disconnect %u", wire.conn);
    switch (it_ep_disconnect(wire.ep, NULL, 0)) {
    case IT_SUCCESS:
    case IT_ERR_INVALID_EP_STATE: /* the peer was faster */
        break;
    default:
        CHECK_FAIL("it_ep_disconnect");
    }
    fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    peer_hear(wire.peer, NULL);
    peer_ask(wire.peer, NULL, "wait %u disconnected " PEER_WAIT, wire.conn);
    wire_close(&wire);
}

/* Freeing a connected EP queues no event here and ends the peer's connection. */
static void freed(struct wire *host, enum wire_role role)
{
    struct wire wire;

    connect_beside(&wire, host, role, "freed");
    CHECK_OK(it_ep_free(wire.ep));
    peer_ask(wire.peer, NULL, "wait %u disconnected " PEER_WAIT, wire.conn);
    fx_empty(wire.node->conn_evd);
    wire.ep = fx_ep(wire.node, NULL); /* for wire_close */
    wire_close(&wire);
}

/* The peer destroys its queue pair without a disconnect. That is an orderly end, too. */
static void destroyed(struct wire *host, enum wire_role role)
{
    struct wire wire;

    connect_beside(&wire, host, role, "destroyed");
    peer_ask(wire.peer, NULL, "destroy %u", wire.conn);
    wire.conn = 0;
    fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire.ep));
    wire_close(&wire);
}

/* Requests that the library posts after the end are flushed without another event. */
static void posts_afterwards(struct wire *host, enum wire_role role)
{
    struct peer_mem mem = peer_mem_make(host->peer, 64, NULL);
    struct fx_buf buf = fx_buf_make(host->node, 64);
    struct wire wire;

    connect_beside(&wire, host, role, "posts afterwards");
    wire_part_from_there(&wire);
    fx_recv(wire.ep, &buf, 0, 16, 1);
    fx_send(wire.ep, &buf, 0, 16, 2, FX_SIGNAL);
    wire_write(&wire, &buf, 0, 16, &mem, 0, 3, FX_QUIET);
    wire_read(&wire, &buf, 0, 16, &mem, 0, 4, FX_SIGNAL);
    fx_done(wire.node->recv_evd, wire.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    fx_done(wire.node->request_evd, wire.ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    fx_done(wire.node->request_evd, wire.ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
    fx_done(wire.node->request_evd, wire.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, IT_DTO_ERR_FLUSHED);
    wire_close(&wire);
    fx_buf_free(&buf);
    peer_ask(host->peer, NULL, "free %u", mem.id);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct wire_setup setup = {.place = place_named(names[i])};
        struct wire host;

        wire_open(&host, &setup);
        for (enum wire_role role = WIRE_ACTIVE; role <= WIRE_PASSIVE; role++) {
            with_requests(&host, role, true);
            with_requests(&host, role, false);
            for (int j = 0; j < 5; j++)
                both_at_once(&host, role);
            freed(&host, role);
            destroyed(&host, role);
            posts_afterwards(&host, role);
        }
        wire_close(&host);
    }
    check_done();
    return 0;
}
