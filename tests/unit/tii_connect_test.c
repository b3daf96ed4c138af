/* SPDX-License-Identifier: BSD-2-Clause */
/* it_get_pathinfo, it_ep_connect, it_ep_disconnect. */
#include "unit/fixture_world.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

static it_path_t path;
static it_conn_qual_t qual;
static const unsigned char data[64];

static void setup(void)
{
    fake_setup();
    fake_world_open(&world);
    path.spigot_id = FAKE_SPIGOT;
    path.remote.iwarp.ip_vers = IT_IP_VERS_IPV4;
    path.remote.iwarp.raddr.ipv4.s_addr = htonl(0x0a000001);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(7);
}

TestSuite(tii_connect, .init = setup, .fini = world_fini);

static it_status_t connect_with(unsigned flags, const unsigned char *private_data, size_t length)
{
    return it_ep_connect(world.ep, &path, NULL, &qual, (it_cn_est_flags_t)flags, private_data,
                         length);
}

static it_status_t connect_now(void)
{
    return connect_with(IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

Test(tii_connect, handles_and_pointers)
{
    it_cn_est_flags_t two_way = IT_CONNECT_FLAG_TWO_WAY;

    cr_assert_eq(it_ep_connect(NULL, &path, NULL, &qual, two_way, NULL, 0), IT_ERR_INVALID_EP);
    cr_assert_eq(it_ep_connect(world.ep, NULL, NULL, &qual, two_way, NULL, 0), IT_ERR_FAULT);
    cr_assert_eq(it_ep_connect(world.ep, &path, NULL, NULL, two_way, NULL, 0), IT_ERR_FAULT);
    cr_assert_eq(it_ep_connect(world.ep, &path, NULL, &qual, two_way, NULL, 1), IT_ERR_FAULT);
    cr_assert_eq(connect_with(two_way, data, 0), IT_SUCCESS);
    cr_assert_eq(fake.calls.connect, 1);
}

Test(tii_connect, flags)
{
    for (unsigned flags = 0; flags < 16; flags++) {
        for (int offered = 0; offered < 4; offered++) {
            unsigned mode = flags & 3;
            bool legal = flags < 8 && mode != 0 && mode != 3;

            fake.attributes.three_way = offered & 1 ? IT_TRUE : IT_FALSE;
            fake.attributes.suppress_depths = offered & 2 ? IT_TRUE : IT_FALSE;
            legal = legal && (mode == IT_CONNECT_FLAG_TWO_WAY || (offered & 1)) &&
                    (!(flags & IT_CONNECT_SUPPRESS_IRD_ORD) || (offered & 2));
            cr_assert_eq(connect_with(flags, NULL, 0),
                         legal ? IT_SUCCESS : IT_ERR_INVALID_CN_EST_FLAGS, "flags %x offered %d",
                         flags, offered);
        }
    }
}

Test(tii_connect, connection_qualifier)
{
    qual.conn_qual.port = 0;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
    qual.type = IT_IB_SERVICEID;
    qual.conn_qual.serviceid = 5;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
    qual.type = (it_conn_qual_type_t)(IT_IANA_PORT | IT_IANA_LR_PORT);
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
    qual.type = (it_conn_qual_type_t)0;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
    qual.type = IT_IANA_LR_PORT;
    qual.conn_qual.lr_port.local = htons(5);
    qual.conn_qual.lr_port.remote = 0;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
    qual.conn_qual.lr_port.local = 0;
    qual.conn_qual.lr_port.remote = htons(5);
    cr_assert_eq(connect_now(), IT_SUCCESS);
    fake.attributes.active_quals = IT_IANA_PORT;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_CONN_QUAL);
}

static it_status_t connect_ipv4(uint32_t local, uint32_t remote)
{
    path.remote.iwarp.ip_vers = IT_IP_VERS_IPV4;
    path.remote.iwarp.laddr.ipv4.s_addr = htonl(local);
    path.remote.iwarp.raddr.ipv4.s_addr = htonl(remote);
    return connect_now();
}

static it_status_t connect_ipv6(const char *local, const char *remote)
{
    path.remote.iwarp.ip_vers = IT_IP_VERS_IPV6;
    cr_assert_eq(inet_pton(AF_INET6, local, &path.remote.iwarp.laddr.ipv6), 1);
    cr_assert_eq(inet_pton(AF_INET6, remote, &path.remote.iwarp.raddr.ipv6), 1);
    return connect_now();
}

Test(tii_connect, spigot)
{
    const it_net_addr_t to = {.addr_type = IT_IPV4};
    static const struct {
        unsigned spigots;
        size_t asked, found; /* found 0: none */
    } rows[] = {{2, 0, 1},  {2, 1, 1},  {2, 2, 0}, {2, SIZE_MAX, 0}, {8, 0, 3},
                {10, 0, 0}, {10, 1, 1}, {1, 0, 1}, {5, 0, 1},        {0x80000000u, 0, 31}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        it_status_t want = rows[i].found ? IT_SUCCESS : IT_ERR_INVALID_SPIGOT;
        size_t count = 1;
        size_t total;
        it_path_t found;

        fake.spigots = rows[i].spigots;
        cr_assert_eq(it_get_pathinfo(world.ia, rows[i].asked, &to, &count, &total, &found), want,
                     "row %zu", i);
        if (rows[i].found && !(rows[i].spigots & 1)) /* there is no Spigot 0 */
            cr_assert_eq(found.spigot_id, rows[i].found, "row %zu", i);
        path.spigot_id = rows[i].asked;
        cr_assert_eq(connect_now(), want, "row %zu", i);
    }
}

Test(tii_connect, path)
{
    path.spigot_id = FAKE_SPIGOT + 1;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_SPIGOT);
    path.spigot_id = FAKE_SPIGOT;
    cr_assert_eq(connect_ipv4(0x7f000001, 0x0a000001), IT_SUCCESS);
    cr_assert_eq(connect_ipv4(0, 0x0a000001), IT_SUCCESS);
    cr_assert_eq(connect_ipv4(0x0a000002, 0x0a000001), IT_ERR_INVALID_SOURCE_PATH);
    cr_assert_eq(connect_ipv4(0, 0), IT_ERR_INVALID_ADDRESS);
    cr_assert_eq(connect_ipv4(0, 0xe0000001), IT_ERR_INVALID_ADDRESS, "multicast");
    cr_assert_eq(connect_ipv4(0, 0xffffffff), IT_ERR_INVALID_ADDRESS, "broadcast");
    cr_assert_eq(connect_ipv6("::1", "fd00::1"), IT_SUCCESS);
    cr_assert_eq(connect_ipv6("::", "fd00::1"), IT_SUCCESS);
    cr_assert_eq(connect_ipv6("fd00::2", "fd00::1"), IT_ERR_INVALID_SOURCE_PATH);
    cr_assert_eq(connect_ipv6("::", "::"), IT_ERR_INVALID_ADDRESS);
    cr_assert_eq(connect_ipv6("::", "ff02::1"), IT_ERR_INVALID_ADDRESS);
    path.remote.iwarp.ip_vers = (it_ip_vers_t)3;
    cr_assert_eq(connect_now(), IT_ERR_INVALID_SOURCE_PATH);
    fake.attributes.transport_type = IT_IB_TRANSPORT;
    cr_assert_eq(connect_now(), IT_SUCCESS, "the provider's to check");
}

