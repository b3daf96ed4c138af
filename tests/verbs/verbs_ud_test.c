/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of datagrams and their addresses, on a device with RoCE. */
#include "verbs/fixture_stub.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define PAYLOAD 1024u /* the MTU of the port */
#define HEADER  40u
#define KEY     5u

static it_ep_attributes_t attributes(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    memset(&attr.srv, 0, sizeof(attr.srv));
    attr.max_dto_payload_size = PAYLOAD;
    attr.max_request_dtos = attr.max_recv_dtos = 16;
    attr.srv.ud.ep_info.ud_ep_key = KEY;
    return attr;
}

static it_status_t make(const it_ep_attributes_t *attr, it_ep_handle_t *ep)
{
    return it_ep_ud_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd, attr, 1, ep);
}

static void start(void)
{
    it_ep_attributes_t attr = attributes();

    stub_start();
    stub.on_ethernet = true;
    stub.has_gids = true;
    stub_open();
    CHECK_OK(make(&attr, &n.a));
    CHECK_OK(make(&attr, &n.b));
    stub_join(stub_qp(n.a), stub_qp(n.b));
}

TestSuite(verbs_ud, .init = start, .fini = stub_close);

static it_path_t path_to(const char *remote, const char *local)
{
    it_path_t path;

    memset(&path, 0, sizeof(path));
    path.spigot_id = 1;
    CHECK_EQ(1, inet_pton(AF_INET6, remote, &path.remote.ib.remote_port_gid));
    CHECK_EQ(1, inet_pton(AF_INET6, local, &path.remote.ib.local_port_gid));
    return path;
}

static it_addr_handle_t address(void)
{
    it_path_t path = path_to("::ffff:192.0.2.2", STUB_GID);
    it_addr_handle_t made;

    CHECK_OK(it_address_handle_create(n.fx.pz, &path, (it_ah_flags_t)0, &made));
    return made;
}

static it_ep_param_t query(void)
{
    it_ep_param_t param;

    CHECK_OK(it_ep_query(n.a, IT_EP_PARAM_ALL, &param));
    return param;
}

static void post_to(it_addr_handle_t to, size_t length, it_dto_cookie_t cookie,
                    it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(&n.buf, 0, length);
    it_dg_remote_ep_addr_t remote = {.type = IT_DG_TYPE_IB_UD};

    remote.addr.ud.addr = to;
    remote.addr.ud.ep_info.ud_ep_id = stub_qp(n.b)->qp_num;
    remote.addr.ud.ep_info.ud_ep_key = KEY;
    CHECK_OK(it_post_sendto(n.a, &segment, 1, cookie, flags, &remote));
}

static void send_to(it_addr_handle_t to, size_t length, it_dto_cookie_t cookie)
{
    post_to(to, length, cookie, FX_SIGNAL);
}

static void receive(size_t offset, size_t length, it_dto_cookie_t cookie)
{
    it_lmr_triplet_t segment = fx_seg(&n.buf, offset, length);

    CHECK_OK(it_post_recvfrom(n.b, &segment, 1, cookie, FX_SIGNAL));
}

/* The header lies in front of the data, and does not count. */
Test(verbs_ud, a_datagram)
{
    it_addr_handle_t to = address();
    it_event_t event;

    fx_fill(n.buf.data, 100, 3);
    receive(4096, HEADER + 100, 7);
    send_to(to, 100, 8);
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 8, IT_DTO_SUCCESS);
    event = fx_next(n.fx.recv_evd);
    CHECK_EQ(IT_DTO_UD_RECV_CMPL_EVENT, event.event_number);
    CHECK_EQ(7, event.all_dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.all_dto_cmpl.dto_status);
    CHECK_EQ(100, event.all_dto_cmpl.transferred_length);
    CHECK_EQ(IT_UD_IB_GRH_PRESENT, event.all_dto_cmpl.flags);
    CHECK_EQ(stub_qp(n.a)->qp_num, event.all_dto_cmpl.ud_ep_id);
    CHECK_EQ(1, event.all_dto_cmpl.src_path.spigot_id);
    CHECK(fx_is_filled(n.buf.data + 4096 + HEADER, 100, 3));
    CHECK_OK(it_address_handle_free(to));
}

