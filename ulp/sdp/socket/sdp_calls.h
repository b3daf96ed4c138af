/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that hook/ stands in front of, on any number. They give SDP_KERNEL when the kernel is
 * to be asked, otherwise what the call gives or -errno. -ERESTART stands for EINTR of a call that
 * goes on if all handlers that ran have SA_RESTART. All are made in a region.
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

/* A call that a connected socket refuses, with this error; SDP_KERNEL: the kernel says. */
int sdp_data_refuse(int number, int error);

/* May a data call go to the kernel by another way than one of these? It becomes TCP, or: false. */
bool sdp_data_escapes(int number);

/* ---- Waiting (sdp_poll.c, sdp_epoll.c) ------------------------------------------------------- */

int sdp_wait_poll(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                  const sigset_t *mask);
int sdp_wait_select(int count, fd_set *in, fd_set *out, fd_set *urgent,
                    const struct timespec *deadline, const sigset_t *mask);
int sdp_wait_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                   const sigset_t *mask);
int sdp_wait_epoll_control(int set, int operation, int number, struct epoll_event *event);

/* No socket is undecided or converted: poll and select are the kernel's alone. */
bool sdp_nothing_to_wait_for(void);

/* ---- Settings (sdp_options.c) ---------------------------------------------------------------- */

int sdp_option_set(int number, int level, int name, const void *value, socklen_t length);
int sdp_option_get(int number, int level, int name, void *value, socklen_t *length);
int sdp_option_fcntl(int number, int command, long argument);
int sdp_option_ioctl(int number, unsigned long request, void *argument);

/* ---- Numbers (sdp_numbers.c) ----------------------------------------------------------------- */

/* After socket(2) has given it. */
void sdp_number_made(int number);
/* dup, dup2, dup3 and F_DUPFD: how it is done in the kernel. */
int sdp_number_dup(int number, int (*dup_call)(const void *how), const void *how);
int sdp_number_dup2(int number, int to, int flags);
int sdp_number_close(int number);
/* The numbers from first to last, but for ours: close or (with CLOSE_RANGE_CLOEXEC) mark them. */
int sdp_number_close_range(unsigned first, unsigned last, int flags);

/* ---- Processes (sdp_process.c) --------------------------------------------------------------- */

/* Closes all sockets as exit does, and waits until they have sent what they have to. */
void sdp_process_exits(void);
void sdp_process_before_fork(void);
void sdp_process_after_fork(bool child);
/* Nothing of SDP survives exec: numbers that would are shut for the new program, with a message. */
void sdp_process_before_exec(void);
void sdp_process_exec_failed(void);
/* Before a program that starts beside this one: what is undecided and inherited becomes TCP. */
void sdp_process_before_spawn(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_CALLS_H */
