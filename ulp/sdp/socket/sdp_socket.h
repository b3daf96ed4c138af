/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP socket of the program, as an open description: shared by all its numbers. It is known from
 * socket or accept on, until it is decided to be plain TCP; then its numbers mean the kernel alone.
 */
#ifndef ITAPI_ULP_SDP_SOCKET_SDP_SOCKET_H
#define ITAPI_ULP_SDP_SOCKET_SDP_SOCKET_H

#include "agree/sdp_agree.h"
#include "connection/sdp_connection.h"
#include "face/sdp_face.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>

enum sdp_state {
    SDP_FRESH,     /* not connected: the kernel's, as far as the program can tell */
    SDP_LISTENING, /* the same */
    SDP_UNDECIDED, /* connecting or connected; no data call has been made that moved an octet */
    SDP_CONVERTED,
    SDP_PLAIN /* TCP for good: out of the table, or about to be */
};

/* What the program has asked of an epoll set. While undecided the kernel's set does not have it. */
struct sdp_interest {
    int set;    /* number of the epoll descriptor */
    int number; /* the socket's, under which it was added */
    uint32_t events;
    uint64_t data;
    bool in_kernel;
};

#define SDP_NUMBERS_MAX   8
#define SDP_INTERESTS_MAX 8

struct sdp_socket {
    /* Numbers in the table, and calls under way. The memory is never given back. */
    atomic_uint references;
    _Atomic enum sdp_state state;
    struct sdp_agreement *agreement;   /* from SDP_UNDECIDED on, to the end */
    struct sdp_connection *connection; /* from SDP_CONVERTED on, to the end */

    pthread_mutex_t lock; /* guards what follows; inside of sdp_table_lock */
    struct sdp_face face;
    int numbers[SDP_NUMBERS_MAX];
    unsigned numbers_count;
    struct sdp_interest interests[SDP_INTERESTS_MAX];
    unsigned interests_count;
    unsigned events; /* the last that `changed` told */

    /* As the program set them; the face itself never blocks. */
    atomic_int flags;              /* O_NONBLOCK, O_ASYNC */
    struct timeval time_limits[2]; /* SO_RCVTIMEO, SO_SNDTIMEO */
    struct linger linger;
    struct sockaddr_storage names[2]; /* own, peer's */
    socklen_t name_lengths[2];

    struct sdp_socket *next_free;
};

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_SOCKET_H */