Test(tii_connect, private_data)
{
    cr_assert_eq(connect_with(IT_CONNECT_FLAG_TWO_WAY, data, 16), IT_SUCCESS);
    cr_assert_eq(fake.private_length, 16);
    cr_assert_eq(connect_with(IT_CONNECT_FLAG_TWO_WAY, data, 17), IT_ERR_INVALID_PDATA_LENGTH);
    fake.attributes.connect_pdata = 0;
    cr_assert_eq(connect_with(IT_CONNECT_FLAG_TWO_WAY, data, 1), IT_ERR_INVALID_PDATA_LENGTH);
    fake.attributes.accept_pdata = fake.attributes.reject_pdata = 0;
    cr_assert_eq(connect_with(IT_CONNECT_FLAG_TWO_WAY, data, 1), IT_ERR_PDATA_NOT_SUPPORTED);
}

Test(tii_connect, state_and_provider)
{
    for (int state = 0; state < 7; state++) {
        fake_ep_force(world.ep, (it_ep_state_rc_t)state);
        cr_assert_eq(connect_now(), state ? IT_ERR_INVALID_EP_STATE : IT_SUCCESS, "state %d",
                     state);
    }
    fake_ep_force(world.ep, IT_EP_STATE_UNCONNECTED);
    fake.answer = IT_ERR_CONN_QUAL_BUSY;
    cr_assert_eq(connect_now(), IT_ERR_CONN_QUAL_BUSY);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(connect_now(), IT_ERR_IA_CATASTROPHE);
}

