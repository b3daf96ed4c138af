/* SPDX-License-Identifier: BSD-2-Clause */
#include "pdu/iser_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Returns true if both ends have the same address, or that of the loopback interface. */
static bool stream_stays_here(int fd)
{
    struct sockaddr_storage ends[2] = {{.ss_family = AF_UNSPEC}, {.ss_family = AF_UNSPEC}};
    socklen_t lengths[2] = {sizeof(ends[0]), sizeof(ends[1])};
    const struct sockaddr_in *ipv4 = (const void *)ends;
    const struct sockaddr_in6 *one = (const void *)&ends[0], *other = (const void *)&ends[1];

    if (getsockname(fd, (struct sockaddr *)&ends[0], &lengths[0]) != 0 ||
        getpeername(fd, (struct sockaddr *)&ends[1], &lengths[1]) != 0)
        return false;
    if (ends[0].ss_family == AF_INET6)
        return memcmp(&one->sin6_addr, &other->sin6_addr, sizeof(one->sin6_addr)) == 0;
    return ntohl(ipv4->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET ||
           ipv4->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)&ends[1])->sin_addr.s_addr;
}

void iser_stream_unpace(int fd)
{
    static const char plain[] = "reno";
    char control[16] = "";
    socklen_t length = sizeof(control) - 1;

    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &length) == 0 &&
        strncmp(control, "bbr", 3) == 0 && stream_stays_here(fd))
        (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plain, sizeof(plain) - 1);
}
