/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection/sdp_connection.h"
#include "guard/sdp_guard.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

enum direction {
    RECEIVE,
    SEND
};

typedef ssize_t transfer(struct sdp_connection *connection, const struct iovec *parts, int count,
                         int flags, const struct timespec *deadline);

/* How long a call may wait. */
struct patience {
    bool block;
    struct timespec storage;
    const struct timespec *deadline; /* NULL: none */
};

/* Reads them from the TCP socket while there is one. */
static void ask_patience(struct sdp_socket *socket, int number, enum direction direction, int flags,
                         struct patience *patience)
{
    struct timeval limit = {0, 0};
    int nonblocking;
    socklen_t length = sizeof(limit);
    bool converted = sdp_socket_settle(socket);

    if (converted) {
        limit = socket->time_limits[direction];
        nonblocking = atomic_load(&socket->flags);
    } else {
        nonblocking = fcntl(number, F_GETFL);
        (void)getsockopt(number, SOL_SOCKET, direction == SEND ? SO_SNDTIMEO : SO_RCVTIMEO, &limit,
                         &length);
    }
    sdp_socket_settled(socket, converted);
    patience->block = !(flags & MSG_DONTWAIT) && !(nonblocking & O_NONBLOCK);
    patience->deadline = NULL;
    if (patience->block && (limit.tv_sec != 0 || limit.tv_usec != 0))
        patience->deadline =
            sdp_deadline(&patience->storage, limit.tv_sec * 1000000LL + limit.tv_usec);
}

static size_t size_of(const struct iovec *parts, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

static ssize_t on_socket(struct sdp_socket *socket, int number, enum direction direction,
                         const struct iovec *parts, int count, int flags)
{
    struct patience patience;
    ssize_t result;

    ask_patience(socket, number, direction, flags, &patience);
    result = sdp_decide(socket, direction == SEND ? SDP_WRITES : SDP_READS, patience.block,
                        patience.deadline);
    if (result == SDP_BY_KERNEL)
        return SDP_KERNEL;
    if (result == SDP_BY_CONNECTION) {
        transfer *move = direction == SEND ? sdp_send : sdp_receive;

        if (!patience.block)
            flags |= MSG_DONTWAIT;
        result = move(socket->connection, parts, count, flags, patience.deadline);
        (void)atomic_fetch_add(&socket->moves, 1);
        if (direction == RECEIVE)
            sdp_swap_correct(socket, POLLIN);
        else if (result < 0 || (size_t)result < size_of(parts, count))
            sdp_swap_blocked(socket);
    }
    return result == -EINTR && !patience.deadline ? -ERESTART : result;
}

/* Like TCP, a receive of no octets waits for data: returns 0 if there is an octet, or the end. */
static ssize_t receive_none(struct sdp_socket *socket, int number, int flags)
{
    char octet;
    struct iovec part = {&octet, 1};
    ssize_t result = on_socket(socket, number, RECEIVE, &part, 1, flags | MSG_PEEK);

    return result > 0 ? 0 : result;
}

static ssize_t transfer_on(int number, enum direction direction, const struct iovec *parts,
                           int count, int flags)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    ssize_t result;

    if (!socket)
        return SDP_KERNEL;
    result = direction == RECEIVE && size_of(parts, count) == 0
                 ? receive_none(socket, number, flags)
                 : on_socket(socket, number, direction, parts, count, flags);
    sdp_socket_release(socket);
    return result;
}

ssize_t sdp_data_send(int number, const struct iovec *parts, int count, int flags)
{
    return transfer_on(number, SEND, parts, count, flags);
}

/* There is no error queue: MSG_ZEROCOPY and time stamps are not used. */
ssize_t sdp_data_receive(int number, const struct iovec *parts, int count, int flags)
{
    ssize_t result = transfer_on(number, RECEIVE, parts, count,
                                 flags & MSG_ERRQUEUE ? flags | MSG_DONTWAIT | MSG_PEEK : flags);

    return flags & MSG_ERRQUEUE && result != SDP_KERNEL ? -EAGAIN : result;
}

int sdp_data_shutdown(int number, int how)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int result = SDP_KERNEL;

    if (!socket)
        return SDP_KERNEL;
    if (atomic_load(&socket->state) == SDP_LISTENING)
        sdp_agree_listens_no_more(number);
    if (atomic_load(&socket->state) == SDP_UNDECIDED)
        (void)sdp_decide_tcp(socket);
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        result = how < SHUT_RD || how > SHUT_RDWR ? -EINVAL : sdp_shutdown(socket->connection, how);
    sdp_socket_release(socket);
    return result;
}

/* Stores a name, or as much as there is room for, and its full length. */
static int give_name(const struct sdp_socket *socket, unsigned peer, struct sockaddr *name,
                     socklen_t *length)
{
    socklen_t full = socket->name_lengths[peer];
    socklen_t room;

    if (peer && sdp_is_closed(socket->connection))
        return -ENOTCONN;
    if (!sdp_guard_copy(&room, length, sizeof(room)))
        return -EFAULT;
    if (room > INT_MAX)
        return -EINVAL;
    if (!sdp_guard_copy(length, &full, sizeof(full)) ||
        !sdp_guard_copy(name, &socket->names[peer], room < full ? room : full))
        return -EFAULT;
    return 0;
}

int sdp_data_name(int number, unsigned peer, struct sockaddr *name, socklen_t *length)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool converted;
    int result = 0;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    if (converted)
        result = give_name(socket, peer, name, length);
    else if ((peer ? getpeername(number, name, length) : getsockname(number, name, length)) < 0)
        result = -errno;
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return result;
}

int sdp_data_refuse(int number, int error)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool converted;

    if (!socket)
        return SDP_KERNEL;
    converted = sdp_socket_settle(socket);
    sdp_socket_settled(socket, converted);
    sdp_socket_release(socket);
    return converted ? -error : SDP_KERNEL;
}

bool sdp_data_escapes(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    bool plain = true;

    if (!socket)
        return true;
    plain = sdp_decide_tcp(socket);
    sdp_socket_release(socket);
    return plain;
}
