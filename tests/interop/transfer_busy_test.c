/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many requests are open on both sides at once: the peer writes, reads or sends while the library
 * does all three. Each kind has its own memory.
 */
#include <inttypes.h>
#include <string.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define COUNT   96u   /* messages of each kind */
#define STEP    3000u /* their size: more than two FPDUs on an Ethernet */
#define DEPTH   48u   /* the number of them posted at once */
#define ALL     ((size_t)COUNT * STEP)
#define KINDS   3u
#define TO_THEM 11u /* seeds */
#define TO_US   13u

enum kind {
    WRITE,
    READ,
    SEND
};

/*
 * The memory of either side: the source of what it sends, and a place for each kind that it
 * receives.
 */
struct side {
    struct wire wire;
    enum kind burst; /* what the peer does */
    struct fx_buf source, written, read, inbox;
    struct peer_mem far_source, far_written, far_read, far_inbox;
    unsigned posted[KINDS];
    unsigned done[KINDS];
    unsigned received;
};

static void side_open(struct side *side, const struct wire_setup *setup, enum kind burst)
{
    const struct wire *wire = &side->wire;

    memset(side, 0, sizeof(*side));
    side->burst = burst;
    wire_connect(&side->wire, setup);
    wire_ping_from_there(wire, 8); /* siw as initiator must speak first */
    side->source = fx_buf_make(wire->node, ALL);
    side->written = fx_buf_make(wire->node, ALL);
    side->read = fx_buf_make(wire->node, ALL);
    side->inbox = fx_buf_make(wire->node, ALL);
    side->far_source = peer_mem_make(wire->peer, ALL, NULL);
    side->far_written = peer_mem_make(wire->peer, ALL, NULL);
    side->far_read = peer_mem_make(wire->peer, ALL, NULL);
    side->far_inbox = peer_mem_make(wire->peer, ALL, NULL);
    pattern_fill(side->source.data, ALL, 0, TO_THEM);
    peer_ask(wire->peer, NULL, "fill %u 0 %zu %u", side->far_source.id, ALL, TO_US);
    for (unsigned i = 0; i < COUNT; i++) {
        peer_ask(wire->peer, NULL, "recv %u %u:%u:%u id=%u", wire->conn, side->far_inbox.id,
                 i * STEP, STEP, 1000 + i);
        fx_recv(wire->ep, &side->inbox, (size_t)i * STEP, STEP, i);
    }
}

static void side_close(struct side *side)
{
    const struct fx_buf *const bufs[] = {&side->source, &side->written, &side->read, &side->inbox};
    const struct wire *wire = &side->wire;

    wire_part(&side->wire);
    for (; side->received < COUNT; side->received++)
        fx_done(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, side->received,
                IT_DTO_ERR_FLUSHED);
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        struct fx_buf buf = *bufs[i];

        fx_buf_free(&buf);
    }
    wire_close(&side->wire);
}

static void post_one(struct side *side, enum kind kind)
{
    const struct wire *wire = &side->wire;
    size_t at = (size_t)side->posted[kind]++ * STEP;

    switch (kind) {
    case WRITE:
        wire_write(wire, &side->source, at, STEP, &side->far_written, at, WRITE, FX_SIGNAL);
        break;
    case READ:
        wire_read(wire, &side->read, at, STEP, &side->far_source, at, READ, FX_SIGNAL);
        break;
    case SEND:
        fx_send(wire->ep, &side->source, at, STEP, SEND, FX_SIGNAL);
        break;
    }
}

static unsigned outstanding(const struct side *side)
{
    unsigned sum = 0;

    for (unsigned kind = 0; kind < KINDS; kind++)
        sum += side->posted[kind] - side->done[kind];
    return sum;
}

static bool take_one(struct side *side)
{
    it_event_t event;
    bool any = false;

    if (it_evd_dequeue(side->wire.node->request_evd, &event) == IT_SUCCESS) {
        any = true;
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(STEP, event.dto_cmpl.transferred_length);
        CHECK(event.dto_cmpl.cookie < KINDS);
        side->done[event.dto_cmpl.cookie]++;
    }
    if (it_evd_dequeue(side->wire.node->recv_evd, &event) == IT_SUCCESS) {
        any = true;
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(STEP, event.dto_cmpl.transferred_length);
        CHECK_EQ(side->received, event.dto_cmpl.cookie); /* in the order of posting */
        side->received++;
    }
    return any;
}

