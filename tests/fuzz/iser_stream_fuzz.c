/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP stream of an initiator, as octets: where PDUs begin and end, digests, places for data.
 * First octet: 1: digests of headers, 2: of data (they are corrected, unless 4), 8: the session has
 * places for Data-Out; the rest is the size of pieces. Whatever the pieces, the session gets the
 * same.
 */
#include "transfer/iser_plain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEADER_DIGEST = 1,
    DATA_DIGEST = 2,
    AS_IT_COMES = 4,
    PLACES = 8
};

#define STREAM_MAX 4096u /* a socket takes it at once */
#define SEGMENT    1024u

/* What the session has been told, as a sum over everything, in order. */
struct told {
    unsigned flags;
    uint32_t sum;
    unsigned pdus;
    bool damaged, lost;
    uint8_t *place;
};

static struct event_base *base;

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---------------------------------------------------------------- the session */

static uint8_t *place(void *user, const uint8_t *bhs, uint32_t length)
{
    struct told *told = user;

    return told->flags & PLACES && iser_opcode_of(bhs) == ISER_DATA_OUT && length <= SEGMENT
               ? told->place + (SEGMENT - length)
               : NULL;
}

static void note(struct told *told, const void *octets, size_t length)
{
    told->sum = iser_crc32c(told->sum, octets, length);
}

static void pdu_came(void *user, const struct iser_pdu *pdu)
{
    struct told *told = user;

    require(!told->lost && pdu->length <= SEGMENT);
    note(told, pdu->bhs, ISER_BHS);
    note(told, pdu->ahs, pdu->ahs_length);
    note(told, pdu->data, pdu->length);
    told->pdus++;
}

static void damage_came(void *user, const struct iser_pdu *pdu)
{
    struct told *told = user;

    note(told, pdu->bhs, ISER_BHS);
    told->damaged = true;
}

static void loss_came(void *user, const char *why)
{
    struct told *told = user;

    require(!told->lost && why);
    told->lost = true;
}

static const struct iser_link_user user_ops = {
    .place = place, .pdu = pdu_came, .damaged = damage_came, .lost = loss_came};

/* ---------------------------------------------------------------- the stream */

static void put_digest(uint8_t *at, uint32_t crc)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> 8 * i);
}

/* Corrects the digests of all whole PDUs. */
static void mend(uint8_t *stream, size_t size, unsigned flags)
{
    while (size >= ISER_BHS) {
        size_t header = ISER_BHS + (size_t)stream[ISER_AT_AHS] * 4;
        uint32_t length = iser_get24(stream + ISER_AT_LENGTH);
        size_t whole = header + (flags & HEADER_DIGEST ? 4 : 0);
        size_t data = length + iser_padding(length);

        if (whole > size)
            return;
        if (flags & HEADER_DIGEST)
            put_digest(stream + header, iser_crc32c(0, stream, header));
        stream += whole;
        size -= whole;
        if (length > 0 && data + 4 <= size && flags & DATA_DIGEST)
            put_digest(stream + data, iser_crc32c(0, stream, data));
        data += length > 0 && flags & DATA_DIGEST ? 4 : 0;
        if (data > size)
            return;
        stream += data;
        size -= data;
    }
}

static void turn(void)
{
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void run(struct told *told, const uint8_t *stream, size_t size, size_t piece)
{
    static struct iser_stay stay = {.off = true};
    struct iser_numbers numbers = {0, 0, 0};
    struct iser_link *link;
    int ends[2];

    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    link = iser_plain_new(base, &stay, ends[0]);
    require(link != NULL);
    link->user_ops = &user_ops;
    link->user = told;
    link->numbers = &numbers;
    link->limits.receive_max = SEGMENT;
    link->limits.header_digest = (told->flags & HEADER_DIGEST) != 0;
    link->limits.data_digest = (told->flags & DATA_DIGEST) != 0;
    for (size_t at = 0; at < size && !told->lost && !told->damaged;) {
        size_t part = piece < size - at ? piece : size - at;

        require(send(ends[1], stream + at, part, MSG_NOSIGNAL) == (ssize_t)part);
        at += part;
        turn();
    }
    iser_link_close(link);
    turn();
    require(close(ends[1]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t stream[STREAM_MAX];
    struct told whole, pieces;
    uint8_t *memory;

    if (size < 2 || size - 1 > STREAM_MAX || (!base && !(base = event_base_new())))
        return 0;
    memcpy(stream, data + 1, size - 1);
    if (!(data[0] & AS_IT_COMES))
        mend(stream, size - 1, data[0]);
    memory = malloc(SEGMENT);
    require(memory != NULL);
    memset(&whole, 0, sizeof(whole));
    whole.flags = data[0];
    whole.place = memory;
    pieces = whole;
    run(&whole, stream, size - 1, STREAM_MAX);
    run(&pieces, stream, size - 1, 1 + (data[0] >> 4) * 5u);
    free(memory);
    require(whole.sum == pieces.sum && whole.pdus == pieces.pdus);
    require(whole.damaged == pieces.damaged && whole.lost == pieces.lost);
    return 0;
}
