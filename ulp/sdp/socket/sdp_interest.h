/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program has asked of its epoll sets, for the sockets of the table. A socket that is not
 * decided is not in the kernel's sets, but perhaps for EPOLLOUT alone; once it is, the kernel
 * tells of it as the program asked, be it TCP or a face.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H
#define ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H

#include <stdbool.h>
#include <sys/epoll.h>

struct sdp_socket;

/* A number is an epoll set. */
void sdp_interest_set_made(int set);

/* epoll_ctl on a socket of the table. 0 or -errno. */
int sdp_interest_change(struct sdp_socket *socket, int set, int operation, int number,
                        const struct epoll_event *event);

/* All of a socket, with its lock: out of the kernel's sets; or in again as the program wants it. */
void sdp_interests_withdraw(struct sdp_socket *socket);
void sdp_interests_restore(struct sdp_socket *socket);

/* It is undecided, and may be written to already: EPOLLOUT may be told. With its lock. */
void sdp_interests_tell_writable(struct sdp_socket *socket);

/*
 * Is there urgent data? No object of the kernel shows POLLPRI as a socket does, so the face shows
 * POLLIN with it, and events of sets are corrected. With its lock.
 */
void sdp_interests_urgent(struct sdp_socket *socket, bool urgent);
/* How many events are left of those that the kernel has told of this set. Without a lock. */
int sdp_interests_correct(int set, struct epoll_event *events, int count);

/* The number of a set is closed. With sdp_table_lock. */
void sdp_interests_forget(int set);

/* With its lock. */
bool sdp_interested(const struct sdp_socket *socket, int set);
bool sdp_interested_in_edges(const struct sdp_socket *socket);

/*
 * Wakes threads that wait for the epoll sets of a socket, so that they watch it; they find an event
 * with this `data.ptr`, which is not the program's. Without its lock.
 */
extern const char sdp_interest_wake_mark;
void sdp_interests_wake(struct sdp_socket *socket);
void sdp_interests_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H */