static unsigned all_posted(const struct side *side)
{
    return side->posted[WRITE] + side->posted[READ] + side->posted[SEND];
}

static bool is_finished(const struct side *side)
{
    return side->done[WRITE] + side->done[READ] + side->done[SEND] == KINDS * COUNT &&
           side->received == (side->burst == SEND ? COUNT : 0);
}

/* Keeps the send queue as full as its depth allows. The kinds take turns. */
static void our_part(struct side *side)
{
    struct fx_patience patience = fx_patience_start("completions of ours");

    while (!is_finished(side)) {
        while (outstanding(side) < DEPTH && all_posted(side) < KINDS * COUNT)
            post_one(side, (enum kind)(all_posted(side) % KINDS));
        if (take_one(side))
            patience = fx_patience_start("completions of ours");
        else
            fx_patience_check(&patience);
    }
}

static void start_burst(const struct side *side)
{
    const struct wire *wire = &side->wire;
    const char *end = " id=1 depth=48 " PEER_WAIT;

    switch (side->burst) {
    case WRITE:
        peer_tell(wire->peer,
                  "burst %u write %u %u:0:%u step=%u to=0x%" PRIx64 " rkey=0x%" PRIx64 "%s",
                  wire->conn, COUNT, side->far_source.id, STEP, STEP, fx_addr(&side->written, 0),
                  side->written.key, end);
        break;
    case READ:
        peer_tell(wire->peer,
                  "burst %u read %u %u:0:%u step=%u from=0x%" PRIx64 " rkey=0x%" PRIx64 "%s",
                  wire->conn, COUNT, side->far_read.id, STEP, STEP, fx_addr(&side->source, 0),
                  side->source.key, end);
        break;
    case SEND:
        peer_tell(wire->peer, "burst %u send %u %u:0:%u step=%u%s", wire->conn, COUNT,
                  side->far_source.id, STEP, STEP, end);
        break;
    }
}

static void check_there(const struct side *side, const struct peer_mem *mem)
{
    peer_ask(side->wire.peer, NULL, "check %u 0 %zu %u", mem->id, ALL, TO_THEM);
}

static void end_burst(const struct side *side)
{
    const struct wire *wire = &side->wire;
    struct peer_answer answer;

    peer_hear(wire->peer, &answer);
    CHECK_EQ(COUNT, peer_number(&answer, "n"));
    /* Ask for the messages that the peer has received in the meantime. */
    peer_ask(wire->peer, &answer, "done %u %u " PEER_WAIT, wire->conn, COUNT);
    CHECK_EQ(COUNT, peer_number(&answer, "n"));
    CHECK(strstr(answer.text, "ERR") == NULL);
}

static void check_data(const struct side *side)
{
    check_there(side, &side->far_inbox);
    check_there(side, &side->far_written);
    pattern_check(side->read.data, ALL, 0, TO_US);
    pattern_check(side->source.data, ALL, 0, TO_THEM);
    switch (side->burst) {
    case WRITE:
        pattern_check(side->written.data, ALL, 0, TO_US);
        break;
    case READ:
        check_there(side, &side->far_read);
        break;
    case SEND:
        pattern_check(side->inbox.data, ALL, 0, TO_US);
        break;
    }
}

static void busy(const struct wire_setup *setup, enum kind burst)
{
    static const char *const names[] = {"Writes", "Reads", "Sends"};
    struct side side;

    check_context(names[burst]);
    side_open(&side, setup, burst);
    start_burst(&side);
    our_part(&side);
    end_burst(&side);
    if (burst == WRITE) { /* the Writes are complete there; a later message shows the arrival */
        peer_ask(side.wire.peer, NULL, "send %u - id=5", side.wire.conn);
        fx_done_len(side.wire.node->recv_evd, side.wire.ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, 0);
        side.received++;
        wire_far_done(&side.wire, 5, "SUCCESS");
    }
    check_data(&side);
    side_close(&side);
    check_context(NULL);
}

int main(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    siw_begin();
    attr.max_recv_dtos = COUNT + 1;
    for (int role = WIRE_ACTIVE; role <= WIRE_PASSIVE; role++) {
        struct wire_setup setup = {.place = place_named("veth"),
                                   .role = (enum wire_role)role,
                                   .attr = &attr,
                                   .peer_setup = "sq=64 rq=100",
                                   .peer_answer = "ird=4 ord=4"};

        busy(&setup, WRITE);
        busy(&setup, READ);
        busy(&setup, SEND);
    }
    check_done();
    return 0;
}
