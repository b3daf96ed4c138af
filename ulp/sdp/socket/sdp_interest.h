/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interests of the program's epoll sets in sockets of the table. An undecided socket is not in
 * the kernel's sets, except possibly for EPOLLOUT. Once it is decided, TCP or face, the kernel
 * reports its events as the program has asked.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H
#define ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H

#include <stdbool.h>
#include <sys/epoll.h>

struct sdp_interest;
struct sdp_socket;

/* Called when a number becomes an epoll set. */
void sdp_interest_set_made(int set);

/* epoll_ctl on a socket of the table. Returns 0 or -errno. */
int sdp_interest_change(struct sdp_socket *socket, int set, int operation, int number,
                        const struct epoll_event *event);

/*
 * Called with the socket's lock: removes all its interests from the kernel's sets, or adds them
 * again as the program wants them.
 */
void sdp_interests_withdraw(struct sdp_socket *socket);
void sdp_interests_restore(struct sdp_socket *socket);

/* Called with the lock of an undecided socket that may be written to: EPOLLOUT may be reported. */
void sdp_interests_tell_writable(struct sdp_socket *socket);

/*
 * Called with the socket's lock when urgent data comes or goes. No kernel object shows POLLPRI as a
 * socket does, so the face shows POLLIN for it, and the events of sets are corrected.
 */
void sdp_interests_urgent(struct sdp_socket *socket, bool urgent);
/*
 * Corrects the events that the kernel has returned for this set. Returns how many are left. Without
 * a lock.
 */
int sdp_interests_correct(int set, struct epoll_event *events, int count);

/*
 * Called before a thread waits for a set, behind sdp_kick_begin, and before a number is closed or
 * the process forks: the kernel's sets then have what the program wants.
 */
void sdp_interests_settle(void);

/* Called with sdp_table_lock when the number of a set is closed. */
void sdp_interests_forget(int set);

/*
 * All three are called with the socket's lock. The first one returns the socket's interest if it
 * has one alone, in this set, which asks for EPOLLIN as long as there is data (level-triggered).
 */
const struct sdp_interest *sdp_interest_plain(const struct sdp_socket *socket, int set);
bool sdp_interested(const struct sdp_socket *socket, int set);
bool sdp_interested_in_edges(const struct sdp_socket *socket);

/*
 * Wakes threads that wait for the epoll sets of a socket, so that they watch it. They get an event
 * with this `data.ptr`, which is not the program's. Called without the socket's lock.
 */
extern const char sdp_interest_wake_mark;
void sdp_interests_wake(struct sdp_socket *socket);
void sdp_interests_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_INTEREST_H */
