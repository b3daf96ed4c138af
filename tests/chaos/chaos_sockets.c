/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain sockets, for it_sdp: blocking ones with a time limit and others that poll, in turn. */
#include "chaos/chaos_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static bool start(bool is_server)
{
    (void)is_server;
    return true;
}

static int open_listener(uint16_t *port)
{
    struct sockaddr_in address = chaos_server_address(0);
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 64) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = address.sin_port;
        return fd;
    }
    error = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = error;
    return -1;
}

/* Every second one blocks. */
static bool prepare(struct stream *stream)
{
    static _Atomic unsigned number;
    struct timeval limit = {.tv_usec = STREAM_WAIT_MS * 1000};

    if (atomic_fetch_add(&number, 1) % 2)
        return fcntl(stream->fd, F_SETFL, O_NONBLOCK) == 0;
    return setsockopt(stream->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
           setsockopt(stream->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0;
}

static bool is_ready(int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};

    return poll(&entry, 1, STREAM_WAIT_MS) > 0;
}

static bool accept_one(int listener, struct stream *stream)
{
    if (!is_ready(listener, POLLIN)) {
        errno = EAGAIN;
        return false;
    }
    stream->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return stream->fd >= 0 && prepare(stream);
}

static bool connect_to(uint16_t port, struct stream *stream)
{
    struct sockaddr_in address = chaos_server_address(port);
    int error;

    stream->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (stream->fd < 0)
        return false;
    if (connect(stream->fd, (struct sockaddr *)&address, sizeof(address)) == 0 && prepare(stream))
        return true;
    error = errno;
    (void)close(stream->fd);
    errno = error;
    return false;
}

static ssize_t moved(const struct stream *stream, ssize_t result, short events)
{
    if (result >= 0)
        return result;
    if (errno != EAGAIN && errno != EINTR)
        return -1;
    if (fcntl(stream->fd, F_GETFL) & O_NONBLOCK)
        (void)is_ready(stream->fd, events);
    return 0;
}

static ssize_t send_some(struct stream *stream, const void *data, size_t length)
{
    return moved(stream, send(stream->fd, data, length, MSG_NOSIGNAL), POLLOUT);
}

static ssize_t receive_some(struct stream *stream, void *data, size_t length)
{
    ssize_t result = recv(stream->fd, data, length, 0);

    if (result == 0) {
        errno = 0;
        return -1;
    }
    return moved(stream, result, POLLIN);
}

static bool close_one(struct stream *stream)
{
    (void)close(stream->fd);
    return true;
}

const struct stream_calls stream_calls = {
    start, open_listener, accept_one, connect_to, send_some, receive_some, close_one,
};
