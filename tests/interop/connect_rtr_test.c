/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer-to-peer model of RFC 6581: which ready-to-receive message is agreed on, and that either
 * side can send first afterwards. siw as responder chooses a Write, else a Read, never a Send. As
 * initiator (with peer_to_peer set) it offers Write and Read.
 *
 * One case is not tested: the library connects and offers only the Send. siw proposes the Write,
 * and the library's Terminate says that there is nothing in common. But a connection that ends
 * before its ready-to-receive message violates an assertion of the kernel's connection manager
 * (iwcm, cm_close_handler, 6.12), which is then dead until the next boot.
 */
#include <stdio.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define WRITE ITX_RTR_WRITE
#define READ  ITX_RTR_READ
#define SEND  ITX_RTR_SEND
#define NONE  0xffu /* nothing in common */

static const struct row {
    const char *name;
    it_boolean_t peer_to_peer;
    uint32_t offered;
    uint32_t active;  /* agreed on when the library connects */
    uint32_t passive; /* agreed on when siw connects with peer_to_peer */
} rows[] = {
    {"Write", IT_TRUE, WRITE, WRITE, WRITE},
    {"Read", IT_TRUE, READ, READ, READ},
    {"Write, Read", IT_TRUE, WRITE | READ, WRITE,
     READ}, /* the library as responder prefers the Read */
    {"all", IT_TRUE, WRITE | READ | SEND, WRITE, READ},
    {"Write, Send", IT_TRUE, WRITE | SEND, WRITE, WRITE},
    {"Read, Send", IT_TRUE, READ | SEND, READ, READ},
    {"Send", IT_TRUE, SEND, NONE, NONE},
    {"no peer-to-peer", IT_FALSE, WRITE | READ, 0, READ},
};

static struct itx_mpa_params mpa_of(const struct wire *host, const struct row *row)
{
    struct itx_mpa_params mpa = fx_mpa(host->ep);

    mpa.peer_to_peer = row->peer_to_peer;
    mpa.rtr_types = row->offered;
    mpa.crc = row->passive == NONE ? IT_FALSE : IT_TRUE;
    return mpa;
}

/*
 * The library's Reply names the Send, which siw has not offered. siw ends the connection with a
 * Terminate, in its own order of bits and always without CRC, so this test asks for no CRC. Read in
 * the RFC's order, which its other bits allow, it says "catastrophic, this stream".
 */
static void nothing_in_common(struct wire *wire)
{
    it_event_t event;

    wire_meet(wire);
    CHECK_OK(it_ep_accept(wire->ep, wire->request.conn_req.cn_est_id, NULL, 0));
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    event = fx_next(wire->node->aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_EP_R_ERROR, event.event_number);
    CHECK(event.aff_async.cause.ep == wire->ep);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire->ep));
    peer_hear_error(wire->peer, NULL, "connect_error");
}

static void one_row(struct wire *host, const struct row *row, enum wire_role role, bool they_first)
{
    struct itx_mpa_params mpa = mpa_of(host, row);
    struct wire_setup setup = {.place = host->setup.place,
                               .role = role,
                               .mpa = &mpa,
                               .beside = host,
                               .peer_answer = "ird=4 ord=4"};
    uint32_t agreed = role == WIRE_ACTIVE ? row->active : row->passive;
    struct wire wire;
    char about[128];

    (void)snprintf(about, sizeof(about), "%s, we offer %s, %s first", wire_name(&setup), row->name,
                   they_first ? "they" : "we");
    check_context(about);
    wire_open(&wire, &setup);
    if (agreed == NONE) {
        nothing_in_common(&wire);
    } else {
        wire_meet(&wire);
        wire_join(&wire);
        CHECK_EQ(agreed, wire_mpa(&wire).rtr_type);
        if (they_first)
            wire_ping_from_there(&wire, 2000);
        wire_ping_from_here(&wire, 2000);
        wire_ping_from_there(&wire, 2000);
        wire_part(&wire);
    }
    wire_close(&wire);
    check_context(NULL);
}

/* The Read as ready-to-receive message needs no read depth of the application. */
static void without_depths(struct wire *host)
{
    struct itx_mpa_params mpa = mpa_of(host, &rows[1]);
    it_ep_attributes_t attr = fx_ep_attr();
    struct wire_setup setup = {.place = host->setup.place,
                               .role = WIRE_PASSIVE,
                               .mpa = &mpa,
                               .attr = &attr,
                               .beside = host,
                               .peer_answer = "ird=0 ord=0"};
    struct wire wire;

    check_context("ready-to-receive Read, no read depths");
    attr.srv.rc.rdma_read_ird = 0;
    attr.srv.rc.rdma_read_ord = 0;
    wire_connect(&wire, &setup);
    CHECK_EQ(READ, wire_mpa(&wire).rtr_type);
    wire_ping_from_here(&wire, 10);
    wire_ping_from_there(&wire, 10);
    wire_part(&wire);
    wire_close(&wire);
    check_context(NULL);
}

/*
 * siw does not ask for the peer-to-peer model. The library's messages wait for siw's first message,
 * or until siw has been silent for a while.
 */
static void without_rtr(struct wire *host, bool strict)
{
    struct itx_mpa_params mpa = fx_mpa(host->ep);
    struct wire_setup setup = {
        .place = host->setup.place, .role = WIRE_PASSIVE, .mpa = &mpa, .beside = host};
    struct wire wire;

    check_context(strict ? "siw asks for no peer-to-peer model, we first, but strictly"
                         : "siw asks for no peer-to-peer model, we first");
    if (strict)
        mpa.release_us = 0;
    siw_set("peer_to_peer", 0);
    wire_connect(&wire, &setup);
    CHECK_EQ(0, wire_mpa(&wire).rtr_type);
    if (strict)
        wire_check_held_back(&wire);
    wire_ping_from_here(&wire, 2000);
    wire_ping_from_there(&wire, 2000);
    wire_part(&wire);
    wire_close(&wire);
    siw_set("peer_to_peer", 1);
    check_context(NULL);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    siw_set("peer_to_peer", 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct wire_setup setup = {.place = place_named(names[i])};
        struct wire host;

        wire_open(&host, &setup);
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
            if (rows[j].active != NONE) {
                one_row(&host, &rows[j], WIRE_ACTIVE, true);
                one_row(&host, &rows[j], WIRE_ACTIVE, false);
            }
            one_row(&host, &rows[j], WIRE_PASSIVE, true);
            one_row(&host, &rows[j], WIRE_PASSIVE, false);
        }
        without_depths(&host);
        without_rtr(&host, true);
        without_rtr(&host, false);
        wire_close(&host);
    }
    check_done();
    return 0;
}
