/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions: where a thread of the program runs code of this library. In one, calls of libc mean the
 * kernel, and signal handlers of the program wait until it is left, so that they may make any call
 * that they may make without us, and find no lock held. hook/sdp_signal.c does the deferring.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_REGION_H
#define ITAPI_ULP_SDP_SOCKET_SDP_REGION_H

#include "connection/sdp_connection.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <time.h>

struct sdp_thread {
    unsigned depth;                 /* regions entered */
    bool ours;                      /* a thread of this library: always in one */
    volatile sig_atomic_t deferred; /* a handler waits */
    volatile sig_atomic_t stopped;  /* handlers without SA_RESTART that ran */
};
extern __thread struct sdp_thread sdp_thread __attribute__((tls_model("initial-exec")));

static inline bool sdp_inside(void)
{
    return sdp_thread.depth > 0 || sdp_thread.ours;
}

/* Runs the handlers that wait: set by hook/. */
extern void (*sdp_run_deferred)(void);

static inline void sdp_region_enter(void)
{
    /* A handler that came upon a sleep, or has jumped out of it. */
    if (sdp_leads)
        sdp_lead_end(false);
    sdp_thread.depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void sdp_region_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (--sdp_thread.depth == 0 && sdp_thread.deferred)
        sdp_run_deferred();
}

/*
 * Sleeps in the kernel, out of the region, so that handlers run. No lock may be held. As ppoll,
 * with a deadline of CLOCK_MONOTONIC (NULL: none): -errno; -EINTR also when a handler ran before.
 */
int sdp_sleep(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
              const sigset_t *mask);

/*
 * The same, and the thread reads for all connections meanwhile, if no other one does: there is room
 * for one more behind `count`.
 */
int sdp_sleep_leading(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                      const sigset_t *mask);

int sdp_sleep_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                    const sigset_t *mask);

/* The same, of the kernel: set by hook/. */
extern int (*sdp_kernel_ppoll)(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                               const sigset_t *mask);
extern int (*sdp_kernel_epoll_pwait)(int set, struct epoll_event *events, int count, int limit_ms,
                                     const sigset_t *mask);

/* Now and so much later, in *deadline; below 0: NULL. */
const struct timespec *sdp_deadline(struct timespec *deadline, long long microseconds);

/* What is left, 0 if it is over. NULL: NULL. */
const struct timespec *sdp_time_left(struct timespec *left, const struct timespec *deadline);

/*
 * Wakes threads in sdp_sleep that have looked at sockets before these were decided: they sleep
 * between sdp_kick_begin and sdp_kick_end and poll sdp_kick_fd besides.
 */
int sdp_kick_fd(void);
void sdp_kick_begin(void);
void sdp_kick_end(void);
void sdp_kick(void);
void sdp_kick_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_REGION_H */
