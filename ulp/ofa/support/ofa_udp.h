/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The address of this end in UDP datagrams, for sockets that are bound to all addresses. Here IPv4
 * addresses are IPv4-mapped.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_UDP_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>

/* Room for msg_control. */
union ofa_udp_control {
    struct cmsghdr header; /* for alignment */
    char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

void ofa_udp_map(struct in6_addr *address, struct in_addr ipv4);
struct in_addr ofa_udp_unmap(const struct in6_addr *address);

/* Makes the socket of this family tell which address a datagram came to. */
void ofa_udp_open(int fd, int family);

/* Makes a message leave from this address; unspecified: the route decides. */
void ofa_udp_set_local(int family, const struct in6_addr *local, struct msghdr *message,
                       union ofa_udp_control *control);

/* Gets the address that a received message came to. */
void ofa_udp_get_local(struct msghdr *message, struct in6_addr *local);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_UDP_H */
