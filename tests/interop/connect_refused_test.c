/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attempts that fail: nobody listens, there is no such host, nobody answers, one side gives up.
 * Each has one event of the right kind with the right reason.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "interop/siw.h"
#include "interop/wire.h"

static void open_beside(struct wire *wire, struct wire *host, enum wire_role role, const char *what)
{
    struct wire_setup setup = {.place = host->setup.place, .role = role, .beside = host};
    static char about[128];

    (void)snprintf(about, sizeof(about), "%s, %s", wire_name(&setup), what);
    check_context(about);
    wire_open(wire, &setup);
}

static void call_within(struct wire *wire, const char *to, uint16_t port, uint64_t timeout_us)
{
    it_path_t path = place_path(wire->node, to);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(port);
    path.timeout = timeout_us;
    CHECK_OK(it_ep_connect(wire->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
}

static void failed(const struct wire *wire, it_conn_reject_code_t reason)
{
    it_event_t event = fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    CHECK_EQ(reason, event.conn.reject_reason_code);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
    CHECK_EQ(0, event.conn.cn_est_id);
    CHECK_EQ(0, event.conn.rdma_read_ird);
    CHECK_EQ(0, event.conn.rdma_read_ord);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire->ep));
}

/* Makes the peer listen. Returns its port. */
static uint16_t listen_there(struct wire *wire)
{
    struct peer_answer answer;

    peer_ask(wire->peer, &answer, "listen %s 0", wire->setup.place->theirs);
    wire->listener = (unsigned)peer_number(&answer, "listen");
    return (uint16_t)peer_number(&answer, "port");
}

static void stop_listening_there(struct wire *wire)
{
    peer_ask(wire->peer, NULL, "destroy listen %u", wire->listener);
    wire->listener = 0;
}

/* ---- We call -------------------------------------------------------------------------------- */

/* Connects to a port where siw has listened a moment before. */
static void closed_port(struct wire *host)
{
    struct wire wire;
    uint16_t port;

    open_beside(&wire, host, WIRE_ACTIVE, "closed port");
    port = listen_there(&wire);
    stop_listening_there(&wire);
    wire_call(&wire, port);
    failed(&wire, IT_CN_REJ_OTHER);
    CHECK_OK(it_ep_reset(wire.ep));
    wire_meet(&wire); /* the same EP can then connect */
    wire_join(&wire);
    wire_ping_from_here(&wire, 10);
    wire_part(&wire);
    wire_close(&wire);
}

static void no_host(struct wire *host, uint64_t timeout_us, it_conn_reject_code_t reason)
{
    struct wire wire;
    uint64_t start_us = fx_now_us();

    open_beside(&wire, host, WIRE_ACTIVE, "no such host");
    call_within(&wire, host->setup.place->nobody, 7777, timeout_us);
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(wire.ep));
    failed(&wire, reason);
    if (reason == IT_CN_REJ_TIMEOUT)
        CHECK(fx_now_us() - start_us >= timeout_us);
    wire_close(&wire);
}

/*
 * siw has the Request, but its application does not decide. On a busy machine the time may be over
 * before siw has the Request, so this repeats with more time.
 */
static void undecided_there(struct wire *host)
{
    unsigned timeout_ms = 400;
    struct peer_answer answer;
    struct wire wire;
    uint16_t port;
    bool heard;

    open_beside(&wire, host, WIRE_ACTIVE, "undecided");
    port = listen_there(&wire);
    do {
        CHECK_OK(it_ep_reset(wire.ep));
        call_within(&wire, host->setup.place->theirs, port, timeout_ms * UINT64_C(1000));
        peer_tell(wire.peer, "request %u timeout=%u", wire.listener, timeout_ms + 2000);
        heard = peer_hear_either(wire.peer, &answer);
        failed(&wire, IT_CN_REJ_TIMEOUT);
        timeout_ms *= 2;
    } while (!heard && timeout_ms < (unsigned)PEER_PATIENCE_MS / 2);
    wire.conn = (unsigned)peer_number(&answer, "conn");
    wire_close(&wire);
}

