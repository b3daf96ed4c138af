/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_socket.h"

#include "support/ofa_port.h"
#include "support/ofa_udp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (4 << 20) /* the system may lower it */

/* ---- Addresses ------------------------------------------------------------------------------ */

static socklen_t to_sockaddr(int family, const struct ofa_path *path,
                             struct sockaddr_storage *address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*six));
    address->ss_family = (sa_family_t)family;
    if (family == AF_INET)
        four->sin_addr = ofa_udp_unmap(&path->peer);
    else
        six->sin6_addr = path->peer;
    ofa_port_set((struct sockaddr *)address, path->peer_port);
    return ofa_address_length((const struct sockaddr *)address);
}

static void from_sockaddr(const struct sockaddr_storage *address, struct ofa_path *path)
{
    if (address->ss_family == AF_INET)
        ofa_udp_map(&path->peer, ((const struct sockaddr_in *)address)->sin_addr);
    else
        path->peer = ((const struct sockaddr_in6 *)address)->sin6_addr;
    path->peer_port = ofa_port_of((const struct sockaddr *)address);
}

/* ---- The socket ----------------------------------------------------------------------------- */

int ofa_socket_bind(struct ofa_socket *socket, uint16_t port)
{
    const int bytes = BUFFER_BYTES;
    struct sockaddr_storage address;
    int error;
    int fd;

    ofa_port_any(&address, port);
    error = ofa_port_keep(&address, SOCK_DGRAM, false, false, &fd);
    if (error != 0)
        return error;
    socket->watch.fd = fd;
    socket->family = address.ss_family;
    ofa_udp_open(fd, socket->family);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    return 0;
}

int ofa_socket_send(const struct ofa_socket *socket, const struct ofa_path *path,
                    struct iovec *pieces, size_t count)
{
    int family = socket->family;
    struct sockaddr_storage peer;
    struct msghdr message = {.msg_name = &peer,
                             .msg_namelen = to_sockaddr(family, path, &peer),
                             .msg_iov = pieces,
                             .msg_iovlen = count};
    union ofa_udp_control control;

    if (family == AF_INET && !IN6_IS_ADDR_V4MAPPED(&path->peer))
        return ENETUNREACH;
    ofa_udp_set_local(family, &path->local, &message, &control);
    return sendmsg(socket->watch.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

ssize_t ofa_socket_receive(struct ofa_socket *socket, struct ofa_path *path)
{
    struct iovec piece = {.iov_base = socket->packet, .iov_len = sizeof(socket->packet)};
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    union ofa_udp_control control;
    struct msghdr message = {.msg_name = &peer,
                             .msg_namelen = sizeof(peer),
                             .msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t length = recvmsg(socket->watch.fd, &message, MSG_DONTWAIT);

    if (length < 0)
        return -1;
    from_sockaddr(&peer, path);
    ofa_udp_get_local(&message, &path->local);
    return length;
}
