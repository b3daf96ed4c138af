/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments other than handles: NULL pointers, flags, masks, lengths, addresses, names. */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/* ---- Interface and IA ----------------------------------------------------------------------- */

Test(api_args, interface_list, .timeout = 60)
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
    /* Every one of them can be opened. */
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

Test(api_args, ia_create, .timeout = 60)
{
    char endless[IT_INTERFACE_NAME_SIZE + 10];
    it_ia_handle_t ia = NULL;

    memset(endless, 'u', sizeof(endless));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create(NULL, 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("", 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("uiwarpx", 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("UIWARP", 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("uiwarp:", 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create("uiwarp:no_such_if", 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create(endless, 2, 1, &ia));
    EXPECT_STATUS(IT_ERR_FAULT, it_ia_create("uiwarp", 2, 1, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_MAJOR_VERSION, it_ia_create("uiwarp", 0, 0, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_MAJOR_VERSION, it_ia_create("uiwarp", 3, 0, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_MINOR_VERSION, it_ia_create("uiwarp", 1, 1, &ia));
    EXPECT_STATUS(IT_ERR_INVALID_MINOR_VERSION, it_ia_create("uiwarp", 2, 2, &ia));
    EXPECT(ia == NULL);
    EXPECT_OK(it_ia_create("uiwarp", 1, 0, &ia));
    EXPECT_OK(it_ia_free(ia));
    EXPECT_OK(it_ia_create("uiwarp", 2, 0, &ia));
    EXPECT_OK(it_ia_free(ia));
    EXPECT_OK(it_ia_create("uiwarp", 2, 1, &ia));
    EXPECT_OK(it_ia_free(ia));
    EXPECT_OK(it_ia_create("uiwarp:lo", 2, 1, &ia));
    EXPECT_OK(it_ia_free(ia));
    check_done();
}

Test(api_args, ia_query, .timeout = 60)
{
    struct fx_node node;
    it_ia_info_t *info = NULL;

    fx_node_open(&node);
    EXPECT_STATUS(IT_ERR_FAULT, it_ia_query(node.ia, NULL));
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
    fx_node_close(&node);
    check_done();
}

Test(api_args, get_pathinfo, .timeout = 60)
{
    struct fx_node node;
    it_net_addr_t address = {.addr_type = IT_IPV4};
    it_path_t paths[4];
    size_t count = 4;
    size_t total = 77;

    fx_node_open(&node);
    address.addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_STATUS(IT_ERR_FAULT, it_get_pathinfo(node.ia, node.spigot, NULL, &count, &total, paths));
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_get_pathinfo(node.ia, node.spigot, &address, NULL, &total, paths));
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_get_pathinfo(node.ia, node.spigot, &address, &count, NULL, paths));
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT,
                  it_get_pathinfo(node.ia, 9999, &address, &count, &total, paths));
    address.addr_type = (it_net_addr_type_t)77;
    EXPECT_STATUS(IT_ERR_INVALID_NETADDR,
                  it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, paths));
    address.addr_type = IT_VIA_HOSTADDR;
    EXPECT_STATUS(IT_ERR_INVALID_NETADDR,
                  it_get_pathinfo(node.ia, node.spigot, &address, &count, &total, paths));
    EXPECT_EQ(4, count);
    EXPECT_EQ(77, total);
    address.addr_type = IT_IPV4;
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
    fx_node_close(&node);
    check_done();
}

/* ---- Pointers that must not be NULL --------------------------------------------------------- */

Test(api_args, null_pointers, .timeout = 60)
{
    struct fx_node node;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;
    it_evd_handle_t evd = NULL;
    it_lmr_handle_t lmr = NULL;
    struct fx_buf buf;
    it_listen_handle_t listener = NULL;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_path_t path;
    uint16_t port = 0;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, 8);
    path = fx_path(&node);
    EXPECT_STATUS(IT_ERR_FAULT, it_pz_create(node.ia, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_pz_query(node.pz, IT_PZ_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_create(node.ia, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, 10,
                                              0, NULL, NULL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_query(node.recv_evd, IT_EVD_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_wait(node.recv_evd, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_dequeue(node.recv_evd, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_rc_create(node.pz, node.request_evd, node.recv_evd,
                                                node.conn_evd, IT_EP_NO_FLAG, NULL, &ep));
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_rc_create(node.pz, node.request_evd, node.recv_evd,
                                                node.conn_evd, IT_EP_NO_FLAG, &attr, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_query(ep, IT_EP_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_modify(ep, IT_EP_PARAM_MAX_ORD, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_create21(node.pz, buf.data, NULL, 8, IT_ADDR_MODE_ABSOLUTE,
                                                IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_create20(node.pz, buf.data, 8, IT_ADDR_MODE_ABSOLUTE,
                                                IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_create10(node.pz, buf.data, 8, IT_PRIV_LOCAL,
                                                IT_LMR_FLAG_NONE, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_query(buf.lmr, IT_LMR_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_listen_create(node.ia, node.spigot, node.listen_evd,
                                                 IT_LISTEN_NO_FLAG, NULL, &listener));
    EXPECT_STATUS(IT_ERR_FAULT, it_listen_create(node.ia, node.spigot, node.listen_evd,
                                                 IT_LISTEN_NO_FLAG, &qual, NULL));
    listener = fx_listen(&node, &port);
    EXPECT_STATUS(IT_ERR_FAULT, it_listen_query(listener, IT_LISTEN_PARAM_ALL, NULL));
    qual.conn_qual.port = port;
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_ep_connect(ep, NULL, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_ep_connect(ep, &path, NULL, NULL, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    EXPECT_STATUS(IT_ERR_FAULT,
                  it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 5));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ep_set_mpa_params(ep, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ep_get_mpa_params(ep, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ep_query_mpa(ep, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ia_query_counters(node.ia, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_post_recv(ep, NULL, 1, 0, FX_SIGNAL));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    /* The optional ones. */
    EXPECT_OK(it_lmr_create21(node.pz, buf.data, NULL, 8, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                              (it_lmr_flag_t)0, 0, &lmr, NULL));
    EXPECT_OK(it_lmr_free(lmr));
    EXPECT(evd == NULL);
    fx_buf_free(&buf);
    fx_node_close(&node);
    check_done();
}

/* ---- Masks ---------------------------------------------------------------------------------- */

/* Mask 0 writes nothing, unknown bits are refused, ALL covers everything. */
Test(api_args, query_masks, .timeout = 60)
{
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_buf buf;
    it_listen_handle_t listener;
    uint16_t port;
    union {
        it_pz_param_t pz;
        it_evd_param_t evd;
        it_ep_param_t ep;
        it_lmr_param_t lmr;
        it_listen_param_t listen;
        unsigned char bytes[1024];
    } p;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, 8);
    listener = fx_listen(&node, &port);
    memset(&p, 0xd7, sizeof(p));
    EXPECT_OK(it_pz_query(node.pz, (it_pz_param_mask_t)0, &p.pz));
    EXPECT_OK(it_evd_query(node.recv_evd, (it_evd_param_mask_t)0, &p.evd));
    EXPECT_OK(it_ep_query(ep, (it_ep_param_mask_t)0, &p.ep));
    EXPECT_OK(it_lmr_query(buf.lmr, (it_lmr_param_mask_t)0, &p.lmr));
    EXPECT_OK(it_listen_query(listener, (it_listen_param_mask_t)0, &p.listen));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_pz_query(node.pz, (it_pz_param_mask_t)0x04, &p.pz));
    EXPECT_STATUS(IT_ERR_INVALID_MASK,
                  it_evd_query(node.recv_evd, (it_evd_param_mask_t)0x1000, &p.evd));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_ep_query(ep, (it_ep_param_mask_t)0x10000000, &p.ep));
    EXPECT_STATUS(IT_ERR_INVALID_MASK,
                  it_ep_query(ep, (it_ep_param_mask_t)(IT_EP_PARAM_ALL | 0x40000000), &p.ep));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_ep_query(ep, IT_EP_PARAM_EP_KEY, &p.ep));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_ep_query(ep, IT_EP_PARAM_EP_ID, &p.ep));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_lmr_query(buf.lmr, (it_lmr_param_mask_t)0x8000, &p.lmr));
    EXPECT_STATUS(IT_ERR_INVALID_MASK,
                  it_listen_query(listener, (it_listen_param_mask_t)0x20, &p.listen));
    EXPECT(fx_is_byte(p.bytes, sizeof(p), 0xd7));

    EXPECT_OK(it_pz_query(node.pz, IT_PZ_PARAM_ALL, &p.pz));
    EXPECT(p.pz.ia == node.ia);
    EXPECT_OK(it_listen_query(listener, IT_LISTEN_PARAM_ALL, &p.listen));
    EXPECT(p.listen.ia_handle == node.ia && p.listen.connect_evd == node.listen_evd);
    EXPECT_EQ(node.spigot, p.listen.spigot_id);
    EXPECT_EQ(port, p.listen.connect_qual.conn_qual.port);
    EXPECT_OK(it_lmr_query(buf.lmr, IT_LMR_PARAM_ALL, &p.lmr));
    EXPECT(p.lmr.ia == node.ia && p.lmr.pz == node.pz && p.lmr.addr == buf.data);
    EXPECT_EQ(8, p.lmr.length);
    EXPECT_EQ(FX_PRIVS_ALL, p.lmr.privs);
    EXPECT_EQ(buf.key, p.lmr.rmr_context);
    EXPECT_EQ(IT_ADDR_MODE_ABSOLUTE, p.lmr.addr_mode);
    EXPECT(p.lmr.actual_addr <= p.lmr.addr && p.lmr.actual_length >= 8);
    fx_buf_free(&buf);
    fx_node_close(&node);
    check_done();
}

/* Only the selected members are written. */
Test(api_args, query_selects, .timeout = 60)
{
    struct fx_node node;
    it_ep_handle_t ep;
    it_ep_param_t p;
    it_evd_param_t e;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    memset(&p, 0xd7, sizeof(p));
    CHECK_OK(it_ep_query(ep, (it_ep_param_mask_t)(IT_EP_PARAM_PZ | IT_EP_PARAM_MAX_IRD), &p));
    EXPECT(p.pz == node.pz);
    EXPECT_EQ(8, p.attr.srv.rc.rdma_read_ird);
    EXPECT(fx_is_byte(&p.ia, sizeof(p.ia), 0xd7));
    EXPECT(fx_is_byte(&p.request_sevd, sizeof(p.request_sevd), 0xd7));
    EXPECT(fx_is_byte(&p.attr.srv.rc.rdma_read_ord, 4, 0xd7));
    EXPECT(fx_is_byte(&p.attr.max_recv_dtos, sizeof(size_t), 0xd7));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT(p.ia == node.ia && p.pz == node.pz && p.request_sevd == node.request_evd &&
           p.recv_sevd == node.recv_evd && p.connect_sevd == node.conn_evd);
    EXPECT_EQ(IT_RC_SERVICE, p.service_type);
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, p.ep_state.rc);
    EXPECT(p.attr.max_request_dtos >= 64 && p.attr.max_recv_dtos >= 64);
    EXPECT(p.attr.max_send_segments >= 8 && p.attr.max_recv_segments >= 8);
    EXPECT(p.attr.max_dto_payload_size >= 64u << 20);
    memset(&e, 0xd7, sizeof(e));
    CHECK_OK(it_evd_query(node.recv_evd, IT_EVD_PARAM_THRESHOLD, &e));
    EXPECT(e.sevd_threshold <= 1);
    EXPECT(fx_is_byte(&e.ia, sizeof(e.ia), 0xd7));
    CHECK_OK(it_evd_query(node.recv_evd, IT_EVD_PARAM_ALL, &e));
    EXPECT(e.ia == node.ia);
    EXPECT_EQ(IT_DTO_EVENT_STREAM, e.event_number);
    EXPECT(e.sevd_queue_size >= 512);
    EXPECT_EQ(-1, e.fd);
    EXPECT_EQ(IT_TRUE, e.evd_bound);
    EXPECT_EQ(IT_TRUE, e.evd_enabled);
    EXPECT_EQ(IT_FALSE, e.evd_overflowed);
    EXPECT_EQ(IT_FALSE, e.evd_callback);
    fx_node_close(&node);
    check_done();
}

/* it_ep_modify: what never changes, what does. */
Test(api_args, ep_modify_masks, .timeout = 60)
{
    static const it_ep_param_mask_t never[] = {IT_EP_PARAM_ALL,
                                               IT_EP_PARAM_IA,
                                               IT_EP_PARAM_SPIGOT,
                                               IT_EP_PARAM_STATE,
                                               IT_EP_PARAM_SERV_TYPE,
                                               IT_EP_PARAM_PATH,
                                               IT_EP_PARAM_PZ,
                                               IT_EP_PARAM_REQ_SEVD,
                                               IT_EP_PARAM_RECV_SEVD,
                                               IT_EP_PARAM_CONN_SEVD,
                                               IT_EP_PARAM_SRQ,
                                               IT_EP_PARAM_PRIV_OPS_ENABLE,
                                               (it_ep_param_mask_t)0x10000000};
    struct fx_node node;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;
    it_ep_param_t p;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        EXPECT_STATUS(IT_ERR_INVALID_MASK, it_ep_modify(ep, never[i], &attr));
    EXPECT_OK(it_ep_modify(ep, (it_ep_param_mask_t)0, &attr));
    /* ORD can always go down. */
    attr.srv.rc.rdma_read_ord = 3;
    attr.max_recv_segments = 1;
    EXPECT_OK(it_ep_modify(ep, IT_EP_PARAM_MAX_ORD, &attr));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT_EQ(3, p.attr.srv.rc.rdma_read_ord);
    EXPECT(p.attr.max_recv_segments >= 8);
    /* Segment counts while nothing is posted. */
    attr.max_send_segments = 2;
    attr.max_recv_segments = 2;
    attr.max_dto_payload_size = 1000;
    EXPECT_OK(it_ep_modify(ep,
                           (it_ep_param_mask_t)(IT_EP_PARAM_MAX_SEND_SEG |
                                                IT_EP_PARAM_MAX_RECV_SEG | IT_EP_PARAM_MAX_PAYLOAD),
                           &attr));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    EXPECT(p.attr.max_send_segments >= 2 && p.attr.max_recv_segments >= 2);
    EXPECT(p.attr.max_dto_payload_size >= 1000);
    fx_node_close(&node);
    check_done();
}

/* ---- EVDs ----------------------------------------------------------------------------------- */

static it_status_t make_evd(const struct fx_node *node, unsigned stream, unsigned flags,
                            size_t size, size_t threshold, it_evd_handle_t aevd, int *fd)
{
    it_evd_handle_t evd = NULL;
    it_status_t status = it_evd_create(node->ia, (it_event_type_t)stream, (it_evd_flags_t)flags,
                                       size, threshold, aevd, &evd, fd);

    EXPECT((status == IT_SUCCESS) == (evd != NULL));
    return status;
}

Test(api_args, evd_create, .timeout = 60)
{
    struct fx_node node;
    struct fx_node other;
    it_evd_handle_t aevd = NULL;
    int fd = -7;

    fx_node_open(&node);
    fx_node_open(&other);
    EXPECT_STATUS(IT_ERR_INVALID_EVD_TYPE, make_evd(&node, 1, 0, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_TYPE, make_evd(&node, 0x2002, 0, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_TYPE, make_evd(&node, 0x3000, 0, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_TYPE, make_evd(&node, 0x40000, 0, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, make_evd(&node, 0, 0x20, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS,
                  make_evd(&node, 0, IT_EVD_DEQUEUE_NOTIFICATIONS, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_QUEUE_SIZE, make_evd(&node, 0, 0, 0, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_RESOURCE_QUEUE_SIZE, make_evd(&node, 0, 0, SIZE_MAX, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_RESOURCE_QUEUE_SIZE,
                  make_evd(&node, 0x2000, 0, SIZE_MAX / 2, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_THRESHOLD, make_evd(&node, 0, 0, 10, 11, NULL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_AEVD, make_evd(&node, 0, 0, 10, 0, node.recv_evd, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_AEVD, make_evd(&node, 0, 0, 10, 0, (void *)node.pz, NULL));
    EXPECT_STATUS(IT_ERR_MISMATCH_FD, make_evd(&node, 0, IT_EVD_CREATE_FD, 10, 0, NULL, NULL));
    CHECK_OK(it_evd_create(other.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &aevd, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_AEVD, make_evd(&node, 0, 0, 10, 0, aevd, NULL));
    EXPECT_STATUS(IT_ERR_AEVD_NOT_ALLOWED, make_evd(&other, 0x20000, 0, 10, 0, aevd, NULL));
    EXPECT_STATUS(IT_ERR_MISMATCH_FD, make_evd(&other, 0, IT_EVD_CREATE_FD, 10, 0, aevd, &fd));
    EXPECT_STATUS(IT_ERR_ASYNC_AFF_EVD_EXISTS, make_evd(&node, 0x4000, 0, 10, 0, NULL, NULL));
    EXPECT_OK(make_evd(&node, 0x8000, 0, 10, 0, NULL, NULL));
    EXPECT_STATUS(IT_ERR_ASYNC_UNAFF_EVD_EXISTS, make_evd(&node, 0x8000, 0, 10, 0, NULL, NULL));
    EXPECT_OK(make_evd(&node, 0, 0, 10, 10, NULL, &fd));
    EXPECT_EQ(-7, fd);
    EXPECT_OK(
        make_evd(&node, 0, IT_EVD_OVERFLOW_NOTIFY | IT_EVD_OVERFLOW_AUTO_RESET, 1, 1, NULL, NULL));
    EXPECT_OK(make_evd(&node, 0x10000, IT_EVD_OVERFLOW_DEFAULT, 1, 0, NULL, NULL));
    fx_node_close(&other);
    fx_node_close(&node);
    check_done();
}

/* ---- Endpoint attributes -------------------------------------------------------------------- */

static it_status_t make_ep(const struct fx_node *node, const it_ep_attributes_t *attr,
                           unsigned flags)
{
    it_ep_handle_t ep = NULL;
    it_status_t status =
        it_ep_rc_create(node->pz, node->request_evd, node->recv_evd, node->conn_evd,
                        (it_ep_rc_creation_flags_t)flags, attr, &ep);

    EXPECT((status == IT_SUCCESS) == (ep != NULL));
    if (ep != NULL)
        EXPECT_OK(it_ep_free(ep));
    return status;
}

Test(api_args, ep_attributes, .timeout = 60)
{
    struct fx_node node;
    it_ep_attributes_t attr;

    fx_node_open(&node);
    attr = fx_ep_attr();
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, make_ep(&node, &attr, 0x04));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, make_ep(&node, &attr, 0x80000000u));
    attr.max_dto_payload_size = 0xffffffffu;
    EXPECT_OK(make_ep(&node, &attr, 0));
    attr.max_dto_payload_size = 0x100000000u;
    EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.max_request_dtos = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_REQ_DTO, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.max_recv_dtos = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_RECV_DTO, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.max_send_segments = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_SSEG, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.max_recv_segments = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_RSEG, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.srv.rc.max_rdma_read_segments = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_RRSEG, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.srv.rc.max_rdma_write_segments = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_RWSEG, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.srv.rc.rdma_read_ird = UINT32_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_IRD, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.srv.rc.rdma_read_ord = UINT32_MAX;
    EXPECT_STATUS(IT_ERR_RESOURCE_ORD, make_ep(&node, &attr, 0));
    attr = fx_ep_attr();
    attr.priv_ops_enable = IT_TRUE;
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE, make_ep(&node, &attr, 0));
    /* Without IT_EP_SRQ these are not looked at. */
    attr = fx_ep_attr();
    attr.srv.rc.srq = (it_srq_handle_t)(void *)&attr;
    attr.srv.rc.soft_hi_watermark = 5;
    attr.srv.rc.hard_hi_watermark = 5;
    EXPECT_OK(make_ep(&node, &attr, 0));
    /* The least there is. */
    memset(&attr, 0, sizeof(attr));
    attr.max_request_dtos = 1;
    attr.max_recv_dtos = 1;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = 1;
    attr.srv.rc.max_rdma_write_segments = 1;
    EXPECT_OK(make_ep(&node, &attr, 0));
    fx_node_close(&node);
    check_done();
}

/* ---- Memory regions ------------------------------------------------------------------------- */

static it_status_t make_lmr(const struct fx_node *node, void *addr, size_t length, unsigned mode,
                            unsigned privs, unsigned flags)
{
    it_lmr_handle_t lmr = NULL;
    it_rmr_context_t key = 0;
    it_status_t status = it_lmr_create21(node->pz, addr, NULL, length, (it_addr_mode_t)mode,
                                         (it_mem_priv_t)privs, (it_lmr_flag_t)flags, 0, &lmr, &key);

    EXPECT((status == IT_SUCCESS) == (lmr != NULL));
    if (lmr != NULL)
        EXPECT_OK(it_lmr_free(lmr));
    return status;
}

Test(api_args, lmr_create, .timeout = 60)
{
    struct fx_node node;
    static unsigned char memory[64];
    unsigned char *readonly;
    unsigned char *hole;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    it_iobl_t list;
    it_lmr_handle_t lmr = NULL;

    fx_node_open(&node);
    EXPECT_OK(make_lmr(&node, memory, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 0));
    EXPECT_OK(make_lmr(&node, memory, 64, IT_ADDR_MODE_RELATIVE, IT_PRIV_REMOTE_READ, 1));
    EXPECT_OK(make_lmr(&node, memory, 1, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_NONE, 1));
    EXPECT_OK(make_lmr(&node, memory, 64, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL, IT_LMR_FLAG_SHARED));
    EXPECT_OK(make_lmr(&node, memory, 64, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL,
                       IT_LMR_FLAG_NON_SHAREABLE));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH,
                  make_lmr(&node, memory, 0, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_ADDR_MODE, make_lmr(&node, memory, 64, 2, IT_PRIV_LOCAL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS, make_lmr(&node, memory, 64, 0, 0x20, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS, make_lmr(&node, memory, 64, 0, 0x80000000u, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS, make_lmr(&node, memory, 64, 0, IT_PRIV_REMOTE_WRITE, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS,
                  make_lmr(&node, memory, 64, 0, IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_WRITE, 1));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, make_lmr(&node, memory, 64, 0, IT_PRIV_LOCAL, 0x10));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, make_lmr(&node, memory, 64, 0, IT_PRIV_LOCAL,
                                                 IT_LMR_FLAG_SHARED | IT_LMR_FLAG_NON_SHAREABLE));
    EXPECT_STATUS(IT_ERR_ADDRESS,
                  make_lmr(&node, NULL, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 1));
    EXPECT_STATUS(IT_ERR_ADDRESS,
                  make_lmr(&node, NULL, 64, IT_ADDR_MODE_RELATIVE, IT_PRIV_LOCAL, 1));

    readonly = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(readonly != MAP_FAILED);
    EXPECT_OK(make_lmr(&node, readonly, page, 0, IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ, 1));
    EXPECT_STATUS(IT_ERR_ACCESS, make_lmr(&node, readonly, page, 0, IT_PRIV_LOCAL, 1));
    EXPECT_STATUS(IT_ERR_ACCESS, make_lmr(&node, readonly + page, 2, 0, IT_PRIV_LOCAL_WRITE, 1));
    hole = readonly + page;
    CHECK(munmap(hole, page) == 0);
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(&node, hole, page, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(&node, hole - 1, 2, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(&node, readonly, 3 * page, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_OK(make_lmr(&node, hole - 1, 1, 0, IT_PRIV_LOCAL_READ, 1));
    /* Wraps around the end of the address space. */
    {
        it_status_t status =
            make_lmr(&node, memory, SIZE_MAX, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 1);

        EXPECT(status == IT_ERR_RESOURCE_LMR_LENGTH || status == IT_ERR_FAULT);
    }
    memset(&list, 0, sizeof(list));
    list.iobl_type = IT_IOBL_PAGE_LIST;
    {
        it_status_t status = it_lmr_create21(node.pz, memory, &list, 64, IT_ADDR_MODE_ABSOLUTE,
                                             IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL);

        EXPECT(status == IT_ERR_PRIV_OPS_UNAVAILABLE || status == IT_ERR_INVALID_IOBL);
    }
    (void)munmap(readonly, page);
    (void)munmap(readonly + 2 * page, page);
    fx_node_close(&node);
    check_done();
}

/* The three bindings make the same kind of region. */
Test(api_args, lmr_bindings, .timeout = 60)
{
    struct fx_pair pair;
    struct fx_buf sink;
    static unsigned char memory[3][64];
    it_lmr_handle_t lmr[3];
    it_rmr_context_t key[3];

    fx_pair_open(&pair);
    sink = fx_buf_make(&pair.a, 64);
    for (uint32_t i = 0; i < 3; i++)
        fx_fill(memory[i], 64, i);
    CHECK_OK(it_lmr_create10(pair.b.pz, memory[0], 64, FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &lmr[0],
                             &key[0]));
    CHECK_OK(it_lmr_create20(pair.b.pz, memory[1], 64, IT_ADDR_MODE_RELATIVE, FX_PRIVS_ALL,
                             IT_LMR_FLAG_NONE, 0, &lmr[1], &key[1]));
    CHECK_OK(it_lmr_create21(pair.b.pz, memory[2], NULL, 64, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL,
                             IT_LMR_FLAG_NONE, 0, &lmr[2], &key[2]));
    for (uint32_t i = 0; i < 3; i++) {
        it_lmr_triplet_t segment = fx_seg(&sink, 0, 64);
        it_rdma_addr_t address =
            i == 1 ? it_make_rdma_addr_relative(0) : it_make_rdma_addr_absolute(memory[i]);

        CHECK_OK(it_post_rdma_read(pair.a_ep, &segment, 1, i, FX_SIGNAL, address, key[i]));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 64);
        fx_check_same(memory[i], sink.data, 64);
        CHECK_OK(it_lmr_free(lmr[i]));
    }
    fx_buf_free(&sink);
    fx_pair_close(&pair);
}

/* ---- Connecting ----------------------------------------------------------------------------- */

Test(api_args, listen_create, .timeout = 60)
{
    struct fx_node node;
    it_listen_handle_t listener = NULL;
    it_listen_handle_t again = NULL;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    uint16_t port = 0;

    fx_node_open(&node);
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT, it_listen_create(node.ia, 9999, node.listen_evd,
                                                          IT_LISTEN_NO_FLAG, &qual, &listener));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, it_listen_create(node.ia, node.spigot, node.listen_evd,
                                                         (it_listen_flags_t)0x4, &qual, &listener));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL,
                  it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                   &qual, &listener));
    qual.type = IT_IB_SERVICEID;
    qual.conn_qual.serviceid = 1;
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL,
                  it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                   &qual, &listener));
    qual.type = (it_conn_qual_type_t)0x40;
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL,
                  it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                   &qual, &listener));
    EXPECT(listener == NULL);
    listener = fx_listen(&node, &port);
    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    EXPECT_STATUS(IT_ERR_CONN_QUAL_BUSY,
                  it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                   &qual, &again));
    EXPECT_OK(it_listen_free(listener));
    /* Free again at once. */
    EXPECT_OK(it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                               &qual, &again));
    EXPECT_EQ(port, qual.conn_qual.port);
    EXPECT_OK(it_listen_free(again));
    fx_node_close(&node);
    check_done();
}

/* Connections that have ended do not keep their port: a server can be started again at once. */
Test(api_args, listen_again, .timeout = 60)
{
    struct fx_node a;
    struct fx_node b;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    listener = fx_listen(&b, &port);
    qual.conn_qual.port = port;
    for (unsigned round = 0; round < 3; round++) {
        it_ep_handle_t a_ep = fx_ep(&a, NULL);
        it_ep_handle_t b_ep = fx_ep(&b, NULL);

        fx_connect(&a, a_ep, port);
        CHECK_OK(it_ep_accept(b_ep, fx_request(&b, NULL), NULL, 0));
        fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        /* The server ends it, so that the time-wait is on its side. */
        CHECK_OK(it_ep_disconnect(b_ep, NULL, 0));
        fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_free(a_ep));
        CHECK_OK(it_ep_free(b_ep));
        CHECK_OK(it_listen_free(listener));
        CHECK_OK(it_listen_create(b.ia, b.spigot, b.listen_evd, IT_LISTEN_CONN_QUAL_INPUT, &qual,
                                  &listener));
    }
    fx_node_close(&a);
    fx_node_close(&b);
}

struct connect_args {
    it_path_t path;
    it_conn_qual_t qual;
    unsigned flags;
    const unsigned char *data;
    size_t len;
};

static it_status_t try_connect(it_ep_handle_t ep, const struct connect_args *args)
{
    return it_ep_connect(ep, &args->path, NULL, &args->qual, (it_cn_est_flags_t)args->flags,
                         args->data, args->len);
}

Test(api_args, ep_connect, .timeout = 60)
{
    static unsigned char data[IT_MAX_PRIV_DATA + 1];
    struct fx_node node;
    struct connect_args good;
    struct connect_args a;
    it_ep_handle_t ep;
    uint16_t port = 0;

    fx_node_open(&node);
    (void)fx_listen(&node, &port);
    ep = fx_ep(&node, NULL);
    memset(&good, 0, sizeof(good));
    good.path = fx_path(&node);
    good.qual.type = IT_IANA_PORT;
    good.qual.conn_qual.port = port;
    good.flags = IT_CONNECT_FLAG_TWO_WAY;
    a = good;
    a.flags = 0;
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_FLAGS, try_connect(ep, &a));
    a.flags = IT_CONNECT_FLAG_THREE_WAY;
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_FLAGS, try_connect(ep, &a));
    a.flags = IT_CONNECT_FLAG_TWO_WAY | IT_CONNECT_FLAG_THREE_WAY;
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_FLAGS, try_connect(ep, &a));
    a.flags = IT_CONNECT_FLAG_TWO_WAY | 0x8;
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_FLAGS, try_connect(ep, &a));
    a = good;
    a.qual.conn_qual.port = 0;
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, try_connect(ep, &a));
    a.qual.type = IT_IB_SERVICEID;
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, try_connect(ep, &a));
    a.qual.type = (it_conn_qual_type_t)0;
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, try_connect(ep, &a));
    a = good;
    a.path.spigot_id = 9999;
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT, try_connect(ep, &a));
    a = good;
    a.path.remote.iwarp.laddr.ipv4.s_addr = inet_addr("192.0.2.77");
    EXPECT_STATUS(IT_ERR_INVALID_SOURCE_PATH, try_connect(ep, &a));
    a = good;
    a.path.remote.iwarp.raddr.ipv4.s_addr = htonl(INADDR_ANY);
    EXPECT_STATUS(IT_ERR_INVALID_ADDRESS, try_connect(ep, &a));
    a.path.remote.iwarp.raddr.ipv4.s_addr = htonl(INADDR_BROADCAST);
    EXPECT_STATUS(IT_ERR_INVALID_ADDRESS, try_connect(ep, &a));
    a.path.remote.iwarp.raddr.ipv4.s_addr = inet_addr("224.0.0.1");
    EXPECT_STATUS(IT_ERR_INVALID_ADDRESS, try_connect(ep, &a));
    a = good;
    a.data = data;
    a.len = sizeof(data);
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, try_connect(ep, &a));
    a.len = SIZE_MAX;
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, try_connect(ep, &a));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    /* Length 0: the pointer is not looked at. */
    a = good;
    a.data = (const unsigned char *)(uintptr_t)1;
    EXPECT_OK(try_connect(ep, &a));
    EXPECT(fx_request(&node, NULL) != 0);
    fx_empty(node.conn_evd);
    fx_node_close(&node);
    check_done();
}

/* Private data of accept and reject. */
Test(api_args, accept_and_reject, .timeout = 60)
{
    static unsigned char data[IT_MAX_PRIV_DATA + 1];
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_cn_est_identifier_t id;
    it_event_t event;
    it_conn_qual_t here = {.type = IT_IANA_PORT};
    it_conn_qual_t nowhere = {.type = IT_IANA_PORT};
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, NULL);
    fx_fill(data, sizeof(data), 3);
    (void)fx_listen(&b, &port);
    here.conn_qual.port = port;
    nowhere.conn_qual.port = htons(1);
    fx_connect(&a, a_ep, port);
    id = fx_request(&b, NULL);
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_accept(b_ep, id, NULL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, it_ep_accept(b_ep, id, data, sizeof(data)));
    EXPECT_STATUS(IT_ERR_FAULT, it_reject(id, NULL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, it_reject(id, data, sizeof(data)));
    EXPECT_STATUS(IT_ERR_FAULT, it_handoff(NULL, b.spigot, id));
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT, it_handoff(&here, 9999, id));
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&nowhere, b.spigot, id));
    EXPECT_OK(it_ep_accept(b_ep, id, data, IT_MAX_PRIV_DATA));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_handoff(&here, b.spigot, id));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_TRUE, event.conn.private_data_present);
    EXPECT(memcmp(event.conn.private_data, data, IT_MAX_PRIV_DATA) == 0);
    event = fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_FALSE, event.conn.private_data_present);
    /* None is carried with a disconnect. */
    EXPECT_STATUS(IT_ERR_FAULT, it_ep_disconnect(a_ep, NULL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, it_ep_disconnect(a_ep, data, 1));
    EXPECT_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(a_ep));
    EXPECT_OK(it_ep_disconnect(a_ep, data, 0));
    fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    EXPECT_OK(it_ep_reset(a_ep));
    fx_connect(&a, a_ep, port);
    EXPECT_OK(it_reject(fx_request(&b, NULL), data, IT_MAX_PRIV_DATA));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    EXPECT_EQ(IT_TRUE, event.conn.private_data_present);
    EXPECT(memcmp(event.conn.private_data, data, IT_MAX_PRIV_DATA) == 0);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(a_ep));
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
}

