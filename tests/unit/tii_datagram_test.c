/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagram calls on an IA that has datagrams: checks what reaches the provider and what does not.
 */
#include "ual/providers/ual_providers.h"
#include "evd/deliver/evd_deliver.h"
#include "unit/fake_provider.h"
#include "itx_api.h"

#include <criterion/criterion.h>
#include <string.h>

#define KEY 77u

static struct fake_world world;
static it_path_t path;
static it_conn_qual_t qual;
static it_ep_handle_t ep;
static it_addr_handle_t address;
static it_ud_svc_req_handle_t service;

static it_ep_attributes_t attributes(void)
{
    it_ep_attributes_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.max_dto_payload_size = 1000;
    attr.max_request_dtos = 3;
    attr.max_recv_dtos = 4;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 2;
    attr.srv.ud.ep_info.ud_ep_key = KEY;
    return attr;
}

static void setup(void)
{
    it_ep_attributes_t attr = attributes();

    fake_setup();
    fake.attributes.transport_type = IT_IB_TRANSPORT;
    fake.attributes.datagrams = IT_TRUE;
    fake.attributes.ud_request_pdata = 10;
    fake.attributes.ud_reply_pdata = 20;
    fake.attributes.active_quals = IT_IANA_PORT;
    fake_world_open(&world);
    path.spigot_id = FAKE_SPIGOT;
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = 7;
    cr_assert_eq(it_ep_ud_create(world.pz, world.dto_evd, world.dto_evd, &attr, FAKE_SPIGOT, &ep),
                 IT_SUCCESS);
    cr_assert_eq(it_address_handle_create(world.pz, &path, (it_ah_flags_t)0, &address), IT_SUCCESS);
    cr_assert_eq(it_ud_service_request_handle_create(&qual, world.conn_evd, &path,
                                                     (const unsigned char *)"ask", 3, &service),
                 IT_SUCCESS);
}

static void teardown(void)
{
    fake.answer = IT_SUCCESS;
    fake_world_close(&world);
}

TestSuite(tii_datagram, .init = setup, .fini = teardown);

static struct ual_ep *object(void)
{
    return (struct ual_ep *)(void *)ep;
}

static void set_state(it_ep_state_ud_t state)
{
    base_lock_take(&object()->lock);
    cr_assert(ual_ep_set_ud_state_locked(object(), state));
    cr_assert_not(ual_ep_set_ud_state_locked(object(), state));
    base_lock_drop(&object()->lock);
}

/* ---------------------------------------------------------------- endpoints */

Test(tii_datagram, create)
{
    it_ep_attributes_t attr = attributes();
    it_ep_handle_t other = NULL;

    attr.max_dto_payload_size = fake.attributes.max_message + 1;
    cr_assert_eq(
        it_ep_ud_create(world.pz, world.dto_evd, world.dto_evd, &attr, FAKE_SPIGOT, &other),
        IT_ERR_PAYLOAD_SIZE);
    attr = attributes();
    attr.max_recv_segments = fake.attributes.max_recv_segments + 1;
    cr_assert_eq(
        it_ep_ud_create(world.pz, world.dto_evd, world.dto_evd, &attr, FAKE_SPIGOT, &other),
        IT_ERR_RESOURCE_RSEG);
    attr = attributes();
    attr.priv_ops_enable = IT_TRUE;
    cr_assert_eq(
        it_ep_ud_create(world.pz, world.dto_evd, world.dto_evd, &attr, FAKE_SPIGOT, &other),
        IT_ERR_INVALID_EP_ATTR);
    attr = attributes();
    fake.answer = IT_ERR_INVALID_EP_KEY;
    cr_assert_eq(
        it_ep_ud_create(world.pz, world.dto_evd, world.dto_evd, &attr, FAKE_SPIGOT, &other),
        IT_ERR_INVALID_EP_KEY);
    cr_assert_null(other);
    cr_assert_eq(it_ep_free(ep), IT_SUCCESS);
    cr_assert_eq(it_ep_free(ep), IT_ERR_INVALID_EP);
}

