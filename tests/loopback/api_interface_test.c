/* SPDX-License-Identifier: BSD-2-Clause */
/* What the library reports about Interfaces, IAs and paths. */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fixture_node.h"

Test(api_interface, interface_list)
{
    it_interface_t *list;
    size_t count = 0;
    size_t total = 0;
    size_t total_again = 0;
    bool found = false;

    it_interface_list(NULL, &count, &total);
    CHECK_EQ(0, count);
    CHECK(total >= 1);
    it_interface_list(NULL, NULL, &total_again);
    CHECK_EQ(total, total_again);
    it_interface_list(NULL, NULL, NULL);
    list = calloc(total + 1, sizeof(*list));
    CHECK(list != NULL);
    count = total + 1;
    it_interface_list(list, &count, NULL);
    CHECK_EQ(total, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(memchr(list[i].name, '\0', sizeof(list[i].name)) != NULL);
        if (strcmp(list[i].name, "uiwarp") == 0) {
            found = true;
            CHECK_EQ(IT_IWARP_TCP_TRANSPORT, list[i].transport_type);
            CHECK_EQ(2, list[i].major_version);
            CHECK_EQ(1, list[i].minor_version);
        }
    }
    CHECK(found);
    /* Each Interface in the list can be opened. */
    for (size_t i = 0; i < count; i++) {
        it_ia_handle_t ia = NULL;

        EXPECT_OK(it_ia_create(list[i].name, 2, 1, &ia));
        EXPECT_OK(it_ia_free(ia));
    }
    count = 1;
    memset(list, 0, 2 * sizeof(*list));
    it_interface_list(list, &count, &total_again);
    CHECK_EQ(1, count);
    CHECK_EQ(total, total_again);
    free(list);
    check_done();
}

/* The program asks for an Interface whose name is compiled in. */
Test(api_interface, alias)
{
    char path[] = "/tmp/itapi-alias.XXXXXX";
    static const char lines[] = "alias InfiniHost0 uiwarp\nalias uiwarp:lo InfiniHost0\n";
    int fd = mkstemp(path);
    it_interface_t list[64];
    size_t count = 64;
    it_ia_info_t *info;
    it_ia_handle_t ia;

    CHECK(fd >= 0 && write(fd, lines, strlen(lines)) == (ssize_t)strlen(lines));
    CHECK(close(fd) == 0 && setenv("ITAPI_CONF", path, 1) == 0);
    CHECK_OK(it_ia_create("InfiniHost0", 2, 1, &ia));
    CHECK_OK(it_ia_query(ia, &info));
    EXPECT(strcmp(info->ia_name, "uiwarp") == 0);
    it_ia_info_free(info);
    CHECK_OK(it_ia_free(ia));
    /* An alias hides the Interface of the same name, and does not lead to another alias. */
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("uiwarp:lo", 2, 1, &ia));
    it_interface_list(list, &count, NULL);
    for (size_t i = 0; i < count; i++)
        EXPECT(strcmp(list[i].name, "InfiniHost0") != 0);
    CHECK(unlink(path) == 0);
    check_done();
}

Test(api_interface, ia_query, .init = node_init, .fini = node_fini)
{
    it_ia_info_t *info = NULL;

    CHECK_OK(it_ia_query(node.ia, &info));
    EXPECT(strcmp(info->ia_name, "uiwarp") == 0);
    EXPECT_EQ(2, info->api_major_version);
    EXPECT_EQ(1, info->api_minor_version);
    EXPECT_EQ(IT_IWARP_TCP_TRANSPORT, info->transport_type);
    EXPECT_EQ(IT_RC_SERVICE, info->supported_service_types);
    EXPECT_EQ(IT_FALSE, info->three_way_handshake_support);
    EXPECT_EQ(IT_TRUE, info->private_data_support);
    EXPECT_EQ(IT_TRUE, info->ird_ord_ia_support);
    EXPECT_EQ(IT_TRUE, info->socket_conversion_support);
    EXPECT_EQ(IT_TRUE, info->addr_mode_relative_support);
    EXPECT_EQ(IT_MAX_PRIV_DATA, info->connect_private_data_len);
    EXPECT_EQ(IT_MAX_PRIV_DATA, info->accept_private_data_len);
    EXPECT_EQ(IT_MAX_PRIV_DATA, info->reject_private_data_len);
    EXPECT_EQ(0, info->disconnect_private_data_len);
    EXPECT(info->affiliated_err_evd == node.aff_evd);
    EXPECT(info->unaffiliated_err_evd == NULL);
    EXPECT(info->num_spigots >= 1);
    for (size_t i = 0; i < info->num_spigots; i++) {
        EXPECT_EQ(0xffffffffu, info->spigot_info[i].max_rc_send_len);
        EXPECT_EQ(0xffffffffu, info->spigot_info[i].max_rc_rdma_len);
        EXPECT_EQ(0, info->spigot_info[i].max_ud_send_len);
        EXPECT((info->spigot_info[i].active_side_conn_qual & IT_IANA_PORT) != 0);
        EXPECT((info->spigot_info[i].passive_side_conn_qual & IT_IANA_PORT) != 0);
        EXPECT(info->spigot_info[i].num_net_addr >= 1);
    }
    it_ia_info_free(info);
    it_ia_info_free(NULL);
    check_done();
}

Test(api_interface, get_pathinfo, .init = node_init, .fini = node_fini)
{
    it_net_addr_t address = {.addr_type = IT_IPV4};
    it_path_t paths[4];
    size_t count = 4;
    size_t total = 0;

    address.addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
    count = 0;
    EXPECT_OK(it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, NULL));
    EXPECT_EQ(0, count);
    EXPECT(total >= 1);
    count = 4;
    EXPECT_OK(it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, paths));
    EXPECT(count >= 1 && count <= total);
    EXPECT_EQ(IT_IP_VERS_IPV4, paths[0].remote.iwarp.ip_vers);
    EXPECT_EQ(htonl(INADDR_LOOPBACK), paths[0].remote.iwarp.raddr.ipv4.s_addr);
    EXPECT_EQ(node.spigot, paths[0].spigot_id);
    address.addr_type = IT_IPV6;
    address.addr.ipv6 = in6addr_loopback;
    count = 4;
    EXPECT_OK(it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, paths));
    check_done();
}
