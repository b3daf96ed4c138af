/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats that rsockets exchange: private data of the connection, and messages. */
#ifndef ITAPI_ULP_OFA_RSOCKET_OFA_RS_WIRE_H
#define ITAPI_ULP_OFA_RSOCKET_OFA_RS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Messages: 3 bits of kind, 29 of data, in the byte order of both hosts ------------------- */

enum rs_kind {
    RS_DATA = 0,    /* bytes that were written */
    RS_WRITTEN = 2, /* bytes in mapped memory; only a tag of a Write, never sent */
    RS_CREDITS = 4, /* number of messages that may be sent, since the start */
    RS_MAPPING = 6, /* number of the mapping that was written */
    RS_CONTROL = 7
};

enum rs_control {
    RS_DISCONNECT,
    RS_KEEPALIVE,
    RS_SHUTDOWN
};

#define RS_KIND_SHIFT 29
#define RS_DATA_MASK  ((1u << RS_KIND_SHIFT) - 1)

static inline uint32_t rs_message(enum rs_kind kind, uint32_t data)
{
    return (uint32_t)kind << RS_KIND_SHIFT | (data & RS_DATA_MASK);
}

/* ---- Memory of the peer --------------------------------------------------------------------- */

/* In host byte order: ends with different byte orders do not connect. */
struct rs_span {
    uint64_t address;
    uint32_t key;
    uint32_t length;
};

struct rs_mapping {
    uint64_t offset;
    struct rs_span span;
};

/* ---- Private data --------------------------------------------------------------------------- */

#define RS_HELLO_BYTES  40u
#define RS_MAPPINGS_MAX 128u /* offered by this library */

struct rs_hello {
    uint16_t credits;
    uint32_t mappings;
    struct rs_span target; /* .length is the number of spans */
    struct rs_span data;
};

void rs_hello_encode(const struct rs_hello *hello, unsigned char data[RS_HELLO_BYTES]);
/* Returns false if the peer is no compatible rsocket. */
bool rs_hello_decode(const void *data, size_t length, struct rs_hello *hello);

#endif /* ITAPI_ULP_OFA_RSOCKET_OFA_RS_WIRE_H */
