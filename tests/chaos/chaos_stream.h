/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_stream.h - traffic over stream sockets, whatever functions they have. Each program of
 * chaos_stream.c has one table of functions.
 */
#ifndef ITAPI_TESTS_CHAOS_CHAOS_STREAM_H
#define ITAPI_TESTS_CHAOS_CHAOS_STREAM_H

#include "chaos/chaos.h"

#include <sys/types.h>

/* The longest wait of one call. */
#define STREAM_WAIT_MS 100

struct stream {
    int fd;
    void *state; /* of the table */
};

/* Calls that fail set errno. At most one thread uses a stream. */
struct stream_calls {
    /* Once in each process. */
    bool (*start)(bool is_server);
    /* Listens at the address of the servers; gets the port. Returns a descriptor, or -1. */
    int (*listen)(uint16_t *port);
    /* EAGAIN: nobody has come. */
    bool (*accept)(int listener, struct stream *stream);
    bool (*connect)(uint16_t port, struct stream *stream);
    /*
     * Move some of the octets. 0: none yet, and the next call has the same arguments. The end of
     * the stream is -1 with errno 0.
     */
    ssize_t (*send)(struct stream *stream, const void *data, size_t length);
    ssize_t (*receive)(struct stream *stream, void *data, size_t length);
    /* Returns false if the end does not come. */
    bool (*close)(struct stream *stream);
};

extern const struct stream_calls stream_calls;

#endif
