/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces, what an IA tells about itself, paths, and IAs that are bound to one network
 * interface.
 */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "support/fixture_node.h"
#include "support/test_row.h"

static const it_net_addr_t loopback4 = {.addr_type = IT_IPV4};
static const it_net_addr_t loopback6 = {.addr_type = IT_IPV6, .addr.ipv6 = IN6ADDR_LOOPBACK_INIT};

static it_net_addr_t ipv4(uint32_t host_order)
{
    it_net_addr_t address = loopback4;

    address.addr.ipv4.s_addr = htonl(host_order);
    return address;
}

static const it_net_addr_t *find(const it_spigot_info_t *spigot, const it_net_addr_t *wanted)
{
    for (size_t i = 0; i < spigot->num_net_addr; i++) {
        const it_net_addr_t *address = &spigot->net_addr[i];
        size_t len = wanted->addr_type == IT_IPV4 ? 4 : 16;

        if (address->addr_type == wanted->addr_type &&
            memcmp(&address->addr, &wanted->addr, len) == 0)
            return address;
    }
    return NULL;
}

static bool listed(const it_interface_t *interfaces, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(interfaces[i].name, name) == 0)
            return true;
    return false;
}

Test(cm_interface, list)
{
    it_interface_t interfaces[64];
    size_t count = 64;
    size_t total = 0;
    size_t again;

    it_interface_list(interfaces, &count, &total);
    CHECK_EQ(total, count);
    CHECK(listed(interfaces, count, "uiwarp"));
    CHECK(listed(interfaces, count, "uiwarp:lo"));
    for (size_t i = 0; i < count; i++) {
        it_ia_handle_t ia;

        CHECK_EQ(IT_IWARP_TCP_TRANSPORT, interfaces[i].transport_type);
        CHECK_EQ(2, interfaces[i].major_version);
        CHECK_EQ(1, interfaces[i].minor_version);
        CHECK(!listed(interfaces, i, interfaces[i].name));
        CHECK_OK(it_ia_create(interfaces[i].name, 2, 1, &ia));
        CHECK_OK(it_ia_free(ia));
    }
    count = 1;
    it_interface_list(interfaces, &count, &again);
    CHECK_EQ(1, count);
    CHECK_EQ(total, again);
    count = 0;
    it_interface_list(NULL, &count, &again);
    CHECK_EQ(0, count);
    CHECK_EQ(total, again);
}

Test(cm_interface, unknown_names)
{
    static const char *const names[] = {
        "", "uiwar", "uiwarpx", "uiwarp:", "uiwarp:x", "uiwarp:lo:lo", "uiwarp/lo"};
    it_ia_handle_t ia;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        check_context(names[i]);
        CHECK_STATUS(IT_ERR_INVALID_NAME, it_ia_create(names[i], 2, 1, &ia));
    }
}

Test(cm_interface, query)
{
    it_net_addr_t address = ipv4(INADDR_LOOPBACK);
    it_ia_info_t *info;
    it_ia_handle_t ia;

    CHECK_OK(it_ia_create("uiwarp:lo", 2, 1, &ia));
    CHECK_OK(it_ia_query(ia, &info));
    CHECK(strcmp(info->ia_name, "uiwarp:lo") == 0);
    CHECK_EQ(IT_IWARP_TCP_TRANSPORT, info->transport_type);
    CHECK_EQ(IT_RC_SERVICE, info->supported_service_types);
    CHECK_EQ(IT_TRUE, info->socket_conversion_support);
    CHECK_EQ(IT_TRUE, info->private_data_support);
    CHECK_EQ(IT_TRUE, info->ird_ord_ia_support);
    CHECK_EQ(IT_TRUE, info->ird_ord_suppressible);
    CHECK_EQ(IT_FALSE, info->three_way_handshake_support);
    CHECK_EQ(256, info->connect_private_data_len);
    CHECK_EQ(256, info->accept_private_data_len);
    CHECK_EQ(256, info->reject_private_data_len);
    CHECK_EQ(0, info->disconnect_private_data_len);
    CHECK_EQ(1, info->num_spigots);
    CHECK_EQ(1, info->spigot_info[0].spigot_id);
    CHECK_EQ(0xffffffff, info->spigot_info[0].max_rc_send_len);
    CHECK_EQ(0xffffffff, info->spigot_info[0].max_rc_rdma_len);
    CHECK_EQ(IT_TRUE, info->spigot_info[0].spigot_online);
    CHECK_EQ(IT_IANA_PORT | IT_IANA_LR_PORT, info->spigot_info[0].active_side_conn_qual);
    CHECK_EQ(IT_IANA_PORT | IT_IANA_LR_PORT, info->spigot_info[0].passive_side_conn_qual);
    CHECK(find(&info->spigot_info[0], &address) != NULL);
    it_ia_info_free(info);
    CHECK_OK(it_ia_free(ia));
}

