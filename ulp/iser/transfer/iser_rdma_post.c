/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting of a link over RDMA. */
#include "transfer/iser_rdma.h"

#include <string.h>

#define RDMA_VERSION 10 /* of iSER, in Hello */
#define RDMA_SIGNAL  ((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG)

static it_dto_cookie_t rdma_cookie(const void *pointer, enum rdma_cookie kind)
{
    return (it_dto_cookie_t)(uintptr_t)pointer | (unsigned)kind;
}

static it_lmr_triplet_t rdma_segment(it_lmr_handle_t lmr, void *octets, size_t length)
{
    return (it_lmr_triplet_t){.lmr = lmr, .addr.abs = octets, .length = length};
}

bool rdma_post_receive(struct rdma *rdma, struct rdma_slot *slot)
{
    it_lmr_triplet_t segment = rdma_segment(slot->lmr, slot->octets, RDMA_SLOT);

    return it_post_recv(rdma->ep, &segment, 1, rdma_cookie(slot, RDMA_RECEIVE),
                        (it_dto_flags_t)RDMA_SIGNAL) == IT_SUCCESS;
}

/* ---------------------------------------------------------------- requests */

static it_status_t rdma_post(struct rdma *rdma, const struct rdma_request *request, bool more)
{
    it_lmr_triplet_t segment = request->segment;
    it_dto_flags_t flags =
        (it_dto_flags_t)(request->flags | (more ? (unsigned)IT_COALESCE_WR_FLAG : 0));

    if (request->kind == RDMA_READ)
        return it_post_rdma_read(rdma->ep, &segment, 1, request->cookie, flags, request->place,
                                 request->stag);
    if (request->kind == RDMA_WRITE)
        return it_post_rdma_write(rdma->ep, &segment, 1, request->cookie, flags, request->place,
                                  request->stag);
    if (request->invalidates)
        return it_post_send_and_unlink(rdma->ep, &segment, 1, request->cookie, flags,
                                       request->stag);
    return it_post_send(rdma->ep, &segment, 1, request->cookie, flags);
}

static void rdma_post_last(struct rdma *rdma, bool more)
{
    it_status_t status;

    if (!rdma->has_last || rdma->link.closed || rdma->link.lost)
        return;
    rdma->has_last = false;
    status = rdma_post(rdma, &rdma->last, more);
    if (status != IT_SUCCESS)
        iser_link_lost(&rdma->link, itx_status_string(status));
}

/* The cookie of a signalled request or of a Read contains the pointer. */
static void rdma_put(struct rdma *rdma, struct rdma_request *request, const void *pointer)
{
    request->cookie = rdma_cookie(pointer, request->kind);
    rdma_post_last(rdma, true);
    rdma->last = *request;
    rdma->has_last = true;
    if (rdma->turns == 0)
        rdma_post_last(rdma, false);
}

void rdma_begin_turn(struct rdma *rdma)
{
    rdma->turns++;
}

void rdma_end_turn(struct rdma *rdma)
{
    if (--rdma->turns == 0)
        rdma_post_last(rdma, false);
}

/* ---------------------------------------------------------------- Sends */

/*
 * Returns NULL, and the link is lost, if there is none: initiators that respect their limits leave
 * enough.
 */
static struct rdma_slot *rdma_take_slot(struct rdma *rdma)
{
    struct rdma_slot *slot = rdma->free;

    if (!slot) {
        iser_link_lost(&rdma->link, "too much is on its way to the initiator");
        return NULL;
    }
    rdma->free = slot->next;
    slot->transfer = NULL;
    rdma->sending++;
    return slot;
}

/*
 * The completion of a response only frees its buffer, so it raises no notification. After other
 * messages the connection may have to end, so theirs does.
 */
static void rdma_put_send(struct rdma *rdma, const struct rdma_slot *slot, size_t length,
                          const uint32_t *invalidate)
{
    struct rdma_request request = {.kind = RDMA_SEND,
                                   .segment = rdma_segment(slot->lmr, slot->octets, length),
                                   .flags = slot->transfer ? IT_COMPLETION_FLAG : RDMA_SIGNAL,
                                   .invalidates = invalidate != NULL,
                                   .stag = invalidate ? *invalidate : 0};

    rdma->link.octets_out += length;
    rdma_put(rdma, &request, slot);
}

/* Encodes iSER header, header segment and data. Returns the length. */
static size_t rdma_encode(struct rdma *rdma, uint8_t *octets, const uint8_t *bhs, const void *data,
                          uint32_t length)
{
    static const struct iser_header control = {.kind = ISER_CONTROL};
    uint32_t padding = iser_padding(length);

    iser_header_encode(&control, octets);
    octets += ISER_HEADER;
    memcpy(octets, bhs, ISER_BHS);
    iser_put24(octets + ISER_AT_LENGTH, length);
    iser_link_stamp(&rdma->link, octets);
    if (length > 0)
        memcpy(octets + ISER_BHS, data, length);
    memset(octets + ISER_BHS + length, 0, padding);
    return ISER_HEADER + ISER_BHS + length + padding;
}

