/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain TCP: listening, connecting, and lines of text. Hosts and ports are text, as getaddrinfo
 * takes them, so IPv4 and IPv6 come by themselves.
 */
#ifndef ITAPI_SAMPLES_COMMON_TCP_H
#define ITAPI_SAMPLES_COMMON_TCP_H

#include <stdbool.h>
#include <stddef.h>

/* Longest line of a dialogue, its newline included. */
#define TCP_LINE_MAX 1024

/*
 * Listens on a local address; address NULL is all of them, port "0" one that the system chooses.
 * Returns a descriptor, or -1 after a message.
 */
int tcp_listen(const char *address, const char *port);

/* Connects. Returns a descriptor, or -1 after a message. */
int tcp_connect(const char *host, const char *port);

/* Has small messages sent at once, without waiting for the peer's answer to earlier ones. */
bool tcp_no_delay(int sd);

/* The port a socket is bound to, 0 if it cannot be found out. */
unsigned int tcp_local_port(int sd);

/* Writes all the bytes. On failure errno says why. */
bool tcp_send(int sd, const void *data, size_t length);

/* Reads exactly that many bytes. On failure errno says why; it is ECONNRESET at an early end. */
bool tcp_receive(int sd, void *data, size_t length);

/*
 * Reads one line, and not one byte beyond it, into line (room for TCP_LINE_MAX bytes) without its
 * newline. Fails after a message when the stream ends, when nothing comes for half a minute, or
 * when the line is too long.
 */
bool tcp_read_line(int sd, char *line);

#endif
