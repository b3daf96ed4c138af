/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/message.h"

#include <arpa/inet.h>
#include <string.h>

/* Offsets of the members in the bytes. */
enum {
    KIND_AT = 0,
    DETAIL_AT = 4,
    KEY_AT = 8,
    ADDRESS_AT = 16,
    LENGTH_AT = 24,
    DIGEST_AT = 32,
};

_Static_assert(DIGEST_AT + SHA256_DIGEST_LENGTH == MESSAGE_SIZE, "the members fill the message");

static void put32(unsigned char *bytes, uint32_t value)
{
    uint32_t network = htonl(value);

    memcpy(bytes, &network, sizeof(network));
}

static uint32_t get32(const unsigned char *bytes)
{
    uint32_t network;

    memcpy(&network, bytes, sizeof(network));
    return ntohl(network);
}

static void put64(unsigned char *bytes, uint64_t value)
{
    uint64_t network = it_hton64(value);

    memcpy(bytes, &network, sizeof(network));
}

static uint64_t get64(const unsigned char *bytes)
{
    uint64_t network;

    memcpy(&network, bytes, sizeof(network));
    return it_ntoh64(network);
}

const char *message_name(enum message_kind kind)
{
    switch (kind) {
    case MESSAGE_READY:
        return "ready";
    case MESSAGE_BUFFER:
        return "buffer";
    case MESSAGE_WRITTEN:
        return "written";
    case MESSAGE_IN_PLACE:
        return "in place";
    case MESSAGE_DIGEST:
        return "digest";
    case MESSAGE_DONE:
        return "done";
    }
    return "unknown";
}

void message_encode(const struct message *message, unsigned char bytes[MESSAGE_SIZE])
{
    put32(bytes + KIND_AT, (uint32_t)message->kind);
    put32(bytes + DETAIL_AT, message->detail);
    put64(bytes + KEY_AT, message->key);
    put64(bytes + ADDRESS_AT, message->address);
    put64(bytes + LENGTH_AT, message->length);
    memcpy(bytes + DIGEST_AT, message->digest, SHA256_DIGEST_LENGTH);
}

void message_decode(const unsigned char bytes[MESSAGE_SIZE], struct message *message)
{
    message->kind = (enum message_kind)get32(bytes + KIND_AT);
    message->detail = get32(bytes + DETAIL_AT);
    message->key = get64(bytes + KEY_AT);
    message->address = get64(bytes + ADDRESS_AT);
    message->length = get64(bytes + LENGTH_AT);
    memcpy(message->digest, bytes + DIGEST_AT, SHA256_DIGEST_LENGTH);
}
