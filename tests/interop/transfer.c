/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/transfer.h"

#include <inttypes.h>

#include "interop/pattern.h"

/* Id and cookie of the empty message that tells that a Write has arrived. */
#define NOTICE_ID 2u

const char *transfer_name(enum transfer_kind kind)
{
    static const char *const names[TRANSFER_KINDS] = {
        [TRANSFER_SEND_OUT] = "Send to the peer",   [TRANSFER_SEND_IN] = "Send of the peer",
        [TRANSFER_WRITE_OUT] = "Write to the peer", [TRANSFER_WRITE_IN] = "Write of the peer",
        [TRANSFER_READ_OUT] = "Read by the peer",   [TRANSFER_READ_IN] = "Read from the peer",
    };

    return names[kind];
}

bool transfer_is_out(enum transfer_kind kind)
{
    return kind == TRANSFER_SEND_OUT || kind == TRANSFER_WRITE_OUT || kind == TRANSFER_READ_OUT;
}

void transfer_open(struct transfer *transfer, const struct wire *wire, size_t size)
{
    *transfer = (struct transfer){
        .wire = wire,
        .ours = fx_buf_make(wire->node, size + 2 * TRANSFER_MARGIN),
        .theirs = peer_mem_make(wire->peer, size + 2 * TRANSFER_MARGIN, "lwr"),
        .next_seed = 1,
    };
}

void transfer_close(struct transfer *transfer)
{
    peer_ask(transfer->wire->peer, NULL, "free %u", transfer->theirs.id);
    fx_buf_free(&transfer->ours);
}

/* Fills the message with the seed and its destination with the next seed. */
void transfer_prepare(struct transfer *transfer, enum transfer_kind kind, size_t size)
{
    size_t all = size + 2 * TRANSFER_MARGIN;
    bool out = transfer_is_out(kind);

    CHECK(all <= transfer->ours.size);
    transfer->next_seed += 2;
    pattern_fill(transfer->ours.data, all, 0, transfer->next_seed + (out ? 0 : 1));
    peer_ask(transfer->wire->peer, NULL, "fill %u 0 %zu %u", transfer->theirs.id, all,
             transfer->next_seed + (out ? 1 : 0));
}

/* ---- Posting -------------------------------------------------------------------------------- */

static void tell_of_write_out(const struct transfer *transfer)
{
    const struct wire *wire = transfer->wire;

    peer_ask(wire->peer, NULL, "recv %u %u:0:0 id=%u", wire->conn, transfer->theirs.id, NOTICE_ID);
    CHECK_OK(it_post_send(wire->ep, NULL, 0, NOTICE_ID, FX_SIGNAL));
}

static void tell_of_write_in(const struct transfer *transfer)
{
    const struct wire *wire = transfer->wire;

    CHECK_OK(it_post_recv(wire->ep, NULL, 0, NOTICE_ID, FX_SIGNAL));
    peer_ask(wire->peer, NULL, "send %u %u:0:0 id=%u", wire->conn, transfer->theirs.id, NOTICE_ID);
}

void transfer_post(const struct transfer *transfer, enum transfer_kind kind, size_t size)
{
    const struct wire *wire = transfer->wire;
    const struct fx_buf *ours = &transfer->ours;
    const struct peer_mem *theirs = &transfer->theirs;

    switch (kind) {
    case TRANSFER_SEND_OUT:
        peer_ask(wire->peer, NULL, "recv %u %u:%zu:%zu id=%u", wire->conn, theirs->id,
                 TRANSFER_MARGIN, size, TRANSFER_ID);
        fx_send(wire->ep, ours, TRANSFER_MARGIN, size, TRANSFER_ID, FX_SIGNAL);
        break;
    case TRANSFER_SEND_IN:
        fx_recv(wire->ep, ours, TRANSFER_MARGIN, size, TRANSFER_ID);
        peer_ask(wire->peer, NULL, "send %u %u:%zu:%zu id=%u", wire->conn, theirs->id,
                 TRANSFER_MARGIN, size, TRANSFER_ID);
        break;
    case TRANSFER_WRITE_OUT:
        wire_write(wire, ours, TRANSFER_MARGIN, size, theirs, TRANSFER_MARGIN, TRANSFER_ID,
                   FX_SIGNAL);
        tell_of_write_out(transfer);
        break;
    case TRANSFER_WRITE_IN:
        wire_write_from_there(wire, theirs, TRANSFER_MARGIN, size, ours, TRANSFER_MARGIN,
                              TRANSFER_ID);
        tell_of_write_in(transfer);
        break;
    case TRANSFER_READ_OUT:
        wire_read_from_there(wire, theirs, TRANSFER_MARGIN, size, ours, TRANSFER_MARGIN,
                             TRANSFER_ID);
        break;
    case TRANSFER_READ_IN:
        wire_read(wire, ours, TRANSFER_MARGIN, size, theirs, TRANSFER_MARGIN, TRANSFER_ID,
                  FX_SIGNAL);
        break;
    case TRANSFER_KINDS:
        break;
    }
}

