/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_message.h"

#include <arpa/inet.h>
#include <string.h>

/* Offsets of the members in the bytes. */
enum {
    ADDRESS_AT = 0,
    KEY_AT = 8,
    LENGTH_AT = 12,
};

void rping_message_encode(const struct rping_buffer *buffer, unsigned char *bytes)
{
    uint64_t address = it_hton64(buffer->address);
    uint32_t key = htonl(buffer->key);
    uint32_t length = htonl(buffer->length);

    memcpy(bytes + ADDRESS_AT, &address, sizeof(address));
    memcpy(bytes + KEY_AT, &key, sizeof(key));
    memcpy(bytes + LENGTH_AT, &length, sizeof(length));
}

void rping_message_decode(const unsigned char *bytes, struct rping_buffer *buffer)
{
    uint64_t address;
    uint32_t key;
    uint32_t length;

    memcpy(&address, bytes + ADDRESS_AT, sizeof(address));
    memcpy(&key, bytes + KEY_AT, sizeof(key));
    memcpy(&length, bytes + LENGTH_AT, sizeof(length));
    buffer->address = it_ntoh64(address);
    buffer->key = ntohl(key);
    buffer->length = ntohl(length);
}
