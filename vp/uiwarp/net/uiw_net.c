/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/net/uiw_net.h"

#include "base/base_clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UIW_NET_ALL_BITS 128u
#define NET_KNOWN_NS     (20 * BASE_NS_PER_MS)
#define NET_WINDOW       (2 * 1024 * 1024) /* twice what a call takes */

/* ---------------------------------------------------------------- forms of an address */

socklen_t uiw_net_to_sockaddr(const it_net_addr_t *address, uint16_t port, uint32_t scope,
                              struct sockaddr_storage *sockaddr)
{
    struct sockaddr_in *ipv4 = (void *)sockaddr;
    struct sockaddr_in6 *ipv6 = (void *)sockaddr;

    memset(sockaddr, 0, sizeof(*sockaddr));
    if (address->addr_type == IT_IPV4) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = port;
        ipv4->sin_addr = address->addr.ipv4;
        return sizeof(*ipv4);
    }
    if (address->addr_type == IT_IPV6) {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = port;
        ipv6->sin6_addr = address->addr.ipv6;
        ipv6->sin6_scope_id = scope;
        return sizeof(*ipv6);
    }
    return 0;
}

bool uiw_net_from_sockaddr(const struct sockaddr_storage *sockaddr, it_net_addr_t *address,
                           uint16_t *port)
{
    const struct sockaddr_in *ipv4 = (const void *)sockaddr;
    const struct sockaddr_in6 *ipv6 = (const void *)sockaddr;

    memset(address, 0, sizeof(*address));
    if (sockaddr->ss_family == AF_INET) {
        address->addr_type = IT_IPV4;
        address->addr.ipv4 = ipv4->sin_addr;
        *port = ipv4->sin_port;
        return true;
    }
    if (sockaddr->ss_family != AF_INET6)
        return false;
    *port = ipv6->sin6_port;
    if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr)) {
        address->addr_type = IT_IPV4;
        memcpy(&address->addr.ipv4, &ipv6->sin6_addr.s6_addr[12], sizeof(address->addr.ipv4));
        return true;
    }
    address->addr_type = IT_IPV6;
    address->addr.ipv6 = ipv6->sin6_addr;
    return true;
}

struct uiw_net_text uiw_net_text(const struct sockaddr_storage *address)
{
    struct uiw_net_text text = {.chars = "an unknown address"};
    char host[INET6_ADDRSTRLEN] = "";
    it_net_addr_t ip;
    uint16_t port;
    bool ipv6;

    if (!uiw_net_from_sockaddr(address, &ip, &port))
        return text;
    ipv6 = ip.addr_type == IT_IPV6;
    /* An address of this size: cannot fail. */
    (void)inet_ntop(ipv6 ? AF_INET6 : AF_INET, &ip.addr, host, sizeof(host));
    (void)snprintf(text.chars, sizeof(text.chars), ipv6 ? "[%s]:%u" : "%s:%u", host,
                   (unsigned)ntohs(port));
    return text;
}

bool uiw_net_is_any(const it_net_addr_t *address)
{
    if (address->addr_type == IT_IPV4)
        return address->addr.ipv4.s_addr == htonl(INADDR_ANY);
    return address->addr_type == IT_IPV6 && IN6_IS_ADDR_UNSPECIFIED(&address->addr.ipv6);
}

/* No TCP connection leads there. */
static bool net_is_no_peer(const it_net_addr_t *address)
{
    if (uiw_net_is_any(address))
        return true;
    if (address->addr_type == IT_IPV4)
        return IN_MULTICAST(ntohl(address->addr.ipv4.s_addr)) ||
               address->addr.ipv4.s_addr == htonl(INADDR_BROADCAST);
    return IN6_IS_ADDR_MULTICAST(&address->addr.ipv6);
}

/* Path members must be of one IP version: IPv4 in IPv6 form is brought to IPv4 before. */
void uiw_net_unmap(it_net_addr_t *address)
{
    struct sockaddr_storage sockaddr;
    uint16_t port;

    if (uiw_net_to_sockaddr(address, 0, 0, &sockaddr))
        (void)uiw_net_from_sockaddr(&sockaddr, address, &port); /* an IP address: cannot fail */
}

