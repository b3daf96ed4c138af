/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads PDUs from the stream. A data segment for which the session has a place is read directly
 * into it. Any other is passed up in the input buffer, or gathered in the link's memory.
 */
#include "transfer/iser_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PLAIN_READS 16 /* in one turn, so that others get theirs */

static size_t plain_header_size(const struct plain *plain, const uint8_t *bhs)
{
    return ISER_BHS + (size_t)bhs[ISER_AT_AHS] * 4 + (plain->link.limits.header_digest ? 4 : 0);
}

static uint32_t plain_tail_size(const struct plain *plain)
{
    return iser_padding(plain->length) +
           (plain->link.limits.data_digest && plain->length > 0 ? 4 : 0);
}

static bool plain_digest_is_good(const uint8_t *digest, uint32_t crc)
{
    uint8_t octets[4];

    for (int i = 0; i < 4; i++)
        octets[i] = (uint8_t)(crc >> 8 * i);
    return memcmp(digest, octets, sizeof(octets)) == 0;
}

/* ---------------------------------------------------------------- a header */

/* Provides memory for a data segment that does not lie in .in completely. */
static bool plain_stage(struct plain *plain)
{
    if (plain->staging_size < plain->length) {
        uint8_t *larger = realloc(plain->staging, plain->link.limits.receive_max);

        if (!larger)
            return false;
        plain->staging = larger;
        plain->staging_size = plain->link.limits.receive_max;
    }
    plain->to = plain->staging;
    return true;
}

/* Returns false if the header is incomplete, or the link is lost. */
static bool plain_take_header(struct plain *plain)
{
    const uint8_t *bhs = plain->in + plain->in_at;
    size_t there = plain->in_end - plain->in_at;
    size_t size = there < ISER_BHS ? ISER_BHS : plain_header_size(plain, bhs);

    if (there < size)
        return false;
    if (plain->link.limits.header_digest &&
        !plain_digest_is_good(bhs + size - 4, iser_crc32c(0, bhs, size - 4))) {
        iser_link_lost(&plain->link, "a header digest is wrong");
        return false;
    }
    plain->length = iser_get24(bhs + ISER_AT_LENGTH);
    if (plain->length > plain->link.limits.receive_max) {
        iser_link_lost(&plain->link, "a data segment is longer than agreed on");
        return false;
    }
    memcpy(plain->header, bhs, size);
    plain->in_at += size;
    plain->has_header = true;
    plain->have = 0;
    plain->to = plain->link.user_ops->place(plain->link.user, plain->header, plain->length);
    if (plain->link.closed || plain->link.lost)
        return false;
    plain->placed = plain->to != NULL;
    if (!plain->placed && plain->in_end - plain->in_at < plain->length + plain_tail_size(plain) &&
        plain->length > 0 && !plain_stage(plain)) {
        iser_link_lost(&plain->link, "out of memory");
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- a data segment */

static void plain_take_octets(struct plain *plain)
{
    uint32_t whole = plain->length + plain_tail_size(plain);

    while (plain->have < whole && plain->in_at < plain->in_end) {
        bool data = plain->have < plain->length;
        size_t part = plain->in_end - plain->in_at;
        size_t left = (data ? plain->length : whole) - plain->have;
        uint8_t *to = data ? plain->to + plain->have : plain->tail + (plain->have - plain->length);

        if (part > left)
            part = left;
        memcpy(to, plain->in + plain->in_at, part);
        plain->in_at += part;
        plain->have += (uint32_t)part;
    }
}

static bool plain_data_is_good(const struct plain *plain, const uint8_t *data, const uint8_t *tail)
{
    uint32_t padding = iser_padding(plain->length);

    return !plain->link.limits.data_digest || plain->length == 0 ||
           plain_digest_is_good(tail + padding,
                                iser_crc32c(iser_crc32c(0, data, plain->length), tail, padding));
}

/* Returns false if the data segment is incomplete, or the link is lost. */
static bool plain_take_data(struct plain *plain)
{
    uint32_t whole = plain->length + plain_tail_size(plain);
    struct iser_pdu pdu = {.bhs = plain->header,
                           .ahs = plain->header + ISER_BHS,
                           .ahs_length = (size_t)plain->header[ISER_AT_AHS] * 4,
                           .length = plain->length};
    const uint8_t *tail = plain->tail;

    if (plain->to) {
        plain_take_octets(plain);
        if (plain->have < whole)
            return false;
        pdu.data = plain->to;
    } else {
        pdu.data = plain->in + plain->in_at;
        tail = pdu.data + plain->length;
        plain->in_at += whole;
    }
    plain->has_header = false;
    if (!plain_data_is_good(plain, pdu.data, tail)) {
        plain->link.user_ops->damaged(plain->link.user, &pdu);
        return false;
    }
    plain->link.user_ops->pdu(plain->link.user, &pdu);
    return !plain->link.closed && !plain->link.lost;
}

/* ---------------------------------------------------------------- the socket */

static bool plain_parse(struct plain *plain)
{
    do {
        if (plain->fd < 0) /* the stream has become an RDMA connection */
            return false;
        if (!plain->has_header && !plain_take_header(plain))
            break;
    } while (plain_take_data(plain));
    return !plain->link.closed && !plain->link.lost && plain->fd >= 0;
}

/* Moves the rest of a header to the front. */
static void plain_make_room(struct plain *plain)
{
    size_t left = plain->in_end - plain->in_at;

    if (plain->in_at > 0)
        memmove(plain->in, plain->in + plain->in_at, left);
    plain->in_at = 0;
    plain->in_end = left;
}

static ssize_t plain_receive(struct plain *plain)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    size_t straight = 0;
    ssize_t got;

    plain_make_room(plain);
    if (plain->has_header && plain->have < plain->length) {
        straight = plain->length - plain->have;
        parts[message.msg_iovlen++] = (struct iovec){plain->to + plain->have, straight};
    }
    parts[message.msg_iovlen++] =
        (struct iovec){plain->in + plain->in_end, plain->in_size - plain->in_end};
    do {
        got = recvmsg(plain->fd, &message, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got;
    plain->link.octets_in += (uint64_t)got;
    if ((size_t)got <= straight) {
        plain->have += (uint32_t)got;
        return got;
    }
    plain->have += (uint32_t)straight;
    plain->in_end += (size_t)got - straight;
    return got;
}

void plain_read(struct plain *plain)
{
    for (int i = 0; i < PLAIN_READS; i++) {
        ssize_t got = plain_receive(plain);

        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            iser_link_lost(&plain->link,
                           got == 0 ? "the initiator has closed it" : strerror(errno));
            return;
        }
        if (!plain_parse(plain))
            return;
        if (plain->in_end < plain->in_size && plain->has_header == false &&
            (size_t)got < PLAIN_IN_BEFORE)
            return; /* most likely that was everything */
    }
}
