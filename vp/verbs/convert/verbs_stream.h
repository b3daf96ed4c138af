/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP stream that belongs to the program, during its conversion. Octets are peeked at
 * in the socket and taken out only when they are known to belong to the conversion. Everything runs
 * on the IA's thread.
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_STREAM_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_STREAM_H

#include "base/base_net.h"
#include "vp/verbs/device/verbs.h"

#include <sys/socket.h>

struct verbs_stream {
    int fd;      /* shares its socket with the caller's; -1: closed */
    int poll_fd; /* an epoll set with .fd in it, since the awaited events change */
    struct vp_watch *watch;
    uint32_t watched;     /* EPOLL bits */
    const uint8_t *early; /* read by the program before the conversion; not consumed yet */
    size_t early_length;
    struct base_net_options options; /* before the conversion */
};

/*
 * Takes ownership of fd if it returns true. Calls ready when an awaited event has come. Returns
 * false if memory or descriptors run out. early stays the caller's.
 */
bool verbs_stream_open(struct verbs_stream *stream, struct ual_ia *ia, int fd, const uint8_t *early,
                       size_t early_length, void (*ready)(void *argument), void *argument);

/*
 * Returns 0, also if only a part was sent (*sent); EAGAIN if nothing can be sent now; another errno
 * when the stream has failed.
 */
int verbs_stream_send(struct verbs_stream *stream, const uint8_t *octets, size_t length,
                      size_t *sent);

/* Copies the octets that are there, at most size. Returns true if no more will come. */
bool verbs_stream_show(struct verbs_stream *stream, uint8_t *octets, size_t size, size_t *length);
/* Takes out octets that have been shown. Returns false if the stream has failed. */
bool verbs_stream_take(struct verbs_stream *stream, size_t length);

/* Waits for that many octets, or the end; octets 0: for none. Returns false if memory runs out. */
bool verbs_stream_await(struct verbs_stream *stream, size_t octets, bool writable);

/* Gives the stream back to the program as it was; verbs_stream_leave also gives back fd. */
void verbs_stream_return(struct verbs_stream *stream);
void verbs_stream_leave(struct verbs_stream *stream);
/*
 * Ends the sending direction. The caller then calls verbs_stream_drain until it returns true: the
 * peer has ended the other direction.
 */
void verbs_stream_finish(struct verbs_stream *stream);
bool verbs_stream_drain(struct verbs_stream *stream);
/* Ends both directions, for all duplicates of the descriptor. */
void verbs_stream_close(struct verbs_stream *stream);

#endif