Test(tii_datagram, query)
{
    it_ep_param_t param;

    memset(&param, 0xee, sizeof(param));
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_ALL, &param), IT_SUCCESS);
    cr_assert_eq(param.service_type, IT_UD_SERVICE);
    cr_assert_eq(param.ep_state.ud, IT_EP_STATE_UD_OPERATIONAL);
    cr_assert_eq(param.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(param.attr.srv.ud.ep_info.ud_ep_key, KEY);
    cr_assert_eq(param.attr.max_recv_dtos, 4);
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_PATH, &param), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_CONN_SEVD, &param), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_SRQ, &param), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_EP_KEY, &param), IT_ERR_INVALID_MASK);
}

Test(tii_datagram, modify)
{
    it_ep_attributes_t attr = attributes();
    it_ep_param_t param;

    attr.srv.ud.ep_info.ud_ep_key = KEY + 1;
    attr.max_recv_dtos = 9;
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_EP_KEY, &attr), IT_SUCCESS);
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_ALL, &param), IT_SUCCESS);
    cr_assert(param.attr.srv.ud.ep_info.ud_ep_key == KEY + 1 && param.attr.max_recv_dtos == 4);
    set_state(IT_EP_STATE_UD_NONOPERATIONAL);
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_MAX_RECV_DTO, &attr), IT_SUCCESS);
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_MAX_PAYLOAD, &attr), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_EP_ID, &attr), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_MAX_ORD, &attr), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_EP_KEY, &attr), IT_ERR_INVALID_EP_TYPE);
    fake.attributes.queues_resizable = IT_FALSE;
    cr_assert_eq(it_ep_modify(ep, IT_EP_PARAM_MAX_RECV_DTO, &attr), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(fake.calls.ep_modify, 2);
    cr_assert_eq(fake.halted, 0);
}

Test(tii_datagram, reset)
{
    cr_assert_eq(it_ep_reset(ep), IT_SUCCESS);
    cr_assert_eq(fake.calls.ep_reset, 0);
    set_state(IT_EP_STATE_UD_NONOPERATIONAL);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_ep_reset(ep), IT_ERR_RESOURCES);
    cr_assert_eq(fake.calls.ep_reset, 1);
}

/* ---------------------------------------------------------------- what only connected EPs have */