/* ---- Conversion ----------------------------------------------------------------------------- */

static it_status_t convert(int fd, it_ep_handle_t ep, unsigned flags)
{
    return it_socket_convert(fd, ep, (it_sc_flags_t)flags, NULL, 0);
}

Test(api_args, socket_convert, .timeout = 60)
{
    struct fx_node node;
    struct raw_peer peer;
    struct itx_convert_params params;
    it_ep_handle_t ep;
    unsigned char octet = 0;
    int pipes[2];
    int unix_pair[2];
    int fd = -1;
    int other;
    uint16_t port = 0;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    raw_socket_pair(&peer, &fd);
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, 0x2));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, 0x400));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, ITX_SC_INITIATOR | ITX_SC_RESPONDER));
    EXPECT_STATUS(IT_ERR_FAULT, it_socket_convert(fd, ep, IT_SC_DEFAULT, NULL, 4));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH,
                  it_socket_convert(fd, ep, IT_SC_DEFAULT, &octet, SIZE_MAX));
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(-1, ep, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(999999, ep, 0));
    CHECK(pipe(pipes) == 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(pipes[0], ep, 0));
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair) == 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(unix_pair[0], ep, 0));
    other = raw_listen(&port);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    other = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    other = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    memset(&params, 0, sizeof(params));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.size = sizeof(params);
    params.msg_len = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.msg_len = 0;
    params.early_len = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.early_len = 0;
    params.private_data_length = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.private_data = &octet;
    params.private_data_length = 10000;
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.private_data_length = 1;
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                  itx_socket_convert(fd, ep, IT_SC_NO_REQ_REP, &params));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    /* The stream is as it was: octets go both ways, and nothing has been sent. */
    CHECK(raw_send_part(&peer, "ab", 2));
    CHECK(send(fd, "cd", 2, 0) == 2);
    {
        char text[3] = "";

        CHECK(recv(fd, text, 3, 0) == 2 && memcmp(text, "ab", 2) == 0);
        CHECK_EQ(RAW_OK, raw_receive(&peer, text, 2, NULL));
        CHECK(memcmp(text, "cd", 2) == 0);
    }
    for (int i = 0; i < 2; i++) {
        (void)close(pipes[i]);
        (void)close(unix_pair[i]);
    }
    (void)close(fd);
    raw_close(&peer);
    fx_node_close(&node);
    check_done();
}

