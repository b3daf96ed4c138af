/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram calls on an IA without datagrams: errors in the arguments are reported first. */
#include "unit/fixture_world.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

static it_path_t path;
static it_conn_qual_t qual;

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

TestSuite(tii_ud, .init = setup, .fini = world_fini);

static void fail_ia(void)
{
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
}

Test(tii_ud, endpoints)
{
    it_evd_handle_t dto = world.dto_evd;
    it_ep_handle_t ep = NULL;

    cr_assert_eq(it_ep_ud_create(NULL, dto, dto, &world.attr, FAKE_SPIGOT, &ep), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_ep_ud_create(world.pz, NULL, dto, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_INVALID_REQ_EVD);
    cr_assert_eq(it_ep_ud_create(world.pz, world.conn_evd, dto, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_INVALID_REQ_EVD);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, world.req_evd, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_INVALID_RECV_EVD);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, world.aevd, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, dto, NULL, FAKE_SPIGOT, &ep), IT_ERR_FAULT);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, dto, &world.attr, FAKE_SPIGOT, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, dto, &world.attr, FAKE_SPIGOT + 1, &ep),
                 IT_ERR_INVALID_SPIGOT);
    cr_assert_eq(it_ep_ud_create(world.pz, dto, dto, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_OP_NOT_SUPPORTED);
    fail_ia();
    cr_assert_eq(it_ep_ud_create(world.pz, dto, dto, &world.attr, FAKE_SPIGOT, &ep),
                 IT_ERR_IA_CATASTROPHE);
    cr_assert_null(ep);
    cr_assert_eq(it_evd_free(dto), IT_ERR_EVD_BUSY, "world.ep has it");
}

