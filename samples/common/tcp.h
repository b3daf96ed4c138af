/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain TCP: listening, connecting, and lines of text. Hosts and ports are text for getaddrinfo, so
 * IPv4 and IPv6 both work.
 */
#ifndef ITAPI_SAMPLES_COMMON_TCP_H
#define ITAPI_SAMPLES_COMMON_TCP_H

#include <stdbool.h>
#include <stddef.h>

/* The longest line of a dialogue, including its newline. */
#define TCP_LINE_MAX 1024

/*
 * Listens on a local address; address NULL: on all; port "0": chosen by the system. Returns a
 * descriptor, or -1 after a message.
 */
int tcp_listen(const char *address, const char *port);

/* Connects. Returns a descriptor, or -1 after a message. */
int tcp_connect(const char *host, const char *port);

/* Makes small messages leave at once, without waiting for acknowledgements of earlier ones. */
bool tcp_no_delay(int sd);

/* Returns the port that a socket is bound to; 0 if it cannot be found out. */
unsigned int tcp_local_port(int sd);

/* Writes all bytes. On failure errno has the reason. */
bool tcp_send(int sd, const void *data, size_t length);

/* Reads exactly that many bytes. On failure errno has the reason; ECONNRESET: an early end. */
bool tcp_receive(int sd, void *data, size_t length);

/*
 * Reads one line, and no byte beyond it, into line (with room for TCP_LINE_MAX bytes), without its
 * newline. Fails after a message when the stream ends, when nothing arrives for half a minute, or
 * when the line is too long.
 */
bool tcp_read_line(int sd, char *line);

#endif
