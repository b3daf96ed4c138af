/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel's socket diagnosis (sock_diag) about one pair of addresses. */
#include "vp/uiwarp/net/uiw_net.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

struct timewait_question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

struct timewait_answer {
    struct nlmsghdr header;
    union {
        struct nlmsgerr error;
        struct inet_diag_msg found;
    } body;
};

static void timewait_add_end(const struct sockaddr_storage *end, __be32 address[4], __be16 *port)
{
    const struct sockaddr_in *ipv4 = (const void *)end;
    const struct sockaddr_in6 *ipv6 = (const void *)end;

    if (end->ss_family == AF_INET) {
        memcpy(address, &ipv4->sin_addr, sizeof(ipv4->sin_addr));
        *port = ipv4->sin_port;
    } else {
        memcpy(address, &ipv6->sin6_addr, sizeof(ipv6->sin6_addr));
        *port = ipv6->sin6_port;
    }
}

static bool timewait_ask(int fd, const struct timewait_question *question,
                         struct timewait_answer *answer)
{
    ssize_t got;

    /* send returns after the kernel has answered. */
    if (send(fd, question, sizeof(*question), 0) != (ssize_t)sizeof(*question))
        return false;
    got = recv(fd, answer, sizeof(*answer), MSG_DONTWAIT);
    return got >= (ssize_t)(sizeof(answer->header) + sizeof(answer->body.found)) &&
           answer->header.nlmsg_type == SOCK_DIAG_BY_FAMILY;
}

bool uiw_net_in_timewait(const struct sockaddr_storage *local,
                         const struct sockaddr_storage *remote)
{
    struct timewait_question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (unsigned char)local->ss_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0u,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    struct timewait_answer answer;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool found;

    if (fd < 0)
        return false;
    timewait_add_end(local, question.request.id.idiag_src, &question.request.id.idiag_sport);
    timewait_add_end(remote, question.request.id.idiag_dst, &question.request.id.idiag_dport);
    found = timewait_ask(fd, &question, &answer);
    (void)close(fd);
    return found && answer.body.found.idiag_state == TCP_TIME_WAIT;
}
