/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a plain link: iser_plain.c (life, events), iser_plain_in.c, iser_plain_out.c. */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_PLAIN_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_PLAIN_H

#include "transfer/iser_link.h"
#include "transfer/iser_stay.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#define PLAIN_IN             65536u /* read at once */
#define PLAIN_IN_BEFORE      9472u  /* the same before the login is over: one PDU */
#define PLAIN_SLOTS          32u    /* PDUs sent by one system call */
#define PLAIN_MESSAGES_SPARE 64u    /* beyond one for each command; then reading stops */
#define PLAIN_HEADER_MAX     (ISER_BHS + 255u * 4 + 4)

/* A PDU that is being written to the socket. */
struct plain_slot {
    uint8_t header[ISER_BHS + 4];
    uint8_t tail[8]; /* padding and digest */
    const uint8_t *data;
    uint32_t header_length, length, tail_length;
    struct iser_out *last; /* the last element that ends when this has been sent */
};

/* A PDU that is no command's response. */
struct plain_message {
    struct iser_out out;
    uint8_t bhs[ISER_BHS];
    uint32_t length;
    uint8_t data[];
};

struct plain {
    struct iser_link link;
    struct iser_stay *stay;
    int fd;
    struct event readable, writable;

    /* In: octets that have been read; those before .in_at are used up. */
    uint8_t *in;
    size_t in_size, in_at, in_end;
    /* The PDU whose data segment is being read. */
    bool has_header;
    uint8_t header[PLAIN_HEADER_MAX];
    uint32_t length; /* of the data segment */
    uint32_t have;   /* of data, padding and digest */
    uint8_t *to;     /* NULL: it lies in .in completely */
    bool placed;     /* .to belongs to the session */
    uint8_t tail[8];
    uint8_t *staging;
    size_t staging_size;

    /* Out: */
    struct iser_out *first, **end;
    unsigned messages; /* number of elements that are no responses */
    struct plain_slot slots[PLAIN_SLOTS];
    unsigned slot_first, slot_count;
    size_t sent;  /* octets of the first slot that have been sent */
    bool in_turn; /* output waits for the end of the turn, so that more is sent at once */
};

static inline struct plain *plain_of(struct iser_link *link)
{
    return (struct plain *)(void *)link;
}

/* ---- iser_plain_in.c ---- */

/* Reads what is there, within the limits of a turn. */
void plain_read(struct plain *plain);

/* ---- iser_plain_out.c ---- */

extern const struct iser_link_ops iser_plain_ops;

/* Writes as much as fits into the socket. */
void plain_flush(struct plain *plain);

/* ---- iser_plain.c ---- */

/* Watches the socket. While the queue of unread messages is full, it does not read. */
void plain_watch(struct plain *plain);
void plain_unwatch(struct plain *plain);
bool plain_full_feature(struct iser_link *link);
void plain_free(struct iser_link *link);

#endif
