/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, flags and ioctls of converted sockets, with the semantics of TCP. */
#include "connection/sdp_connection.h"
#include "guard/sdp_guard.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_remember.h"
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
#include <sys/socket.h>
#include <unistd.h>

#define VALUE_MAX 4096u /* octets of an option that any call below reads */

/* Copies as much as fits. */
static int give(void *value, socklen_t *length, const void *from, size_t size)
{
    socklen_t room;

    if (!sdp_guard_copy(&room, length, sizeof(room)))
        return -EFAULT;
    if (room > size)
        room = (socklen_t)size;
    return sdp_guard_copy(value, from, room) && sdp_guard_copy(length, &room, sizeof(room))
               ? 0
               : -EFAULT;
}

static int give_int(void *value, socklen_t *length, int number)
{
    return give(value, length, &number, sizeof(number));
}

/* ---- getsockopt and setsockopt -------------------------------------------------------------- */

static int set_remembered(struct sdp_socket *socket, int which, const void *value, socklen_t length)
{
    int number;

    if (length < sizeof(number))
        return -EINVAL;
    memcpy(&number, value, sizeof(number));
    return sdp_remember_set(socket, which, number);
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

/* Sets options that the stream cannot serve. Returns SDP_KERNEL for those of the stream. */
static int set_own(struct sdp_socket *socket, int level, int name, const void *value,
                   socklen_t length)
{
    int which = sdp_remember_find(level, name);

    if (which >= 0)
        return set_remembered(socket, which, value, length);
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
    case SO_TYPE:
    case SO_DOMAIN:
    case SO_PROTOCOL:
    case SO_ERROR:
    case SO_ACCEPTCONN:
    case SO_SNDLOWAT:
        return length < sizeof(int) ? -EINVAL : -ENOPROTOOPT; /* they can only be read */
    default:
        return SDP_KERNEL;
    }
}

/* Opens what TCP has at the end of a connection: a closed socket. Returns it, or -errno. */
static int open_closed(const struct sdp_socket *ended)
{
    int fd = socket(ended->names[0].ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 ? -errno : fd;
}

/* Sets it on a closed socket, whose option nobody uses. */
static int set_of_closed(const struct sdp_socket *ended, int level, int name, const void *value,
                         socklen_t length)
{
    int fd = open_closed(ended);
    int result;

    if (fd < 0)
        return fd;
    result = setsockopt(fd, level, name, value, length) < 0 ? -errno : 0;
    (void)close(fd);
    return result;
}

static int get_of_closed(const struct sdp_socket *ended, int level, int name, void *value,
                         socklen_t *length)
{
    int fd = open_closed(ended);
    int result;

    if (fd < 0)
        return fd;
    result = getsockopt(fd, level, name, value, length) < 0 ? -errno : 0;
    (void)close(fd);
    return result;
}

static int set_option(struct sdp_socket *socket, int level, int name, const void *value,
                      socklen_t length)
{
    int result = set_own(socket, level, name, value, length);

    if (result == SDP_KERNEL)
        result = sdp_set_stream_option(socket->connection, level, name, value, length);
    return result == -ENOTCONN ? set_of_closed(socket, level, name, value, length) : result;
}

static bool has_value(const void *value, socklen_t length)
{
    return value && sdp_guard_readable(value, length < VALUE_MAX ? length : VALUE_MAX);
}

int sdp_option_set(int number, int level, int name, const void *value, socklen_t length)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool converted;
    int result;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    if (level == SOL_SOCKET && name == SO_ZEROCOPY)
        result = -EOPNOTSUPP; /* the socket may become SDP, which has no error queue */
    else if (!converted)
        result = setsockopt(number, level, name, value, length) < 0 ? -errno : 0;
    else
        result =
            has_value(value, length) ? set_option(socket, level, name, value, length) : -EFAULT;
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return result;
}

/* SO_ERROR is read and cleared; the face stops showing it. */
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
    int which = sdp_remember_find(level, name);

    if (which >= 0)
        return give_int(value, length, socket->remembered[which]);
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
    case SO_DOMAIN:
        return give_int(value, length, socket->names[0].ss_family);
    case SO_PROTOCOL:
        return give_int(value, length, IPPROTO_TCP);
    case SO_ACCEPTCONN:
        return give_int(value, length, 0);
    default:
        return SDP_KERNEL;
    }
}

static int get_option(struct sdp_socket *socket, int level, int name, void *value,
                      socklen_t *length)
{
    socklen_t room;
    int result;

    if (!sdp_guard_copy(&room, length, sizeof(room)))
        return -EFAULT;
    if (room > INT_MAX)
        return -EINVAL;
    if (!sdp_guard_present(value, room < VALUE_MAX ? room : VALUE_MAX, true) ||
        !sdp_guard_present(length, sizeof(room), true))
        return -EFAULT;
    result = get_own(socket, level, name, value, length);
    if (result == SDP_KERNEL)
        result = sdp_get_stream_option(socket->connection, level, name, value, length);
    return result == -ENOTCONN ? get_of_closed(socket, level, name, value, length) : result;
}

int sdp_option_get(int number, int level, int name, void *value, socklen_t *length)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool converted;
    int result;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    if (converted)
        result = get_option(socket, level, name, value, length);
    else
        result = getsockopt(number, level, name, value, length) < 0 ? -errno : 0;
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return result;
}

/* ---- fcntl and ioctl ------------------------------------------------------------------------ */

/* The face never blocks, whatever the program sets; O_ASYNC is the kernel's. */
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
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool converted;
    int result;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    if (converted && command == F_SETFL)
        result = set_flags(socket, number, (int)argument);
    else if (converted && command == F_GETFL)
        result = flags_of(socket, number);
    else {
        result = fcntl(number, command, argument);
        result = result < 0 && command != F_GETOWN ? -errno : result;
    }
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return result;
}

static int set_flag(struct sdp_socket *socket, int number, int flag, const int *argument)
{
    int flags = flags_of(socket, number);
    int on;

    if (!sdp_guard_copy(&on, argument, sizeof(on)))
        return -EFAULT;
    return flags < 0 ? flags : set_flags(socket, number, on ? flags | flag : flags & ~flag);
}

static int give_size(void *argument, size_t size)
{
    int number = size < INT_MAX ? (int)size : INT_MAX;

    return sdp_guard_copy(argument, &number, sizeof(number)) ? 0 : -EFAULT;
}

static int do_ioctl(struct sdp_socket *socket, int number, unsigned long request, void *argument)
{
    switch (request) {
    case FIONBIO:
        return set_flag(socket, number, O_NONBLOCK, argument);
    case FIOASYNC:
        return set_flag(socket, number, O_ASYNC, argument);
    case FIONREAD: /* SIOCINQ */
        return give_size(argument, sdp_unread(socket->connection));
    case TIOCOUTQ: /* SIOCOUTQ */
    case SIOCOUTQNSD:
        return give_size(argument, sdp_unsent(socket->connection));
    case SIOCATMARK:
        return give_size(argument, sdp_at_mark(socket->connection));
    default:
        return SDP_KERNEL;
    }
}

int sdp_option_ioctl(int number, unsigned long request, void *argument)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int result = SDP_KERNEL;
    bool converted;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    if (converted)
        result = do_ioctl(socket, number, request, argument);
    if (result == SDP_KERNEL) {
        result = ioctl(number, request, argument);
        result = result < 0 ? -errno : result;
    }
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return result;
}
