/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of connections over TCP on the loopback device, and a stream of known octets. */
#ifndef ITAPI_TESTS_SDP_SDP_KIT_H
#define ITAPI_TESTS_SDP_SDP_KIT_H

#include "support/check.h"

#include "connection/sdp_connection.h"

#include <stddef.h>

/* Makes a TCP connection: fds[0] has connected, fds[1] was accepted. */
void sdp_kit_tcp(int fds[2]);

/* Makes a pair with both ends in this process. */
void sdp_kit_pair(struct sdp_connection *pair[2], const struct sdp_settings *settings);

/* Returns the octet at a position of the stream. */
unsigned char sdp_kit_octet(uint64_t position);

/*
 * Send and receive one part without a time limit. They return -errno on failure. As with TCP, a
 * process that was stopped and continued finds its calls interrupted: these go on.
 */
ssize_t sdp_kit_send(struct sdp_connection *connection, const void *octets, size_t count,
                     int flags);
ssize_t sdp_kit_receive(struct sdp_connection *connection, void *octets, size_t count, int flags);

/* Send, or receive and check, so many octets of the stream from `position` on. */
void sdp_kit_send_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                         size_t each);
void sdp_kit_check_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                          size_t each);

/* Waits until all of these events hold. */
void sdp_kit_await(struct sdp_connection *connection, unsigned events);

#endif /* ITAPI_TESTS_SDP_SDP_KIT_H */