/* ---- Extensions ----------------------------------------------------------------------------- */

Test(api_args, mpa_settings, .timeout = 60)
{
    struct fx_node node;
    struct itx_mpa_params params;
    struct itx_mpa_info info;
    struct itx_counters counters;
    it_ep_handle_t ep;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    memset(&params, 0, sizeof(params));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_ep_get_mpa_params(ep, &params));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_ep_set_mpa_params(ep, &params));
    memset(&info, 0, sizeof(info));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_ep_query_mpa(ep, &info));
    info.size = sizeof(info);
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, itx_ep_query_mpa(ep, &info));
    memset(&counters, 0, sizeof(counters));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_ia_query_counters(node.ia, &counters));
    counters.size = sizeof(counters);
    EXPECT_OK(itx_ia_query_counters(node.ia, &counters));
    params = fx_mpa(ep);
    params.revision = 0;
    EXPECT_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    params.revision = 3;
    EXPECT_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    params = fx_mpa(ep);
    params.rtr_types = 0x8;
    EXPECT_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    params.rtr_types = 0;
    EXPECT_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    params.peer_to_peer = IT_FALSE;
    EXPECT_OK(itx_ep_set_mpa_params(ep, &params));
    params.request_markers = IT_TRUE;
    EXPECT_STATUS(IT_ERR_INVALID_EP_ATTR, itx_ep_set_mpa_params(ep, &params));
    params = fx_mpa(ep);
    EXPECT_EQ(IT_FALSE, params.peer_to_peer);
    EXPECT_EQ(0, params.rtr_types);
    fx_node_close(&node);
    check_done();
}