static size_t paths(it_ia_handle_t ia, const it_net_addr_t *to, it_path_t *path)
{
    size_t count = 1;
    size_t total = 99;

    CHECK_OK(it_get_pathinfo(ia, 1, to, &count, &total, path));
    CHECK_EQ(total, count);
    return total;
}

Test(cm_interface, paths)
{
    it_net_addr_t own = ipv4(INADDR_LOOPBACK + 1); /* all of 127/8 belongs to this host */
    it_net_addr_t mapped = {.addr_type = IT_IPV6};
    it_net_addr_t none[] = {
        ipv4(INADDR_ANY), ipv4(INADDR_BROADCAST), ipv4(0xe0000001u), {.addr_type = IT_IPV6}};
    it_net_addr_t gid = {.addr_type = IT_IB_GID};
    it_ia_handle_t ia;
    it_path_t path;
    size_t count = 1;
    size_t total;

    CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_EQ(1, paths(ia, &own, &path));
    CHECK_EQ(1, path.spigot_id);
    CHECK(path.timeout > 0);
    CHECK_EQ(IT_IP_VERS_IPV4, path.u.iwarp.ip_vers);
    CHECK_EQ(own.addr.ipv4.s_addr, path.u.iwarp.raddr.ipv4.s_addr);
    CHECK_EQ(127, ntohl(path.u.iwarp.laddr.ipv4.s_addr) >> 24);
    CHECK_EQ(1, paths(ia, &loopback6, &path));
    CHECK_EQ(IT_IP_VERS_IPV6, path.u.iwarp.ip_vers);
    CHECK(IN6_IS_ADDR_LOOPBACK(&path.u.iwarp.laddr.ipv6));
    CHECK(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.addr.ipv6) == 1);
    CHECK_EQ(1, paths(ia, &mapped, &path));
    CHECK_EQ(IT_IP_VERS_IPV4, path.u.iwarp.ip_vers);
    CHECK_EQ(htonl(INADDR_LOOPBACK), path.u.iwarp.raddr.ipv4.s_addr);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CHECK_EQ(0, paths(ia, &none[i], &path));
    CHECK_STATUS(IT_ERR_INVALID_SPIGOT, it_get_pathinfo(ia, 2, &own, &count, &total, &path));
    CHECK_STATUS(IT_ERR_INVALID_NETADDR, it_get_pathinfo(ia, 1, &gid, &count, &total, &path));
    CHECK_OK(it_ia_free(ia));
}

/* Finds an address of this host that is not on the loopback device. */
static bool other_address(it_net_addr_t *address)
{
    it_ia_info_t *info;
    it_ia_handle_t ia;
    bool found = false;

    CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_OK(it_ia_query(ia, &info));
    for (size_t i = 0; i < info->spigot_info[0].num_net_addr && !found; i++) {
        *address = info->spigot_info[0].net_addr[i];
        found = address->addr_type == IT_IPV4 && ntohl(address->addr.ipv4.s_addr) >> 24 != 127;
    }
    it_ia_info_free(info);
    CHECK_OK(it_ia_free(ia));
    return found;
}

/*
 * it_ia_query lists this address, so it must work. The scope ID is found among the host's
 * addresses.
 */
