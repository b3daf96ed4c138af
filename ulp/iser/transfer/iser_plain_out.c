/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes PDUs to the stream. A queue holds messages and transfers; a transfer becomes Data-In PDUs
 * and a response when its turn comes. So only the slots need memory for PDUs.
 */
#include "transfer/iser_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* ---------------------------------------------------------------- slots */

static struct plain_slot *plain_slot_new(struct plain *plain, const uint8_t *bhs,
                                         const uint8_t *data, uint32_t length)
{
    unsigned place = (plain->slot_first + plain->slot_count++) % PLAIN_SLOTS;
    struct plain_slot *slot = &plain->slots[place];

    memcpy(slot->header, bhs, ISER_BHS);
    slot->data = data;
    slot->length = length;
    slot->last = NULL;
    iser_put24(slot->header + ISER_AT_LENGTH, length);
    iser_link_stamp(&plain->link, slot->header);
    return slot;
}

static void plain_put_crc(uint8_t *to, uint32_t crc)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(crc >> 8 * i);
}

/* The header is complete. Login PDUs have no digests. */
static void plain_slot_finish(const struct plain *plain, struct plain_slot *slot)
{
    bool login = slot->header[0] == ISER_LOGIN_RESPONSE;

    slot->header_length = ISER_BHS;
    slot->tail_length = iser_padding(slot->length);
    memset(slot->tail, 0, sizeof(slot->tail));
    if (plain->link.limits.header_digest && !login) {
        plain_put_crc(slot->header + ISER_BHS, iser_crc32c(0, slot->header, ISER_BHS));
        slot->header_length += 4;
    }
    if (plain->link.limits.data_digest && !login && slot->length > 0) {
        plain_put_crc(
            slot->tail + slot->tail_length,
            iser_crc32c(iser_crc32c(0, slot->data, slot->length), slot->tail, slot->tail_length));
        slot->tail_length += 4;
    }
}

/* ---------------------------------------------------------------- transfers */

/*
 * Returns true if the last Data-In can carry the status: it is good, without sense and without a
 * bidirectional residual, and the command has no data-out.
 */
static bool plain_status_fits(const struct iser_transfer *transfer)
{
    return transfer->sense_length == 0 && transfer->response[3] == 0 &&
           iser_get32(transfer->response + ISER_AT_BIDI_RESIDUAL) == 0 && transfer->out_length == 0;
}

static bool plain_next_data_in(struct plain *plain, struct iser_transfer *transfer)
{
    uint32_t left = transfer->in_length - transfer->in_sent;
    uint32_t part = left < plain->link.limits.send_max ? left : plain->link.limits.send_max;
    bool last = part == left;
    bool with_status = last && plain_status_fits(transfer);
    uint32_t burst = transfer->in_sent % plain->link.limits.max_burst;
    uint8_t bhs[ISER_BHS];
    struct plain_slot *slot;

    if (part > plain->link.limits.max_burst - burst) {
        part = plain->link.limits.max_burst - burst;
        last = with_status = false;
    }
    iser_pdu_begin(bhs, ISER_DATA_IN, 0, transfer->itt);
    if (last || burst + part == plain->link.limits.max_burst)
        bhs[1] |= ISER_FINAL;
    if (with_status) {
        bhs[1] |= ISER_STATUS | (transfer->response[1] & (ISER_OVERFLOW | ISER_UNDERFLOW));
        memcpy(bhs + ISER_AT_RESIDUAL, transfer->response + ISER_AT_RESIDUAL, 4);
    }
    memcpy(bhs + ISER_AT_LUN, transfer->lun, 8);
    iser_put32(bhs + ISER_AT_TTT, ISER_NONE);
    iser_put32(bhs + ISER_AT_DATA_SN, transfer->data_sn++);
    iser_put32(bhs + ISER_AT_OFFSET, transfer->in_sent);
    slot = plain_slot_new(plain, bhs, transfer->data + transfer->in_sent, part);
    if (with_status)
        slot->last = &transfer->out;
    plain_slot_finish(plain, slot);
    transfer->in_sent += part;
    return with_status;
}

