/* SPDX-License-Identifier: BSD-2-Clause */
/* The table from numbers to sockets. Reading takes no lock; changing takes sdp_table_lock. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H
#define ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H

#include <stdbool.h>

struct sdp_socket;

/* The kinds of numbers. */
enum sdp_number_kind {
    SDP_NUMBER_FREE, /* unused, or a descriptor of the kernel that this library does not track */
    SDP_NUMBER_SOCKET,
    SDP_NUMBER_EPOLL,
    SDP_NUMBER_OWN /* this library's: the program neither sees nor closes it */
};

void sdp_table_lock(void);
void sdp_table_unlock(void);

/* Called without a lock. */
enum sdp_number_kind sdp_table_kind(int number);

/*
 * Returns the socket, or NULL if the number is not a socket. Without a lock. See sdp_socket_hold.
 */
struct sdp_socket *sdp_table_get(int number);

/* Called with the lock. Returns false if memory runs out, or for a number outside the table. */
bool sdp_table_set(int number, enum sdp_number_kind kind, struct sdp_socket *socket);

/* Returns the highest number that has ever been a socket or an epoll set, or -1. */
int sdp_table_highest(void);

/* Returns the lowest number from `from` to `last` that is not free, or -1. */
int sdp_table_next(unsigned from, unsigned last);

/* In the child: no thread holds the lock. */
void sdp_table_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H */
