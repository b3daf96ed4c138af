/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A key-value cache. The server takes pairs from its standard input, "KEY VALUE" a line, into a
 * table; clients look keys up by RDMA Reads, which cost the server's program nothing. If a Read
 * overlaps a write of the server, the checksum is wrong, and the client reads again.
 *
 *     kv_cache server [PORT] <PAIRS
 *     kv_cache client HOST PORT KEY...
 */
#include "setup.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1024 /* a later key may drive an earlier one out: this is a cache */

struct slot {
    char key[32];
    char value[88];
    uint64_t checksum; /* checksum of key and value, in network byte order */
};

static uint64_t hash(const void *start, size_t length)
{
    const unsigned char *octets = start;
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */

    while (length-- > 0)
        sum = (sum ^ *octets++) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t checksum_of(const struct slot *slot)
{
    return it_hton64(hash(slot, offsetof(struct slot, checksum)));
}

/* ---- Server ------------------------------------------------------------------------------- */

static struct slot table[SLOTS];

/* Returns 0 at the end of the input. */
static int take_pair(void)
{
    char line[sizeof(struct slot)];
    struct slot slot = {0};

    if (fgets(line, sizeof(line), stdin) == NULL)
        return 0;
    if (sscanf(line, "%31s %87[^\n]", slot.key, slot.value) == 2) {
        slot.checksum = checksum_of(&slot);
        table[hash(slot.key, strlen(slot.key)) % SLOTS] = slot;
    }
    return 1;
}

static void serve(const char *port)
{
    struct pollfd watched[2] = {{.events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    struct adapter adapter;
    struct place place;

    adapter_open(&adapter);
    watched[0].fd = adapter.fd;
    setvbuf(stdin, NULL, _IONBF, 0); /* poll does not see data that stdio has buffered */
    (void)memory_register(&adapter, table, sizeof(table), IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ,
                          &place);
    listen_at(&adapter, adapter.events, port);
    for (;;) {
        (void)poll(watched, 2, -1);
        if (watched[1].revents != 0 && !take_pair())
            watched[1].fd = -1;
        serve_place(&adapter, &place);
    }
}

/* ---- Client ------------------------------------------------------------------------------- */

/* Reads the slot of a key until its checksum is right. */
static void read_slot(const struct adapter *adapter, it_ep_handle_t ep, const struct place *place,
                      size_t index, const it_lmr_triplet_t *piece)
{
    const struct slot *slot = piece->addr.abs;

    do {
        it_event_t event;

        check(it_post_rdma_read(ep, piece, 1, 0, TOLD, place->address + index * sizeof(*slot),
                                place->key),
              "it_post_rdma_read");
        event = wait_for(adapter, IT_DTO_RDMA_READ_CMPL_EVENT);
        completed(&event);
    } while (slot->key[0] != '\0' && slot->checksum != checksum_of(slot));
}

static int look_up(const char *host, const char *port, char **keys)
{
    static struct slot slot;
    struct adapter adapter;
    struct place place;
    it_lmr_triplet_t piece;
    it_ep_handle_t ep;
    int missing = 0;

    adapter_open(&adapter);
    piece = piece_of(memory_register(&adapter, &slot, sizeof(slot), IT_PRIV_LOCAL, NULL), &slot,
                     sizeof(slot));
    ep = connect_to(&adapter, host, port, &place);
    if (place.length != sizeof(table))
        fail(host, "the table has another size");
    for (; *keys != NULL; keys++) {
        read_slot(&adapter, ep, &place, hash(*keys, strlen(*keys)) % SLOTS, &piece);
        if (strncmp(slot.key, *keys, sizeof(slot.key)) == 0) {
            printf("%s: %.*s\n", *keys, (int)sizeof(slot.value), slot.value);
        } else {
            printf("%s is not there\n", *keys);
            missing++;
        }
    }
    disconnect(&adapter, ep);
    return missing != 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0)
        serve(argc == 3 ? argv[2] : "0");
    if (argc >= 5 && strcmp(argv[1], "client") == 0)
        return look_up(argv[2], argv[3], argv + 4);
    fail("usage", "kv_cache server [PORT] <PAIRS | client HOST PORT KEY...");
}