void rdma_send(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length)
{
    struct rdma *rdma = rdma_of(link);
    struct rdma_slot *slot;

    if (link->closed || link->lost)
        return;
    if (length > RDMA_SLOT - ISER_HEADER - ISER_BHS - 4) {
        iser_link_lost(link, "a PDU is longer than can be sent");
        return;
    }
    slot = rdma_take_slot(rdma);
    if (slot)
        rdma_put_send(rdma, slot, rdma_encode(rdma, slot->octets, bhs, data, length), NULL);
}

void rdma_answer_hello(struct rdma *rdma, const struct iser_header *hello)
{
    struct iser_header reply = {.kind = ISER_HELLO_REPLY,
                                .max_version = RDMA_VERSION,
                                .version = RDMA_VERSION,
                                .depth = RDMA_DEPTH};
    struct rdma_slot *slot = rdma_take_slot(rdma);

    if (!slot)
        return;
    reply.reject = hello->version > RDMA_VERSION || hello->max_version < RDMA_VERSION;
    iser_header_encode(&reply, slot->octets);
    rdma_put_send(rdma, slot, ISER_HEADER, NULL);
    if (reply.reject)
        rdma->link.ops->drain(&rdma->link);
}

/* ---------------------------------------------------------------- commands */

/* Reads the octets after out_have from the initiator's memory. */
void rdma_solicit(struct iser_link *link, struct iser_transfer *transfer)
{
    struct rdma *rdma = rdma_of(link);
    uint32_t left = transfer->out_length - transfer->out_have;
    struct rdma_request request = {
        .kind = RDMA_READ,
        .segment = rdma_segment(transfer->lmr, transfer->data + transfer->out_have, left),
        .flags = RDMA_SIGNAL,
        .stag = transfer->tags.write_stag,
        .place = transfer->tags.write_base};

    if (!transfer->tags.has_write) {
        iser_link_lost(link, "a command to write has no STag");
        return;
    }
    if (!link->limits.write_base_solicited)
        request.place += transfer->out_have;
    rdma_put(rdma, &request, transfer);
}

/*
 * Returns false if the link is lost. siw copies the data of a signaled Write. The memory of
 * another Write may be sent, or sent again, by TCP after the next Send has completed; then a buffer
 * could have another command's data, and a unit what COMPARE AND WRITE has written later.
 */
static bool rdma_write(struct rdma *rdma, struct iser_transfer *transfer)
{
    struct rdma_request request = {
        .kind = RDMA_WRITE,
        .segment = rdma_segment(transfer->lmr, transfer->data, transfer->in_length),
        .flags = transfer->buffer || rdma->shared->is_device ? IT_COMPLETION_FLAG : 0,
        .stag = transfer->tags.read_stag,
        .place = transfer->tags.read_base};

    if (transfer->in_length == 0)
        return true;
    if (!transfer->tags.has_read) {
        iser_link_lost(&rdma->link, "a command to read has no STag");
        return false;
    }
    rdma->link.octets_out += transfer->in_length;
    rdma_put(rdma, &request, NULL);
    return !rdma->link.closed && !rdma->link.lost;
}

/* Invalidates only a key that the command has advertised, and only if the initiator accepts it. */
static const uint32_t *rdma_to_invalidate(const struct rdma *rdma, const struct iser_header *tags)
{
    if (!rdma->remote_invalidation || tags->has_read == tags->has_write)
        return NULL;
    return tags->has_read ? &tags->read_stag : &tags->write_stag;
}

void rdma_respond(struct iser_link *link, struct iser_transfer *transfer)
{
    struct rdma *rdma = rdma_of(link);
    struct rdma_slot *slot;
    size_t length;

    if (link->closed || link->lost)
        return;
    slot = rdma_take_slot(rdma);
    if (!slot)
        return;
    slot->transfer = transfer;
    rdma_begin_turn(rdma);
    if (rdma_write(rdma, transfer)) {
        length = rdma_encode(rdma, slot->octets, transfer->response, transfer->sense,
                             transfer->sense_length);
        rdma_put_send(rdma, slot, length, rdma_to_invalidate(rdma, &transfer->tags));
    }
    rdma_end_turn(rdma);
}

/* ---------------------------------------------------------------- completions, the end */

void rdma_disconnect_if_drained(struct rdma *rdma)
{
    if (!rdma->link.draining || rdma->sending > 0 || rdma->disconnecting)
        return;
    rdma->disconnecting = true;
    if (it_ep_disconnect(rdma->ep, NULL, 0) != IT_SUCCESS)
        iser_link_lost(&rdma->link, "the connection has ended");
}

void rdma_sent(struct rdma *rdma, struct rdma_slot *slot)
{
    struct iser_transfer *transfer = slot->transfer;

    slot->next = rdma->free;
    rdma->free = slot;
    rdma->sending--;
    if (transfer)
        rdma->link.user_ops->responded(rdma->link.user, transfer);
    if (!rdma->link.closed)
        rdma_disconnect_if_drained(rdma);
}

void rdma_drain(struct iser_link *link)
{
    link->draining = true;
    rdma_disconnect_if_drained(rdma_of(link));
}