/* The device signals each request: no marker can follow, which would need a destination. */
Test(verbs_ud, a_datagram_without_an_event)
{
    it_addr_handle_t to = address();

    receive(4096, HEADER + 8, 1);
    post_to(to, 8, 2, (it_dto_flags_t)0);
    CHECK(stub_posted(stub_qp(n.a)).flags & IBV_SEND_SIGNALED);
    fx_empty(n.fx.request_evd);
    CHECK_OK(it_address_handle_free(to));
}

/* The device gets the GID of RoCE 2, since peers beyond a router know no other. */
Test(verbs_ud, the_address_of_the_device)
{
    it_addr_handle_t made = address();
    struct ibv_ah_attr attr = stub_address();
    it_path_t path = path_to("::ffff:192.0.2.2", STUB_GID);

    CHECK_EQ(1, attr.is_global);
    CHECK_EQ(1, attr.port_num);
    CHECK_EQ(1, attr.grh.sgid_index);
    CHECK_EQ(64, attr.grh.hop_limit);
    CHECK_EQ(0, memcmp(&attr.grh.dgid, &path.remote.ib.remote_port_gid, sizeof(attr.grh.dgid)));
    CHECK_OK(it_address_handle_free(made));
    path.remote.ib.hop_limit = 3;
    path.remote.ib.traffic_class = 0x5a;
    path.remote.ib.flow_label = 0x12345;
    path.remote.ib.sl = 2;
    CHECK_OK(it_address_handle_create(n.fx.pz, &path, IT_AH_PATH_COMPLETE, &made));
    attr = stub_address();
    CHECK_EQ(3, attr.grh.hop_limit);
    CHECK_EQ(0x5a, attr.grh.traffic_class);
    CHECK_EQ(0x12345, attr.grh.flow_label);
    CHECK_EQ(2, attr.sl);
}

Test(verbs_ud, addresses_that_lead_nowhere)
{
    static const struct {
        const char *remote, *local;
        it_status_t status;
    } rows[] = {
        {"::", STUB_GID, IT_ERR_INVALID_ADDRESS},
        {"ff02::1", STUB_GID, IT_ERR_INVALID_ADDRESS},
        {"::ffff:192.0.2.2", "::ffff:192.0.2.9", IT_ERR_INVALID_SOURCE_PATH},
        {"::ffff:192.0.2.2", "::", IT_ERR_INVALID_SOURCE_PATH}, /* no route is known here */
    };
    size_t objects = stub_objects();
    it_addr_handle_t made;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        it_path_t path = path_to(rows[i].remote, rows[i].local);

        CHECK_STATUS(rows[i].status,
                     it_address_handle_create(n.fx.pz, &path, (it_ah_flags_t)0, &made));
    }
    CHECK_EQ(objects, stub_objects());
}

Test(verbs_ud, addresses_that_the_device_refuses)
{
    static const struct {
        int error;
        it_status_t status;
    } rows[] = {
        {ENOMEM, IT_ERR_RESOURCES},
        {EMFILE, IT_ERR_RESOURCES},
        {EINVAL, IT_ERR_INVALID_ADDRESS},
        {EHOSTUNREACH, IT_ERR_INVALID_ADDRESS},
    };
    it_path_t path = path_to("::ffff:192.0.2.2", STUB_GID);
    it_addr_handle_t made;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        stub.address_error = rows[i].error;
        CHECK_STATUS(rows[i].status,
                     it_address_handle_create(n.fx.pz, &path, (it_ah_flags_t)0, &made));
    }
}