Test(tii_datagram, calls_on_connections)
{
    it_lmr_triplet_t segment = {.lmr = world.lmr, .addr.abs = world.memory, .length = 8};
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};
    it_dto_flags_t none = (it_dto_flags_t)0;
    struct ual_request request;

    fake_request_arrives(&request, &world);
    cr_assert_eq(it_post_send(ep, &segment, 1, 1, none), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_recv(ep, &segment, 1, 1, none), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_rdma_read(ep, &segment, 1, 1, none, 0, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_rdma_write(ep, &segment, 1, 1, none, 0, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_send_and_unlink(ep, &segment, 1, 1, none, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_rdma_read_to_rmr(ep, NULL, 0, 1, none, 0, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_post_atomic(ep, IT_FETCH_AND_ADD, 1, 0, &segment, 1, none, 0, 0),
                 IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(itx_post_atomic_swap(ep, 1, &segment, 1, none, 0, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(itx_post_send_imm(ep, &segment, 1, 1, none, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(itx_ep_enable_immediate(ep, IT_TRUE), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(itx_ep_get_mpa_params(ep, &mpa), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
                 IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_ep_accept(ep, request.id, NULL, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_ep_disconnect(ep, NULL, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_socket_convert(0, ep, (it_sc_flags_t)0, NULL, 0), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(itx_socket_convert(0, ep, (it_sc_flags_t)0, NULL), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(fake.calls.post_request + fake.calls.post_recv + fake.calls.accept, 0);
    cr_assert(ual_request_withdraw(&request));
}

/* ---------------------------------------------------------------- posts */

static it_status_t send_to(it_addr_handle_t where, size_t length, unsigned flags)
{
    it_dg_remote_ep_addr_t to = {.type = IT_DG_TYPE_IB_UD, .addr.ud.addr = where};
    it_lmr_triplet_t segment = {.lmr = world.lmr, .addr.abs = world.memory, .length = length};

    to.addr.ud.ep_info = (it_remote_ep_info_t){.ud_ep_id = 5, .ud_ep_key = 6};
    return it_post_sendto(ep, &segment, 1, 9, (it_dto_flags_t)flags, &to);
}

Test(tii_datagram, sends)
{
    it_dg_remote_ep_addr_t wrong = {.type = (it_dg_type_t)1, .addr.ud.addr = address};
    it_addr_handle_t foreign;
    it_pz_handle_t pz;

    cr_assert_eq(send_to(address, 1000, IT_COMPLETION_FLAG), IT_SUCCESS);
    cr_assert_eq(fake.request.opcode, VP_SENDTO);
    cr_assert_eq((it_addr_handle_t)(void *)fake.request.address, address);
    cr_assert(fake.request.to.ud_ep_id == 5 && fake.request.to.ud_ep_key == 6);
    cr_assert(fake.request.length == 1000 && fake.request.cookie == 9);
    cr_assert_eq(send_to(address, 1001, 0), IT_ERR_PAYLOAD_SIZE);
    cr_assert_eq(send_to(address, 1, IT_BARRIER_FENCE_FLAG), IT_ERR_INVALID_DTO_FLAGS);
    cr_assert_eq(send_to(address, 1, IT_SOLICITED_WAIT_FLAG), IT_SUCCESS);
    cr_assert_eq(send_to(NULL, 1, 0), IT_ERR_INVALID_AH);
    cr_assert_eq(send_to((it_addr_handle_t)(void *)ep, 1, 0), IT_ERR_INVALID_AH);
    cr_assert_eq(it_post_sendto(ep, NULL, 0, 1, (it_dto_flags_t)0, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_post_sendto(ep, NULL, 0, 1, (it_dto_flags_t)0, &wrong), IT_ERR_INVALID_EP_TYPE);
    cr_assert_eq(it_pz_create(world.ia, &pz), IT_SUCCESS);
    cr_assert_eq(it_address_handle_create(pz, &path, (it_ah_flags_t)0, &foreign), IT_SUCCESS);
    cr_assert_eq(send_to(foreign, 1, 0), IT_ERR_INVALID_AH);
    cr_assert_eq(fake.calls.post_request, 2);
}

Test(tii_datagram, receives)
{
    it_lmr_triplet_t segments[3];

    for (size_t i = 0; i < 3; i++)
        segments[i] =
            (it_lmr_triplet_t){.lmr = world.lmr, .addr.abs = world.memory, .length = 2000};
    cr_assert_eq(it_post_recvfrom(ep, segments, 2, 1, IT_COMPLETION_FLAG), IT_SUCCESS);
    cr_assert_eq(it_post_recvfrom(ep, segments, 3, 1, (it_dto_flags_t)0),
                 IT_ERR_INVALID_NUM_SEGMENTS);
    cr_assert_eq(it_post_recvfrom(ep, NULL, 1, 1, (it_dto_flags_t)0), IT_ERR_FAULT);
    cr_assert_eq(it_post_recvfrom(ep, segments, 1, 1, IT_SOLICITED_WAIT_FLAG),
                 IT_ERR_INVALID_DTO_FLAGS);
    segments[1].lmr = NULL;
    cr_assert_eq(it_post_recvfrom(ep, segments, 2, 1, (it_dto_flags_t)0), IT_ERR_INVALID_LMR);
    cr_assert_eq(fake.calls.post_recv, 1);
}

/* ---------------------------------------------------------------- completions */

static it_event_t received(void)
{
    it_event_t event;

    memset(&event, 0xee, sizeof(event));
    cr_assert_eq(it_evd_dequeue(world.dto_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_DTO_UD_RECV_CMPL_EVENT);
    cr_assert_null(event.all_dto_cmpl.unlinked_mr_handle);
    return event;
}

Test(tii_datagram, completions)
{
    struct evd_datagram from = {
        .flags = IT_UD_IB_GRH_PRESENT, .ep_id = 12, .path = {.spigot_id = 1, .timeout = 3}};
    struct evd_dto dto = {.event_number = IT_DTO_UD_RECV_CMPL_EVENT, .ep = ep, .length = 4};
    struct evd *evd = evd_from_handle(world.dto_evd);
    it_event_t event;

    dto.datagram = &from;
    for (int i = 0; i < 3; i++) {
        dto.status = i == 1 ? IT_DTO_ERR_FLUSHED : IT_DTO_SUCCESS;
        cr_assert_neq(evd_push_dto(evd, &dto), EVD_LOST);
    }
    event = received();
    cr_assert_eq(event.all_dto_cmpl.flags, IT_UD_IB_GRH_PRESENT);
    cr_assert_eq(event.all_dto_cmpl.ud_ep_id, 12);
    cr_assert_eq(event.all_dto_cmpl.src_path.timeout, 3);
    cr_assert_eq(event.all_dto_cmpl.transferred_length, 4);
    event = received();
    cr_assert(event.all_dto_cmpl.flags == 0 && event.all_dto_cmpl.ud_ep_id == 0);
    /* After the endpoint is freed, the event stays without the provider's part. */
    cr_assert_eq(it_ep_free(ep), IT_SUCCESS);
    memset(&from, 0xff, sizeof(from));
    event = received();
    cr_assert_eq(event.all_dto_cmpl.flags, ITX_DTO_EP_FREED);
    cr_assert_eq(event.all_dto_cmpl.ud_ep_id, 0);
    cr_assert_eq(event.all_dto_cmpl.src_path.timeout, 0);
    cr_assert_eq(event.all_dto_cmpl.transferred_length, 4);
}

/* ---------------------------------------------------------------- addresses */

Test(tii_datagram, addresses)
{
    it_addr_param_t param = {.path = path};
    it_addr_handle_t other = NULL;

    param.path.timeout = 5;
    cr_assert_eq(it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param), IT_SUCCESS);
    param.path.timeout = 6;
    fake.answer = IT_ERR_INVALID_ADDRESS;
    cr_assert_eq(it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param),
                 IT_ERR_INVALID_ADDRESS);
    cr_assert_eq(it_address_handle_create(world.pz, &path, (it_ah_flags_t)0, &other),
                 IT_ERR_INVALID_ADDRESS);
    cr_assert_null(other);
    fake.answer = IT_SUCCESS;
    param.path.spigot_id = FAKE_SPIGOT + 1;
    cr_assert_eq(it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param),
                 IT_ERR_INVALID_SOURCE_PATH);
    cr_assert_eq(it_address_handle_modify(address, IT_ADDR_PARAM_ALL, &param), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_address_handle_modify(address, (it_addr_param_mask_t)0, &param), IT_SUCCESS);
    cr_assert_eq(fake.calls.address_modify, 2);
    memset(&param, 0, sizeof(param));
    cr_assert_eq(it_address_handle_query(address, IT_ADDR_PARAM_ALL, &param), IT_SUCCESS);
    cr_assert(param.ia == world.ia && param.pz == world.pz && param.path.timeout == 5);
    cr_assert_eq(it_address_handle_query(address, (it_addr_param_mask_t)16, &param),
                 IT_ERR_INVALID_MASK);
    cr_assert_eq(it_address_handle_free(address), IT_SUCCESS);
    cr_assert_eq(it_address_handle_free(address), IT_ERR_INVALID_AH);
    cr_assert_eq(fake.calls.address_destroy, 1);
}

/* ---------------------------------------------------------------- asking */

Test(tii_datagram, service_requests)
{
    const unsigned char *data = (const unsigned char *)"0123456789a";
    it_ud_svc_req_handle_t other = NULL;
    it_ud_svc_req_param_t param;

    cr_assert_eq(
        it_ud_service_request_handle_create(&qual, world.conn_evd, &path, data, 11, &other),
        IT_ERR_INVALID_PDATA_LENGTH);
    qual.type = IT_IB_SERVICEID;
    cr_assert_eq(it_ud_service_request_handle_create(&qual, world.conn_evd, &path, data, 1, &other),
                 IT_ERR_INVALID_CONN_QUAL);
    qual.type = IT_IANA_PORT;
    fake.attributes.ud_request_pdata = 0;
    cr_assert_eq(it_ud_service_request_handle_create(&qual, world.conn_evd, &path, data, 1, &other),
                 IT_ERR_PDATA_NOT_SUPPORTED);
    fake.answer = IT_ERR_INVALID_ADDRESS;
    cr_assert_eq(it_ud_service_request_handle_create(&qual, world.conn_evd, &path, NULL, 0, &other),
                 IT_ERR_INVALID_ADDRESS);
    cr_assert_null(other);
    cr_assert_eq(it_ud_service_request(service), IT_ERR_INVALID_ADDRESS);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_ud_service_request(service), IT_SUCCESS);
    memset(&param, 0, sizeof(param));
    cr_assert_eq(it_ud_service_request_handle_query(service, IT_UD_PARAM_ALL, &param), IT_SUCCESS);
    cr_assert(param.ia == world.ia && param.reply_evd == world.conn_evd && param.request_id != 0);
    cr_assert(param.private_data_length == 3 && memcmp(param.private_data, "ask", 4) == 0);
    cr_assert_eq(param.conn_qual.conn_qual.port, 7);
    cr_assert_eq(
        it_ud_service_request_handle_query(service, (it_ud_svc_req_param_mask_t)256, &param),
        IT_ERR_INVALID_MASK);
    cr_assert_eq(it_evd_free(world.conn_evd), IT_ERR_EVD_BUSY);
    cr_assert_eq(it_ud_service_request_handle_free(service), IT_SUCCESS);
    cr_assert_eq(it_ud_service_request_handle_free(service), IT_ERR_INVALID_UD_SVC);
    cr_assert_eq(fake.calls.ud_service_destroy, 1);
}

Test(tii_datagram, answers_become_events)
{
    struct ual_ud_service *object_of = (struct ual_ud_service *)(void *)service;
    struct vp_ud_reply reply = {
        .status = IT_UD_SVC_EP_INFO_VALID,
        .ep_info = {.ud_ep_id = 3, .ud_ep_key = 4},
        .path = {.timeout = 8},
        .private_data = "yes",
        .private_length = 3,
    };
    it_event_t event;

    ual_host.ud_report(object_of, &reply);
    reply.status = IT_UD_NO_EP_AVAILABLE;
    reply.private_length = 0;
    ual_host.ud_report(object_of, &reply);
    cr_assert_eq(it_evd_dequeue(world.conn_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_CM_MSG_UD_SERVICE_REPLY_EVENT);
    cr_assert_eq(event.ud_svc_reply.ud_svc, service);
    cr_assert_eq(event.ud_svc_reply.ep_info.ud_ep_key, 4);
    cr_assert_eq(event.ud_svc_reply.dst_path.timeout, 8);
    cr_assert(event.ud_svc_reply.private_data_present);
    cr_assert_str_eq((const char *)event.ud_svc_reply.private_data, "yes");
    cr_assert_eq(it_evd_dequeue(world.conn_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.ud_svc_reply.status, IT_UD_NO_EP_AVAILABLE);
    cr_assert_eq(event.ud_svc_reply.ep_info.ud_ep_id, 0);
    cr_assert_not(event.ud_svc_reply.private_data_present);
}

/* ---------------------------------------------------------------- being asked */

static void question_arrives(struct ual_request *request)
{
    fake_request_arrives(request, &world);
    request->datagram = true;
}

Test(tii_datagram, questions_and_connections_are_apart)
{
    it_remote_ep_info_t info = {.ud_ep_id = 1, .ud_ep_key = 2};
    struct ual_request question, connection;
    it_event_t event;

    question_arrives(&question);
    question.private_data = "who";
    question.private_length = 3;
    fake_request_arrives(&connection, &world);
    cr_assert(ual_request_announce(&question));
    cr_assert_eq(it_evd_dequeue(world.req_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_CM_REQ_UD_SERVICE_REQUEST_EVENT);
    cr_assert_eq(event.ud_svc_request.ud_svc_req_id, question.id);
    cr_assert_eq(event.ud_svc_request.spigot_id, FAKE_SPIGOT);
    cr_assert_str_eq((const char *)event.ud_svc_request.private_data, "who");
    cr_assert_eq(it_reject(question.id, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_ep_accept(world.ep, question.id, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, question.id), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_ud_service_reply(connection.id, IT_UD_SVC_EP_INFO_VALID, info, NULL, 0),
                 IT_ERR_INVALID_UD_SVC_REQ_ID);
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_EP_INFO_VALID, info, NULL, 0),
                 IT_SUCCESS);
    cr_assert(fake.reply.ep_info.ud_ep_id == 1 && fake.reply.ep_info.ud_ep_key == 2);
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_EP_INFO_VALID, info, NULL, 0),
                 IT_ERR_INVALID_UD_SVC_REQ_ID);
    cr_assert_eq(fake.calls.ud_reply, 1);
    cr_assert(ual_request_withdraw(&connection));
}

Test(tii_datagram, answers_that_fail_can_be_given_again)
{
    it_remote_ep_info_t info = {.ud_ep_id = 1};
    const unsigned char data[21] = {1};
    struct ual_request question;

    question_arrives(&question);
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_REQ_REJECTED, info, NULL, 1),
                 IT_ERR_FAULT);
    cr_assert_eq(it_ud_service_reply(question.id, (it_ud_svc_req_status_t)5, info, NULL, 0),
                 IT_ERR_INVALID_UD_STATUS);
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_REQ_REJECTED, info, data, 21),
                 IT_ERR_INVALID_PDATA_LENGTH);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_REQ_REJECTED, info, data, 20),
                 IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_ud_service_reply(question.id, IT_UD_SVC_REQ_REJECTED, info, data, 20),
                 IT_SUCCESS);
    cr_assert_eq(fake.private_length, 20);
}

/* ---------------------------------------------------------------- closing */

Test(tii_datagram, an_evd_that_is_freed_rejects_those_in_its_queue)
{
    struct ual_request question;

    question_arrives(&question);
    cr_assert(ual_request_announce(&question));
    cr_assert_eq(it_evd_free(world.req_evd), IT_SUCCESS);
    cr_assert_eq(fake.calls.ud_reply, 1);
    cr_assert_eq(fake.reply.status, IT_UD_SVC_REQ_REJECTED);
}

Test(tii_datagram, an_ia_that_is_freed_takes_them_along)
{
    struct ual_request question;

    question_arrives(&question);
    fake_world_close(&world);
    cr_assert_eq(fake.calls.ud_reply, 1);
    cr_assert_eq(fake.reply.status, IT_UD_SVC_REQ_REJECTED);
    cr_assert_str_eq(fake.closing, "ueemapi");
    cr_assert_eq(it_address_handle_free(address), IT_ERR_INVALID_AH);
    cr_assert_eq(it_ud_service_request_handle_free(service), IT_ERR_INVALID_UD_SVC);
    fake_world_open(&world);
}
