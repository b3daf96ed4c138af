/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The object of a descriptor. Its memory is never returned to the heap. So a stale pointer from
 * the table still leads to a socket, whose lock and fd show whether it is the right one.
 */
#ifndef ITAPI_ULP_EXS_OBJECT_EXS_SOCKET_H
#define ITAPI_ULP_EXS_OBJECT_EXS_SOCKET_H

#include "adapter/exs_lead.h"
#include "lock/exs_lock.h"
#include "object/exs_request.h"

#include <it_api.h>

#include <stdatomic.h>

struct exs_connection;
struct exs_listener;

enum exs_state {
    EXS_STATE_FREE, /* in the pool */
    EXS_STATE_OPEN, /* new, or bound */
    EXS_STATE_LISTENING,
    EXS_STATE_CONNECTING,
    EXS_STATE_CONNECTED, /* until the connection ends; see sent_fin, got_fin */
    EXS_STATE_ENDED      /* error has the reason */
};

/*
 * The values of exs_fcntl and exs_setsockopt; once connected, the credits are the negotiated ones.
 */
struct exs_options {
    int send_credits;
    int recv_credits;
    int packet_copy_max; /* EXS_F_SETSPMAXSIZE */
    int inline_max;
    int completion_cpu;
    int fd_flags; /* EXS_FD_ */
    size_t stream_buffer;
    uint64_t send_timeout_us; /* 0: none */
    uint64_t recv_timeout_us;
};

/* Notifies a waiter for readiness (exs_poll). Called with the socket's lock held. */
struct exs_watch {
    struct exs_watch *next;
    void (*changed)(struct exs_watch *watch);
};

/* A thread that waits for a credit or for the end of the connection. */
struct exs_credit_wait {
    struct exs_sleeper sleeper;
    struct exs_credit_wait *next;
    const struct exs_request *request; /* starts with the credit */
    bool sleeps;                       /* is to be woken, once */
    int error; /* how a cancelled request is to end; 0: it is not cancelled */
};

struct exs_socket {
    struct exs_lock lock; /* guards all members below except users */
    struct exs_credit_wait *credit_waits;
    atomic_int users; /* of exs_socket_find; the connection counts as one */
    int fd;           /* -1: closed by the program */
    enum exs_state state;
    int domain;
    int type; /* SOCK_STREAM or SOCK_SEQPACKET */
    int error;
    bool bound;
    bool closing;                  /* exs_close has been called */
    struct sockaddr_storage local; /* family 0: unknown */
    struct sockaddr_storage peer;
    struct exs_options options;
    struct exs_watch *watches;

    struct exs_listener *listener;     /* LISTENING */
    struct exs_connection *connection; /* from CONNECTING on */
    struct exs_request *connect;       /* the attempt in progress */
    int connect_error;                 /* its result if it has been given up */
    bool cut;                          /* closed without waiting */
    struct exs_request *shutdown;
    struct exs_request *close;
    bool close_over; /* close ends with close_error once no file is left */
    int close_error;
    int files; /* calls whose end the close waits for: started exs_sendfile, cancelled waits */

    struct exs_requests finished; /* done is to be called, by the thread that delivers */
    bool delivering;
    struct exs_socket *next_free;
};

/*
 * Returns a new socket with default options, counted once; NULL with errno if memory or descriptors
 * run out.
 */
struct exs_socket *exs_socket_new(int domain, int type);

/* Returns the socket of a descriptor, counted and locked; NULL if there is none. */
struct exs_socket *exs_socket_find(int fd);
/* The same without counting: the descriptor counts as a user for as long as the lock is held. */
struct exs_socket *exs_socket_lock(int fd);

/* The same for a caller that has counted it already; exs_socket_leave undoes both. */
void exs_socket_enter(struct exs_socket *socket);
/*
 * The same for a caller that has not counted it. Such a caller has an outstanding transfer of the
 * socket, whose descriptor may be closed. Returns false if the connection no longer exists; then
 * nothing needs to be undone.
 */
bool exs_socket_revisit(struct exs_socket *socket);

/* Counts a user; exs_socket_put removes one. */
void exs_socket_hold(struct exs_socket *socket);

/*
 * Calls done of all finished requests and unlocks. The caller, or the thread for which it works,
 * counts as a user.
 */
void exs_socket_unlock(struct exs_socket *socket);
/* The same, and removes the user. */
void exs_socket_leave(struct exs_socket *socket);

/* Removes a user; the last one returns the socket to the pool. */
void exs_socket_put(struct exs_socket *socket);

/* Called with the lock. Closes the descriptor: from now on no call finds the socket. */
void exs_socket_detach(struct exs_socket *socket);

/*
 * Called with the lock. The request has ended: calls done at once if that is brief, otherwise once
 * the lock is free.
 */
void exs_socket_finish(struct exs_socket *socket, struct exs_request *request, int error);

/* Called with the lock. The close, if there is one, has ended. Its event is the socket's last. */
void exs_socket_close_over(struct exs_socket *socket, int error);

/* Called with the lock. The event of a started exs_sendfile has been given. */
void exs_socket_file_over(struct exs_socket *socket);

/* Called with the lock. The request waits for a credit; the caller sets wait->sleeps. */
void exs_socket_await_credit(struct exs_socket *socket, struct exs_credit_wait *wait,
                             const struct exs_request *request);
/* Called with the lock. The request waits no longer; if it was cancelled, it has ended. */
void exs_socket_await_no_credit(struct exs_socket *socket, struct exs_credit_wait *wait);
/*
 * Called with the lock. Makes the waits of requests that match end with error. Returns how many.
 * The close waits for them.
 */
size_t exs_socket_cancel_waits(struct exs_socket *socket,
                               bool (*match)(const struct exs_request *request, const void *key),
                               const void *key, int error);

/* Called with the lock when a credit has returned, or none is needed any more. */
void exs_socket_credit(struct exs_socket *socket);

/* Called with the lock. Notifies the watches. */
void exs_socket_changed(struct exs_socket *socket);

/* In a child after fork: no descriptor leads to a socket any more. */
void exs_socket_forget(void);

#endif /* ITAPI_ULP_EXS_OBJECT_EXS_SOCKET_H */
