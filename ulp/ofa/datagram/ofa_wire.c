/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_wire.h"

#include <arpa/inet.h>
#include <string.h>

/* ---- Datagrams ------------------------------------------------------------------------------ */

#define MAGIC   0x69745544u /* "itUD" */
#define VERSION 1

#define FLAG_IMMEDIATE 1u
#define FLAG_SOLICITED 2u
#define FLAG_WANTS_ACK 4u
#define FLAGS          (FLAG_IMMEDIATE | FLAG_SOLICITED | FLAG_WANTS_ACK)

#define NUMBER_MOST 0xffffffu

/* In octets from the start. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 4,
    AT_KIND = 5,
    AT_FLAGS = 6,
    AT_TRAFFIC_CLASS = 7,
    AT_TO = 8,
    AT_FROM = 12,
    AT_QKEY = 16,
    AT_IMMEDIATE = 20,
    AT_SEQUENCE = 24
};

static void put_u32(unsigned char *bytes, uint32_t value)
{
    value = htonl(value);
    memcpy(bytes, &value, sizeof(value));
}

static uint32_t get_u32(const unsigned char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return ntohl(value);
}

void ofa_wire_encode(const struct ofa_wire *wire, unsigned char bytes[OFA_WIRE_HEADER])
{
    put_u32(bytes + AT_MAGIC, MAGIC);
    bytes[AT_VERSION] = VERSION;
    bytes[AT_KIND] = (unsigned char)wire->kind;
    bytes[AT_FLAGS] = (unsigned char)((wire->has_immediate ? FLAG_IMMEDIATE : 0) |
                                      (wire->solicited ? FLAG_SOLICITED : 0) |
                                      (wire->wants_ack ? FLAG_WANTS_ACK : 0));
    bytes[AT_TRAFFIC_CLASS] = wire->traffic_class;
    put_u32(bytes + AT_TO, wire->to_number);
    put_u32(bytes + AT_FROM, wire->from_number);
    put_u32(bytes + AT_QKEY, wire->qkey);
    put_u32(bytes + AT_IMMEDIATE, wire->immediate);
    put_u32(bytes + AT_SEQUENCE, wire->sequence);
}

bool ofa_wire_decode(const unsigned char *bytes, size_t length, struct ofa_wire *wire)
{
    if (length < OFA_WIRE_HEADER || get_u32(bytes + AT_MAGIC) != MAGIC ||
        bytes[AT_VERSION] != VERSION || (bytes[AT_FLAGS] & ~FLAGS))
        return false;
    *wire = (struct ofa_wire){.kind = (enum ofa_wire_kind)bytes[AT_KIND],
                              .has_immediate = bytes[AT_FLAGS] & FLAG_IMMEDIATE,
                              .solicited = bytes[AT_FLAGS] & FLAG_SOLICITED,
                              .wants_ack = bytes[AT_FLAGS] & FLAG_WANTS_ACK,
                              .traffic_class = bytes[AT_TRAFFIC_CLASS],
                              .to_number = get_u32(bytes + AT_TO),
                              .from_number = get_u32(bytes + AT_FROM),
                              .qkey = get_u32(bytes + AT_QKEY),
                              .immediate = get_u32(bytes + AT_IMMEDIATE),
                              .sequence = get_u32(bytes + AT_SEQUENCE)};
    if (wire->to_number > NUMBER_MOST || wire->from_number > NUMBER_MOST)
        return false;
    return wire->kind == OFA_WIRE_DATA ? length <= OFA_WIRE_HEADER + OFA_WIRE_PAYLOAD
                                       : wire->kind == OFA_WIRE_ACK && length == OFA_WIRE_HEADER;
}

/* ---- Global route header -------------------------------------------------------------------- */

#define IPV4_AT       20
#define IPV4_HEADER   20
#define IPV4_VERSION  0x45 /* with the header's length in words */
#define IPV4_SOURCE   12
#define IPV4_TARGET   16
#define IPV4_CHECKSUM 10
#define IPV6_SOURCE   8
#define IPV6_TARGET   24
#define TTL           64
#define MAPPED        12 /* octets of an IPv4-mapped address before the IPv4 address */

/* Returns the checksum of a header; 0 if the header's own checksum is right. */
static uint16_t checksum(const unsigned char *header)
{
    uint32_t sum = 0;

    for (int i = 0; i < IPV4_HEADER; i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static void encode_ipv4(const struct ofa_route *route, size_t length, unsigned char *header)
{
    uint16_t sum;

    length += IPV4_HEADER;
    header[0] = IPV4_VERSION;
    header[1] = route->traffic_class;
    header[2] = (unsigned char)(length >> 8);
    header[3] = (unsigned char)length;
    header[8] = TTL;
    header[9] = IPPROTO_UDP;
    memcpy(header + IPV4_SOURCE, &route->from.s6_addr[MAPPED], sizeof(struct in_addr));
    memcpy(header + IPV4_TARGET, &route->to.s6_addr[MAPPED], sizeof(struct in_addr));
    sum = checksum(header);
    header[IPV4_CHECKSUM] = (unsigned char)(sum >> 8);
    header[IPV4_CHECKSUM + 1] = (unsigned char)sum;
}

void ofa_grh_encode(const struct ofa_route *route, size_t length,
                    unsigned char bytes[OFA_GRH_BYTES])
{
    memset(bytes, 0, OFA_GRH_BYTES);
    if (IN6_IS_ADDR_V4MAPPED(&route->from)) {
        encode_ipv4(route, length, bytes + IPV4_AT);
        return;
    }
    put_u32(bytes, UINT32_C(6) << 28 | (uint32_t)route->traffic_class << 20);
    bytes[4] = (unsigned char)(length >> 8);
    bytes[5] = (unsigned char)length;
    bytes[6] = IPPROTO_UDP;
    bytes[7] = TTL;
    memcpy(bytes + IPV6_SOURCE, &route->from, sizeof(route->from));
    memcpy(bytes + IPV6_TARGET, &route->to, sizeof(route->to));
}

static void map(struct in6_addr *address, const unsigned char *ipv4)
{
    memset(address, 0, sizeof(*address));
    address->s6_addr[10] = address->s6_addr[11] = 0xff;
    memcpy(&address->s6_addr[MAPPED], ipv4, sizeof(struct in_addr));
}

bool ofa_grh_decode(const unsigned char bytes[OFA_GRH_BYTES], struct ofa_route *route)
{
    const unsigned char *ipv4 = bytes + IPV4_AT;

    /* An IPv6 address may look like the start of an IPv4 header, but its checksum is wrong. */
    if (ipv4[0] == IPV4_VERSION && checksum(ipv4) == 0) {
        map(&route->from, ipv4 + IPV4_SOURCE);
        map(&route->to, ipv4 + IPV4_TARGET);
        route->traffic_class = ipv4[1];
        return true;
    }
    if (bytes[0] >> 4 != 6 || bytes[6] != IPPROTO_UDP)
        return false;
    memcpy(&route->from, bytes + IPV6_SOURCE, sizeof(route->from));
    memcpy(&route->to, bytes + IPV6_TARGET, sizeof(route->to));
    route->traffic_class = (uint8_t)(get_u32(bytes) >> 20);
    return true;
}
