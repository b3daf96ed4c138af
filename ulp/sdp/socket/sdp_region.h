/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions: while a thread of the program runs code of this library, it is in a region. There, calls
 * of libc go to the kernel, and signal handlers of the program are deferred until the region is
 * left. So a handler may make any call that it may make without this library, and finds no lock
 * held. hook/sdp_hook_signal.c defers them.
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

struct sdp_harvest;

struct sdp_thread {
    unsigned depth;                 /* number of regions entered */
    bool ours;                      /* a thread of this library: always in a region */
    unsigned sleeps;                /* calls between sdp_kick_begin and sdp_kick_end */
    unsigned kicks;                 /* those that it has noticed */
    volatile sig_atomic_t deferred; /* a handler is deferred */
    volatile sig_atomic_t stopped;  /* number of handlers without SA_RESTART that have run */
};
extern __thread struct sdp_thread sdp_thread __attribute__((tls_model("initial-exec")));

static inline bool sdp_inside(void)
{
    return sdp_thread.depth > 0 || sdp_thread.ours;
}

/* Runs the deferred handlers; set by hook/. */
extern void (*sdp_run_deferred)(void);

static inline void sdp_region_enter(void)
{
    /* A handler has interrupted a sleep, or has jumped out of it. */
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
 * Sleeps in the kernel, outside the region, so that handlers run. No lock may be held. Like ppoll
 * with a deadline of CLOCK_MONOTONIC (NULL: none). Returns -errno; -EINTR also if a handler ran
 * before.
 */
int sdp_sleep(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
              const sigset_t *mask);

/*
 * The same, but the thread reads for all connections, if no other one does: polls has room for one
 * entry after the first `count`. *harvest gets events that faces do not show; the first entry is
 * its set, if it has one.
 */
int sdp_sleep_leading(struct pollfd *polls, nfds_t count, const struct timespec *deadline,
                      const sigset_t *mask, struct sdp_harvest *harvest);

int sdp_sleep_epoll(int set, struct epoll_event *events, int count, const struct timespec *deadline,
                    const sigset_t *mask);

/* The kernel's calls; set by hook/. */
extern int (*sdp_kernel_ppoll)(struct pollfd *polls, nfds_t count, const struct timespec *limit,
                               const sigset_t *mask);
extern int (*sdp_kernel_epoll_pwait)(int set, struct epoll_event *events, int count, int limit_ms,
                                     const sigset_t *mask);

/*
 * Stores the time that is `microseconds` from now in *deadline, and returns deadline. Returns NULL
 * if microseconds is negative.
 */
const struct timespec *sdp_deadline(struct timespec *deadline, long long microseconds);

/* Stores the time left, 0 if it is over. Returns NULL for NULL. */
const struct timespec *sdp_time_left(struct timespec *left, const struct timespec *deadline);

/*
 * Wakes threads in sdp_sleep that have checked sockets before these were decided. The threads sleep
 * between sdp_kick_begin and sdp_kick_end, and also poll sdp_kick_fd. They call sdp_kick_notice
 * before each check, and so are woken once by a kick.
 */
int sdp_kick_fd(void);
void sdp_kick_begin(void);
void sdp_kick_notice(void);
void sdp_kick_end(void);
unsigned sdp_kick_sleepers(void); /* threads between these two */
void sdp_kick(void);
void sdp_kick_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_REGION_H */
