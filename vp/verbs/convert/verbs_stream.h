/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP stream that belongs to the program, while it is looked at whether it can be converted.
 * Octets are looked at where they lie, and taken out only when they are known to be ours. All on
 * the IA's thread.
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_STREAM_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_STREAM_H

#include "vp/verbs/device/verbs.h"

#include <sys/socket.h>

struct verbs_stream {
    int fd;      /* shares its socket with the caller's; -1: closed */
    int poll_fd; /* an epoll set with .fd in it: what is waited for may change at any time */
    struct vp_watch *watch;
    uint32_t watched;     /* EPOLL bits */
    const uint8_t *early; /* octets that the program had taken out, and that are not taken yet */
    size_t early_length;
    /* Options as they were. */
    int nodelay, cork, lowat;
    struct linger linger;
};

/*
 * Takes fd, if it returns true; ready is called when something that was awaited is there. False
 * without memory or descriptors. early: stays the caller's.
 */
bool verbs_stream_open(struct verbs_stream *stream, struct ual_ia *ia, int fd, const uint8_t *early,
                       size_t early_length, void (*ready)(void *argument), void *argument);

/* 0, also for a part (*sent); EAGAIN: not now; else the stream has failed. */
int verbs_stream_send(struct verbs_stream *stream, const uint8_t *octets, size_t length,
                      size_t *sent);

/* Copies what is there, at most size octets. True: and there will be no more. */
bool verbs_stream_show(struct verbs_stream *stream, uint8_t *octets, size_t size, size_t *length);
/* Takes out octets that have been shown. False: the stream has failed. */
bool verbs_stream_take(struct verbs_stream *stream, size_t length);

/* octets: until that many are there, or the end; 0: none are wanted. False without memory. */
bool verbs_stream_await(struct verbs_stream *stream, size_t octets, bool writable);

/* It is the program's again, as it was; leave: and so is fd the caller's. */
void verbs_stream_return(struct verbs_stream *stream);
void verbs_stream_leave(struct verbs_stream *stream);
/* Our direction ends; then verbs_stream_drain, until it says that the peer's has ended too. */
void verbs_stream_finish(struct verbs_stream *stream);
bool verbs_stream_drain(struct verbs_stream *stream);
/* Both end, under all copies of the descriptor. */
void verbs_stream_close(struct verbs_stream *stream);

#endif
