/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_negative.h"

#include <string.h>

#define SETS 128
#define WAYS 4

struct negative {
    uint8_t address[16];
    uint16_t port;
    int64_t until_us;
};

static struct negative table[SETS][WAYS];

static struct negative *set_of(const uint8_t address[16], uint16_t port)
{
    uint32_t hash = 2166136261u ^ port;

    for (int i = 0; i < 16; i++)
        hash = (hash ^ address[i]) * 16777619u;
    return table[(hash ^ hash >> 16) % SETS];
}

static bool names(const struct negative *entry, const uint8_t address[16], uint16_t port)
{
    return entry->port == port && memcmp(entry->address, address, sizeof(entry->address)) == 0;
}

void sdp_negative_add(const uint8_t address[16], uint16_t port, int64_t until_us)
{
    struct negative *set = set_of(address, port);
    struct negative *chosen = &set[0];

    for (int i = 0; i < WAYS; i++) {
        if (names(&set[i], address, port)) {
            chosen = &set[i];
            break;
        }
        if (set[i].until_us < chosen->until_us)
            chosen = &set[i];
    }
    memcpy(chosen->address, address, sizeof(chosen->address));
    chosen->port = port;
    chosen->until_us = until_us;
}

static bool has(const uint8_t address[16], uint16_t port, int64_t now_us)
{
    const struct negative *set = set_of(address, port);

    for (int i = 0; i < WAYS; i++) {
        if (names(&set[i], address, port) && now_us < set[i].until_us)
            return true;
    }
    return false;
}

bool sdp_negative_has(const uint8_t address[16], uint16_t port, int64_t now_us)
{
    return has(address, 0, now_us) || has(address, port, now_us);
}

void sdp_negative_clear(void)
{
    memset(table, 0, sizeof(table));
}
