/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of a device with two ports. This test replaces the kernel's list of their addresses. */
#include "verbs_cm/cm_kit.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#define PORTS 2u

/* The kernel would send from the first address to others of its subnet. */
static const char *addresses[PORTS];
static const char *netmask;

static struct ifaddrs told[PORTS];
static struct sockaddr_in told_addresses[PORTS], told_mask;

int getifaddrs(struct ifaddrs **entries)
{
    static char name[] = "lo";

    memset(told, 0, sizeof(told));
    (void)inet_pton(AF_INET, netmask, &told_mask.sin_addr);
    told_mask.sin_family = AF_INET;
    for (unsigned i = 0; i < PORTS; i++) {
        told_addresses[i].sin_family = AF_INET;
        (void)inet_pton(AF_INET, addresses[i], &told_addresses[i].sin_addr);
        told[i].ifa_name = name;
        told[i].ifa_flags = IFF_UP;
        told[i].ifa_addr = (struct sockaddr *)&told_addresses[i];
        told[i].ifa_netmask = (struct sockaddr *)&told_mask;
        told[i].ifa_next = i + 1 < PORTS ? &told[i + 1] : NULL;
    }
    *entries = told;
    return 0;
}

void freeifaddrs(struct ifaddrs *entries)
{
    (void)entries;
}

static uint8_t port_of(const struct sockaddr *address)
{
    char text[INET_ADDRSTRLEN];

    if (address->sa_family != AF_INET)
        return 0;
    (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof(text));
    for (unsigned i = 0; i < PORTS; i++)
        if (strcmp(text, addresses[i]) == 0)
            return (uint8_t)(i + 1);
    return 0;
}

static void open_two(struct kit *kit, enum kit_kind kind, const char *second, const char *mask)
{
    addresses[0] = "127.0.0.1";
    addresses[1] = second;
    netmask = mask;
    kit_start(kind);
    stub.ports = PORTS;
    stub_rdma_port = port_of;
    kit_open(kit, kind);
}

/* Returns the number of paths from that Spigot. If there is one, checks its source. */
static size_t paths_from(const struct kit *kit, size_t spigot, const char *to, it_path_t *path)
{
    it_net_addr_t address = fx_address_from(to);
    size_t count = 1;
    size_t total = 0;

    CHECK_OK(it_get_pathinfo(kit->node.ia, spigot, &address, &count, &total, path));
    return total;
}

static void expect_source(const struct kit *kit, const it_path_t *path, const char *text)
{
    struct in_addr want;
    struct in_addr got;

    (void)inet_pton(AF_INET, text, &want);
    if (kit->kind == KIT_SIW || kit->kind == KIT_IWARP)
        got = path->remote.iwarp.laddr.ipv4;
    else
        memcpy(&got, path->remote.ib.local_port_gid.s6_addr + 12, sizeof(got));
    EXPECT_EQ(want.s_addr, got.s_addr);
}

static void connects(struct kit *kit, const it_path_t *path, unsigned port)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(4716)};
    struct in_addr want;
    it_ep_handle_t ep = fx_ep(&kit->node, NULL);
    const struct rdma_cm_id *id;

    (void)inet_pton(AF_INET, addresses[port - 1], &want);
    CHECK_OK(it_ep_connect(ep, path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    id = stub_rdma_newest(RDMA_PS_TCP);
    EXPECT_EQ(port, id->port_num);
    EXPECT_EQ(want.s_addr, id->route.addr.src_sin.sin_addr.s_addr);
    CHECK_OK(it_ep_free(ep));
}

static void two_on_a_subnet(enum kit_kind kind)
{
    struct kit kit;
    it_path_t path;

    check_context(kit_kind_name(kind));
    open_two(&kit, kind, "127.0.0.2", "255.0.0.0");
    for (unsigned port = 1; port <= PORTS; port++) {
        EXPECT_EQ(1, paths_from(&kit, port, "127.0.0.9", &path));
        EXPECT_EQ(port, path.spigot_id);
        expect_source(&kit, &path, addresses[port - 1]);
        connects(&kit, &path, port);
    }
    /* There are paths from each address to the other one and to itself. */
    EXPECT_EQ(1, paths_from(&kit, 1, "127.0.0.2", &path));
    expect_source(&kit, &path, "127.0.0.1");
    EXPECT_EQ(1, paths_from(&kit, 2, "127.0.0.1", &path));
    expect_source(&kit, &path, "127.0.0.2");
    EXPECT_EQ(1, paths_from(&kit, 2, "127.0.0.2", &path));
    expect_source(&kit, &path, "127.0.0.2");
    kit_close(&kit);
    check_context(NULL);
}

Test(cm_path, two_ports_on_a_subnet)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
        two_on_a_subnet(kind);
    check_done();
}

static void two_subnets(enum kit_kind kind)
{
    struct kit kit;
    it_path_t path;

    check_context(kit_kind_name(kind));
    open_two(&kit, kind, "127.0.9.2", "255.255.255.0");
    EXPECT_EQ(1, paths_from(&kit, 1, "127.0.0.9", &path));
    EXPECT_EQ(0, paths_from(&kit, 2, "127.0.0.9", &path));
    EXPECT_EQ(1, paths_from(&kit, 2, "127.0.9.9", &path));
    expect_source(&kit, &path, "127.0.9.2");
    kit_close(&kit);
    check_context(NULL);
}

Test(cm_path, a_port_on_another_subnet)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
        two_subnets(kind);
    check_done();
}

/* A path may have no source address. */
Test(cm_path, an_open_source)
{
    struct kit kit;
    it_path_t path;

    open_two(&kit, KIT_SIW, "127.0.0.2", "255.0.0.0");
    for (unsigned port = 1; port <= PORTS; port++) {
        EXPECT_EQ(1, paths_from(&kit, port, "127.0.0.9", &path));
        path.remote.iwarp.laddr.ipv4.s_addr = htonl(INADDR_ANY);
        connects(&kit, &path, port);
    }
    kit_close(&kit);
    check_done();
}
