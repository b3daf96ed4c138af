/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection/sdp_connection.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum direction {
    RECEIVE,
    SEND
};

typedef ssize_t transfer(struct sdp_connection *connection, const struct iovec *parts, int count,
                         int flags, const struct timespec *deadline);

/* SO_RCVTIMEO or SO_SNDTIMEO of one that is undecided, too, so from the kernel. NULL: none. */
static const struct timespec *time_limit(const struct sdp_socket *socket, int number,
                                         enum direction direction, struct timespec *deadline)
{
    struct timeval limit = socket->time_limits[direction];
    socklen_t length = sizeof(limit);

    if (atomic_load(&socket->state) != SDP_CONVERTED)
        (void)getsockopt(number, SOL_SOCKET, direction == SEND ? SO_SNDTIMEO : SO_RCVTIMEO, &limit,
                         &length);
    if (limit.tv_sec == 0 && limit.tv_usec == 0)
        return NULL;
    return sdp_deadline(deadline, limit.tv_sec * 1000000LL + limit.tv_usec);
}

static bool may_block(const struct sdp_socket *socket, int number, int flags)
{
    if (flags & MSG_DONTWAIT)
        return false;
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        return !(atomic_load(&socket->flags) & O_NONBLOCK);
    return !(fcntl(number, F_GETFL) & O_NONBLOCK);
}

static ssize_t on_socket(struct sdp_socket *socket, int number, enum direction direction,
                         const struct iovec *parts, int count, int flags)
{
    bool block = may_block(socket, number, flags);
    struct timespec storage;
    const struct timespec *deadline =
        block ? time_limit(socket, number, direction, &storage) : NULL;
    ssize_t result =
        sdp_decide(socket, direction == SEND ? SDP_WRITES : SDP_READS, block, deadline);

    if (result == SDP_BY_KERNEL)
        return SDP_KERNEL;
    if (result == SDP_BY_CONNECTION) {
        transfer *move = direction == SEND ? sdp_send : sdp_receive;

        if (!block)
            flags |= MSG_DONTWAIT;
        result = move(socket->connection, parts, count, flags, deadline);
    }
    return result == -EINTR && !deadline ? -ERESTART : result;
}

static ssize_t transfer_on(int number, enum direction direction, const struct iovec *parts,
                           int count, int flags)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    ssize_t result;

    if (!socket)
        return SDP_KERNEL;
    result = on_socket(socket, number, direction, parts, count, flags);
    sdp_socket_release(socket);
    return result;
}

ssize_t sdp_data_send(int number, const struct iovec *parts, int count, int flags)
{
    return transfer_on(number, SEND, parts, count, flags);
}

/* There is no error queue: nothing was sent with MSG_ZEROCOPY, and no time stamps. */
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

int sdp_data_name(int number, unsigned peer, struct sockaddr *name, socklen_t *length)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int result = SDP_KERNEL;

    if (!socket)
        return SDP_KERNEL;
    if (atomic_load(&socket->state) == SDP_CONVERTED) {
        socklen_t full = socket->name_lengths[peer];

        memcpy(name, &socket->names[peer], *length < full ? *length : full);
        *length = full;
        result = 0;
    }
    sdp_socket_release(socket);
    return result;
}

int sdp_data_refuse(int number, int error)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int result = SDP_KERNEL;

    if (!socket)
        return SDP_KERNEL;
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        result = -error;
    sdp_socket_release(socket);
    return result;
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
