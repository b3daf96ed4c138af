/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsocket/ofa_rs_wire.h"

#include <endian.h>
#include <string.h>

#define VERSION       1
#define FLAG_BIG      1 /* set on big-endian hosts */
#define FLAG_MAPPINGS 2
#define SPANS_MAX     1024u

enum {
    AT_VERSION = 0,
    AT_FLAGS = 1,
    AT_CREDITS = 2,
    AT_MAPPINGS = 7,
    AT_TARGET = 8,
    AT_DATA = 24
};

static unsigned own_order(void)
{
    return htobe16(1) == 1 ? FLAG_BIG : 0;
}

static void put_span(unsigned char *to, const struct rs_span *span)
{
    uint64_t address = htobe64(span->address);
    uint32_t key = htobe32(span->key);
    uint32_t length = htobe32(span->length);

    memcpy(to, &address, sizeof(address));
    memcpy(to + 8, &key, sizeof(key));
    memcpy(to + 12, &length, sizeof(length));
}

static void get_span(const unsigned char *from, struct rs_span *span)
{
    memcpy(&span->address, from, sizeof(span->address));
    memcpy(&span->key, from + 8, sizeof(span->key));
    memcpy(&span->length, from + 12, sizeof(span->length));
    span->address = be64toh(span->address);
    span->key = be32toh(span->key);
    span->length = be32toh(span->length);
}

void rs_hello_encode(const struct rs_hello *hello, unsigned char data[RS_HELLO_BYTES])
{
    uint16_t credits = htobe16(hello->credits);

    memset(data, 0, RS_HELLO_BYTES);
    data[AT_VERSION] = VERSION;
    data[AT_FLAGS] = (unsigned char)(own_order() | FLAG_MAPPINGS);
    memcpy(data + AT_CREDITS, &credits, sizeof(credits));
    data[AT_MAPPINGS] = (unsigned char)hello->mappings;
    put_span(data + AT_TARGET, &hello->target);
    put_span(data + AT_DATA, &hello->data);
}

/* Decodes the number of mappings: above 128, the lower 7 bits count units of 256. */
static uint32_t scaled(unsigned char value)
{
    return value <= RS_MAPPINGS_MAX ? value : (value & 0x7fu) << 8;
}

bool rs_hello_decode(const void *data, size_t length, struct rs_hello *hello)
{
    const unsigned char *from = data;
    uint16_t credits;

    if (!data || length < RS_HELLO_BYTES || from[AT_VERSION] != VERSION ||
        (from[AT_FLAGS] & FLAG_BIG) != own_order())
        return false;
    memcpy(&credits, from + AT_CREDITS, sizeof(credits));
    hello->credits = be16toh(credits);
    hello->mappings = from[AT_FLAGS] & FLAG_MAPPINGS ? scaled(from[AT_MAPPINGS]) : 0;
    get_span(from + AT_TARGET, &hello->target);
    get_span(from + AT_DATA, &hello->data);
    return hello->target.length >= 1 && hello->target.length <= SPANS_MAX;
}