static void plain_response(struct plain *plain, struct iser_transfer *transfer)
{
    struct plain_slot *slot;

    iser_put32(transfer->response + ISER_AT_DATA_SN, transfer->data_sn);
    slot = plain_slot_new(plain, transfer->response, transfer->sense, transfer->sense_length);
    slot->last = &transfer->out;
    plain_slot_finish(plain, slot);
}

/* Fills one more slot. Returns true if it was the last of the transfer. */
static bool plain_fill_transfer(struct plain *plain, struct iser_transfer *transfer)
{
    if (transfer->in_sent < transfer->in_length)
        return plain_next_data_in(plain, transfer);
    plain_response(plain, transfer);
    return true;
}

/* ---------------------------------------------------------------- the queue */

static bool plain_fill_one(struct plain *plain, struct iser_out *out)
{
    struct plain_message *message = (void *)out;
    struct plain_slot *slot;

    if (out->is_transfer)
        return plain_fill_transfer(plain, (void *)out);
    slot = plain_slot_new(plain, message->bhs, message->data, message->length);
    slot->last = out;
    plain_slot_finish(plain, slot);
    return true;
}

static void plain_fill(struct plain *plain)
{
    while (plain->first && plain->slot_count < PLAIN_SLOTS) {
        struct iser_out *out = plain->first, *next = out->next;

        if (!plain_fill_one(plain, out))
            continue;
        plain->first = next;
        if (!next)
            plain->end = &plain->first;
    }
}

static void plain_append(struct plain *plain, struct iser_out *out)
{
    out->next = NULL;
    *plain->end = out;
    plain->end = &out->next;
    if (!plain->in_turn)
        plain_flush(plain);
}

/* ---------------------------------------------------------------- the socket */

static size_t plain_add_part(struct iovec *parts, size_t count, const void *data, size_t length,
                             size_t *skip)
{
    if (length <= *skip) {
        *skip -= length;
        return count;
    }
    parts[count] = (struct iovec){(uint8_t *)(uintptr_t)data + *skip, length - *skip};
    *skip = 0;
    return count + 1;
}

