/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket options, and the addresses of both ends. */
#include "api/exs_call.h"
#include "api/exs_settings.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#define US_PER_S UINT64_C(1000000)

/* ---- Setting -------------------------------------------------------------------------------- */

static int set_limit(const void *value, socklen_t length, uint64_t *us)
{
    struct timeval time;

    if (length < sizeof(time))
        return EINVAL;
    memcpy(&time, value, sizeof(time));
    if (time.tv_sec < 0 || time.tv_sec > INT32_MAX || time.tv_usec < 0 ||
        (uint64_t)time.tv_usec >= US_PER_S)
        return EDOM;
    *us = (uint64_t)time.tv_sec * US_PER_S + (uint64_t)time.tv_usec;
    return 0;
}

static int set_number(struct exs_socket *socket, int name, int value)
{
    switch (name) {
    case SO_ASYNC_RECV_ORDERED:
    case SO_REUSEADDR:
        return value ? 0 : EINVAL;
    case SO_RCVBUF:
        return value < 0 ? EINVAL : exs_settings_stream_buffer(socket, (size_t)value);
    default:
        return ENOPROTOOPT;
    }
}

static int set_option(struct exs_socket *socket, int level, int name, const void *value,
                      socklen_t length)
{
    int number;

    if (!value)
        return EFAULT;
    if (level == SOL_SOCKET && name == SO_ASYNC_SEND_TIMEOUT)
        return set_limit(value, length, &socket->options.send_timeout_us);
    if (level == SOL_SOCKET && name == SO_ASYNC_RECV_TIMEOUT)
        return set_limit(value, length, &socket->options.recv_timeout_us);
    if (length < sizeof(number))
        return EINVAL;
    memcpy(&number, value, sizeof(number));
    if (level == SOL_SOCKET)
        return set_number(socket, name, number);
    if (level != IPPROTO_TCP || name != TCP_NODELAY)
        return ENOPROTOOPT;
    if (number)
        socket->options.fd_flags |= EXS_FD_NODELAY;
    else
        socket->options.fd_flags &= ~EXS_FD_NODELAY;
    return 0;
}

int exs_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    error = set_option(socket, level, name, value, length);
    exs_socket_leave(socket);
    return exs_api_leave(cancel, error);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int get_number(const struct exs_socket *socket, int level, int name, int *number)
{
    if (level == IPPROTO_TCP && name == TCP_NODELAY) {
        *number = (socket->options.fd_flags & EXS_FD_NODELAY) != 0;
        return 0;
    }
    if (level != SOL_SOCKET)
        return ENOPROTOOPT;
    switch (name) {
    case SO_ASYNC_RECV_ORDERED:
    case SO_REUSEADDR:
        *number = 1;
        return 0;
    case SO_RCVBUF:
        *number =
            socket->options.stream_buffer < INT_MAX ? (int)socket->options.stream_buffer : INT_MAX;
        return 0;
    case SO_TYPE:
        *number = socket->type;
        return 0;
    case SO_DOMAIN:
        *number = socket->domain;
        return 0;
    case SO_PROTOCOL:
        *number = IPPROTO_TCP;
        return 0;
    case SO_ACCEPTCONN:
        *number = socket->state == EXS_STATE_LISTENING;
        return 0;
    case SO_ERROR:
        *number = 0;
        return 0;
    default:
        return ENOPROTOOPT;
    }
}

/* Copies as much of the value as fits. */
static void give(const void *from, size_t size, void *value, socklen_t *length)
{
    if (*length > size)
        *length = (socklen_t)size;
    memcpy(value, from, *length);
}

static int get_option(const struct exs_socket *socket, int level, int name, void *value,
                      socklen_t *length)
{
    uint64_t us = socket->options.send_timeout_us;
    struct timeval time;
    int number;
    int error;

    if (!value || !length)
        return EFAULT;
    if (level == SOL_SOCKET && (name == SO_ASYNC_SEND_TIMEOUT || name == SO_ASYNC_RECV_TIMEOUT)) {
        if (name == SO_ASYNC_RECV_TIMEOUT)
            us = socket->options.recv_timeout_us;
        time = (struct timeval){(time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S)};
        give(&time, sizeof(time), value, length);
        return 0;
    }
    error = get_number(socket, level, name, &number);
    if (error == 0)
        give(&number, sizeof(number), value, length);
    return error;
}

int exs_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    error = get_option(socket, level, name, value, length);
    exs_socket_leave(socket);
    return exs_api_leave(cancel, error);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int get_name(const struct sockaddr_storage *name, struct sockaddr *addr, socklen_t *addrlen)
{
    socklen_t size =
        name->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

    if (!addr || !addrlen)
        return EFAULT;
    memcpy(addr, name, *addrlen < size ? *addrlen : size);
    *addrlen = size;
    return 0;
}

int exs_getsockname(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    struct sockaddr_storage name;
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    name = socket->local;
    if (name.ss_family == 0)
        name = (struct sockaddr_storage){.ss_family = (sa_family_t)socket->domain};
    error = get_name(&name, addr, addrlen);
    exs_socket_leave(socket);
    return exs_api_leave(cancel, error);
}

int exs_getpeername(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    int error = ENOTCONN;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    if (socket->state == EXS_STATE_CONNECTED || socket->state == EXS_STATE_ENDED)
        error = get_name(&socket->peer, addr, addrlen);
    exs_socket_leave(socket);
    return exs_api_leave(cancel, error);
}