Test(api_args, small_utilities, .timeout = 60)
{
    int x = 0;

    EXPECT_EQ(0x0102030405060708ull, it_ntoh64(it_hton64(0x0102030405060708ull)));
    {
        uint64_t wire = it_hton64(0x0102030405060708ull);

        EXPECT(memcmp(&wire, "\1\2\3\4\5\6\7\10", 8) == 0);
    }
    EXPECT_EQ((uintptr_t)&x, it_make_rdma_addr_absolute(&x));
    EXPECT_EQ(0x123456789ull, it_make_rdma_addr_relative(0x123456789ull));
    EXPECT(strcmp(itx_status_string(IT_ERR_INVALID_EP), "IT_ERR_INVALID_EP") == 0);
    EXPECT(strcmp(itx_status_string((it_status_t)12345), "unknown it_status_t") == 0);
    EXPECT(strcmp(itx_dto_status_string(IT_DTO_ERR_FLUSHED), "IT_DTO_ERR_FLUSHED") == 0);
    EXPECT(strcmp(itx_event_string(IT_CM_MSG_CONN_BROKEN_EVENT), "IT_CM_MSG_CONN_BROKEN_EVENT") ==
           0);
    EXPECT(strcmp(itx_ep_state_string(IT_EP_STATE_CONNECTED), "IT_EP_STATE_CONNECTED") == 0);
    EXPECT(strcmp(itx_version(), ITX_VERSION_STRING) == 0);
    check_done();
}
