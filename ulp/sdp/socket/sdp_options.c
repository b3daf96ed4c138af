/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, flags and ioctls of converted sockets, as TCP has them. */
#include "connection/sdp_connection.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

/* Converted, with a reference; NULL: the kernel's. */
static struct sdp_socket *hold_converted(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);

    if (socket && atomic_load(&socket->state) != SDP_CONVERTED) {
        sdp_socket_release(socket);
        socket = NULL;
    }
    return socket;
}

/* As much as there is room for. */
static int give(void *value, socklen_t *length, const void *from, size_t size)
{
    if (*length > size)
        *length = (socklen_t)size;
    memcpy(value, from, *length);
    return 0;
}

static int give_int(void *value, socklen_t *length, int number)
{
    return give(value, length, &number, sizeof(number));
}

/* ---- getsockopt and setsockopt -------------------------------------------------------------- */

static int set_int(struct sdp_socket *socket, enum sdp_option option, const void *value,
                   socklen_t length)
{
    int number;

    if (length < sizeof(number))
        return -EINVAL;
    memcpy(&number, value, sizeof(number));
    return sdp_set_option(socket->connection, option, number);
}

static int set_time_limit(struct timeval *limit, const void *value, socklen_t length)
{
    struct timeval wanted;

    if (length < sizeof(wanted))
        return -EINVAL;
    memcpy(&wanted, value, sizeof(wanted));
    if (wanted.tv_usec < 0 || wanted.tv_usec >= 1000000)
        return -EDOM;
    if (wanted.tv_sec < 0)
        wanted = (struct timeval){0, 1};
    *limit = wanted;
    return 0;
}

static int set_linger(struct sdp_socket *socket, const void *value, socklen_t length)
{
    if (length < sizeof(socket->linger))
        return -EINVAL;
    memcpy(&socket->linger, value, sizeof(socket->linger));
    return 0;
}

/* What the stream cannot do for us. SDP_KERNEL: the stream's. */
static int set_own(struct sdp_socket *socket, int level, int name, const void *value,
                   socklen_t length)
{
    if (level == IPPROTO_TCP && name == TCP_CORK)
        return set_int(socket, SDP_CORK, value, length);
    if (level == IPPROTO_TCP && name == TCP_ULP)
        return -ENOPROTOOPT; /* kernel TLS: the kernel does not have the stream */
    if (level != SOL_SOCKET)
        return SDP_KERNEL;
    switch (name) {
    case SO_RCVTIMEO:
        return set_time_limit(&socket->time_limits[0], value, length);
    case SO_SNDTIMEO:
        return set_time_limit(&socket->time_limits[1], value, length);
    case SO_LINGER:
        return set_linger(socket, value, length);
    case SO_OOBINLINE:
        return set_int(socket, SDP_OOB_INLINE, value, length);
    case SO_RCVLOWAT:
        return set_int(socket, SDP_LOW_WATER, value, length);
    case SO_ZEROCOPY:
        return -EOPNOTSUPP;
    default:
        return SDP_KERNEL;
    }
}

int sdp_option_set(int number, int level, int name, const void *value, socklen_t length)
{
    struct sdp_socket *socket = hold_converted(number);
    int result;

    if (!socket)
        return SDP_KERNEL;
    result = value ? set_own(socket, level, name, value, length) : -EFAULT;
    if (result == SDP_KERNEL || (result == 0 && (name == SO_OOBINLINE || name == TCP_CORK)))
        result = sdp_set_stream_option(socket->connection, level, name, value, length);
    sdp_socket_release(socket);
    return result;
}

/* SO_ERROR is read and cleared; the face shows it no more. */
static int get_error(struct sdp_socket *socket, void *value, socklen_t *length)
{
    int error = sdp_error(socket->connection);

    (void)pthread_mutex_lock(&socket->lock);
    if (socket->numbers_count > 0)
        sdp_face_error_read(&socket->face, socket->numbers[0]);
    (void)pthread_mutex_unlock(&socket->lock);
    return give_int(value, length, error);
}