Test(tii_connect, disconnect)
{
    cr_assert_eq(it_ep_disconnect(NULL, NULL, 0), IT_ERR_INVALID_EP);
    for (int state = 0; state < 7; state++) {
        bool idle = state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL;

        fake_ep_force(world.ep, (it_ep_state_rc_t)state);
        cr_assert_eq(it_ep_disconnect(world.ep, NULL, 0),
                     idle ? IT_ERR_INVALID_EP_STATE : IT_SUCCESS, "state %d", state);
    }
    cr_assert_eq(fake.calls.disconnect, 5);
    fake_ep_force(world.ep, IT_EP_STATE_CONNECTED);
    cr_assert_eq(it_ep_disconnect(world.ep, data, 0), IT_SUCCESS);
    cr_assert_eq(it_ep_disconnect(world.ep, NULL, 1), IT_ERR_FAULT);
    cr_assert_eq(it_ep_disconnect(world.ep, data, 1), IT_ERR_INVALID_PDATA_LENGTH);
    fake.attributes.connect_pdata = fake.attributes.accept_pdata = fake.attributes.reject_pdata = 0;
    cr_assert_eq(it_ep_disconnect(world.ep, data, 1), IT_ERR_PDATA_NOT_SUPPORTED);
    fake.answer = IT_ERR_INVALID_EP_STATE;
    cr_assert_eq(it_ep_disconnect(world.ep, NULL, 0), IT_ERR_INVALID_EP_STATE);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_ep_disconnect(world.ep, NULL, 0), IT_ERR_IA_CATASTROPHE);
}

Test(tii_connect, pathinfo)
{
    it_net_addr_t address = {.addr_type = IT_IPV4};
    it_path_t paths[3];
    size_t count = 3, total = 99;

    cr_assert_eq(it_get_pathinfo(NULL, FAKE_SPIGOT, &address, &count, &total, paths),
                 IT_ERR_INVALID_IA);
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, NULL, &count, &total, paths), IT_ERR_FAULT);
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, NULL, &total, paths),
                 IT_ERR_FAULT);
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, NULL, paths),
                 IT_ERR_FAULT);
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, NULL),
                 IT_ERR_FAULT);
    cr_assert_eq(it_get_pathinfo(world.ia, 2, &address, &count, &total, paths),
                 IT_ERR_INVALID_SPIGOT);
    address.addr_type = IT_IB_GID;
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, paths),
                 IT_ERR_INVALID_NETADDR);
    address.addr_type = (it_net_addr_type_t)9;
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, paths),
                 IT_ERR_INVALID_NETADDR);
    cr_assert_eq(count, 3);
    cr_assert_eq(total, 99);
    address.addr_type = IT_IPV6;
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, paths),
                 IT_SUCCESS);
    cr_assert_eq(count, 2);
    cr_assert_eq(total, 2);
    cr_assert_eq(paths[1].timeout, 2);
    count = 0;
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, NULL),
                 IT_SUCCESS);
    cr_assert_eq(count, 0);
    cr_assert_eq(total, 2);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, NULL),
                 IT_ERR_RESOURCES);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_get_pathinfo(world.ia, FAKE_SPIGOT, &address, &count, &total, NULL),
                 IT_ERR_IA_CATASTROPHE);
}
