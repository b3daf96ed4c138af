/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/net/uiw_net.h"

#include "base/base_clock.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UIW_NET_ALL_BITS 128u
#define NET_KNOWN_NS     (20 * BASE_NS_PER_MS)
#define NET_WINDOW       (2 * 1024 * 1024) /* twice what one call sends */

struct uiw_net_text uiw_net_text(const struct sockaddr_storage *address)
{
    struct uiw_net_text text = {.chars = "an unknown address"};
    char host[INET6_ADDRSTRLEN];
    it_net_addr_t ip;

    if (!base_net_from_sockaddr(address, &ip))
        return text;
    base_net_text(&ip, host);
    (void)snprintf(text.chars, sizeof(text.chars), ip.addr_type == IT_IPV6 ? "[%s]:%u" : "%s:%u",
                   host, (unsigned)ntohs(base_net_port(address)));
    return text;
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
    const struct sockaddr_in6 *ipv6 = (const void *)entry->ifa_addr;

    if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP) ||
        !base_net_from_sockaddr(entry->ifa_addr, &local->address))
        return false;
    net_interface_name(entry->ifa_name, local->interface);
    local->scope = entry->ifa_addr->sa_family == AF_INET6 ? ipv6->sin6_scope_id : 0;
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

    if (address->addr_type != IT_IPV4 || local->address.addr_type != IT_IPV4 ||
        local->prefix == 0 || local->prefix >= 32)
        return base_net_is_same(&local->address, address);
    difference = ntohl(local->address.addr.ipv4.s_addr ^ address->addr.ipv4.s_addr);
    return difference >> (32 - local->prefix) == 0;
}

/* The address found last. A program that connects often asks about the same one each time. */
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
    base_net_unmap(&wanted);
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

it_status_t uiw_net_scope(const char *interface, const it_net_addr_t *address, uint32_t *scope)
{
    struct uiw_net_local *locals;
    size_t count;

    *scope = 0;
    if (address->addr_type != IT_IPV6 || !IN6_IS_ADDR_LINKLOCAL(&address->addr.ipv6))
        return IT_SUCCESS;
    if (interface[0] != '\0') {
        *scope = if_nametoindex(interface);
        return *scope == 0 && base_net_is_shortage(errno) ? IT_ERR_RESOURCES : IT_SUCCESS;
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

it_status_t uiw_net_source(const char *interface, const it_net_addr_t *to, it_net_addr_t *from,
                           bool *found)
{
    it_net_addr_t peer = *to;
    struct sockaddr_storage remote;
    struct sockaddr_storage local;
    uint32_t scope;
    it_status_t status;
    int error;

    *found = false;
    base_net_unmap(&peer);
    status = uiw_net_scope(interface, &peer, &scope);
    if (status != IT_SUCCESS || !base_net_is_peer(&peer))
        return status;
    (void)base_net_to_sockaddr(&peer, htons(9), scope, &remote); /* any port will do */
    error = base_net_source(&remote, &local);
    if (error != 0)
        return base_net_is_shortage(error) ? IT_ERR_RESOURCES : IT_SUCCESS;
    *found = base_net_from_sockaddr(&local, from);
    if (*found && interface[0] != '\0')
        return uiw_net_has(interface, from, found);
    return IT_SUCCESS;
}

bool uiw_net_path_between(const struct sockaddr_storage *local,
                          const struct sockaddr_storage *remote, it_path_t *path)
{
    it_net_addr_t laddr;
    it_net_addr_t raddr;

    if (!base_net_from_sockaddr(local, &laddr) || !base_net_from_sockaddr(remote, &raddr))
        return false;
    base_net_into_path(&laddr, &raddr, path);
    return true;
}

bool uiw_net_path_of(int fd, it_path_t *path)
{
    struct sockaddr_storage local, remote;

    return base_net_ends(fd, &local, &remote) && uiw_net_path_between(&local, &remote, path);
}

/* ---------------------------------------------------------------- streams that stay on the host */

/* Returns true if the peer's address is this host's: such octets take the loopback interface. */
static bool net_stays_on_host(int fd, const struct sockaddr_storage *remote)
{
    struct sockaddr_storage local;
    it_net_addr_t own;
    it_net_addr_t peer;

    if (!base_net_from_sockaddr(remote, &peer))
        return false;
    if (peer.addr_type == IT_IPV4 &&
        ntohl(peer.addr.ipv4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET)
        return true;
    return base_net_local(fd, &local) && base_net_from_sockaddr(&local, &own) &&
           base_net_is_same(&own, &peer);
}

/*
 * BBR paces: it sends some 64 KiB per timer, at an estimated rate. Between two processes of one
 * host that takes longer than the copy. Every kernel has Reno, and lets any process choose it.
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

/* Setting a low watermark raises the window. Unlike SO_RCVBUF it does not fix the buffer's size. */
void uiw_net_widen(int fd)
{
    const int room = NET_WINDOW;
    int before = 1;
    socklen_t length = sizeof(before);

    if (getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &before, &length) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof(room)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &before, sizeof(before)) != 0)
        /* Once more: with the high watermark no arrival would be noticed. */
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &before, sizeof(before));
}

void uiw_net_unmap_socket(int fd, const struct sockaddr_storage *remote)
{
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)(const void *)remote;
    int family = AF_INET;

    /* The socket also works when this fails. */
    if (remote->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family, sizeof(family));
}