/* The peer's program destroys an undecided request, which rejects it. */
static void destroyed_there(struct wire *host)
{
    struct wire wire;
    it_event_t event;

    open_beside(&wire, host, WIRE_ACTIVE, "destroyed there");
    wire_meet(&wire);
    peer_ask(wire.peer, NULL, "destroy %u", wire.conn);
    wire.conn = 0;
    event = fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
    wire_close(&wire);
}

/* A request outlives the listener through which it came. */
static void listener_goes(struct wire *host, enum wire_role role)
{
    struct wire wire;

    open_beside(&wire, host, role, "listener goes");
    wire_meet(&wire); /* frees the library's listener */
    if (role == WIRE_ACTIVE)
        stop_listening_there(&wire);
    wire_join(&wire);
    wire_ping_from_there(&wire, 10);
    wire_ping_from_here(&wire, 10);
    wire_part(&wire);
    wire_close(&wire);
}

/*
 * The peer's program does not accept the attempt that the library has given up. If it did, and siw
 * only then found the end of the stream, the kernel's connection manager would not survive it (see
 * connect_rtr_test.c).
 */
static void we_give_up(struct wire *host)
{
    struct wire wire;

    open_beside(&wire, host, WIRE_ACTIVE, "we give up");
    wire_meet(&wire);
    CHECK_OK(it_ep_disconnect(wire.ep, NULL, 0));
    fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire.ep));
    wire_close(&wire);
}

/* ---- siw calls ------------------------------------------------------------------------------ */

static void call_from_there(struct wire *wire, uint16_t port)
{
    wire->conn = (unsigned)peer_ask_number(wire->peer, "conn", "resolve %s %u " PEER_WAIT,
                                           wire->setup.place->ours, port);
    peer_ask(wire->peer, NULL, "setup %u", wire->conn);
    peer_tell(wire->peer, "connect %u " PEER_WAIT, wire->conn);
}

static void our_listener_is_gone(struct wire *host)
{
    struct peer_answer answer;
    struct wire wire;
    uint16_t port;

    open_beside(&wire, host, WIRE_PASSIVE, "listener gone");
    CHECK_OK(it_listen_free(wire_listen(&wire, &port)));
    call_from_there(&wire, port);
    CHECK(!peer_hear_either(wire.peer, &answer));
    wire_close(&wire);
}

/* The peer's program dies while its request is undecided, which makes the request invalid. */
static void caller_dies(const struct place *place)
{
    struct wire_setup setup = {.place = place, .role = WIRE_PASSIVE};
    struct wire wire;

    check_context("caller dies");
    wire_open(&wire, &setup);
    wire_meet(&wire);
    peer_kill(wire.peer);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID,
                 it_ep_accept(wire.ep, wire.request.conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(wire.ep));
    wire_close(&wire);
}

static void all_at(const char *name)
{
    struct wire_setup setup = {.place = place_named(name)};
    struct wire host;

    wire_open(&host, &setup);
    closed_port(&host);
    no_host(&host, 300000, IT_CN_REJ_TIMEOUT);
    undecided_there(&host);
    destroyed_there(&host);
    listener_goes(&host, WIRE_ACTIVE);
    listener_goes(&host, WIRE_PASSIVE);
    we_give_up(&host);
    our_listener_is_gone(&host);
    wire_close(&host);
}

/* On the veth the kernel finds out after a few seconds that no host has the address. */
static void unreachable(const char *name)
{
    struct wire_setup setup = {.place = place_named(name)};
    struct wire host;

    wire_open(&host, &setup);
    no_host(&host, 0, IT_CN_REJ_BAD_PATH);
    wire_close(&host);
}

int main(void)
{
    siw_begin();
    all_at("same");
    all_at("veth");
    all_at("veth6");
    unreachable("veth");
    unreachable("veth6");
    caller_dies(place_named("veth")); /* lasts until siw gives up waiting for a Reply: 10 s */
    check_done();
    return 0;
}
