/* SPDX-License-Identifier: BSD-2-Clause */
/* PDUs as octets of a TCP stream. */
#include "initiator/iser_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define INPUT (64u << 10)

struct plain {
    uint8_t bhs[ISER_BHS];
    uint8_t data[ISER_CLIENT_DATA_IN]; /* of PDUs other than Data-In */
    size_t at, end;                    /* the part of input in use */
    uint8_t input[INPUT];
};

/* ---- Out ----------------------------------------------- */

static bool write_all(struct iser_client *client, struct iovec *vector, int count)
{
    while (count > 0) {
        ssize_t sent;

        if (!iser_client_is_patient(client))
            return false;
        sent = writev(client->fd, vector, count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return iser_client_silent(client);
        if (sent < 0)
            return iser_client_fail(client, "send: %s", strerror(errno));
        while (count > 0 && (size_t)sent >= vector->iov_len) {
            sent -= (ssize_t)vector->iov_len;
            vector++;
            count--;
        }
        if (count > 0) {
            vector->iov_base = (uint8_t *)vector->iov_base + sent;
            vector->iov_len -= (size_t)sent;
        }
    }
    return true;
}

/* A digest is sent with the octet of the lowest powers first. */
static void put_digest(uint8_t *at, uint32_t crc)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> 8 * i);
}

static bool plain_send(struct iser_client *client, const uint8_t *bhs, const void *data,
                       uint32_t length, const struct iser_client_task *task, uint32_t unsolicited)
{
    uint32_t padding = iser_padding(length);
    uint8_t header_digest[4], tail[8] = {0};
    struct iovec vector[4];
    int count = 0;

    (void)task;
    (void)unsolicited;
    vector[count++] = (struct iovec){.iov_base = (void *)(uintptr_t)bhs, .iov_len = ISER_BHS};
    if (client->terms.header_digest) {
        put_digest(header_digest, iser_crc32c(0, bhs, ISER_BHS));
        vector[count++] = (struct iovec){.iov_base = header_digest, .iov_len = 4};
    }
    if (length > 0) {
        vector[count++] = (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = length};
        if (client->terms.data_digest)
            put_digest(tail + padding, iser_crc32c(iser_crc32c(0, data, length), tail, padding));
        vector[count++] = (struct iovec){
            .iov_base = tail, .iov_len = padding + (client->terms.data_digest ? 4u : 0u)};
    }
    return write_all(client, vector, count);
}

/* ---- In ----------------------------------------------- */

/*
 * A port that takes only RDMA ends a connection that begins with a login: it is no iWARP. error: of
 * the socket; 0: the stream has ended.
 */
static bool note_end(struct iser_client *client, int error)
{
    const char *hint = client->options.interface && !client->has_stat_sn
                           ? "; does its port take RDMA from the first octet only (--from-start)?"
                           : "";

    return error == 0 ? iser_client_fail(client, "the target has closed%s", hint)
                      : iser_client_fail(client, "receive: %s%s", strerror(error), hint);
}

static bool read_some(struct iser_client *client, void *to, size_t room, size_t *got)
{
    ssize_t length;

    if (!iser_client_is_patient(client))
        return false;
    do
        length = read(client->fd, to, room);
    while (length < 0 && errno == EINTR);
    if (length < 0 && errno == EAGAIN)
        return iser_client_silent(client);
    if (length <= 0)
        return note_end(client, length < 0 ? errno : 0);
    *got = (size_t)length;
    return true;
}

/* Reads small pieces through the buffer, large ones directly. */
static bool read_all(struct iser_client *client, uint8_t *to, size_t length)
{
    struct plain *plain = client->link_state;

    while (length > 0) {
        size_t part = plain->end - plain->at, got = 0;

        if (part == 0 && length >= INPUT / 2) {
            if (!read_some(client, to, length, &got))
                return false;
            to += got;
            length -= got;
            continue;
        }
        if (part == 0) {
            plain->at = plain->end = 0;
            if (!read_some(client, plain->input, INPUT, &plain->end))
                return false;
            continue;
        }
        part = part < length ? part : length;
        memcpy(to, plain->input + plain->at, part);
        plain->at += part;
        to += part;
        length -= part;
    }
    return true;
}

static bool check_digest(struct iser_client *client, const uint8_t *digest, uint32_t crc)
{
    uint8_t want[4];

    put_digest(want, crc);
    return memcmp(digest, want, 4) == 0 || iser_client_fail(client, "a digest is wrong");
}

static bool read_data(struct iser_client *client, struct iser_pdu *pdu, uint32_t length)
{
    struct plain *plain = client->link_state;
    uint32_t padding = iser_padding(length), extra = client->terms.data_digest ? 4 : 0;
    uint8_t *to = plain->data, tail[8];

    if (iser_opcode_of(plain->bhs) == ISER_DATA_IN)
        to = iser_client_place(client, plain->bhs, length);
    else if (length > ISER_CLIENT_DATA_IN)
        return iser_client_fail(client, "a data segment of %u octets", length);
    if (!to)
        return false;
    pdu->data = to;
    pdu->length = length;
    if (!read_all(client, to, length) || !read_all(client, tail, padding + extra))
        return false;
    return extra == 0 || check_digest(client, tail + padding,
                                      iser_crc32c(iser_crc32c(0, to, length), tail, padding));
}

static bool plain_receive(struct iser_client *client, struct iser_pdu *pdu)
{
    struct plain *plain = client->link_state;
    uint8_t digest[4];
    uint32_t length;

    memset(pdu, 0, sizeof(*pdu));
    if (!read_all(client, plain->bhs, ISER_BHS))
        return false;
    if (client->terms.header_digest &&
        (!read_all(client, digest, 4) ||
         !check_digest(client, digest, iser_crc32c(0, plain->bhs, ISER_BHS))))
        return false;
    pdu->bhs = plain->bhs;
    length = iser_get24(plain->bhs + ISER_AT_LENGTH);
    if (plain->bhs[ISER_AT_AHS])
        return iser_client_fail(client, "an additional header from the target");
    return length == 0 || read_data(client, pdu, length);
}

static void plain_close(struct iser_client *client)
{
    free(client->link_state);
    client->link_state = NULL;
}

bool iser_client_plain_open(struct iser_client *client)
{
    static const struct iser_client_link link = {
        .send = plain_send, .receive = plain_receive, .close = plain_close};

    client->link_state = calloc(1, sizeof(struct plain));
    if (!client->link_state)
        return iser_client_fail(client, "out of memory");
    client->link = &link;
    return true;
}
