/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_message.h"

#include <endian.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- SipHash-2-4, 128 bits ------------------------------------------------------------------ */

static uint64_t rotated(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

static uint64_t little_endian(const uint8_t *octets, size_t count)
{
    uint64_t word = 0;

    while (count-- > 0)
        word = word << 8 | octets[count];
    return word;
}

void sdp_siphash(const uint8_t key[SDP_KEY_OCTETS], const void *data, size_t length,
                 uint8_t tag[SDP_TAG_OCTETS])
{
    const uint8_t *octets = data;
    const uint64_t k0 = little_endian(key, 8);
    const uint64_t k1 = little_endian(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                     k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
    uint64_t half;
    size_t left = length;

    for (; left >= 8; left -= 8, octets += 8)
        sip_word(v, little_endian(octets, 8));
    sip_word(v, (uint64_t)length << 56 | little_endian(octets, left));
    v[2] ^= 0xee;
    sip_rounds(v, 4);
    half = htole64(v[0] ^ v[1] ^ v[2] ^ v[3]);
    memcpy(tag, &half, 8);
    v[1] ^= 0xdd;
    sip_rounds(v, 4);
    half = htole64(v[0] ^ v[1] ^ v[2] ^ v[3]);
    memcpy(tag + 8, &half, 8);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static const uint8_t head[] = {'i', 'S', 'D', 'P', 1};

enum {
    AT_TYPE = sizeof(head),
    AT_KIND,
    AT_ADDRESSES = 8,
    AT_PORTS = 40,
    AT_CLIENT_NONCE = 44,
    AT_SERVER_NONCE = 60,
    AT_TAG = 76
};

void sdp_note_put(const struct sdp_note *note, const uint8_t *key, uint8_t octets[SDP_NOTE_OCTETS])
{
    memset(octets, 0, SDP_NOTE_OCTETS);
    memcpy(octets, head, sizeof(head));
    octets[AT_TYPE] = (uint8_t)note->type;
    octets[AT_KIND] = note->kind;
    memcpy(octets + AT_ADDRESSES, note->tuple.address, sizeof(note->tuple.address));
    for (int end = 0; end < 2; end++) {
        octets[AT_PORTS + end * 2] = (uint8_t)(note->tuple.port[end] >> 8);
        octets[AT_PORTS + end * 2 + 1] = (uint8_t)note->tuple.port[end];
    }
    memcpy(octets + AT_CLIENT_NONCE, note->client_nonce, SDP_NONCE_OCTETS);
    memcpy(octets + AT_SERVER_NONCE, note->server_nonce, SDP_NONCE_OCTETS);
    if (key)
        sdp_siphash(key, octets, AT_TAG, octets + AT_TAG);
}

bool sdp_note_get(const void *data, size_t length, struct sdp_note *note)
{
    const uint8_t *octets = data;

    if (length != SDP_NOTE_OCTETS || memcmp(octets, head, sizeof(head)) != 0)
        return false;
    note->type = octets[AT_TYPE];
    note->kind = octets[AT_KIND];
    memcpy(note->tuple.address, octets + AT_ADDRESSES, sizeof(note->tuple.address));
    for (int end = 0; end < 2; end++)
        note->tuple.port[end] =
            (uint16_t)(octets[AT_PORTS + end * 2] << 8 | octets[AT_PORTS + end * 2 + 1]);
    memcpy(note->client_nonce, octets + AT_CLIENT_NONCE, SDP_NONCE_OCTETS);
    memcpy(note->server_nonce, octets + AT_SERVER_NONCE, SDP_NONCE_OCTETS);
    return true;
}

bool sdp_note_tagged(const uint8_t octets[SDP_NOTE_OCTETS], const uint8_t *key)
{
    uint8_t tag[SDP_TAG_OCTETS];
    uint8_t difference = 0;

    sdp_siphash(key, octets, AT_TAG, tag);
    for (int i = 0; i < SDP_TAG_OCTETS; i++)
        difference |= tag[i] ^ octets[AT_TAG + i];
    return difference == 0;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static const uint8_t ipv4_in_ipv6[12] = {[10] = 0xff, [11] = 0xff};

bool sdp_address_get(const struct sockaddr *address, uint8_t octets[16], uint16_t *port)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;

        memcpy(octets, ipv4_in_ipv6, sizeof(ipv4_in_ipv6));
        memcpy(octets + 12, &in->sin_addr, 4);
        *port = be16toh(in->sin_port);
        return true;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;

        memcpy(octets, &in6->sin6_addr, 16);
        *port = be16toh(in6->sin6_port);
        return true;
    }
    return false;
}

bool sdp_address_local(const uint8_t octets[16])
{
    static const uint8_t none[15];

    if (memcmp(octets, ipv4_in_ipv6, sizeof(ipv4_in_ipv6)) == 0)
        return octets[12] == 127 || little_endian(octets + 12, 4) == 0;
    return memcmp(octets, none, sizeof(none)) == 0 && octets[15] <= 1;
}

bool sdp_tuple_get(int fd, enum sdp_end own, struct sdp_tuple *tuple)
{
    struct sockaddr_storage address[2];

    for (int other = 0; other < 2; other++) {
        socklen_t length = sizeof(address[0]);
        struct sockaddr *to = (struct sockaddr *)&address[other];
        int end = other ? !own : (int)own;

        if ((other ? getpeername(fd, to, &length) : getsockname(fd, to, &length)) != 0 ||
            !sdp_address_get(to, tuple->address[end], &tuple->port[end]))
            return false;
    }
    return true;
}

bool sdp_tuple_within_host(const struct sdp_tuple *tuple)
{
    return sdp_address_local(tuple->address[SDP_SERVER_END]) ||
           memcmp(tuple->address[0], tuple->address[1], sizeof(tuple->address[0])) == 0;
}

/* ---- Names ---------------------------------------------------------------------------------- */

socklen_t sdp_presence_name(uint16_t port, struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "itsdp.p.%u", port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool sdp_presence_is_there(uint16_t port)
{
    struct sockaddr_un name;
    socklen_t length = sdp_presence_name(port, &name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found;

    if (fd < 0)
        return false;
    found = connect(fd, (struct sockaddr *)&name, length) == 0;
    (void)close(fd);
    return found;
}

socklen_t sdp_holder_name(const struct sdp_tuple *tuple, struct sockaddr_un *name)
{
    static const char start[] = "itsdp.s";
    uint8_t *at = (uint8_t *)name->sun_path + sizeof(start);

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    memcpy(name->sun_path + 1, start, sizeof(start) - 1);
    memcpy(at, tuple->address, sizeof(tuple->address));
    at += sizeof(tuple->address);
    for (int end = 0; end < 2; end++) {
        *at++ = (uint8_t)(tuple->port[end] >> 8);
        *at++ = (uint8_t)tuple->port[end];
    }
    return (socklen_t)((char *)at - (char *)name);
}
