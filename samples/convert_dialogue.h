/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dialogue in lines of text with which every connection of "convert" begins, in plain TCP:
 *
 *     server: 220 convert
 *     client: HELLO
 *     server: 250 hello
 *     client: FILE 1048579 picture.png
 *     server: 250 there is room for 1048579 bytes         (or 452 and a reason)
 *     client: UPGRADE
 *     server: 101 RDMA from here on                       <- the last bytes of plain TCP
 *
 * Functions that return a bool return false after a message on stderr.
 */
#ifndef ITAPI_SAMPLES_CONVERT_DIALOGUE_H
#define ITAPI_SAMPLES_CONVERT_DIALOGUE_H

#include "common/tcp.h"

#include <stdbool.h>
#include <stdint.h>

/* The server's last line. it_socket_convert sends it. */
#define DIALOGUE_LAST_LINE "101 RDMA from here on\n"

/* The file that the client wants to send. */
struct offer {
    uint64_t size;
    char name[TCP_LINE_MAX];
};

/* Server: from the greeting to FILE, which still needs an answer. */
bool dialogue_receive_offer(int sd, struct offer *offer);

/* Server: accepts the file and waits for UPGRADE; or refuses it with a reason. */
bool dialogue_accept_offer(int sd, const struct offer *offer);
void dialogue_refuse_offer(int sd, const char *reason);

/*
 * Client: the whole dialogue; on success the server's last line has been read, and no byte beyond
 * it.
 */
bool dialogue_make_offer(int sd, const struct offer *offer);

#endif
