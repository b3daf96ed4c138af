/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection: an endpoint with its event dispatchers and memory for messages. Connections of
 * one adapter share nothing that changes, so each may have a thread of its own.
 *
 * Every function that returns a bool returns false after a message on stderr.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_CONNECTION_H
#define ITAPI_SAMPLES_IT_RPING_CONNECTION_H

#include "common/rdma.h"
#include "it_rping_adapter.h"
#include "it_rping_message.h"

struct connection {
    it_evd_handle_t requests; /* completions of Sends, RDMA Writes and RDMA Reads */
    it_evd_handle_t receives; /* arrived messages */
    it_evd_handle_t progress; /* events of the connection */
    it_ep_handle_t ep;
    bool over;              /* the last event of the connection has been taken */
    struct region messages; /* memory for messages; see it_rping_connection.c */
};

/* The result of a receive. */
enum connection_news {
    CONNECTION_MESSAGE,
    CONNECTION_DISCONNECTED, /* the peer has disconnected in order */
    CONNECTION_FAILED,       /* after a message on stderr */
};

/* Creates all objects; posts receives, so that no message is missed. */
bool connection_open(struct connection *connection, const struct adapter *adapter);

/* Destroys everything; ends a connection that still exists. */
void connection_close(struct connection *connection);

/* Waits until the connection is established, or has failed. */
bool connection_wait_established(struct connection *connection);

/* Ends the connection from this side. */
bool connection_disconnect(struct connection *connection);

/* Waits for a message. Its contents are valid only with CONNECTION_MESSAGE. */
enum connection_news connection_receive(struct connection *connection, struct rping_buffer *said);

/* Sends a message; it may still be in transmission on return. */
bool connection_send(struct connection *connection, const struct rping_buffer *said);

/* Reads the peer's buffer to the beginning of the region. */
bool connection_read(struct connection *connection, const struct region *region,
                     const struct rping_buffer *from);

/*
 * Writes length bytes from the beginning of the region to the peer's buffer, then sends a message.
 * With CONNECTION_DISCONNECTED the peer may have all of it.
 */
enum connection_news connection_write_and_send(struct connection *connection,
                                               const struct region *region, size_t length,
                                               const struct rping_buffer *to,
                                               const struct rping_buffer *said);

#endif
