/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/udapl_connection.h"

#include <arpa/inet.h>
#include <string.h>

static DAT_EVENT_NUMBER failure_number(it_conn_reject_code_t reason)
{
    switch (reason) {
    case IT_CN_REJ_TIMEOUT:
        return DAT_CONNECTION_EVENT_TIMED_OUT;
    case IT_CN_REJ_BAD_PATH:
        return DAT_CONNECTION_EVENT_UNREACHABLE;
    case IT_CN_REJ_OTHER:
    case IT_CN_REJ_STALE_CONN:
    case IT_CN_REJ_BAD_ORD:
    case IT_CN_REJ_RESOURCES:
    case IT_CN_REJ_BAD_CONN_PARMS:
        break;
    }
    return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
}

DAT_EVENT_NUMBER udapl_connection_number(it_event_type_t event, it_conn_reject_code_t reason,
                                         bool accepting)
{
    switch ((unsigned)event) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        return DAT_CONNECTION_EVENT_ESTABLISHED;
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
        return accepting ? DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR
                         : DAT_CONNECTION_EVENT_PEER_REJECTED;
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        return accepting ? DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR : failure_number(reason);
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
        return DAT_CONNECTION_EVENT_DISCONNECTED;
    case IT_CM_MSG_CONN_BROKEN_EVENT:
        return DAT_CONNECTION_EVENT_BROKEN;
    default: /* of three-way handshakes or datagrams */
        return (DAT_EVENT_NUMBER)0;
    }
}

it_conn_qual_t udapl_passive_qual(DAT_CONN_QUAL conn_qual)
{
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_LR_PORT;
    qual.conn_qual.lr_port.local = htons(udapl_port_of_qual(conn_qual));
    return qual;
}

it_conn_qual_t udapl_active_qual(DAT_CONN_QUAL conn_qual)
{
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(udapl_port_of_qual(conn_qual));
    return qual;
}

DAT_CONN_QUAL udapl_conn_qual_of(const it_conn_qual_t *qual)
{
    return ntohs(qual->type == IT_IANA_LR_PORT ? qual->conn_qual.lr_port.local
                                               : qual->conn_qual.port);
}

DAT_PORT_QUAL udapl_port_qual_of(const it_conn_qual_t *qual)
{
    return qual->type == IT_IANA_LR_PORT ? ntohs(qual->conn_qual.lr_port.remote) : 0;
}

static void address_of_ipv6(const struct in6_addr *ipv6, it_net_addr_t *to)
{
    if (!IN6_IS_ADDR_V4MAPPED(ipv6)) {
        to->addr_type = IT_IPV6;
        to->addr.ipv6 = *ipv6;
        return;
    }
    to->addr_type = IT_IPV4;
    memcpy(&to->addr.ipv4, &ipv6->s6_addr[12], sizeof(to->addr.ipv4));
}

bool udapl_address_of(const struct sockaddr *from, it_net_addr_t *to)
{
    memset(to, 0, sizeof(*to));
    if (from->sa_family == AF_INET) {
        to->addr_type = IT_IPV4;
        to->addr.ipv4 = ((const struct sockaddr_in *)(const void *)from)->sin_addr;
        return true;
    }
    if (from->sa_family != AF_INET6)
        return false;
    address_of_ipv6(&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, to);
    return true;
}

void udapl_sockaddr_of(const it_net_addr_t *from, DAT_PORT_QUAL port, struct sockaddr_storage *to)
{
    struct sockaddr_in6 *ipv6 = (void *)to;
    struct sockaddr_in *ipv4 = (void *)to;
    it_net_addr_t ip = *from;

    if (from->addr_type == IT_IB_GID)
        address_of_ipv6(&from->addr.gid, &ip);
    if (ip.addr_type == IT_IPV4) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = htons((uint16_t)port);
        ipv4->sin_addr = ip.addr.ipv4;
    } else {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = htons((uint16_t)port);
        ipv6->sin6_addr = ip.addr.ipv6;
    }
}

DAT_PORT_QUAL udapl_port_of(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    if (address->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
    return 0;
}

uint64_t udapl_timeout_of(DAT_TIMEOUT timeout)
{
    return timeout == DAT_TIMEOUT_INFINITE ? IT_TIMEOUT_INFINITE : timeout;
}
