/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection from beginning to end, in both roles, at every place: the content of the events,
 * which side may send first, and how an orderly end looks on both sides.
 */
#include <string.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

static bool is_address(const it_in_addr_t *address, it_ip_vers_t version, const char *text)
{
    it_net_addr_t want = fx_address_from(text);

    if (version == IT_IP_VERS_IPV4)
        return want.addr_type == IT_IPV4 && address->ipv4.s_addr == want.addr.ipv4.s_addr;
    return want.addr_type == IT_IPV6 &&
           memcmp(&address->ipv6, &want.addr.ipv6, sizeof(address->ipv6)) == 0;
}

static void check_path(const it_path_t *path, const struct place *place)
{
    const it_iwarp_net_endpoint_t *ends = &path->u.iwarp;

    CHECK(is_address(&ends->laddr, ends->ip_vers, place->ours));
    CHECK(is_address(&ends->raddr, ends->ip_vers, place->theirs));
}

static void check_established(const struct wire *wire)
{
    const it_connection_event_t *event = &wire->established.conn;
    it_ep_param_t param;

    CHECK_EQ(0, event->cn_est_id);
    CHECK_EQ(IT_FALSE, event->private_data_present);
    CHECK(fx_is_byte(event->private_data, sizeof(event->private_data), 0));
    check_path(&event->dst_path, wire->setup.place);
    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(wire->ep, IT_EP_PARAM_PATH, &param));
    check_path(&param.dst_path, wire->setup.place);
}

static void check_request(const struct wire *wire)
{
    const it_conn_request_event_t *event = &wire->request.conn_req;
    it_net_addr_t theirs = fx_address_from(wire->setup.place->theirs);

    CHECK(event->cn_est_id != 0);
    CHECK_EQ(IT_IANA_PORT, event->conn_qual.type);
    CHECK_EQ(wire->node->spigot, event->spigot_id);
    CHECK_EQ(theirs.addr_type, event->source_addr.addr_type);
    CHECK(memcmp(&event->source_addr.addr, &theirs.addr,
                 theirs.addr_type == IT_IPV4 ? sizeof(theirs.addr.ipv4)
                                             : sizeof(theirs.addr.ipv6)) == 0);
    CHECK_EQ(IT_FALSE, event->private_data_present);
    CHECK_EQ(4, event->rdma_read_ird);
    CHECK_EQ(4, event->rdma_read_ord);
}

static void check_mpa(const struct wire *wire)
{
    bool active = wire->setup.role == WIRE_ACTIVE;
    struct itx_mpa_info info = wire_mpa(wire);

    CHECK_EQ(2, info.revision);
    CHECK_EQ(active ? IT_TRUE : IT_FALSE, info.initiator);
    CHECK_EQ(IT_TRUE, info.crc); /* the library asks for CRC, and siw obeys */
    CHECK_EQ(IT_FALSE, info.send_markers);
    /*
     * As initiator the library asks for the peer-to-peer model, siw does not. siw prefers the
     * Write.
     */
    CHECK_EQ(active ? ITX_RTR_WRITE : 0, info.rtr_type);
    CHECK(info.max_ulpdu >= 1400);
}

/*
 * Sends two messages each way. As initiator the library has sent the ready-to-receive message, so
 * siw may send first. siw as initiator sends no such message, so its first message must precede the
 * library's.
 */
static void exchange(const struct wire *wire)
{
    wire_ping_from_there(wire, 100);
    wire_ping_from_here(wire, 100);
    wire_ping_from_there(wire, 5000);
    wire_ping_from_here(wire, 5000);
}

/* Posts receives on both sides that no message fills. */
static void post_in_vain(const struct wire *wire, const struct fx_buf *buf,
                         const struct peer_mem *mem)
{
    for (unsigned i = 0; i < 3; i++) {
        fx_recv(wire->ep, buf, 16 * i, 16, 70 + i);
        peer_ask(wire->peer, NULL, "recv %u %u:%u:16 id=%u", wire->conn, mem->id, 16 * i, 80 + i);
    }
}

static void check_flushed(const struct wire *wire)
{
    for (unsigned i = 0; i < 3; i++)
        fx_done(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, 70 + i,
                IT_DTO_ERR_FLUSHED);
    for (unsigned i = 0; i < 3; i++)
        wire_far_done(wire, 80 + i, "WR_FLUSH_ERR");
}

static void one_connection(struct wire *host, enum wire_role role, bool part_from_there)
{
    struct wire_setup setup = {
        .place = host->setup.place, .role = role, .beside = host, .peer_answer = "ird=4 ord=4"};
    struct peer_mem mem = peer_mem_make(host->peer, 64, NULL);
    struct fx_buf buf = fx_buf_make(host->node, 64);
    struct wire wire;

    check_context(wire_name(&setup));
    wire_open(&wire, &setup);
    wire_meet(&wire);
    if (role == WIRE_PASSIVE)
        check_request(&wire);
    CHECK_EQ(role == WIRE_ACTIVE ? IT_EP_STATE_ACTIVE1_CONNECTION_PENDING : IT_EP_STATE_UNCONNECTED,
             fx_ep_state(wire.ep));
    wire_join(&wire);
    check_established(&wire);
    check_mpa(&wire);
    exchange(&wire);
    post_in_vain(&wire, &buf, &mem);
    if (part_from_there)
        wire_part_from_there(&wire);
    else
        wire_part(&wire);
    check_flushed(&wire);
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(wire.ep, NULL, 0));
    wire_close(&wire);
    fx_buf_free(&buf);
    peer_ask(host->peer, NULL, "free %u", mem.id);
}

/* The same EP connects again after a reset, with exchanged roles. */
static void again_with_one_ep(const struct place *place)
{
    struct wire_setup setup = {.place = place, .role = WIRE_ACTIVE};
    struct wire wire;

    check_context("again");
    wire_open(&wire, &setup);
    for (int i = 0; i < 4; i++) {
        wire.setup.role = i % 2 ? WIRE_PASSIVE : WIRE_ACTIVE;
        wire_meet(&wire);
        wire_join(&wire);
        exchange(&wire);
        wire_part(&wire);
        peer_ask(wire.peer, NULL, "destroy %u", wire.conn);
        wire.conn = 0;
        CHECK_OK(it_ep_reset(wire.ep));
    }
    wire_close(&wire);
}

int main(void)
{
    siw_begin();
    for (const struct place *place = places; place->name != NULL; place++) {
        struct wire_setup setup = {.place = place};
        struct wire host;

        wire_open(&host, &setup);
        one_connection(&host, WIRE_ACTIVE, false);
        one_connection(&host, WIRE_ACTIVE, true);
        one_connection(&host, WIRE_PASSIVE, false);
        one_connection(&host, WIRE_PASSIVE, true);
        wire_close(&host);
    }
    again_with_one_ep(place_named("veth"));
    check_done();
    return 0;
}
