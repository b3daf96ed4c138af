/* SPDX-License-Identifier: BSD-2-Clause */
#include "port/ofa_gid.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

/* The order of entries in the table. */
enum rank {
    RANK_DEFAULT,
    RANK_IPV4,
    RANK_IPV6,
    RANK_LOOPBACK4,
    RANK_LOOPBACK6,
    RANK_NONE
};

struct candidate {
    union ibv_gid gid;
    enum rank rank;
    unsigned int ifindex;
};

static void map(union ibv_gid *gid, struct in_addr address)
{
    memset(gid, 0, sizeof(*gid));
    gid->raw[10] = gid->raw[11] = 0xff;
    memcpy(&gid->raw[12], &address, sizeof(address));
}

/* Gets the source address of the default route. Returns false if there is none. */
static bool default_address(struct in_addr *address)
{
    /* Connecting sends nothing; it looks up the route. */
    struct sockaddr_in world = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t length = sizeof(world);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found;

    if (fd < 0)
        return false;
    world.sin_addr.s_addr = htonl(0x08080808);
    found = connect(fd, (const struct sockaddr *)&world, length) == 0 &&
            getsockname(fd, (struct sockaddr *)&world, &length) == 0;
    (void)close(fd);
    *address = world.sin_addr;
    return found;
}

static enum rank rank_of(const struct ifaddrs *interface, union ibv_gid *gid)
{
    bool loopback = (interface->ifa_flags & IFF_LOOPBACK) != 0;
    const struct sockaddr_in6 *six = (const void *)interface->ifa_addr;

    if (!interface->ifa_addr || !(interface->ifa_flags & IFF_UP))
        return RANK_NONE;
    if (interface->ifa_addr->sa_family == AF_INET) {
        map(gid, ((const struct sockaddr_in *)(const void *)interface->ifa_addr)->sin_addr);
        return loopback ? RANK_LOOPBACK4 : RANK_IPV4;
    }
    if (interface->ifa_addr->sa_family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
        return RANK_NONE;
    memcpy(gid->raw, &six->sin6_addr, sizeof(gid->raw));
    return loopback ? RANK_LOOPBACK6 : RANK_IPV6;
}

static bool belongs(const struct ofa_device *device, const struct ifaddrs *interface)
{
    return device->net[0] == '\0' || strcmp(device->net, interface->ifa_name) == 0;
}

static int collect(const struct ofa_device *device, struct candidate found[OFA_MAX_GIDS])
{
    struct in_addr first = {0};
    bool has_first = default_address(&first);
    union ibv_gid first_gid;
    struct ifaddrs *list;
    int count = 0;

    map(&first_gid, first);
    if (getifaddrs(&list) != 0)
        return 0;
    for (const struct ifaddrs *one = list; one && count < OFA_MAX_GIDS; one = one->ifa_next) {
        struct candidate *next = &found[count];

        if (!belongs(device, one))
            continue;
        next->rank = rank_of(one, &next->gid);
        if (next->rank == RANK_NONE)
            continue;
        if (has_first && memcmp(&next->gid, &first_gid, sizeof(first_gid)) == 0)
            next->rank = RANK_DEFAULT;
        next->ifindex = if_nametoindex(one->ifa_name);
        count++;
    }
    freeifaddrs(list);
    return count;
}

int ofa_gid_table(const struct ofa_device *device, struct ofa_gid table[OFA_MAX_GIDS])
{
    struct candidate found[OFA_MAX_GIDS];
    int count = collect(device, found);
    int next = 0;

    for (int rank = RANK_DEFAULT; rank < RANK_NONE; rank++)
        for (int i = 0; i < count; i++)
            if ((int)found[i].rank == rank)
                table[next++] = (struct ofa_gid){.gid = found[i].gid, .ifindex = found[i].ifindex};
    return next;
}

bool ofa_port_is_up(const struct ofa_device *device)
{
    struct ifaddrs *list;
    bool up = false;

    if (getifaddrs(&list) != 0)
        return false;
    for (const struct ifaddrs *one = list; one; one = one->ifa_next)
        if (belongs(device, one) &&
            (one->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING))
            up = true;
    freeifaddrs(list);
    return up;
}

uint16_t ofa_port_lid(const struct ofa_device *device)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    uint16_t lid = 0;

    if (ofa_gid_table(device, table) > 0)
        lid = (uint16_t)(table[0].gid.raw[14] << 8 | table[0].gid.raw[15]);
    return lid ? lid : 1;
}

bool ofa_gid_address(const struct ofa_device *device, const struct ibv_ah_attr *vector,
                     uint16_t port, struct sockaddr_in6 *address)
{
    struct ofa_gid table[OFA_MAX_GIDS];

    memset(address, 0, sizeof(*address));
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(port);
    if (vector->is_global) {
        memcpy(&address->sin6_addr, vector->grh.dgid.raw, sizeof(address->sin6_addr));
        return !IN6_IS_ADDR_UNSPECIFIED(&address->sin6_addr);
    }
    /* A LID: the low 16 bits of an address that begins like this host's. */
    if (ofa_gid_table(device, table) == 0)
        return false;
    memcpy(&address->sin6_addr, table[0].gid.raw, sizeof(address->sin6_addr));
    address->sin6_addr.s6_addr[14] = (uint8_t)(vector->dlid >> 8);
    address->sin6_addr.s6_addr[15] = (uint8_t)vector->dlid;
    return true;
}
