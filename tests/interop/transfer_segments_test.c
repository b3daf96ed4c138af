/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages gathered from several segments and scattered over several, cut at different places. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define SEGMENTS 6u /* the most that siw accepts */
#define ROOM     ((size_t)65536)

/* Lengths of the segments of a message at its source and at its destination. 0 ends the list. */
static const size_t cuts[][SEGMENTS] = {
    {1},
    {1, 1, 1, 1, 1, 1},
    {7, 1000, 3, 450, 1},
    {1424, 1424, 1424},
    {1, 30000, 2, 11111, 5, 4000},
    {0x2000, 0x1000, 0x1001, 0xfff},
};

#define CUTS (sizeof(cuts) / sizeof(cuts[0]))

static size_t cut_total(const size_t *cut)
{
    size_t total = 0;

    for (size_t i = 0; i < SEGMENTS; i++)
        total += cut[i];
    return total;
}

/*
 * Returns the offset of a segment. Segments lie in reverse order in memory with gaps between them,
 * so that an octet in the wrong segment shows.
 */
static size_t cut_offset(const size_t *cut, size_t index)
{
    size_t offset = 0;

    for (size_t i = SEGMENTS; i-- > index + 1;)
        offset += cut[i] + 8;
    return offset;
}

static size_t cut_here(const struct fx_buf *buf, const size_t *cut, size_t total,
                       it_lmr_triplet_t *segments)
{
    size_t count = 0;

    for (; count < SEGMENTS && cut[count] > 0 && total > 0; count++) {
        size_t length = cut[count] < total ? cut[count] : total;

        segments[count] = fx_seg(buf, cut_offset(cut, count), length);
        total -= length;
    }
    CHECK_EQ(0, total);
    return count;
}

static const char *cut_there(const struct peer_mem *mem, const size_t *cut, size_t total,
                             char *text, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < SEGMENTS && cut[i] > 0 && total > 0; i++) {
        size_t length = cut[i] < total ? cut[i] : total;

        used += (size_t)snprintf(text + used, room - used, "%s%u:%zu:%zu", i > 0 ? "," : "",
                                 mem->id, cut_offset(cut, i), length);
        total -= length;
    }
    CHECK_EQ(0, total);
    return text;
}

/* ---- The message's octets, by their position in the message ---------------------------------- */

static void fill_here(const struct fx_buf *buf, const size_t *cut, uint64_t seed)
{
    uint64_t position = 0;

    memset(buf->data, 0, buf->size);
    for (size_t i = 0; i < SEGMENTS; i++) {
        pattern_fill(buf->data + cut_offset(cut, i), cut[i], position, seed);
        position += cut[i];
    }
}

static void check_here(const struct fx_buf *buf, const size_t *cut, size_t total, uint64_t seed)
{
    uint64_t position = 0;

    for (size_t i = 0; i < SEGMENTS && position < total; i++) {
        size_t offset = cut_offset(cut, i);
        size_t length = cut[i] < total - position ? cut[i] : (size_t)(total - position);

        pattern_check(buf->data + offset, length, position, seed);
        CHECK(fx_is_byte(buf->data + offset + length, 8, 0));
        position += length;
    }
}

/* Moves the message with RDMA, since the peer fills and checks by position in its memory only. */
static void move(const struct wire *wire, const struct fx_buf *buf, const struct peer_mem *mem,
                 bool to_peer)
{
    if (to_peer)
        wire_write(wire, buf, 0, ROOM, mem, 0, 90, FX_SIGNAL);
    else
        wire_read(wire, buf, 0, ROOM, mem, 0, 91, FX_SIGNAL);
    fx_done_len(wire->node->request_evd, wire->ep,
                to_peer ? IT_DTO_RDMA_WRITE_CMPL_EVENT : IT_DTO_RDMA_READ_CMPL_EVENT,
                to_peer ? 90 : 91, ROOM);
}

/* Waits until written octets have arrived: a later Read of that memory has been answered. */
static void settle(const struct wire *wire, const struct fx_buf *buf, const struct peer_mem *mem)
{
    wire_read(wire, buf, 0, 1, mem, 0, 92, FX_SIGNAL);
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 92, 1);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

struct bed {
    struct wire wire;
    struct fx_buf ours;
    struct fx_buf spare; /* for reading and filling the peer's memory */
    struct peer_mem theirs;
    uint64_t seed;
};

static void send_out(struct bed *bed, const size_t *from, const size_t *to)
{
    const struct wire *wire = &bed->wire;
    size_t total = cut_total(from);
    it_lmr_triplet_t segments[SEGMENTS];
    char text[256];

    memset(bed->spare.data, 0, bed->spare.size);
    move(wire, &bed->spare, &bed->theirs, true);
    settle(wire, &bed->spare, &bed->theirs);
    fill_here(&bed->ours, from, ++bed->seed);
    peer_ask(wire->peer, NULL, "recv %u %s id=1", wire->conn,
             cut_there(&bed->theirs, to, total, text, sizeof(text)));
    CHECK_OK(it_post_send(wire->ep, segments, cut_here(&bed->ours, from, total, segments), 2,
                          FX_SIGNAL));
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_SEND_CMPL_EVENT, 2, total);
    wire_far_done(wire, 1, "SUCCESS");
    move(wire, &bed->spare, &bed->theirs, false);
    check_here(&bed->spare, to, total, bed->seed);
}

