/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA revision 1, as far as siw supports it. As responder siw accepts any revision and answers with
 * the same one. As initiator it uses the revision in its setting mpa_version and does not try again
 * with another one.
 *
 * Revision 1 exchanges no read depths: the library keeps its own, and siw as responder keeps those
 * that its application states. So Reads work if both applications were told the same depths in some
 * other way.
 */
#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

static struct itx_mpa_params revision_1(const struct wire *host)
{
    struct itx_mpa_params mpa = fx_mpa(host->ep);

    mpa.revision = 1;
    return mpa;
}

static void check_negotiated(const struct wire *wire)
{
    struct itx_mpa_info info = wire_mpa(wire);

    CHECK_EQ(1, info.revision);
    CHECK_EQ(IT_TRUE, info.crc);
    CHECK_EQ(0, info.rtr_type);
    CHECK_EQ(0, info.peer_ird);
    CHECK_EQ(0, info.peer_ord);
    CHECK_EQ(8, info.ird);
    CHECK_EQ(8, info.ord);
    CHECK_EQ(8, wire->established.conn.rdma_read_ird);
    CHECK_EQ(8, wire->established.conn.rdma_read_ord);
}

/* RDMA Writes both ways, and a Read by the library. */
static void one_sided(const struct wire *wire)
{
    struct peer_mem mem = peer_mem_make(wire->peer, 8192, "lwr");
    struct fx_buf buf = fx_buf_make(wire->node, 8192);

    pattern_fill(buf.data, 4096, 0, 1);
    wire_write(wire, &buf, 0, 4096, &mem, 0, 1, FX_SIGNAL);
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 4096);
    wire_read(wire, &buf, 4096, 4096, &mem, 0, 2, FX_SIGNAL);
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 4096);
    pattern_check(buf.data + 4096, 4096, 0, 1);
    peer_ask(wire->peer, NULL, "check %u 0 4096 1", mem.id);
    peer_ask(wire->peer, NULL, "fill %u 0 8192 2", mem.id);
    wire_write_from_there(wire, &mem, 0, 8192, &buf, 0, 3);
    wire_far_done(wire, 3, "SUCCESS");
    wire_ping_from_there(wire, 1); /* follows the Write */
    pattern_check(buf.data, 8192, 0, 2);
    peer_ask(wire->peer, NULL, "free %u", mem.id);
    fx_buf_free(&buf);
}

/* The library offers only revision 1. */
static void active_restricted(struct wire *host)
{
    struct itx_mpa_params mpa = revision_1(host);
    struct wire_setup setup = {.place = host->setup.place,
                               .role = WIRE_ACTIVE,
                               .mpa = &mpa,
                               .beside = host,
                               .peer_answer = "ird=8 ord=8"};
    struct wire wire;

    check_context("we call with revision 1");
    wire_connect(&wire, &setup);
    CHECK_EQ(0, wire.told.ird);
    CHECK_EQ(0, wire.told.ord);
    check_negotiated(&wire);
    wire_ping_from_here(&wire, 3000);
    wire_ping_from_there(&wire, 3000);
    one_sided(&wire);
    wire_part(&wire);
    wire_close(&wire);
}

/* siw connects with revision 1. */
static void passive_called(struct wire *host, bool we_first)
{
    struct wire_setup setup = {.place = host->setup.place,
                               .role = WIRE_PASSIVE,
                               .beside = host,
                               .peer_answer = "ird=8 ord=8"};
    struct wire wire;

    check_context(we_first ? "siw calls with revision 1, we first" : "siw calls with revision 1");
    siw_set("mpa_version", 1);
    wire_connect(&wire, &setup);
    check_negotiated(&wire);
    CHECK_EQ(0, wire.request.conn_req.rdma_read_ird);
    CHECK_EQ(0, wire.request.conn_req.rdma_read_ord);
    if (we_first)
        wire_ping_from_here(&wire, 3000);
    wire_ping_from_there(&wire, 3000);
    wire_ping_from_here(&wire, 3000);
    one_sided(&wire);
    wire_part(&wire);
    wire_close(&wire);
    siw_reset();
}

/*
 * The library accepts only revision 1. It resets siw, which has asked for 2 and does not try again.
 */
static void passive_restricted(struct wire *host)
{
    struct itx_mpa_params mpa = revision_1(host);
    struct wire_setup setup = {
        .place = host->setup.place, .role = WIRE_PASSIVE, .mpa = &mpa, .beside = host};
    struct peer_answer answer;
    struct wire wire;
    it_event_t event;

    check_context("we take revision 1 only");
    wire_open(&wire, &setup);
    wire_meet(&wire);
    CHECK_OK(it_ep_accept(wire.ep, wire.request.conn_req.cn_est_id, NULL, 0));
    event = fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_CN_REJ_BAD_CONN_PARMS, event.conn.reject_reason_code);
    CHECK(!peer_hear_either(wire.peer, &answer));
    wire_close(&wire);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct wire_setup setup = {.place = place_named(names[i])};
        struct wire host;

        wire_open(&host, &setup);
        active_restricted(&host);
        passive_called(&host, false);
        passive_called(&host, true);
        passive_restricted(&host);
        wire_close(&host);
    }
    check_done();
    return 0;
}
