/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_udp.h"

#include <stdbool.h>
#include <string.h>

#define MAPPED 12 /* octets of an IPv4-mapped address before the IPv4 address */

void ofa_udp_map(struct in6_addr *address, struct in_addr ipv4)
{
    memset(address, 0, sizeof(*address));
    address->s6_addr[10] = address->s6_addr[11] = 0xff;
    memcpy(&address->s6_addr[MAPPED], &ipv4, sizeof(ipv4));
}

struct in_addr ofa_udp_unmap(const struct in6_addr *address)
{
    struct in_addr ipv4;

    memcpy(&ipv4, &address->s6_addr[MAPPED], sizeof(ipv4));
    return ipv4;
}

void ofa_udp_open(int fd, int family)
{
    const int on = 1;

    if (family == AF_INET)
        (void)setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    else
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
}

void ofa_udp_set_local(int family, const struct in6_addr *local, struct msghdr *message,
                       union ofa_udp_control *control)
{
    struct in_pktinfo four = {.ipi_spec_dst = ofa_udp_unmap(local)};
    struct in6_pktinfo six = {.ipi6_addr = *local};
    bool is_four = family == AF_INET;
    size_t length = is_four ? sizeof(four) : sizeof(six);

    if (IN6_IS_ADDR_UNSPECIFIED(local))
        return;
    memset(control, 0, sizeof(*control));
    control->header.cmsg_level = is_four ? IPPROTO_IP : IPPROTO_IPV6;
    control->header.cmsg_type = is_four ? IP_PKTINFO : IPV6_PKTINFO;
    control->header.cmsg_len = CMSG_LEN(length);
    memcpy(CMSG_DATA(&control->header), is_four ? (const void *)&four : &six, length);
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(length);
}

void ofa_udp_get_local(struct msghdr *message, struct in6_addr *local)
{
    struct in_pktinfo four;
    struct in6_pktinfo six;

    memset(local, 0, sizeof(*local));
    for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
        if (one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_PKTINFO) {
            memcpy(&six, CMSG_DATA(one), sizeof(six));
            *local = six.ipi6_addr;
        } else if (one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_PKTINFO) {
            memcpy(&four, CMSG_DATA(one), sizeof(four));
            ofa_udp_map(local, four.ipi_addr);
        }
    }
}
