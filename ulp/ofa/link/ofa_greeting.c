/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_greeting.h"

#include <string.h>

/* The last octet is the version of the format. */
static const unsigned char magic[16] = "itapi.ofa.hand\0\2";

static void put32(unsigned char *bytes, uint32_t value)
{
    value = htonl(value);
    memcpy(bytes, &value, sizeof(value));
}

static uint32_t get32(const unsigned char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return ntohl(value);
}

void ofa_greeting_encode(const struct ofa_greeting *greeting,
                         unsigned char bytes[OFA_GREETING_BYTES])
{
    memcpy(bytes, magic, sizeof(magic));
    put32(bytes + 16, greeting->to_number);
    put32(bytes + 20, greeting->from_number);
    put32(bytes + 24, greeting->to_psn);
    put32(bytes + 28, greeting->from_psn);
    put32(bytes + 32, (uint32_t)(greeting->nonce >> 32));
    put32(bytes + 36, (uint32_t)greeting->nonce);
    put32(bytes + 40, (uint32_t)greeting->type << 8 | greeting->kind);
}

bool ofa_greeting_decode(const unsigned char *bytes, struct ofa_greeting *greeting)
{
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return false;
    *greeting = (struct ofa_greeting){
        .kind = bytes[43],
        .type = bytes[42],
        .to_number = get32(bytes + 16),
        .from_number = get32(bytes + 20),
        .to_psn = get32(bytes + 24),
        .from_psn = get32(bytes + 28),
        .nonce = (uint64_t)get32(bytes + 32) << 32 | get32(bytes + 36),
    };
    return true;
}
