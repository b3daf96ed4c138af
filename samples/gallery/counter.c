/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic operations: a counter in the server's memory, from which clients draw numbers. No number
 * is drawn twice, even if several clients draw at the same time; the server's program does nothing
 * for it.
 *
 *     counter server [PORT]
 *     counter client HOST PORT TIMES
 */
#include "setup.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number; /* server: the counter; client: the number drawn */

static void serve(const char *port)
{
    struct adapter adapter;
    struct place counter;

    adapter_open(&adapter);
    (void)memory_register(&adapter, &number, sizeof(number), IT_PRIV_LOCAL | IT_PRIV_ATOMIC,
                          &counter);
    listen_at(&adapter, adapter.events, port);
    for (;;) {
        (void)poll(&(struct pollfd){.fd = adapter.fd, .events = POLLIN}, 1, -1);
        serve_place(&adapter, &counter);
    }
}

static void draw(const char *host, const char *port, long times)
{
    struct adapter adapter;
    struct place counter;
    it_lmr_triplet_t result;
    it_ep_handle_t ep;

    adapter_open(&adapter);
    result = piece_of(memory_register(&adapter, &number, sizeof(number), IT_PRIV_LOCAL, NULL),
                      &number, sizeof(number));
    ep = connect_to(&adapter, host, port, &counter);
    while (times-- > 0) {
        it_event_t event;

        check(it_post_atomic(ep, IT_FETCH_AND_ADD, 1, 0, &result, 0, TOLD, counter.address,
                             counter.key),
              "it_post_atomic");
        event = wait_for(&adapter, IT_DTO_FETCH_ADD_CMPL_EVENT);
        completed(&event);
        printf("%" PRIu64 "\n", number);
    }
    disconnect(&adapter, ep);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0)
        serve(argc == 3 ? argv[2] : "0");
    else if (argc == 5 && strcmp(argv[1], "client") == 0)
        draw(argv[2], argv[3], atol(argv[4]));
    else
        fail("usage", "counter server [PORT] | client HOST PORT TIMES");
    return 0;
}