/* ---------------------------------------------------------------- own addresses */

/* The label of an additional IPv4 address ("eth0:1") begins with the name of the interface. */
static void net_interface_name(const char *label, char name[IF_NAMESIZE])
{
    size_t length = strcspn(label, ":");

    if (length >= IF_NAMESIZE)
        length = IF_NAMESIZE - 1;
    memcpy(name, label, length);
    name[length] = '\0';
}

static unsigned net_prefix(const struct ifaddrs *entry)
{
    const struct sockaddr_in *mask = (const void *)entry->ifa_netmask;

    if (!mask || entry->ifa_addr->sa_family != AF_INET || !(entry->ifa_flags & IFF_LOOPBACK))
        return UIW_NET_ALL_BITS;
    return (unsigned)__builtin_popcount(mask->sin_addr.s_addr);
}

static bool net_local_from(const struct ifaddrs *entry, struct uiw_net_local *local)
{
    struct sockaddr_storage sockaddr;
    const struct sockaddr_in6 *ipv6 = (const void *)&sockaddr;
    uint16_t port;

    if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
        return false;
    memset(&sockaddr, 0, sizeof(sockaddr));
    if (entry->ifa_addr->sa_family == AF_INET)
        memcpy(&sockaddr, entry->ifa_addr, sizeof(struct sockaddr_in));
    else if (entry->ifa_addr->sa_family == AF_INET6)
        memcpy(&sockaddr, entry->ifa_addr, sizeof(struct sockaddr_in6));
    else
        return false;
    net_interface_name(entry->ifa_name, local->interface);
    (void)uiw_net_from_sockaddr(&sockaddr, &local->address, &port); /* an IP address: cannot fail */
    local->scope = sockaddr.ss_family == AF_INET6 ? ipv6->sin6_scope_id : 0;
    local->prefix = net_prefix(entry);
    local->runs = (entry->ifa_flags & IFF_RUNNING) != 0;
    return true;
}

bool uiw_net_locals(const char *interface, struct uiw_net_local **locals_out, size_t *count_out)
{
    struct uiw_net_local *locals = NULL;
    struct ifaddrs *entries;
    size_t capacity = 0;
    size_t count = 0;

    if (getifaddrs(&entries) != 0)
        return false;
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        capacity++;
    if (capacity > 0) {
        locals = calloc(capacity, sizeof(*locals));
        if (!locals) {
            freeifaddrs(entries);
            return false;
        }
    }
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next) {
        if (net_local_from(entry, &locals[count]) &&
            (interface[0] == '\0' || strcmp(interface, locals[count].interface) == 0))
            count++;
    }
    freeifaddrs(entries);
    *locals_out = locals;
    *count_out = count;
    return true;
}

bool uiw_net_runs(const struct uiw_net_local *locals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (locals[i].runs)
            return true;
    }
    return false;
}

bool uiw_net_is_online(const char *interface, bool *online)
{
    struct uiw_net_local *locals;
    size_t count;

    if (!uiw_net_locals(interface, &locals, &count))
        return false;
    *online = uiw_net_runs(locals, count);
    free(locals);
    return true;
}

static bool net_local_is(const struct uiw_net_local *local, const it_net_addr_t *address)
{
    uint32_t difference;

    if (local->address.addr_type != address->addr_type)
        return false;
    if (address->addr_type == IT_IPV6)
        return memcmp(&local->address.addr.ipv6, &address->addr.ipv6, sizeof(address->addr.ipv6)) ==
               0;
    difference = ntohl(local->address.addr.ipv4.s_addr ^ address->addr.ipv4.s_addr);
    if (local->prefix == 0 || local->prefix >= 32)
        return difference == 0;
    return difference >> (32 - local->prefix) == 0;
}

/* The last address found: who connects a thousand times from one asks about it a thousand times. */
static _Thread_local struct {
    struct uiw_net_local local;
    uint64_t until_ns;
} net_known;

static bool net_is_known(const char *interface, const it_net_addr_t *address)
{
    return !base_is_over(net_known.until_ns) &&
           (interface[0] == '\0' || strcmp(interface, net_known.local.interface) == 0) &&
           net_local_is(&net_known.local, address);
}