static int get_own(struct sdp_socket *socket, int level, int name, void *value, socklen_t *length)
{
    if (level != SOL_SOCKET)
        return SDP_KERNEL;
    switch (name) {
    case SO_ERROR:
        return get_error(socket, value, length);
    case SO_RCVTIMEO:
        return give(value, length, &socket->time_limits[0], sizeof(socket->time_limits[0]));
    case SO_SNDTIMEO:
        return give(value, length, &socket->time_limits[1], sizeof(socket->time_limits[1]));
    case SO_LINGER:
        return give(value, length, &socket->linger, sizeof(socket->linger));
    case SO_TYPE:
        return give_int(value, length, SOCK_STREAM);
    case SO_ACCEPTCONN:
        return give_int(value, length, 0);
    default:
        return SDP_KERNEL;
    }
}

int sdp_option_get(int number, int level, int name, void *value, socklen_t *length)
{
    struct sdp_socket *socket = hold_converted(number);
    int result = -EFAULT;

    if (!socket)
        return SDP_KERNEL;
    if (value && length) {
        result = *length > INT_MAX ? -EINVAL : get_own(socket, level, name, value, length);
        if (result == SDP_KERNEL)
            result = sdp_get_stream_option(socket->connection, level, name, value, length);
    }
    sdp_socket_release(socket);
    return result;
}

/* ---- fcntl and ioctl ------------------------------------------------------------------------ */

/* The face never blocks, whatever the program wants; O_ASYNC is the kernel's. */
static int set_flags(struct sdp_socket *socket, int number, int flags)
{
    int kept = flags & (O_NONBLOCK | O_ASYNC);

    if (fcntl(number, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    atomic_store(&socket->flags, kept);
    sdp_swap_watch(socket);
    return 0;
}

static int flags_of(struct sdp_socket *socket, int number)
{
    int flags = fcntl(number, F_GETFL);

    return flags < 0 ? -errno : (flags & ~O_NONBLOCK) | (atomic_load(&socket->flags) & O_NONBLOCK);
}

int sdp_option_fcntl(int number, int command, long argument)
{
    struct sdp_socket *socket = hold_converted(number);
    int result = SDP_KERNEL;

    if (!socket)
        return SDP_KERNEL;
    if (command == F_SETFL)
        result = set_flags(socket, number, (int)argument);
    else if (command == F_GETFL)
        result = flags_of(socket, number);
    sdp_socket_release(socket);
    return result;
}

static int set_flag(struct sdp_socket *socket, int number, int flag, const int *on)
{
    int flags = flags_of(socket, number);

    return flags < 0 ? flags : set_flags(socket, number, *on ? flags | flag : flags & ~flag);
}

static int give_size(void *argument, size_t size)
{
    int number = size < INT_MAX ? (int)size : INT_MAX;

    memcpy(argument, &number, sizeof(number));
    return 0;
}

int sdp_option_ioctl(int number, unsigned long request, void *argument)
{
    struct sdp_socket *socket = hold_converted(number);
    int result = SDP_KERNEL;

    if (!socket)
        return SDP_KERNEL;
    switch (request) {
    case FIONBIO:
        result = set_flag(socket, number, O_NONBLOCK, argument);
        break;
    case FIOASYNC:
        result = set_flag(socket, number, O_ASYNC, argument);
        break;
    case FIONREAD: /* SIOCINQ */
        result = give_size(argument, sdp_unread(socket->connection));
        break;
    case TIOCOUTQ: /* SIOCOUTQ */
    case SIOCOUTQNSD:
        result = give_size(argument, sdp_unsent(socket->connection));
        break;
    case SIOCATMARK:
        result = give_size(argument, sdp_at_mark(socket->connection));
        break;
    default:
        break;
    }
    sdp_socket_release(socket);
    return result;
}