Test(tii_ud, posts)
{
    it_dg_remote_ep_addr_t to;
    it_lmr_triplet_t segment = {.lmr = world.lmr, .addr.abs = world.memory, .length = 1};
    it_dto_flags_t none = (it_dto_flags_t)0;

    memset(&to, 0, sizeof(to));
    cr_assert_eq(it_post_sendto(NULL, &segment, 1, 1, none, &to), IT_ERR_INVALID_EP);
    cr_assert_eq(it_post_recvfrom(NULL, &segment, 1, 1, none), IT_ERR_INVALID_EP);
    cr_assert_eq(it_post_recvfrom((it_ep_handle_t)(void *)world.pz, &segment, 1, 1, none),
                 IT_ERR_INVALID_EP);
    cr_assert_eq(it_post_sendto(world.ep, &segment, 1, 1, none, &to), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_recvfrom(world.ep, &segment, 1, 1, none), IT_ERR_INVALID_EP_TYPE);
    fail_ia();
    cr_assert_eq(it_post_sendto(world.ep, &segment, 1, 1, none, &to), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_post_recvfrom(world.ep, &segment, 1, 1, none), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(fake.calls.post_request + fake.calls.post_recv, 0);
}

static it_status_t prepare(it_evd_handle_t evd)
{
    it_ud_svc_req_handle_t request = NULL;
    it_status_t status = it_ud_service_request_handle_create(&qual, evd, &path, NULL, 0, &request);

    cr_assert_null(request);
    return status;
}

Test(tii_ud, service_requests)
{
    it_ud_svc_req_handle_t request;
    it_evd_handle_t evd = world.conn_evd;

    cr_assert_eq(prepare(NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(prepare((it_evd_handle_t)(void *)world.ep), IT_ERR_INVALID_EVD);
    cr_assert_eq(prepare(world.aevd), IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(prepare(world.dto_evd), IT_ERR_INVALID_EVD_TYPE);
    cr_assert_eq(it_ud_service_request_handle_create(NULL, evd, &path, NULL, 0, &request),
                 IT_ERR_FAULT);
    cr_assert_eq(it_ud_service_request_handle_create(&qual, evd, NULL, NULL, 0, &request),
                 IT_ERR_FAULT);
    cr_assert_eq(it_ud_service_request_handle_create(&qual, evd, &path, NULL, 0, NULL),
                 IT_ERR_FAULT);
    cr_assert_eq(it_ud_service_request_handle_create(&qual, evd, &path, NULL, 1, &request),
                 IT_ERR_FAULT);
    path.spigot_id = FAKE_SPIGOT + 1;
    cr_assert_eq(prepare(evd), IT_ERR_INVALID_SOURCE_PATH);
    path.spigot_id = FAKE_SPIGOT;
    path.remote.iwarp.laddr.ipv4.s_addr = htonl(0x0a000002);
    cr_assert_eq(prepare(evd), IT_ERR_INVALID_SOURCE_PATH);
    path.remote.iwarp.laddr.ipv4.s_addr = htonl(INADDR_ANY);
    path.remote.iwarp.raddr.ipv4.s_addr = htonl(INADDR_BROADCAST);
    cr_assert_eq(prepare(evd), IT_ERR_INVALID_ADDRESS);
    path.remote.iwarp.raddr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(prepare(evd), IT_ERR_OP_NOT_SUPPORTED);
    fail_ia();
    cr_assert_eq(prepare(evd), IT_ERR_IA_CATASTROPHE);
}

Test(tii_ud, no_handle_names_a_service_request)
{
    it_ud_svc_req_handle_t wrong[] = {NULL, (it_ud_svc_req_handle_t)(void *)world.ep};
    it_ud_svc_req_param_t params;
    it_remote_ep_info_t info = {0};

    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(it_ud_service_request_handle_query(wrong[i], IT_UD_PARAM_ALL, &params),
                     IT_ERR_INVALID_UD_SVC);
        cr_assert_eq(it_ud_service_request_handle_free(wrong[i]), IT_ERR_INVALID_UD_SVC);
        cr_assert_eq(it_ud_service_request(wrong[i]), IT_ERR_INVALID_UD_SVC);
        cr_assert_eq(it_ud_service_reply(i, IT_UD_SVC_REQ_REJECTED, info, NULL, 0),
                     IT_ERR_INVALID_UD_SVC_REQ_ID);
    }
}

static it_status_t resolve(it_pz_handle_t pz, unsigned flags)
{
    it_addr_handle_t address = NULL;
    it_status_t status = it_address_handle_create(pz, &path, (it_ah_flags_t)flags, &address);

    cr_assert_null(address);
    return status;
}

Test(tii_ud, address_handles)
{
    it_addr_handle_t wrong[] = {NULL, (it_addr_handle_t)(void *)world.ep};
    it_addr_handle_t address = NULL;
    it_addr_param_t params = {.path = path};

    cr_assert_eq(resolve(NULL, 0), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_address_handle_create(world.pz, NULL, IT_AH_PATH_COMPLETE, &address),
                 IT_ERR_FAULT);
    cr_assert_eq(it_address_handle_create(world.pz, &path, IT_AH_PATH_COMPLETE, NULL),
                 IT_ERR_FAULT);
    cr_assert_eq(resolve(world.pz, 2), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(resolve(world.pz, 0), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(resolve(world.pz, IT_AH_PATH_COMPLETE), IT_ERR_OP_NOT_SUPPORTED);
    path.remote.iwarp.raddr.ipv4.s_addr = htonl(INADDR_ANY);
    cr_assert_eq(resolve(world.pz, 0), IT_ERR_INVALID_ADDRESS);
    path.remote.iwarp.laddr.ipv4.s_addr = htonl(0x0a000002);
    cr_assert_eq(resolve(world.pz, 0), IT_ERR_INVALID_SOURCE_PATH);
    path.spigot_id = FAKE_SPIGOT + 1;
    cr_assert_eq(resolve(world.pz, 0), IT_ERR_INVALID_SPIGOT);
    fail_ia();
    cr_assert_eq(resolve(world.pz, 0), IT_ERR_IA_CATASTROPHE);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(it_address_handle_query(wrong[i], IT_ADDR_PARAM_ALL, &params),
                     IT_ERR_INVALID_AH);
        cr_assert_eq(it_address_handle_modify(wrong[i], IT_ADDR_PARAM_PATH, &params),
                     IT_ERR_INVALID_AH);
        cr_assert_eq(it_address_handle_free(wrong[i]), IT_ERR_INVALID_AH);
    }
}
