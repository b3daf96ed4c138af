/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_socket.h"

#include "support/ofa_port.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (4 << 20) /* the system may lower it */
#define MAPPED       12        /* octets of an IPv4-mapped address before the IPv4 address */

/* ---- Addresses ------------------------------------------------------------------------------ */

static void map(struct in6_addr *address, struct in_addr ipv4)
{
    memset(address, 0, sizeof(*address));
    address->s6_addr[10] = address->s6_addr[11] = 0xff;
    memcpy(&address->s6_addr[MAPPED], &ipv4, sizeof(ipv4));
}

static struct in_addr unmap(const struct in6_addr *address)
{
    struct in_addr ipv4;

    memcpy(&ipv4, &address->s6_addr[MAPPED], sizeof(ipv4));
    return ipv4;
}

static socklen_t to_sockaddr(int family, const struct ofa_path *path,
                             struct sockaddr_storage *address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*six));
    address->ss_family = (sa_family_t)family;
    if (family == AF_INET)
        four->sin_addr = unmap(&path->peer);
    else
        six->sin6_addr = path->peer;
    ofa_port_set((struct sockaddr *)address, path->peer_port);
    return ofa_address_length((const struct sockaddr *)address);
}

static void from_sockaddr(const struct sockaddr_storage *address, struct ofa_path *path)
{
    if (address->ss_family == AF_INET)
        map(&path->peer, ((const struct sockaddr_in *)address)->sin_addr);
    else
        path->peer = ((const struct sockaddr_in6 *)address)->sin6_addr;
    path->peer_port = ofa_port_of((const struct sockaddr *)address);
}

/* ---- Which address this end has ------------------------------------------------------------- */

union control {
    struct cmsghdr header; /* for alignment */
    char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void set_local(int family, const struct ofa_path *path, struct msghdr *message,
                      union control *control)
{
    struct in_pktinfo four = {.ipi_spec_dst = unmap(&path->local)};
    struct in6_pktinfo six = {.ipi6_addr = path->local};
    bool is_four = family == AF_INET;
    size_t length = is_four ? sizeof(four) : sizeof(six);

    if (IN6_IS_ADDR_UNSPECIFIED(&path->local))
        return;
    memset(control, 0, sizeof(*control));
    control->header.cmsg_level = is_four ? IPPROTO_IP : IPPROTO_IPV6;
    control->header.cmsg_type = is_four ? IP_PKTINFO : IPV6_PKTINFO;
    control->header.cmsg_len = CMSG_LEN(length);
    memcpy(CMSG_DATA(&control->header), is_four ? (const void *)&four : &six, length);
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(length);
}

static void get_local(struct msghdr *message, struct ofa_path *path)
{
    struct in_pktinfo four;
    struct in6_pktinfo six;

    memset(&path->local, 0, sizeof(path->local));
    for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
        if (one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_PKTINFO) {
            memcpy(&six, CMSG_DATA(one), sizeof(six));
            path->local = six.ipi6_addr;
        } else if (one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_PKTINFO) {
            memcpy(&four, CMSG_DATA(one), sizeof(four));
            map(&path->local, four.ipi_addr);
        }
    }
}

/* ---- The socket ----------------------------------------------------------------------------- */

int ofa_socket_bind(struct ofa_socket *socket, uint16_t port)
{
    const int on = 1;
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
    if (socket->family == AF_INET)
        (void)setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    else
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
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
    union control control;

    if (family == AF_INET && !IN6_IS_ADDR_V4MAPPED(&path->peer))
        return ENETUNREACH;
    set_local(family, path, &message, &control);
    return sendmsg(socket->watch.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

ssize_t ofa_socket_receive(struct ofa_socket *socket, struct ofa_path *path)
{
    struct iovec piece = {.iov_base = socket->packet, .iov_len = sizeof(socket->packet)};
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    union control control;
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
    get_local(&message, path);
    return length;
}
