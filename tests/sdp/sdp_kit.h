/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of connections over TCP on the loopback, and a stream of octets that is known. */
#ifndef ITAPI_TESTS_SDP_SDP_KIT_H
#define ITAPI_TESTS_SDP_SDP_KIT_H

#include "support/check.h"

#include "connection/sdp_connection.h"

#include <stddef.h>

/* A TCP connection: fds[0] has connected, fds[1] was accepted. */
void sdp_kit_tcp(int fds[2]);

/* Both ends in this process. */
void sdp_kit_pair(struct sdp_connection *pair[2], const struct sdp_settings *settings);

/* The octet at a position of the stream. */
unsigned char sdp_kit_octet(uint64_t position);

/* Calls of one part. Without a time limit; below 0: -errno. */
ssize_t sdp_kit_send(struct sdp_connection *connection, const void *octets, size_t count,
                     int flags);
ssize_t sdp_kit_receive(struct sdp_connection *connection, void *octets, size_t count, int flags);

/* Sends, or receives and checks, so many octets of the stream from `position` on. */
void sdp_kit_send_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                         size_t each);
void sdp_kit_check_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                          size_t each);

/* Waits until all of these events hold. */
void sdp_kit_await(struct sdp_connection *connection, unsigned events);

#endif /* ITAPI_TESTS_SDP_SDP_KIT_H */