Test(cm_interface, own_link_local_address, .init = node_init, .fini = node_fini)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_net_addr_t own = {.addr_type = IT_IPV6};
    it_listen_handle_t listener;
    it_ia_info_t *info;
    it_event_t event;
    it_path_t path;
    it_ep_handle_t active;
    it_ep_handle_t passive;
    bool found = false;

    CHECK_OK(it_ia_query(node.ia, &info));
    for (size_t i = 0; i < info->spigot_info[0].num_net_addr && !found; i++) {
        own = info->spigot_info[0].net_addr[i];
        found = own.addr_type == IT_IPV6 && IN6_IS_ADDR_LINKLOCAL(&own.addr.ipv6);
    }
    it_ia_info_free(info);
    if (!found)
        cr_skip_test("no link-local address");
    CHECK_EQ(1, paths(node.ia, &own, &path));
    CHECK(memcmp(&own.addr.ipv6, &path.u.iwarp.laddr.ipv6, 16) == 0);
    active = fx_ep(&node, NULL);
    passive = fx_ep(&node, NULL);
    CHECK_OK(it_listen_create(node.ia, 1, node.listen_evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    CHECK_OK(it_ep_connect(active, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    CHECK_OK(it_ep_accept(passive, fx_request(&node, &event), NULL, 0));
    fx_ep_wait_state(active, IT_EP_STATE_CONNECTED);
    fx_ep_wait_state(passive, IT_EP_STATE_CONNECTED);
}

/* A lookup that fails without descriptors is not reported as a wrong argument. */
Test(cm_interface, no_descriptor_left)
{
    it_net_addr_t own = ipv4(INADDR_LOOPBACK);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(9)};
    it_interface_t interfaces[4];
    struct rlimit limit;
    struct rlimit low;
    struct raw_peer peer;
    it_ep_handle_t ep;
    it_ia_handle_t ia;
    it_path_t path;
    it_path_t none;
    size_t count = 1;
    size_t total;
    int sd;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    CHECK_EQ(1, paths(node.ia, &own, &path));
    raw_socket_pair(&peer, &sd);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    low = limit;
    low.rlim_cur = 3; /* open descriptors stay open */
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    CHECK_STATUS(IT_ERR_RESOURCES, it_get_pathinfo(node.ia, 1, &own, &count, &total, &none));
    CHECK_STATUS(IT_ERR_RESOURCES,
                 it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    CHECK_STATUS(IT_ERR_RESOURCES, it_socket_convert(sd, ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_STATUS(IT_ERR_RESOURCES, it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_STATUS(IT_ERR_RESOURCES, it_ia_create("uiwarp:lo", 2, 1, &ia));
    CHECK_STATUS(IT_ERR_INVALID_NAME, it_ia_create("nobody", 2, 1, &ia));
    count = 4;
    it_interface_list(interfaces, &count, &total);
    CHECK_EQ(0, count);
    CHECK_EQ(0, total);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    CHECK_EQ(1, paths(node.ia, &own, &path));
    raw_close(&peer);
    (void)close(sd);
    fx_node_close(&node);
}

/*
 * The kernel reaches the host's own addresses over the loopback device, but not from a loopback
 * address.
 */
Test(cm_interface, bound_to_loopback_no_way_out)
{
    it_net_addr_t other;
    it_ia_handle_t ia;
    it_path_t path;

    if (!other_address(&other))
        cr_skip_test("no other address");
    CHECK_OK(it_ia_create("uiwarp:lo", 2, 1, &ia));
    CHECK_EQ(0, paths(ia, &other, &path));
    CHECK_OK(it_ia_free(ia));
}

static bool answers(int family, const void *address, size_t len, uint16_t port)
{
    struct sockaddr_in ipv4_address = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 ipv6_address = {.sin6_family = AF_INET6, .sin6_port = port};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected;

    if (family == AF_INET) {
        memcpy(&ipv4_address.sin_addr, address, len);
        connected = connect(fd, (struct sockaddr *)&ipv4_address, sizeof(ipv4_address)) == 0;
    } else {
        memcpy(&ipv6_address.sin6_addr, address, len);
        connected = connect(fd, (struct sockaddr *)&ipv6_address, sizeof(ipv6_address)) == 0;
    }
    (void)close(fd);
    return connected;
}

static void listens_on_both(const char *name, bool elsewhere)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_net_addr_t own = ipv4(INADDR_LOOPBACK);
    it_listen_handle_t listener;
    it_net_addr_t other;
    it_evd_handle_t evd;
    it_ia_handle_t ia;

    CHECK_OK(it_ia_create(name, 2, 1, &ia));
    CHECK_OK(it_evd_create(ia, IT_CM_REQ_EVENT_STREAM, (it_evd_flags_t)0, 16, 0, NULL, &evd, NULL));
    CHECK_OK(it_listen_create(ia, 1, evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    CHECK(answers(AF_INET, &own.addr.ipv4, 4, qual.conn_qual.port));
    CHECK(answers(AF_INET6, &loopback6.addr.ipv6, 16, qual.conn_qual.port));
    if (other_address(&other))
        CHECK_EQ(elsewhere, answers(AF_INET, &other.addr.ipv4, 4, qual.conn_qual.port));
    CHECK_OK(it_ia_free(ia));
}

TEST_ROW(cm_interface, listens_on_all_addresses, listens_on_both, "uiwarp", true);
TEST_ROW(cm_interface, listens_on_one_interface, listens_on_both, "uiwarp:lo", false);

static bool connects(const struct sockaddr_in6 *address)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

    (void)close(fd);
    return connected;
}

static it_status_t listen_at(it_ia_handle_t ia, const void *address, it_conn_qual_t *qual)
{
    it_listen_handle_t listener;
    it_evd_handle_t evd;

    CHECK_OK(
        it_evd_create(ia, IT_CM_REQ_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT, 4, 0, NULL, &evd, NULL));
    return itx_listen_create_at(ia, evd, IT_LISTEN_NO_FLAG, address, qual, &listener);
}

/* The wildcard address means those of the IA, which may have one network interface. */
static void listens_on_one_version(const char *name)
{
    const struct sockaddr_in all4 = {.sin_family = AF_INET};
    const struct sockaddr_in6 all6 = {.sin6_family = AF_INET6};
    it_conn_qual_t qual4 = {.type = IT_IANA_PORT};
    it_conn_qual_t qual6 = {.type = IT_IANA_PORT};
    it_ia_handle_t ia;

    CHECK_OK(it_ia_create(name, 2, 1, &ia));
    CHECK_OK(listen_at(ia, &all4, &qual4));
    CHECK_OK(listen_at(ia, &all6, &qual6));
    CHECK(answers(AF_INET, &(struct in_addr){htonl(INADDR_LOOPBACK)}, 4, qual4.conn_qual.port));
    CHECK(!answers(AF_INET6, &in6addr_loopback, 16, qual4.conn_qual.port));
    CHECK(answers(AF_INET6, &in6addr_loopback, 16, qual6.conn_qual.port));
    CHECK(!answers(AF_INET, &(struct in_addr){htonl(INADDR_LOOPBACK)}, 4, qual6.conn_qual.port));
    CHECK_OK(it_ia_free(ia));
}

TEST_ROW(cm_interface, listens_on_all_of_one_version, listens_on_one_version, "uiwarp");
TEST_ROW(cm_interface, listens_on_some_of_one_version, listens_on_one_version, "uiwarp:lo");

/* Nobody can connect to a group, and no host has that link-local address. */
Test(cm_interface, no_address_to_listen_on, .init = node_init, .fini = node_fini)
{
    static const char *const texts[] = {"224.0.0.1", "255.255.255.255", "192.0.2.1"};
    static const char *const texts6[] = {"ff02::1", "ff0e::1", "fe80::c0:ff:ee", "2001:db8::1"};
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sockaddr_in address = {.sin_family = AF_INET};

        CHECK(inet_pton(AF_INET, texts[i], &address.sin_addr) == 1);
        EXPECT_STATUS(IT_ERR_INVALID_NETADDR, listen_at(node.ia, &address, &qual));
    }
    for (size_t i = 0; i < sizeof(texts6) / sizeof(texts6[0]); i++) {
        struct sockaddr_in6 address = {.sin6_family = AF_INET6};

        CHECK(inet_pton(AF_INET6, texts6[i], &address.sin6_addr) == 1);
        EXPECT_STATUS(IT_ERR_INVALID_NETADDR, listen_at(node.ia, &address, &qual));
        address.sin6_scope_id = UINT32_MAX; /* no network interface */
        EXPECT_STATUS(IT_ERR_INVALID_NETADDR, listen_at(node.ia, &address, &qual));
    }
}

/* A link-local address of the host; false: it has none. */
static bool link_local(struct sockaddr_in6 *address)
{
    struct ifaddrs *entries;
    bool found = false;

    CHECK(getifaddrs(&entries) == 0);
    for (const struct ifaddrs *entry = entries; entry && !found; entry = entry->ifa_next) {
        found = entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET6;
        if (found)
            memcpy(address, entry->ifa_addr, sizeof(*address));
        found = found && IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
    }
    freeifaddrs(entries);
    return found;
}

Test(cm_interface, the_own_link_local_address, .init = node_init, .fini = node_fini)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct sockaddr_in6 address;
    unsigned scope;

    if (!link_local(&address))
        cr_skip_test("no link-local address");
    scope = address.sin6_scope_id;
    CHECK_OK(listen_at(node.ia, &address, &qual));
    address.sin6_scope_id = if_nametoindex("lo");
    CHECK_STATUS(IT_ERR_INVALID_NETADDR, listen_at(node.ia, &address, &qual));
    address.sin6_scope_id = 0;
    CHECK_OK(listen_at(node.ia, &address, &qual));
    address.sin6_scope_id = scope;
    address.sin6_port = qual.conn_qual.port;
    CHECK(connects(&address));
}

/* Peers of either family are reported with an address of their own family. */
Test(cm_interface, source_addresses, .init = node_init, .fini = node_fini)
{
    RAW_BYTES(out);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct raw_peer peer = {0};
    it_event_t event;
    uint16_t port;

    (void)fx_listen(&node, &port);
    raw_mpa1(&out, false, RAW_MPA_C);
    address.sin6_port = port;
    peer.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(peer.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(raw_send(&peer, &out));
    (void)fx_request(&node, &event);
    CHECK_EQ(IT_IPV6, event.conn_req.source_addr.addr_type);
    CHECK(IN6_IS_ADDR_LOOPBACK(&event.conn_req.source_addr.addr.ipv6));
    raw_close(&peer);
    raw_connect(&peer, port);
    CHECK(raw_send(&peer, &out));
    (void)fx_request(&node, &event);
    CHECK_EQ(IT_IPV4, event.conn_req.source_addr.addr_type);
    raw_close(&peer);
}

/* Only an IA that owns the socket's address converts the socket. */
Test(cm_interface, conversion_needs_the_address)
{
    it_net_addr_t other;
    struct raw_peer peer;
    it_ep_handle_t ep;
    char name[IT_INTERFACE_NAME_SIZE] = "";
    it_interface_t interfaces[64];
    size_t count = 64;
    size_t total;
    int sd;

    if (!other_address(&other))
        cr_skip_test("no other address");
    it_interface_list(interfaces, &count, &total);
    for (size_t i = 0; i < count; i++)
        if (strcmp(interfaces[i].name, "uiwarp") != 0 &&
            strcmp(interfaces[i].name, "uiwarp:lo") != 0)
            memcpy(name, interfaces[i].name, sizeof(name));
    fx_node_open(&node);
    CHECK_OK(it_ia_free(node.ia));
    CHECK_OK(it_ia_create(name, 2, 1, &node.ia));
    CHECK_OK(it_pz_create(node.ia, &node.pz));
    node.request_evd = node.recv_evd = fx_evd(&node, IT_DTO_EVENT_STREAM, 512, 0);
    node.conn_evd = fx_evd(&node, IT_CM_MSG_EVENT_STREAM, 16, 0);
    ep = fx_ep(&node, NULL);
    raw_socket_pair(&peer, &sd);
    CHECK_STATUS(IT_ERR_INVALID_CONVERSION, it_socket_convert(sd, ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(5, send(sd, "still", 5, 0));
    raw_close(&peer);
    (void)close(sd);
    fx_node_close(&node);
}
