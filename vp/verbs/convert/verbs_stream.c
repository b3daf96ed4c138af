/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor's mode belongs to the program and is not changed: each call uses MSG_DONTWAIT.
 * Socket options that must differ are restored before the stream is given back.
 */
#include "vp/verbs/convert/verbs_stream.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define STREAM_DROP 4096u /* octets dropped by one call */

/* ---------------------------------------------------------------- options */

static void stream_borrow_options(struct verbs_stream *stream)
{
    base_net_get_options(stream->fd, &stream->options);
    base_net_set_option(stream->fd, IPPROTO_TCP, TCP_CORK, 0);
    base_net_set_option(stream->fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static void stream_restore_options(const struct verbs_stream *stream)
{
    base_net_set_option(stream->fd, SOL_SOCKET, SO_RCVLOWAT, stream->options.lowat);
    base_net_set_option(stream->fd, IPPROTO_TCP, TCP_NODELAY, stream->options.nodelay);
    base_net_set_option(stream->fd, IPPROTO_TCP, TCP_CORK, stream->options.cork);
}

/* ---------------------------------------------------------------- life */

bool verbs_stream_open(struct verbs_stream *stream, struct ual_ia *ia, int fd, const uint8_t *early,
                       size_t early_length, void (*ready)(void *argument), void *argument)
{
    struct epoll_event nothing = {.events = 0};

    memset(stream, 0, sizeof(*stream));
    stream->fd = fd;
    stream->early = early;
    stream->early_length = early_length;
    stream->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (stream->poll_fd < 0)
        return false;
    if (epoll_ctl(stream->poll_fd, EPOLL_CTL_ADD, fd, &nothing) != 0)
        goto err_close;
    stream->watch = verbs_host->watch_start(ia, stream->poll_fd, ready, argument);
    if (!stream->watch)
        goto err_close;
    stream_borrow_options(stream);
    return true;

err_close:
    (void)close(stream->poll_fd);
    return false;
}

static void stream_forget(struct verbs_stream *stream)
{
    verbs_host->watch_stop(stream->watch);
    (void)close(stream->poll_fd);
    stream->watch = NULL;
}

void verbs_stream_leave(struct verbs_stream *stream)
{
    stream_restore_options(stream);
    stream_forget(stream);
    stream->fd = -1;
}

void verbs_stream_return(struct verbs_stream *stream)
{
    int fd = stream->fd;

    verbs_stream_leave(stream);
    (void)close(fd); /* a duplicate: no data is lost */
}

void verbs_stream_close(struct verbs_stream *stream)
{
    (void)shutdown(stream->fd, SHUT_RDWR); /* fails if the stream has already ended */
    stream_forget(stream);
    (void)close(stream->fd);
    stream->fd = -1;
}

void verbs_stream_finish(struct verbs_stream *stream)
{
    base_net_drop_linger(stream->fd);
    (void)shutdown(stream->fd, SHUT_WR); /* fails if the stream has already ended */
}

/* ---------------------------------------------------------------- octets */

int verbs_stream_send(struct verbs_stream *stream, const uint8_t *octets, size_t length,
                      size_t *sent)
{
    ssize_t done;

    do {
        done = send(stream->fd, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (done < 0 && errno == EINTR);
    *sent = done > 0 ? (size_t)done : 0;
    if (done >= 0)
        return 0;
    return errno == EWOULDBLOCK ? EAGAIN : errno;
}

/* Returns true if the peer has ended the stream; earlier octets can still be read. */
static bool stream_has_ended(const struct verbs_stream *stream)
{
    struct pollfd state = {.fd = stream->fd, .events = POLLRDHUP};

    return poll(&state, 1, 0) > 0 && state.revents != 0;
}

bool verbs_stream_show(struct verbs_stream *stream, uint8_t *octets, size_t size, size_t *length)
{
    size_t early = stream->early_length < size ? stream->early_length : size;
    bool ended = stream_has_ended(stream); /* before the peek: the end comes after all octets */
    ssize_t seen = 0;

    if (early > 0)
        memcpy(octets, stream->early, early);
    if (early < size) {
        do {
            seen = recv(stream->fd, octets + early, size - early, MSG_DONTWAIT | MSG_PEEK);
        } while (seen < 0 && errno == EINTR);
        if (seen == 0 || (seen < 0 && errno != EWOULDBLOCK))
            ended = true;
    }
    *length = early + (seen > 0 ? (size_t)seen : 0);
    return ended;
}

bool verbs_stream_take(struct verbs_stream *stream, size_t length)
{
    size_t early = length < stream->early_length ? length : stream->early_length;

    stream->early += early;
    stream->early_length -= early;
    length -= early;
    while (length > 0) {
        uint8_t shown[STREAM_DROP];
        size_t part = length < sizeof(shown) ? length : sizeof(shown);
        ssize_t taken = recv(stream->fd, shown, part, MSG_DONTWAIT);

        if (taken < 0 && errno == EINTR)
            continue;
        if (taken <= 0)
            return false;
        length -= (size_t)taken;
    }
    return true;
}

bool verbs_stream_drain(struct verbs_stream *stream)
{
    uint8_t octets[STREAM_DROP];
    ssize_t dropped;

    do {
        dropped = recv(stream->fd, octets, sizeof(octets), MSG_DONTWAIT);
    } while (dropped < 0 && errno == EINTR);
    return dropped == 0 || (dropped < 0 && errno != EWOULDBLOCK);
}

bool verbs_stream_await(struct verbs_stream *stream, size_t octets, bool writable)
{
    struct epoll_event events = {.events = 0};

    if (octets > 0) {
        size_t more = octets > stream->early_length ? octets - stream->early_length : 1;

        /*
         * Without this limit, octets that have been peeked at but do not suffice would wake the
         * loop for ever.
         */
        base_net_set_option(stream->fd, SOL_SOCKET, SO_RCVLOWAT, (int)more);
        events.events = (uint32_t)EPOLLIN | (uint32_t)EPOLLRDHUP;
    }
    if (writable)
        events.events |= (uint32_t)EPOLLOUT;
    if (events.events == stream->watched)
        return true;
    if (epoll_ctl(stream->poll_fd, EPOLL_CTL_MOD, stream->fd, &events) != 0)
        return false;
    stream->watched = events.events;
    return true;
}
