/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA Read and RDMA Write: a server has a board in its memory, and tells each client the address
 * and key. The client reads the text there and overwrites it with another one. The server's program
 * does nothing for it.
 *
 *     read_write server [PORT]
 *     read_write client HOST PORT TEXT
 */
#include "setup.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define BOARD_SIZE 128

static char memory[2 * BOARD_SIZE]; /* a server uses only the first half */

static void serve(const char *port)
{
    struct adapter adapter;
    struct place board;

    adapter_open(&adapter);
    strcpy(memory, "welcome");
    (void)memory_register(&adapter, memory, BOARD_SIZE, IT_PRIV_LOCAL | IT_PRIV_REMOTE, &board);
    listen_at(&adapter, adapter.events, port);
    for (;;) {
        (void)poll(&(struct pollfd){.fd = adapter.fd, .events = POLLIN}, 1, -1);
        serve_place(&adapter, &board);
    }
}

static void use(const char *host, const char *port, const char *text)
{
    struct adapter adapter;
    struct place board;
    it_lmr_handle_t lmr;
    it_lmr_triplet_t found, written;
    it_ep_handle_t ep;
    it_event_t event;

    adapter_open(&adapter);
    lmr = memory_register(&adapter, memory, sizeof(memory), IT_PRIV_LOCAL, NULL);
    found = piece_of(lmr, memory, BOARD_SIZE);
    written = piece_of(lmr, memory + BOARD_SIZE, BOARD_SIZE);
    snprintf(memory + BOARD_SIZE, BOARD_SIZE, "%s", text);
    ep = connect_to(&adapter, host, port, &board);
    if (board.length != BOARD_SIZE)
        fail(host, "the board has another size");

    check(it_post_rdma_read(ep, &found, 1, 0, TOLD, board.address, board.key), "it_post_rdma_read");
    event = wait_for(&adapter, IT_DTO_RDMA_READ_CMPL_EVENT);
    completed(&event);
    printf("found: %.*s\n", BOARD_SIZE, memory);

    check(it_post_rdma_write(ep, &written, 1, 0, TOLD, board.address, board.key),
          "it_post_rdma_write");
    event = wait_for(&adapter, IT_DTO_RDMA_WRITE_CMPL_EVENT);
    completed(&event);
    printf("written: %s\n", memory + BOARD_SIZE);
    disconnect(&adapter, ep); /* graceful: the Write arrives before the end of the connection */
}

int main(int argc, char **argv)
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "server") == 0)
        serve(argc == 3 ? argv[2] : "0");
    else if (argc == 5 && strcmp(argv[1], "client") == 0)
        use(argv[2], argv[3], argv[4]);
    else
        fail("usage", "read_write server [PORT] | client HOST PORT TEXT");
    return 0;
}