/* ---- Completions ---------------------------------------------------------------------------- */

static void our_request(const struct wire *wire, it_event_type_t number, uint64_t id, size_t size)
{
    fx_done_len(wire->node->request_evd, wire->ep, number, id, size);
}

static void our_receive(const struct wire *wire, uint64_t id, size_t size)
{
    fx_done_len(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, id, size);
}

static void complete(const struct wire *wire, enum transfer_kind kind, size_t size)
{
    switch (kind) {
    case TRANSFER_SEND_OUT:
        our_request(wire, IT_DTO_SEND_CMPL_EVENT, TRANSFER_ID, size);
        wire_far_done(wire, TRANSFER_ID, "SUCCESS");
        break;
    case TRANSFER_SEND_IN:
        our_receive(wire, TRANSFER_ID, size);
        wire_far_done(wire, TRANSFER_ID, "SUCCESS");
        break;
    case TRANSFER_WRITE_OUT:
        our_request(wire, IT_DTO_RDMA_WRITE_CMPL_EVENT, TRANSFER_ID, size);
        our_request(wire, IT_DTO_SEND_CMPL_EVENT, NOTICE_ID, 0);
        wire_far_done(wire, NOTICE_ID, "SUCCESS");
        break;
    case TRANSFER_WRITE_IN:
        our_receive(wire, NOTICE_ID, 0);
        wire_far_done(wire, TRANSFER_ID, "SUCCESS");
        wire_far_done(wire, NOTICE_ID, "SUCCESS");
        break;
    case TRANSFER_READ_OUT:
        wire_far_done(wire, TRANSFER_ID, "SUCCESS");
        break;
    case TRANSFER_READ_IN:
        our_request(wire, IT_DTO_RDMA_READ_CMPL_EVENT, TRANSFER_ID, size);
        break;
    case TRANSFER_KINDS:
        break;
    }
}

static void check_there(const struct transfer *transfer, size_t offset, size_t length,
                        uint32_t seed)
{
    peer_ask(transfer->wire->peer, NULL, "check %u %zu %zu %u", transfer->theirs.id, offset, length,
             seed);
}

static void check_here(const struct transfer *transfer, size_t offset, size_t length, uint32_t seed)
{
    pattern_check(transfer->ours.data + offset, length, offset, seed);
}

void transfer_check(const struct transfer *transfer, enum transfer_kind kind, size_t size)
{
    void (*check)(const struct transfer *, size_t, size_t, uint32_t) =
        transfer_is_out(kind) ? check_there : check_here;
    uint32_t seed = transfer->next_seed;

    check(transfer, 0, TRANSFER_MARGIN, seed + 1);
    check(transfer, TRANSFER_MARGIN, size, seed);
    check(transfer, TRANSFER_MARGIN + size, TRANSFER_MARGIN, seed + 1);
}

void transfer_finish(const struct transfer *transfer, enum transfer_kind kind, size_t size)
{
    complete(transfer->wire, kind, size);
    transfer_check(transfer, kind, size);
}

void transfer_run(struct transfer *transfer, enum transfer_kind kind, size_t size)
{
    transfer_prepare(transfer, kind, size);
    transfer_post(transfer, kind, size);
    transfer_finish(transfer, kind, size);
}