/* A new one takes the place of the old one, or nothing changes. */
Test(verbs_ud, an_address_that_changes)
{
    it_addr_handle_t made = address();
    size_t objects = stub_objects();
    it_addr_param_t param = {.path = path_to("::ffff:192.0.2.3", STUB_GID)}, now;

    stub.address_error = ENOMEM;
    CHECK_STATUS(IT_ERR_RESOURCES, it_address_handle_modify(made, IT_ADDR_PARAM_PATH, &param));
    CHECK_OK(it_address_handle_query(made, IT_ADDR_PARAM_ALL, &now));
    CHECK_EQ(2, now.path.remote.ib.remote_port_gid.s6_addr[15]);
    stub.address_error = 0;
    CHECK_OK(it_address_handle_modify(made, IT_ADDR_PARAM_PATH, &param));
    CHECK_OK(it_address_handle_query(made, IT_ADDR_PARAM_ALL, &now));
    CHECK_EQ(3, now.path.remote.ib.remote_port_gid.s6_addr[15]);
    CHECK_EQ(objects, stub_objects());
    CHECK_OK(it_address_handle_free(made));
    CHECK_EQ(objects - 1, stub_objects());
}

Test(verbs_ud, endpoints_that_cannot_be)
{
    it_ep_attributes_t attr = attributes();
    it_ep_handle_t ep;

    attr.max_dto_payload_size = PAYLOAD + 1;
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE, make(&attr, &ep));
    attr = attributes();
    attr.srv.ud.ep_info.ud_ep_key = UINT32_C(0x80000000); /* only for the privileged */
    CHECK_STATUS(IT_ERR_INVALID_EP_KEY, make(&attr, &ep));
    attr = attributes();
    stub.modify_error = ENOMEM;
    CHECK_STATUS(IT_ERR_RESOURCES, make(&attr, &ep));
    stub.modify_error = 0;
}