static ssize_t plain_send(struct plain *plain)
{
    struct iovec parts[PLAIN_SLOTS * 3];
    struct msghdr message = {.msg_iov = parts};
    size_t skip = plain->sent, count = 0;
    ssize_t sent;

    for (unsigned i = 0; i < plain->slot_count; i++) {
        const struct plain_slot *slot = &plain->slots[(plain->slot_first + i) % PLAIN_SLOTS];

        count = plain_add_part(parts, count, slot->header, slot->header_length, &skip);
        count = plain_add_part(parts, count, slot->data, slot->length, &skip);
        count = plain_add_part(parts, count, slot->tail, slot->tail_length, &skip);
    }
    message.msg_iovlen = count;
    do {
        sent = sendmsg(plain->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

static void plain_over(struct plain *plain, struct iser_out *out)
{
    if (!out)
        return;
    if (out->is_transfer) {
        plain->link.user_ops->responded(plain->link.user, (void *)out);
        return;
    }
    plain->messages--;
    free(out);
}

/* Accounts for this number of octets that have been sent. */
static void plain_advance(struct plain *plain, size_t octets)
{
    plain->link.octets_out += octets;
    plain->sent += octets;
    while (plain->slot_count > 0) {
        const struct plain_slot *slot = &plain->slots[plain->slot_first];
        size_t whole = (size_t)slot->header_length + slot->length + slot->tail_length;
        struct iser_out *last = slot->last;

        if (plain->sent < whole)
            return;
        plain->sent -= whole;
        plain->slot_first = (plain->slot_first + 1) % PLAIN_SLOTS;
        plain->slot_count--;
        plain_over(plain, last);
        if (plain->link.closed)
            return;
    }
}

static void plain_send_all(struct plain *plain)
{
    while (plain_fill(plain), plain->slot_count > 0) {
        ssize_t sent = plain_send(plain);

        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) {
            iser_link_lost(&plain->link, strerror(errno));
            return;
        }
        plain_advance(plain, (size_t)sent);
        if (plain->link.closed)
            return;
    }
    if (plain->link.draining) {
        plain->link.draining = false;
        plain->link.user_ops->drained(plain->link.user);
    }
}

void plain_flush(struct plain *plain)
{
    if (plain->link.closed || plain->link.lost || plain->fd < 0 || plain->in_turn)
        return;
    iser_link_enter(&plain->link);
    plain->in_turn = true; /* the loop below sends what the session adds */
    plain_send_all(plain);
    plain->in_turn = false;
    if (!plain->link.closed)
        plain_watch(plain);
    iser_link_leave(&plain->link);
}

/* ---------------------------------------------------------------- the table */

static void plain_send_message(struct iser_link *link, const uint8_t *bhs, const void *data,
                               uint32_t length)
{
    struct plain *plain = plain_of(link);
    struct plain_message *message = malloc(sizeof(*message) + length);

    if (link->closed || link->lost || !message) {
        free(message);
        if (!message)
            iser_link_lost(link, "out of memory");
        return;
    }
    message->out.is_transfer = false;
    memcpy(message->bhs, bhs, ISER_BHS);
    message->length = length;
    if (length > 0)
        memcpy(message->data, data, length);
    plain->messages++;
    plain_append(plain, &message->out);
}

static void plain_respond(struct iser_link *link, struct iser_transfer *transfer)
{
    transfer->out.is_transfer = true;
    transfer->in_sent = 0;
    transfer->data_sn = 0;
    plain_append(plain_of(link), &transfer->out);
}

static void plain_solicit(struct iser_link *link, struct iser_transfer *transfer)
{
    uint32_t left = transfer->out_length - transfer->out_have;
    uint32_t part = left < link->limits.max_burst ? left : link->limits.max_burst;
    uint8_t bhs[ISER_BHS];

    iser_pdu_begin(bhs, ISER_R2T, ISER_FINAL, transfer->itt);
    memcpy(bhs + ISER_AT_LUN, transfer->lun, 8);
    iser_put32(bhs + ISER_AT_TTT, transfer->ttt);
    iser_put32(bhs + ISER_AT_DATA_SN, transfer->r2t_sn++);
    iser_put32(bhs + ISER_AT_OFFSET, transfer->out_have);
    iser_put32(bhs + ISER_AT_DESIRED, part);
    transfer->burst_end = transfer->out_have + part;
    plain_send_message(link, bhs, NULL, 0);
}

static void plain_drain(struct iser_link *link)
{
    struct plain *plain = plain_of(link);

    link->draining = true;
    plain_flush(plain);
}

/* The session frees the transfers. */
static void plain_discard(struct iser_link *link)
{
    struct plain *plain = plain_of(link);
    struct iser_out *out;

    plain_unwatch(plain);
    for (; plain->slot_count > 0; plain->slot_count--) {
        out = plain->slots[plain->slot_first].last;
        plain->slot_first = (plain->slot_first + 1) % PLAIN_SLOTS;
        if (out && !out->is_transfer)
            free(out);
    }
    while ((out = plain->first) != NULL) {
        plain->first = out->next;
        if (!out->is_transfer)
            free(out);
    }
    plain->end = &plain->first;
}

const struct iser_link_ops iser_plain_ops = {
    .rdma = false,
    .send = plain_send_message,
    .solicit = plain_solicit,
    .respond = plain_respond,
    .full_feature = plain_full_feature,
    .drain = plain_drain,
    .discard = plain_discard,
    .free = plain_free,
};
