/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read depths (RFC 6581): the result of what both sides want. Both sides at once have as many Reads
 * open as it allows, with more posted.
 *
 * Both accept at most 128 of either. As responder siw serves as many Reads as the library wants to
 * have open. As initiator it accepts the Reply's values even if they exceed those that it has asked
 * for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define READ_SIZE 500u

struct depths {
    unsigned ird;
    unsigned ord;
};

static const struct row {
    struct depths ours;
    struct depths theirs;
} rows[] = {
    {{8, 8}, {8, 8}},  {{1, 1}, {1, 1}}, {{16, 2}, {3, 5}},        {{2, 16}, {5, 3}},
    {{5, 3}, {2, 16}}, {{0, 8}, {4, 4}}, {{8, 0}, {4, 4}},         {{8, 8}, {0, 4}},
    {{8, 8}, {4, 0}},  {{0, 0}, {0, 0}}, {{128, 128}, {128, 128}}, {{7, 13}, {11, 3}},
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* ---- What must have been agreed on ---------------------------------------------------------- */

static void check_ours(const struct wire *wire, struct depths effective, struct depths told)
{
    struct itx_mpa_info info = wire_mpa(wire);
    it_ep_param_t param;

    EXPECT_EQ(effective.ird, info.ird);
    EXPECT_EQ(effective.ord, info.ord);
    EXPECT_EQ(told.ird, info.peer_ird);
    EXPECT_EQ(told.ord, info.peer_ord);
    EXPECT_EQ(effective.ird, wire->established.conn.rdma_read_ird);
    EXPECT_EQ(effective.ord, wire->established.conn.rdma_read_ord);
    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(wire->ep, IT_EP_PARAM_ALL, &param));
    EXPECT_EQ(effective.ird, param.attr.srv.rc.rdma_read_ird);
    EXPECT_EQ(effective.ord, param.attr.srv.rc.rdma_read_ord);
    check_done();
}

/*
 * siw as responder: its ORD is at most the library's IRD, its IRD at least the library's ORD.
 * Returns the number of Reads that siw may have open.
 */
static unsigned check_active(const struct wire *wire, const struct row *row)
{
    struct depths reply = {.ird = larger(row->theirs.ird, row->ours.ord),
                           .ord = smaller(row->theirs.ord, row->ours.ird)};
    struct depths effective = {.ird = row->ours.ird, .ord = smaller(row->ours.ord, reply.ird)};

    /* siw's application is told the values of the library's Request. */
    EXPECT_EQ(row->ours.ord, wire->told.ird);
    EXPECT_EQ(row->ours.ird, wire->told.ord);
    check_ours(wire, effective, reply);
    return reply.ord;
}

/*
 * siw as initiator: the library's ORD is at most siw's IRD. The library's IRD stays as set, and siw
 * uses all of it.
 */
static unsigned check_passive(const struct wire *wire, const struct row *row)
{
    struct depths effective = {.ird = row->ours.ird,
                               .ord = smaller(row->ours.ord, row->theirs.ird)};

    EXPECT_EQ(row->theirs.ird, wire->request.conn_req.rdma_read_ird);
    EXPECT_EQ(row->theirs.ord, wire->request.conn_req.rdma_read_ord);
    /* siw's application is told the values of the library's Reply. */
    EXPECT_EQ(effective.ird, wire->told.ird);
    EXPECT_EQ(effective.ord, wire->told.ord);
    check_ours(wire, effective, row->theirs);
    return effective.ird;
}

/* ---- Reads ---------------------------------------------------------------------------------- */

/* Each side reads its own part of the other's memory. Either count may be 0. */
static void read_both_ways(const struct wire *wire, unsigned ours, unsigned theirs)
{
    size_t our_size = (size_t)ours * READ_SIZE;
    size_t their_size = (size_t)theirs * READ_SIZE;
    size_t size = our_size + their_size + 1;
    struct peer_mem mem = peer_mem_make(wire->peer, size, "lwr");
    struct fx_buf buf = fx_buf_make(wire->node, size);

    /*
     * The first part of each memory is for the other side's Reads. The second part receives its
     * own.
     */
    peer_ask(wire->peer, NULL, "fill %u 0 %zu 21", mem.id, our_size);
    pattern_fill(buf.data, their_size, our_size, 22);
    if (theirs != 0)
        peer_tell(wire->peer,
                  "burst %u read %u %u:%zu:%u step=%u from=0x%" PRIx64 " rkey=0x%" PRIx64
                  " id=1000 depth=%u " PEER_WAIT,
                  wire->conn, theirs, mem.id, our_size, READ_SIZE, READ_SIZE, fx_addr(&buf, 0),
                  buf.key, theirs);
    for (unsigned i = 0; i < ours; i++)
        wire_read(wire, &buf, their_size + i * READ_SIZE, READ_SIZE, &mem, i * READ_SIZE, i,
                  FX_SIGNAL);
    for (unsigned i = 0; i < ours; i++)
        fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, READ_SIZE);
    if (theirs != 0)
        peer_hear(wire->peer, NULL);
    pattern_check(buf.data + their_size, our_size, 0, 21);
    peer_ask(wire->peer, NULL, "check %u %zu %zu 22", mem.id, our_size, their_size);
    peer_ask(wire->peer, NULL, "free %u", mem.id);
    fx_buf_free(&buf);
}

/*
 * Returns the number of Reads of a side with this depth: none without depth, otherwise twice the
 * depth plus one.
 */
static unsigned reads_for(unsigned depth)
{
    return depth == 0 ? 0 : 2 * depth + 1;
}

static void one_row(struct wire *host, const struct row *row, enum wire_role role)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct wire_setup setup = {.place = host->setup.place,
                               .role = role,
                               .attr = &attr,
                               .beside = host,
                               .peer_setup = "sq=512"};
    char answer[64];
    char about[128];
    struct wire wire;
    unsigned theirs;

    (void)snprintf(about, sizeof(about), "%s, ours %u/%u, theirs %u/%u", wire_name(&setup),
                   row->ours.ird, row->ours.ord, row->theirs.ird, row->theirs.ord);
    check_context(about);
    (void)snprintf(answer, sizeof(answer), "ird=%u ord=%u", row->theirs.ird, row->theirs.ord);
    setup.peer_answer = answer;
    attr.max_request_dtos = 512;
    attr.srv.rc.rdma_read_ird = row->ours.ird;
    attr.srv.rc.rdma_read_ord = row->ours.ord;
    wire_connect(&wire, &setup);
    theirs = role == WIRE_ACTIVE ? check_active(&wire, row) : check_passive(&wire, row);
    if (role == WIRE_PASSIVE)
        wire_ping_from_there(&wire, 1); /* siw has sent no ready-to-receive message */
    read_both_ways(&wire, reads_for(wire_mpa(&wire).ord), reads_for(theirs));
    wire_part(&wire);
    wire_close(&wire);
    check_context(NULL);
}

int main(void)
{
    static const char *const names[] = {"same", "veth"};

    siw_begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct wire_setup setup = {.place = place_named(names[i])};
        struct wire host;

        wire_open(&host, &setup);
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
            one_row(&host, &rows[j], WIRE_ACTIVE);
            one_row(&host, &rows[j], WIRE_PASSIVE);
        }
        wire_close(&host);
    }
    check_done();
    return 0;
}