Test(verbs_ud, the_key)
{
    it_ep_attributes_t attr = query().attr;

    CHECK_EQ(KEY, stub_key(stub_qp(n.a)));
    CHECK_EQ(stub_qp(n.a)->qp_num, attr.srv.ud.ep_info.ud_ep_id);
    attr.srv.ud.ep_info.ud_ep_key = 6;
    CHECK_OK(it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
    CHECK_EQ(6, stub_key(stub_qp(n.a)));
    attr.srv.ud.ep_info.ud_ep_key = UINT32_C(0x80000000);
    CHECK_STATUS(IT_ERR_INVALID_EP_KEY, it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
    attr.srv.ud.ep_info.ud_ep_key = 7;
    stub.modify_error = EPERM;
    CHECK_STATUS(IT_ERR_INVALID_EP_KEY, it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
    stub.modify_error = ENOMEM;
    CHECK_STATUS(IT_ERR_RESOURCES, it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
    stub.modify_error = 0;
    CHECK_EQ(6, stub_key(stub_qp(n.a)));
    CHECK_EQ(6, query().attr.srv.ud.ep_info.ud_ep_key);
}

/* A request that fails ends the endpoint. A reset makes it work again, with the key of then. */
Test(verbs_ud, failure_and_reset)
{
    it_addr_handle_t to = address();
    it_ep_attributes_t attr = query().attr;
    it_event_t event;

    stub_fail_next(stub_qp(n.a), IBV_WC_LOC_QP_OP_ERR);
    send_to(to, 8, 1);
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_EP);
    event = fx_wait(n.fx.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_EP_FAILURE, event.aff_async.event_number);
    CHECK(event.aff_async.cause.ep == n.a);
    CHECK_EQ(IT_EP_STATE_UD_NONOPERATIONAL, query().ep_state.ud);
    send_to(to, 8, 2);
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    attr.srv.ud.ep_info.ud_ep_key = 9;
    stub.modify_error = EINVAL; /* as devices answer for a QP that has failed */
    CHECK_OK(it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
    stub.modify_error = 0;
    CHECK_OK(it_ep_reset(n.a));
    CHECK_EQ(IT_EP_STATE_UD_OPERATIONAL, query().ep_state.ud);
    CHECK_EQ(9, stub_key(stub_qp(n.a)));
    CHECK_EQ(stub_qp(n.a)->qp_num, query().attr.srv.ud.ep_info.ud_ep_id);
    stub_join(stub_qp(n.a), stub_qp(n.b));
    receive(4096, HEADER + 8, 3);
    send_to(to, 8, 4);
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 4, IT_DTO_SUCCESS);
    CHECK_OK(it_address_handle_free(to));
}

/* A QP whose send queue alone has failed would still receive. */
Test(verbs_ud, a_send_queue_that_has_failed)
{
    struct ibv_qp_attr failed = {.qp_state = IBV_QPS_SQE};

    receive(4096, HEADER + 8, 1);
    CHECK_EQ(0, ibv_modify_qp(stub_qp(n.b), &failed, IBV_QP_STATE));
    stub_raise(IBV_EVENT_QP_FATAL, stub_qp(n.b), 0);
    CHECK(fx_wait(n.fx.aff_evd).aff_async.cause.ep == n.b);
    fx_done(n.fx.recv_evd, n.b, IT_DTO_UD_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
}

static void give_new_key(void)
{
    it_ep_attributes_t attr = query().attr;

    attr.srv.ud.ep_info.ud_ep_key = 9;
    CHECK_OK(it_ep_modify(n.a, IT_EP_PARAM_EP_KEY, &attr));
}

/* The new QP was made with the key of then. */
Test(verbs_ud, a_key_that_changes_during_a_reset)
{
    struct ibv_qp_attr failed = {.qp_state = IBV_QPS_ERR};

    CHECK_EQ(0, ibv_modify_qp(stub_qp(n.a), &failed, IBV_QP_STATE));
    stub_raise(IBV_EVENT_QP_FATAL, stub_qp(n.a), 0);
    CHECK(fx_wait(n.fx.aff_evd).aff_async.cause.ep == n.a);
    stub.destroys_qp = give_new_key; /* the old one, when the new one exists */
    CHECK_OK(it_ep_reset(n.a));
    stub.destroys_qp = NULL;
    CHECK_EQ(9, query().attr.srv.ud.ep_info.ud_ep_key);
    CHECK_EQ(9, stub_key(stub_qp(n.a)));
}

/* The device has not noticed anything: its QP works. */
static void expect_failure(it_ep_handle_t ep, it_evd_handle_t evd)
{
    CHECK(fx_wait(n.fx.aff_evd).aff_async.cause.ep == ep);
    CHECK_EQ(IT_DTO_ERR_FLUSHED, fx_next(evd).all_dto_cmpl.dto_status);
    fx_empty(n.fx.aff_evd);
}

Test(verbs_ud, a_request_that_the_device_refuses)
{
    it_addr_handle_t to = address();

    stub.refuse_post = EINVAL;
    send_to(to, 8, 1);
    expect_failure(n.a, n.fx.request_evd);
    CHECK_EQ(IT_EP_STATE_UD_NONOPERATIONAL, query().ep_state.ud);
    stub.refuse_post = 0;
    CHECK_OK(it_address_handle_free(to));
}

Test(verbs_ud, a_receive_that_the_device_refuses)
{
    stub.refuse_post = EINVAL;
    receive(4096, HEADER + 8, 1);
    expect_failure(n.b, n.fx.recv_evd);
    stub.refuse_post = 0;
}

/* Events of the device about an endpoint that works change nothing. */
Test(verbs_ud, false_alarm)
{
    struct ibv_qp_attr failed = {.qp_state = IBV_QPS_ERR};

    stub_raise(IBV_EVENT_QP_REQ_ERR, stub_qp(n.a), 0);
    CHECK_EQ(0, ibv_modify_qp(stub_qp(n.b), &failed, IBV_QP_STATE));
    stub_raise(IBV_EVENT_QP_FATAL, stub_qp(n.b), 0); /* read after the other one */
    CHECK(fx_wait(n.fx.aff_evd).aff_async.cause.ep == n.b);
    fx_empty(n.fx.aff_evd);
    CHECK_EQ(IT_EP_STATE_UD_OPERATIONAL, query().ep_state.ud);
}
