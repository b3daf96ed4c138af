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
    SDP_PLAIN, /* TCP for good: out of the table, or about to be */
    SDP_STATES
};

/* What the program has asked of an epoll set. While undecided the kernel's set does not have it. */
struct sdp_interest {
    int set;    /* number of the epoll descriptor */
    int number; /* the socket's, under which it was added */
    uint32_t events;
    uint64_t data;
    bool in_kernel;
    bool disarmed; /* one-shot, and has fired */
};

#define SDP_REMEMBERED    6
#define SDP_NUMBERS_MAX   8
#define SDP_INTERESTS_MAX 8

struct sdp_socket {
    /* Numbers in the table, and calls under way. The memory is never given back. */
    atomic_uint references;
    _Atomic enum sdp_state state;
    struct sdp_connection *connection; /* from SDP_CONVERTED on, to the end */

    atomic_uint moves;        /* transfers that are over */
    pthread_mutex_t deciding; /* outside of all locks; guards `agreement`, and the change to ... */
    struct sdp_agreement *agreement; /* ... SDP_CONVERTED and SDP_PLAIN */

    pthread_mutex_t lock; /* inside of sdp_table_lock; guards what follows */
    struct sdp_face face;
    unsigned changes; /* calls of `changed` */
    unsigned moves_told;
    bool wants_news; /* edge-triggered pollers, O_ASYNC */
    bool urgent;     /* the face shows POLLIN for POLLPRI, too */
    int numbers[SDP_NUMBERS_MAX];
    unsigned numbers_count;
    struct sdp_interest interests[SDP_INTERESTS_MAX];
    unsigned interests_count;

    /* As the program set them; the face itself never blocks. */
    atomic_int flags;              /* O_NONBLOCK, O_ASYNC */
    struct timeval time_limits[2]; /* SO_RCVTIMEO, SO_SNDTIMEO */
    struct linger linger;
    int remembered[SDP_REMEMBERED];   /* sdp_remember.h */
    struct sockaddr_storage names[2]; /* own, peer's */
    socklen_t name_lengths[2];

    struct sdp_socket *next; /* in the pool */
};

/* A new one, with one reference: in the table as `number`. false: it stays the kernel's. */
bool sdp_socket_new(int number, enum sdp_state state, struct sdp_socket **socket);

/* The socket behind a number, with a reference; NULL: it is the kernel's. Without a lock. */
struct sdp_socket *sdp_socket_hold(int number);

/* The last reference: what is left of it ends. May block as SO_LINGER says. No lock is held. */
void sdp_socket_release(struct sdp_socket *socket);

/*
 * Numbers come and go. Both with sdp_table_lock; false: no room for one more. What is taken away
 * keeps its reference, which the caller releases, and its number in the kernel, which he closes.
 */
bool sdp_socket_add_number(struct sdp_socket *socket, int number);
void sdp_socket_take_number(struct sdp_socket *socket, int number);

/* Calls visit for each socket in the table, once for each of its numbers, with sdp_table_lock. */
void sdp_socket_each(void (*visit)(struct sdp_socket *socket, int number, void *context),
                     void *context);

/* With `deciding`, or where nobody else has it. */
void sdp_socket_set_state(struct sdp_socket *socket, enum sdp_state state);

/*
 * Whether it is converted. Otherwise it does not become so until sdp_socket_settled: its number
 * stays the kernel's TCP socket.
 */
bool sdp_socket_settle(struct sdp_socket *socket);
void sdp_socket_settled(struct sdp_socket *socket, bool converted);

/* How many there are in this state. */
unsigned sdp_socket_count(enum sdp_state state);

/* In the child. */
void sdp_socket_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_SOCKET_H */
