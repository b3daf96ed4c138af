/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A started call on a socket, for the floors below. The caller fills it in and owns its memory. The
 * floors below own the request from the call that takes it until done runs.
 */
#ifndef ITAPI_ULP_EXS_OBJECT_EXS_REQUEST_H
#define ITAPI_ULP_EXS_OBJECT_EXS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct exs_memory;

struct exs_request {
    /* Set by the caller. */
    void *addr;
    size_t length;
    struct exs_memory *memory; /* contains addr; NULL if length is 0 */
    int flags;                 /* MSG_WAITALL, MSG_PEEK */
    bool continues;            /* a send that needs no credit: a further piece of its context */
    bool more;                 /* a send: further pieces of the context follow, before others */
    bool brief;                /* done may be called with the socket's lock */
    bool part;                 /* part of a call that exs_cancel counts otherwise */
    void *context;             /* owned by the caller; NULL: the request is the library's own */
    /*
     * Called once, when the request has ended, in the order in which the requests of the socket
     * end. error: 0 or errno; moved: octets; lost: octets of a packet that did not fit. If the
     * request is brief, the socket's lock may be held, and done may start no other request.
     */
    void (*done)(struct exs_request *request, int error, size_t moved, size_t lost);
    /*
     * Called with the lock for a transfer whose cancellation needs an answer of the peer. The
     * answer decides whether the transfer is cancelled or too late to be cancelled. Before it
     * answers, the peer may transfer up to `octets` on this connection.
     */
    void (*waits)(struct exs_request *request, uint64_t octets);
    /* For an accept: where the peer's address goes; the descriptor (out). */
    struct sockaddr *address;
    socklen_t *address_length;
    int accepted;

    /* Set by the floors below; guarded by the socket's lock. */
    struct exs_request *next;
    size_t moved;
    size_t lost;
    int error;
    bool started;     /* of a packet: it has been sent */
    bool filled;      /* a receive: with a packet, perhaps an empty one */
    bool busy;        /* octets of it are in posts that have not completed */
    uint32_t last_tx; /* the post whose completion frees them */
    bool cancelled;   /* ends with error unless it ends otherwise first */
};

/* A list of requests in order. */
struct exs_requests {
    struct exs_request *first;
    struct exs_request *last;
};

void exs_requests_put(struct exs_requests *list, struct exs_request *request);
struct exs_request *exs_requests_take(struct exs_requests *list);
/* Inserts after `before`; NULL: at the front. */
void exs_requests_insert(struct exs_requests *list, struct exs_request *before,
                         struct exs_request *request);
/* Removes any request of the list. */
void exs_requests_remove(struct exs_requests *list, struct exs_request *request);

/* Makes the request end with error, unless it ends otherwise first. */
void exs_request_cancel(struct exs_request *request, int error);

#endif /* ITAPI_ULP_EXS_OBJECT_EXS_REQUEST_H */
