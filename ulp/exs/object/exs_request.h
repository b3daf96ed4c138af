/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A started call on a socket. The caller of the floors below fills it in and owns its memory; it is
 * theirs from the call that takes it until done runs.
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
    struct exs_memory *memory; /* that addr lies in; NULL if length is 0 */
    int flags;                 /* MSG_WAITALL, MSG_PEEK */
    bool continues;            /* a send without a credit: a further piece of its context's */
    bool more;                 /* a send: pieces of the same context follow, before all others */
    void *context;             /* the caller's */
    /*
     * Once, without a lock of the socket: 0 or errno, octets moved, octets of a packet that are
     * lost. Requests of one socket come in the order in which they end. It may start others.
     */
    void (*done)(struct exs_request *request, int error, size_t moved, size_t lost);
    /* An accept: where the peer's address goes, and the descriptor (out). */
    struct sockaddr *address;
    socklen_t *address_length;
    int accepted;

    /* Set by the floors below; under the socket's lock. */
    struct exs_request *next;
    size_t moved;
    size_t lost;
    int error;
    bool started;     /* a packet: it has been sent */
    bool busy;        /* octets of it are in posts that have not completed */
    uint32_t last_tx; /* the post after which they are free */
    bool cancelled;   /* ends with error if it has not ended otherwise */
};

/* Requests in order. */
struct exs_requests {
    struct exs_request *first;
    struct exs_request *last;
};

void exs_requests_put(struct exs_requests *list, struct exs_request *request);
struct exs_request *exs_requests_take(struct exs_requests *list);
/* Behind `before`; NULL: at the front. */
void exs_requests_insert(struct exs_requests *list, struct exs_request *before,
                         struct exs_request *request);
/* Takes one out of the middle. */
void exs_requests_remove(struct exs_requests *list, struct exs_request *request);

/* It ends with error unless it ends otherwise before. */
void exs_request_cancel(struct exs_request *request, int error);

#endif /* ITAPI_ULP_EXS_OBJECT_EXS_REQUEST_H */
