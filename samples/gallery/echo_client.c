/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: sends each text and prints the echo that comes back. It is the client of the servers
 * callbacks and many_clients.
 *
 *     echo_client HOST PORT TEXT...
 */
#include "setup.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_SIZE 256

static char memory[2 * MESSAGE_SIZE]; /* the received message, and the one to send */

int main(int argc, char **argv)
{
    it_lmr_triplet_t in, out;
    struct adapter adapter;
    it_lmr_handle_t lmr;
    it_ep_handle_t ep;

    if (argc < 4)
        fail("usage", "echo_client HOST PORT TEXT...");
    adapter_open(&adapter);
    lmr = memory_register(&adapter, memory, sizeof(memory), IT_PRIV_LOCAL, NULL);
    in = piece_of(lmr, memory, MESSAGE_SIZE);
    ep = connect_to(&adapter, argv[1], argv[2], NULL);
    for (char **text = argv + 3; *text != NULL; text++) {
        size_t length = strnlen(*text, MESSAGE_SIZE);
        it_event_t event;

        /* Posts the receive before the echo can arrive. */
        check(it_post_recv(ep, &in, 1, 0, TOLD), "it_post_recv");
        memcpy(memory + MESSAGE_SIZE, *text, length);
        out = piece_of(lmr, memory + MESSAGE_SIZE, length);
        check(it_post_send(ep, &out, 1, 0, 0), "it_post_send");
        event = wait_for(&adapter, IT_DTO_RC_RECV_CMPL_EVENT);
        completed(&event);
        printf("echo: %.*s\n", (int)event.dto_cmpl.transferred_length, memory);
    }
    disconnect(&adapter, ep);
    return 0;
}