static void send_in(struct bed *bed, const size_t *from, const size_t *to)
{
    const struct wire *wire = &bed->wire;
    size_t total = cut_total(from);
    it_lmr_triplet_t segments[SEGMENTS];
    char text[256];

    fill_here(&bed->spare, from, ++bed->seed);
    move(wire, &bed->spare, &bed->theirs, true);
    settle(wire, &bed->spare, &bed->theirs);
    memset(bed->ours.data, 0, bed->ours.size);
    CHECK_OK(
        it_post_recv(wire->ep, segments, cut_here(&bed->ours, to, total, segments), 3, FX_SIGNAL));
    peer_ask(wire->peer, NULL, "send %u %s id=4", wire->conn,
             cut_there(&bed->theirs, from, total, text, sizeof(text)));
    fx_done_len(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, total);
    wire_far_done(wire, 4, "SUCCESS");
    check_here(&bed->ours, to, total, bed->seed);
}

/*
 * A tagged message has one buffer on the far side, where its octets lie in the order of the
 * message.
 */
static void write_out(struct bed *bed, const size_t *from)
{
    const struct wire *wire = &bed->wire;
    size_t total = cut_total(from);
    it_lmr_triplet_t segments[SEGMENTS];

    fill_here(&bed->ours, from, ++bed->seed);
    CHECK_OK(it_post_rdma_write(wire->ep, segments, cut_here(&bed->ours, from, total, segments), 5,
                                FX_SIGNAL, wire_address(&bed->theirs, 0), bed->theirs.rkey));
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 5, total);
    settle(wire, &bed->spare, &bed->theirs);
    peer_ask(wire->peer, NULL, "check %u 0 %zu %" PRIu64, bed->theirs.id, total, bed->seed);
}

static void read_in(struct bed *bed, const size_t *to)
{
    const struct wire *wire = &bed->wire;
    size_t total = cut_total(to);
    it_lmr_triplet_t segments[SEGMENTS];

    peer_ask(wire->peer, NULL, "fill %u 0 %zu %" PRIu64, bed->theirs.id, total, ++bed->seed);
    memset(bed->ours.data, 0, bed->ours.size);
    CHECK_OK(it_post_rdma_read(wire->ep, segments, cut_here(&bed->ours, to, total, segments), 6,
                               FX_SIGNAL, wire_address(&bed->theirs, 0), bed->theirs.rkey));
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 6, total);
    check_here(&bed->ours, to, total, bed->seed);
}

static void write_in(struct bed *bed, const size_t *from)
{
    const struct wire *wire = &bed->wire;
    size_t total = cut_total(from);
    char text[256];

    fill_here(&bed->spare, from, ++bed->seed);
    move(wire, &bed->spare, &bed->theirs, true);
    settle(wire, &bed->spare, &bed->theirs);
    CHECK_OK(it_post_recv(wire->ep, NULL, 0, 7, FX_SIGNAL));
    peer_ask(wire->peer, NULL, "write %u %s to=0x%" PRIx64 " rkey=0x%" PRIx64 " id=8", wire->conn,
             cut_there(&bed->theirs, from, total, text, sizeof(text)), fx_addr(&bed->ours, 0),
             bed->ours.key);
    peer_ask(wire->peer, NULL, "send %u - id=9", wire->conn);
    wire_far_done(wire, 8, "SUCCESS");
    wire_far_done(wire, 9, "SUCCESS");
    fx_done_len(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, 7, 0);
    pattern_check(bed->ours.data, total, 0, bed->seed);
}

static void all_cuts(struct bed *bed)
{
    for (size_t from = 0; from < CUTS; from++) {
        char context[64];

        (void)snprintf(context, sizeof(context), "%s, cut %zu", wire_name(&bed->wire.setup), from);
        check_context(context);
        /* The message is scattered over every list that has room for it. */
        for (size_t to = 0; to < CUTS; to++) {
            if (cut_total(cuts[to]) >= cut_total(cuts[from])) {
                send_out(bed, cuts[from], cuts[to]);
                send_in(bed, cuts[from], cuts[to]);
            }
        }
        write_out(bed, cuts[from]);
        read_in(bed, cuts[from]);
        write_in(bed, cuts[from]);
        check_context(NULL);
    }
}

int main(void)
{
    siw_begin();
    for (int role = WIRE_ACTIVE; role <= WIRE_PASSIVE; role++) {
        struct wire_setup setup = {.place = place_named("veth"),
                                   .role = (enum wire_role)role,
                                   .peer_setup = "sge=6",
                                   .peer_answer = "ird=4 ord=4"};
        struct bed bed = {.seed = 0};

        wire_connect(&bed.wire, &setup);
        wire_ping_from_there(&bed.wire, 8);
        bed.ours = fx_buf_make(bed.wire.node, ROOM);
        bed.spare = fx_buf_make(bed.wire.node, ROOM);
        bed.theirs = peer_mem_make(bed.wire.peer, ROOM, NULL);
        all_cuts(&bed);
        fx_buf_free(&bed.ours);
        fx_buf_free(&bed.spare);
        wire_part(&bed.wire);
        wire_close(&bed.wire);
    }
    check_done();
    return 0;
}
