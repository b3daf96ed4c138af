/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that strangers may send to verbs programs: datagrams, their global route header,
 * requests for numbers, and the private data of connections by hand. The first octet chooses the
 * kind. An accepted message has the same content after encoding, and no octet behind it is read.
 */
#include "cm/ofa_sidr.h"
#include "datagram/ofa_wire.h"
#include "link/ofa_greeting.h"
#include "rsocket/ofa_rs_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_datagram(const uint8_t *data, size_t size)
{
    unsigned char bytes[OFA_WIRE_HEADER];
    struct ofa_wire wire;

    if (!ofa_wire_decode(data, size, &wire))
        return;
    require(size <= OFA_WIRE_HEADER + OFA_WIRE_PAYLOAD);
    require(wire.to_number <= 0xffffff && wire.from_number <= 0xffffff);
    ofa_wire_encode(&wire, bytes);
    require(memcmp(bytes, data, sizeof(bytes)) == 0);
}

static void try_route(const uint8_t *data, size_t size)
{
    unsigned char bytes[OFA_GRH_BYTES];
    struct ofa_route route;
    struct ofa_route again;

    if (size < OFA_GRH_BYTES || !ofa_grh_decode(data, &route))
        return;
    ofa_grh_encode(&route, size - OFA_GRH_BYTES, bytes);
    /* An IPv6 header with a mapped address becomes an IPv4 header. */
    require(ofa_grh_decode(bytes, &again));
    require(again.traffic_class == route.traffic_class);
    require(memcmp(&again.from, &route.from, sizeof(again.from)) == 0);
}

static void try_sidr(const uint8_t *data, size_t size)
{
    unsigned char bytes[CM_SIDR_MOST];
    struct cm_sidr_message message;

    if (!cm_sidr_decode(data, size, &message))
        return;
    require(cm_sidr_encode(&message, bytes) == size);
    require(memcmp(bytes, data, size) == 0);
}

static void try_greeting(const uint8_t *data, size_t size)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    unsigned char again[OFA_GREETING_BYTES];
    struct ofa_greeting greeting;

    if (size < OFA_GREETING_BYTES || !ofa_greeting_decode(data, &greeting))
        return;
    ofa_greeting_encode(&greeting, bytes);
    require(ofa_greeting_decode(bytes, &greeting));
    ofa_greeting_encode(&greeting, again);
    require(memcmp(bytes, again, sizeof(bytes)) == 0);
}

static void try_hello(const uint8_t *data, size_t size)
{
    unsigned char bytes[RS_HELLO_BYTES];
    struct rs_hello hello;
    struct rs_hello again;

    if (!rs_hello_decode(data, size, &hello))
        return;
    require(size >= RS_HELLO_BYTES && hello.target.length > 0);
    require(hello.mappings <= RS_MAPPINGS_MAX || hello.mappings % 256 == 0);
    rs_hello_encode(&hello, bytes);
    require(rs_hello_decode(bytes, sizeof(bytes), &again));
    require(again.credits == hello.credits);
    require(memcmp(&again.target, &hello.target, sizeof(again.target)) == 0);
    require(memcmp(&again.data, &hello.data, sizeof(again.data)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const uint8_t *data, size_t size) = {
        try_datagram, try_route, try_sidr, try_greeting, try_hello};

    if (size > 0)
        tries[data[0] % 5](data + 1, size - 1);
    return 0;
}
