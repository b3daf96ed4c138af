/* SPDX-License-Identifier: BSD-2-Clause */
/* rsockets of librdmacm, for it_run. */
#include "chaos/chaos_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>

static bool start(bool is_server)
{
    (void)is_server;
    return true;
}

static int open_listener(uint16_t *port)
{
    struct sockaddr_in address = chaos_server_address(0);
    socklen_t length = sizeof(address);
    int fd = rsocket(AF_INET, SOCK_STREAM, 0), error;

    if (fd >= 0 && rbind(fd, (struct sockaddr *)&address, length) == 0 && rlisten(fd, 64) == 0 &&
        rgetsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = address.sin_port;
        return fd;
    }
    error = errno;
    if (fd >= 0)
        (void)rclose(fd);
    errno = error;
    return -1;
}

static bool is_ready(int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};

    return rpoll(&entry, 1, STREAM_WAIT_MS) > 0;
}

static bool accept_one(int listener, struct stream *stream)
{
    if (!is_ready(listener, POLLIN)) {
        errno = EAGAIN;
        return false;
    }
    stream->fd = raccept(listener, NULL, NULL);
    return stream->fd >= 0 && rfcntl(stream->fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool connect_to(uint16_t port, struct stream *stream)
{
    struct sockaddr_in address = chaos_server_address(port);
    int error;

    stream->fd = rsocket(AF_INET, SOCK_STREAM, 0);
    if (stream->fd < 0)
        return false;
    if (rconnect(stream->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        rfcntl(stream->fd, F_SETFL, O_NONBLOCK) == 0)
        return true;
    error = errno;
    (void)rclose(stream->fd);
    errno = error;
    return false;
}

static ssize_t moved(const struct stream *stream, ssize_t result, short events)
{
    if (result >= 0)
        return result;
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        return -1;
    (void)is_ready(stream->fd, events);
    return 0;
}

static ssize_t send_some(struct stream *stream, const void *data, size_t length)
{
    return moved(stream, rsend(stream->fd, data, length, 0), POLLOUT);
}

static ssize_t receive_some(struct stream *stream, void *data, size_t length)
{
    ssize_t result = rrecv(stream->fd, data, length, 0);

    if (result == 0) {
        errno = 0;
        return -1;
    }
    return moved(stream, result, POLLIN);
}

/* It stays blocking for the end of rsocket's own exchange. */
static bool close_one(struct stream *stream)
{
    (void)rclose(stream->fd);
    return true;
}

const struct stream_calls stream_calls = {
    start, open_listener, accept_one, connect_to, send_some, receive_some, close_one,
};