it_status_t uiw_net_has(const char *interface, const it_net_addr_t *address, bool *has)
{
    it_net_addr_t wanted = *address;
    struct uiw_net_local *locals;
    size_t count;

    *has = false;
    uiw_net_unmap(&wanted);
    if (wanted.addr_type != IT_IPV4 && wanted.addr_type != IT_IPV6)
        return IT_SUCCESS;
    *has = net_is_known(interface, &wanted);
    if (*has)
        return IT_SUCCESS;
    if (!uiw_net_locals(interface, &locals, &count))
        return IT_ERR_RESOURCES;
    for (size_t i = 0; i < count && !*has; i++) {
        *has = net_local_is(&locals[i], &wanted);
        if (*has) {
            net_known.local = locals[i];
            net_known.until_ns = base_deadline_ns(base_now_ns(), NET_KNOWN_NS);
        }
    }
    free(locals);
    return IT_SUCCESS;
}

/* A lack of descriptors or memory says nothing about an address. */
static it_status_t net_status(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        return IT_ERR_RESOURCES;
    default:
        return IT_SUCCESS;
    }
}

it_status_t uiw_net_scope(const char *interface, const it_net_addr_t *address, uint32_t *scope)
{
    struct uiw_net_local *locals;
    size_t count;

    *scope = 0;
    if (address->addr_type != IT_IPV6 || !IN6_IS_ADDR_LINKLOCAL(&address->addr.ipv6))
        return IT_SUCCESS;
    if (interface[0] != '\0') {
        *scope = if_nametoindex(interface);
        return *scope == 0 ? net_status(errno) : IT_SUCCESS;
    }
    if (!uiw_net_locals("", &locals, &count))
        return IT_ERR_RESOURCES;
    for (size_t i = 0; i < count && *scope == 0; i++)
        if (net_local_is(&locals[i], address))
            *scope = locals[i].scope;
    free(locals);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- paths */

/* Connecting a datagram socket sends nothing. False with errno. */
static bool net_ask_source(const struct sockaddr_storage *to, socklen_t length,
                           struct sockaddr_storage *from)
{
    int fd = socket(to->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found;
    int error;

    memset(from, 0, sizeof(*from)); /* the kernel fills in as much as an address has */
    if (fd < 0)
        return false;
    found = connect(fd, (const struct sockaddr *)to, length) == 0;
    length = sizeof(*from);
    found = found && getsockname(fd, (struct sockaddr *)from, &length) == 0;
    error = errno;
    (void)close(fd);
    errno = error;
    return found;
}

it_status_t uiw_net_source(const char *interface, const it_net_addr_t *to, it_net_addr_t *from,
                           bool *found)
{
    it_net_addr_t peer = *to;
    struct sockaddr_storage remote;
    struct sockaddr_storage local;
    socklen_t length;
    uint16_t port;
    uint32_t scope;
    it_status_t status;

    *found = false;
    uiw_net_unmap(&peer);
    status = uiw_net_scope(interface, &peer, &scope);
    if (status != IT_SUCCESS)
        return status;
    length = uiw_net_to_sockaddr(&peer, htons(9), scope, &remote); /* any port will do */
    if (length == 0 || net_is_no_peer(&peer))
        return IT_SUCCESS;
    if (!net_ask_source(&remote, length, &local))
        return net_status(errno);
    *found = uiw_net_from_sockaddr(&local, from, &port);
    if (*found && interface[0] != '\0')
        return uiw_net_has(interface, from, found);
    return IT_SUCCESS;
}

void uiw_net_into_path(const it_net_addr_t *local, const it_net_addr_t *remote, it_path_t *path)
{
    it_iwarp_net_endpoint_t *end = &path->remote.iwarp;

    memset(&path->remote, 0, sizeof(path->remote));
    if (remote->addr_type == IT_IPV4) {
        end->ip_vers = IT_IP_VERS_IPV4;
        end->laddr.ipv4 = local->addr.ipv4;
        end->raddr.ipv4 = remote->addr.ipv4;
    } else {
        end->ip_vers = IT_IP_VERS_IPV6;
        end->laddr.ipv6 = local->addr.ipv6;
        end->raddr.ipv6 = remote->addr.ipv6;
    }
}

bool uiw_net_from_path(const it_path_t *path, it_net_addr_t *local, it_net_addr_t *remote)
{
    const it_iwarp_net_endpoint_t *end = &path->remote.iwarp;

    memset(local, 0, sizeof(*local));
    memset(remote, 0, sizeof(*remote));
    if (end->ip_vers == IT_IP_VERS_IPV4) {
        local->addr_type = remote->addr_type = IT_IPV4;
        local->addr.ipv4 = end->laddr.ipv4;
        remote->addr.ipv4 = end->raddr.ipv4;
    } else if (end->ip_vers == IT_IP_VERS_IPV6) {
        local->addr_type = remote->addr_type = IT_IPV6;
        local->addr.ipv6 = end->laddr.ipv6;
        remote->addr.ipv6 = end->raddr.ipv6;
    } else {
        return false;
    }
    return !net_is_no_peer(remote);
}

bool uiw_net_path_between(const struct sockaddr_storage *local,
                          const struct sockaddr_storage *remote, it_path_t *path)
{
    it_net_addr_t laddr;
    it_net_addr_t raddr;
    uint16_t port;

    if (!uiw_net_from_sockaddr(local, &laddr, &port) ||
        !uiw_net_from_sockaddr(remote, &raddr, &port))
        return false;
    uiw_net_into_path(&laddr, &raddr, path);
    return true;
}

bool uiw_net_path_of(int fd, it_path_t *path)
{
    struct sockaddr_storage local = {.ss_family = AF_UNSPEC};
    struct sockaddr_storage remote = {.ss_family = AF_UNSPEC};
    socklen_t local_length = sizeof(local);
    socklen_t remote_length = sizeof(remote);

    return getsockname(fd, (struct sockaddr *)&local, &local_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&remote, &remote_length) == 0 &&
           uiw_net_path_between(&local, &remote, path);
}

/* ---------------------------------------------------------------- streams that stay on the host */

/* Octets for an own address take the loopback interface, whatever interface has the address. */
static bool net_stays_on_host(int fd, const struct sockaddr_storage *remote)
{
    struct sockaddr_storage local = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(local);
    it_net_addr_t own;
    it_net_addr_t peer;
    uint16_t port;

    if (!uiw_net_from_sockaddr(remote, &peer, &port))
        return false;
    if (peer.addr_type == IT_IPV4 &&
        ntohl(peer.addr.ipv4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET)
        return true;
    if (getsockname(fd, (struct sockaddr *)&local, &length) != 0 ||
        !uiw_net_from_sockaddr(&local, &own, &port) || own.addr_type != peer.addr_type)
        return false;
    return peer.addr_type == IT_IPV4
               ? peer.addr.ipv4.s_addr == own.addr.ipv4.s_addr
               : memcmp(&own.addr.ipv6, &peer.addr.ipv6, sizeof(peer.addr.ipv6)) == 0;
}

/*
 * BBR sends at the rate it has estimated, by a timer for some 64 KiB each: from one process to its
 * neighbour that takes longer than the copy. Every kernel has Reno, and lets everybody choose it.
 */
void uiw_net_unpace_local(int fd, const struct sockaddr_storage *remote)
{
    static const char pacing[] = "bbr";
    static const char plain[] = "reno";
    char control[16] = "";
    socklen_t length = sizeof(control) - 1;

    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &length) == 0 &&
        strncmp(control, pacing, sizeof(pacing) - 1) == 0 && net_stays_on_host(fd, remote))
        (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plain, sizeof(plain) - 1);
}

/* A low watermark makes room for itself. Other ways also fix the size of the buffer. */
void uiw_net_widen(int fd)
{
    const int room = NET_WINDOW;
    int before = 1;
    socklen_t length = sizeof(before);

    if (getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &before, &length) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof(room)) == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &before, sizeof(before));
}

void uiw_net_unmap_socket(int fd, const struct sockaddr_storage *remote)
{
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)(const void *)remote;
    int family = AF_INET;

    /* It works as well where this fails. */
    if (remote->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family, sizeof(family));
}
