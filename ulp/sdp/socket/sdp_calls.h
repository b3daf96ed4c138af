/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that hook/ replaces, on any number. They return SDP_KERNEL if the kernel must make the
 * call, otherwise its result or -errno. -ERESTART stands for EINTR of a call that is restarted if
 * all handlers that ran have SA_RESTART. All calls are made in a region.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_CALLS_H
#define ITAPI_ULP_SDP_SOCKET_SDP_CALLS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#define SDP_KERNEL (-4096)

/* ---- Data (sdp_data.c) ---------------------------------------------------------------------- */

ssize_t sdp_data_send(int number, const struct iovec *parts, int count, int flags);
ssize_t sdp_data_receive(int number, const struct iovec *parts, int count, int flags);
int sdp_data_shutdown(int number, int how);
int sdp_data_name(int number, unsigned peer, struct sockaddr *name, socklen_t *length);

/* For a call that a connected socket refuses with this error; SDP_KERNEL: the kernel decides. */
int sdp_data_refuse(int number, int error);

/*
 * Called before a data call that no function here replaces. Makes the socket TCP; returns false if
 * it cannot.
 */
bool sdp_data_escapes(int number);

/* ---- Waiting (sdp_poll.c, sdp_epoll.c) ------------------------------------------------------- */

int sdp_wait_poll(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                  const sigset_t *mask);
int sdp_wait_select(int count, fd_set *in, fd_set *out, fd_set *urgent,
                    const struct timespec *deadline, const sigset_t *mask);
int sdp_wait_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                   const sigset_t *mask);
int sdp_wait_epoll_control(int set, int operation, int number, struct epoll_event *event);

/* Returns true if no socket is undecided or converted: poll and select are the kernel's alone. */
bool sdp_nothing_to_wait_for(void);

/* ---- Settings (sdp_options.c) ---------------------------------------------------------------- */

int sdp_option_set(int number, int level, int name, const void *value, socklen_t length);
int sdp_option_get(int number, int level, int name, void *value, socklen_t *length);
int sdp_option_fcntl(int number, int command, long argument);
int sdp_option_ioctl(int number, unsigned long request, void *argument);

/* ---- Numbers (sdp_numbers.c) ----------------------------------------------------------------- */

/* Called after socket(2). */
void sdp_number_made(int number);
/* dup, dup2, dup3 and F_DUPFD; dup_call makes the kernel's call. */
int sdp_number_dup(int number, int (*dup_call)(const void *how), const void *how);
int sdp_number_dup2(int number, int to, int flags);
int sdp_number_close(int number);
/*
 * Closes the numbers from first to last, except those of this library, or marks them
 * (CLOSE_RANGE_CLOEXEC).
 */
int sdp_number_close_range(unsigned first, unsigned last, int flags);

/* ---- Processes (sdp_process.c) --------------------------------------------------------------- */

/* Closes all sockets as exit does, and waits until their data has been sent. */
void sdp_process_exits(void);
void sdp_process_before_fork(void);
void sdp_process_after_fork(bool child);
/*
 * SDP does not survive exec: numbers that would survive are shut down for the new program, with a
 * message.
 */
void sdp_process_before_exec(void);
void sdp_process_exec_failed(void);
/* Called before another program is started: undecided sockets that it inherits become TCP. */
void sdp_process_before_spawn(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_CALLS_H */
