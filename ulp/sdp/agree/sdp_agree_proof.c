/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_proof.h"

#include <endian.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    ESTABLISHED = 1,
    SYN_SENT = 2,
    SYN_RECEIVED = 3,
    CLOSED = 7
};

enum sdp_stream_state sdp_stream_state(int fd, int64_t *round_trip_us)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return SDP_STREAM_USED;
    *round_trip_us = info.tcpi_rtt;
    if (info.tcpi_state == SYN_SENT || info.tcpi_state == SYN_RECEIVED || info.tcpi_state == CLOSED)
        return SDP_STREAM_OPENING;
    if (info.tcpi_state != ESTABLISHED ||
        length < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof(info.tcpi_bytes_sent) ||
        info.tcpi_bytes_sent != 0 || info.tcpi_bytes_received != 0 || info.tcpi_notsent_bytes != 0)
        return SDP_STREAM_USED;
    return SDP_STREAM_VIRGIN;
}

static bool same_network(int one, int other)
{
    uint64_t cookie[2] = {0};
    socklen_t length = sizeof(cookie[0]);

    return getsockopt(one, SOL_SOCKET, SO_NETNS_COOKIE, &cookie[0], &length) == 0 &&
           getsockopt(other, SOL_SOCKET, SO_NETNS_COOKIE, &cookie[1], &length) == 0 &&
           cookie[0] == cookie[1];
}

bool sdp_is_other_end(int other, int own, const struct sdp_tuple *tuple)
{
    struct sdp_tuple found;
    int64_t round_trip_us;

    return sdp_stream_state(other, &round_trip_us) == SDP_STREAM_VIRGIN &&
           sdp_tuple_get(other, SDP_SERVER_END, &found) &&
           memcmp(&found, tuple, sizeof(found)) == 0 && same_network(other, own);
}

/* ---- sock_diag ------------------------------------------------------------------------------ */

struct diag_question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static void put_question(struct diag_question *question, const struct sdp_tuple *tuple)
{
    struct inet_diag_sockid *id = &question->body.id;

    memset(question, 0, sizeof(*question));
    question->head.nlmsg_len = sizeof(*question);
    question->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question->head.nlmsg_flags = NLM_F_REQUEST;
    question->body.sdiag_family = AF_INET6; /* an IPv4-mapped address is looked up as IPv4 */
    question->body.sdiag_protocol = IPPROTO_TCP;
    question->body.idiag_states = 1u << ESTABLISHED;
    id->idiag_sport = htobe16(tuple->port[SDP_SERVER_END]);
    id->idiag_dport = htobe16(tuple->port[SDP_CLIENT_END]);
    memcpy(id->idiag_src, tuple->address[SDP_SERVER_END], 16);
    memcpy(id->idiag_dst, tuple->address[SDP_CLIENT_END], 16);
    id->idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

bool sdp_other_end_owner(const struct sdp_tuple *tuple, uint32_t *user)
{
    struct diag_question question;
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg body;
        char attributes[512];
    } answer;
    ssize_t length = -1;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd < 0)
        return false;
    put_question(&question, tuple);
    memset(&answer, 0, sizeof(answer));
    if (send(fd, &question, sizeof(question), 0) == sizeof(question))
        length = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
    (void)close(fd);
    if (length < (ssize_t)offsetof(__typeof__(answer), attributes) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.body.idiag_state != ESTABLISHED ||
        answer.body.id.idiag_dport != question.body.id.idiag_dport)
        return false;
    *user = answer.body.idiag_uid;
    return true;
}
