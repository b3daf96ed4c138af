/* SPDX-License-Identifier: BSD-2-Clause */
/* From numbers to sockets. Reading takes no lock; changing takes sdp_table_lock. */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H
#define ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H

#include <stdbool.h>

struct sdp_socket;

/* What a number is besides a socket. */
enum sdp_number_kind {
    SDP_NUMBER_FREE, /* the kernel's alone, as far as we know */
    SDP_NUMBER_SOCKET,
    SDP_NUMBER_EPOLL,
    SDP_NUMBER_OWN /* one of this library's: the program neither sees nor closes it */
};

void sdp_table_lock(void);
void sdp_table_unlock(void);

/* Without a lock. */
enum sdp_number_kind sdp_table_kind(int number);

/* The socket; NULL: the number is none. Without a lock. See sdp_socket_hold. */
struct sdp_socket *sdp_table_get(int number);

/* With the lock. false: no memory, or no number that a table can have. */
bool sdp_table_set(int number, enum sdp_number_kind kind, struct sdp_socket *socket);

/* The lowest number from `from` to `last` that is not free; -1: there is none. */
int sdp_table_next(unsigned from, unsigned last);

/* In the child: nobody holds the lock. */
void sdp_table_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_TABLE_H */
