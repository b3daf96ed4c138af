/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP socket of the program as an open description, shared by all its numbers. It is in the table
 * from socket or accept on until it is decided to be plain TCP; then its numbers are the kernel's
 * alone.
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
    SDP_FRESH,     /* not connected: the kernel's, as far as the program can see */
    SDP_LISTENING, /* the same */
    SDP_UNDECIDED, /* connecting or connected; no data call has moved an octet */
    SDP_CONVERTED,
    SDP_PLAIN, /* TCP for good: removed from the table, or about to be */
    SDP_STATES
};

/*
 * An interest of the program in an epoll set. While the socket is undecided, the kernel's set does
 * not have it.
 */
struct sdp_interest {
    int set;    /* number of the epoll descriptor */
    int number; /* the socket's number under which it was added */
    uint32_t events;
    uint64_t data;
    bool in_kernel;
    bool disarmed; /* one-shot and has fired */
};

#define SDP_REMEMBERED    6
#define SDP_NUMBERS_MAX   8
#define SDP_INTERESTS_MAX 8

struct sdp_socket {
    /* Counts numbers in the table and calls in progress. The memory is never freed. */
    atomic_uint references;
    _Atomic enum sdp_state state;
    struct sdp_connection *connection; /* from SDP_CONVERTED on, until the end */

    atomic_uint moves;               /* number of finished transfers */
    pthread_mutex_t deciding;        /* outermost; guards `agreement`, and the change to ... */
    struct sdp_agreement *agreement; /* ... SDP_CONVERTED and SDP_PLAIN */

    pthread_mutex_t lock; /* taken inside sdp_table_lock; guards the members below */
    struct sdp_face face;
    unsigned changes; /* number of calls of `changed` */
    unsigned moves_told;
    bool wants_news; /* edge-triggered pollers, O_ASYNC */
    bool urgent;     /* the face shows POLLIN also for POLLPRI */
    bool behind;     /* the face may not show POLLIN yet (sdp_behind.h) */
    int numbers[SDP_NUMBERS_MAX];
    unsigned numbers_count;
    struct sdp_interest interests[SDP_INTERESTS_MAX];
    unsigned interests_count;

    /* As set by the program; the face itself never blocks. */
    atomic_int flags;              /* O_NONBLOCK, O_ASYNC */
    struct timeval time_limits[2]; /* SO_RCVTIMEO, SO_SNDTIMEO */
    struct linger linger;
    int remembered[SDP_REMEMBERED];   /* sdp_remember.h */
    struct sockaddr_storage names[2]; /* own, and the peer's */
    socklen_t name_lengths[2];

    struct sdp_socket *next; /* in the pool */
};

/*
 * Creates a socket with one reference, in the table as `number`. Returns false if it stays the
 * kernel's.
 */
bool sdp_socket_new(int number, enum sdp_state state, struct sdp_socket **socket);

/*
 * Returns the socket of a number with a reference, or NULL if it is the kernel's. Without a
 * lock.
 */
struct sdp_socket *sdp_socket_hold(int number);

/* Adds a reference. Returns false if there is none: the socket ends, or has ended. */
bool sdp_socket_refer(struct sdp_socket *socket);

/* Drops a reference; the last one ends the socket. May block as SO_LINGER says. No lock is held. */
void sdp_socket_release(struct sdp_socket *socket);

/*
 * Add and remove a number; called with sdp_table_lock. Adding returns false if there is no room. A
 * removed number keeps its reference, which the caller releases, and stays open in the kernel until
 * the caller closes it.
 */
bool sdp_socket_add_number(struct sdp_socket *socket, int number);
void sdp_socket_take_number(struct sdp_socket *socket, int number);

/* Calls visit for each number of each socket in the table, with sdp_table_lock. */
void sdp_socket_each(void (*visit)(struct sdp_socket *socket, int number, void *context),
                     void *context);

/* Called with `deciding`, or while no other thread has the socket. */
void sdp_socket_set_state(struct sdp_socket *socket, enum sdp_state state);

/*
 * Returns true if the socket is converted. Otherwise it is not converted before sdp_socket_settled:
 * its number stays the kernel's TCP socket.
 */
bool sdp_socket_settle(struct sdp_socket *socket);
void sdp_socket_settled(struct sdp_socket *socket, bool converted);

/* Returns how many sockets are in this state. */
unsigned sdp_socket_count(enum sdp_state state);

/* Called in the child. */
void sdp_socket_after_fork(void);

#endif /* ITAPI_ULP_SDP_SOCKET_SDP_SOCKET_H */
