/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening, binding, connecting. */
#include "socket/exs_address.h"
#include "socket/exs_events.h"
#include "socket/exs_socket_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

int exs_socket_open(int domain, int type, int *fd)
{
    struct exs_socket *socket = exs_socket_new(domain, type);

    if (!socket)
        return errno;
    *fd = socket->fd;
    return 0;
}

/*
 * Chooses a port that is free on all addresses, since IT-API listens on all of them, and returns a
 * descriptor that reserves it. Returns -1 if there is none, or no IPv6.
 */
static int choose_port(struct sockaddr_storage *address)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    socklen_t size = sizeof(any);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    int off = 0;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&any, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &size) != 0) {
        (void)close(fd);
        return -1;
    }
    exs_address_set_port(address, any.sin6_port);
    return fd;
}

/* The kernel's socket reserves the port. */
static int bind_locked(struct exs_socket *socket, const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_storage wanted = {0};
    socklen_t size = sizeof(socket->local);
    int on = 1;
    int holder = -1;
    int error;

    if (socket->state != EXS_STATE_OPEN || socket->bound)
        return EINVAL;
    error = exs_address_check(socket->domain, address, length);
    if (error != 0)
        return error;
    (void)setsockopt(socket->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    length = length < sizeof(wanted) ? length : sizeof(wanted);
    memcpy(&wanted, address, length);
    if (exs_address_port(&wanted) == 0)
        holder = choose_port(&wanted);
    error = bind(socket->fd, (struct sockaddr *)&wanted, length) != 0 ? errno : 0;
    if (holder >= 0)
        (void)close(holder);
    if (error != 0)
        return error;
    (void)getsockname(socket->fd, (struct sockaddr *)&socket->local, &size);
    socket->bound = true;
    return 0;
}

int exs_socket_bind(int fd, const struct sockaddr *address, socklen_t length)
{
    struct exs_socket *socket = exs_socket_find(fd);
    int error;

    if (!socket)
        return EBADF;
    error = bind_locked(socket, address, length);
    exs_socket_leave(socket);
    return error;
}

/* The kernel's socket gives up the port, for IT-API to open it. */
static void release_port(struct exs_socket *exs)
{
    int fresh = socket(exs->domain, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fresh < 0)
        return;
    (void)dup3(fresh, exs->fd, O_CLOEXEC);
    (void)close(fresh);
}

/* ---- Connecting ----------------------------------------------------------------------------- */

/* The data of an attempt to connect; the attempt runs without the lock. */
struct attempt {
    it_path_t path;
    it_conn_qual_t qual;
    unsigned char setup[EXS_SETUP_OCTETS];
};

static int errno_of(it_status_t status)
{
    static const struct {
        it_status_t status;
        int error;
    } rows[] = {
        {IT_ERR_CONN_QUAL_BUSY, EADDRINUSE},      {IT_ERR_EP_TIMEWAIT, EADDRINUSE},
        {IT_ERR_INVALID_ADDRESS, EADDRNOTAVAIL},  {IT_ERR_INVALID_SOURCE_PATH, EADDRNOTAVAIL},
        {IT_ERR_INVALID_CONN_QUAL, ECONNREFUSED}, {IT_ERR_IA_CATASTROPHE, ENETDOWN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].status == status)
            return rows[i].error;
    return ENOBUFS;
}

/* Completes the path: a device may need more than the two addresses. */
static int find_path(struct attempt *attempt)
{
    struct exs_adapter *adapter = exs_adapter_get();
    uint64_t timeout = attempt->path.timeout;
    it_net_addr_t peer = {.addr_type = IT_IPV4};
    size_t room = 1;
    size_t total;

    if (!adapter->pins)
        return 0;
    peer.addr.ipv4 = attempt->path.remote.iwarp.raddr.ipv4;
    if (attempt->path.remote.iwarp.ip_vers == IT_IP_VERS_IPV6) {
        peer.addr_type = IT_IPV6;
        peer.addr.ipv6 = attempt->path.remote.iwarp.raddr.ipv6;
    }
    if (it_get_pathinfo(adapter->ia, 0, &peer, &room, &total, &attempt->path) != IT_SUCCESS ||
        room == 0)
        return ENETUNREACH;
    attempt->path.timeout = timeout;
    return 0;
}

static void prepare(struct exs_socket *socket, struct exs_connection *connection,
                    const struct sockaddr *address, socklen_t length, uint64_t timeout_us,
                    struct attempt *attempt)
{
    struct sockaddr_storage peer = {0};
    uint16_t port = socket->bound ? exs_address_port(&socket->local) : 0;
    struct exs_setup setup;

    memcpy(&peer, address, length < sizeof(peer) ? length : sizeof(peer));
    exs_address_path(&socket->local, &peer, &attempt->path);
    attempt->path.timeout = timeout_us;
    attempt->qual = (it_conn_qual_t){.type = port != 0 ? IT_IANA_LR_PORT : IT_IANA_PORT};
    if (port != 0) {
        attempt->qual.conn_qual.lr_port.local = port;
        attempt->qual.conn_qual.lr_port.remote = exs_address_port(&peer);
        release_port(socket);
    } else
        attempt->qual.conn_qual.port = exs_address_port(&peer);
    exs_connection_offer(connection, &setup);
    exs_setup_put(attempt->setup, &setup);
}

/* Claims the socket: from now on no other call uses it. */
static int claim(int fd, const struct sockaddr *address, socklen_t length,
                 struct exs_socket **result)
{
    struct exs_socket *socket = exs_socket_find(fd);
    int error;

    if (!socket)
        return EBADF;
    error = exs_address_check(socket->domain, address, length);
    if (error == 0 && socket->state != EXS_STATE_OPEN)
        error = socket->state == EXS_STATE_CONNECTED    ? EISCONN
                : socket->state == EXS_STATE_CONNECTING ? EALREADY
                                                        : EINVAL;
    if (error != 0) {
        exs_socket_leave(socket);
        return error;
    }
    socket->state = EXS_STATE_CONNECTING;
    exs_socket_hold(socket);
    exs_socket_leave(socket);
    *result = socket;
    return 0;
}

/* Restores the socket to its state before the call, unless it has been closed since. */
static int give_up(struct exs_socket *socket, int error)
{
    exs_socket_enter(socket);
    socket->state = EXS_STATE_OPEN;
    socket->connect = NULL;
    if (socket->connection)
        exs_events_bury(socket);
    if (socket->closing)
        exs_socket_close_over(socket, 0);
    exs_socket_leave(socket);
    exs_socket_put(socket);
    return error;
}

int exs_socket_connect(int fd, const struct sockaddr *address, socklen_t length,
                       uint64_t timeout_us, struct exs_request *request)
{
    struct exs_socket *socket;
    struct exs_connection *connection;
    struct attempt attempt;
    it_status_t status;
    int error = claim(fd, address, length, &socket);

    if (error != 0)
        return error;
    if (!exs_adapter_get())
        return give_up(socket, errno);
    error = exs_events_connect(socket, &connection);
    if (error != 0)
        return give_up(socket, error);
    exs_socket_enter(socket);
    socket->connection = connection;
    socket->connect = request;
    socket->connect_error = 0;
    prepare(socket, connection, address, length, timeout_us, &attempt);
    exs_socket_leave(socket);
    error = find_path(&attempt);
    if (error != 0)
        return give_up(socket, error);
    status = it_ep_connect(connection->ep, &attempt.path, NULL, &attempt.qual,
                           IT_CONNECT_FLAG_TWO_WAY, attempt.setup, sizeof(attempt.setup));
    if (status != IT_SUCCESS)
        return give_up(socket, errno_of(status));
    /* Another thread may have cancelled or closed when there was no attempt yet to be ended. */
    exs_socket_enter(socket);
    if (socket->connection == connection && socket->connect_error != 0)
        exs_connection_fail(connection);
    exs_socket_leave(socket);
    exs_socket_put(socket);
    return 0;
}
