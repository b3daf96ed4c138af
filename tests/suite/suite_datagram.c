/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram endpoints: resolving the peer's endpoint, sending both ways, refusals, failures. */
#include "suite/suite.h"

#include <string.h>

#define KEY          UINT32_C(0x1ead)
#define OTHER_KEY    UINT32_C(0x0bad)
#define HEADER       40u /* octets in front of the message in a receive */
#define DEPTH        16
#define BURST        12
#define ASK_US       UINT64_C(15000000)
#define IMPATIENT_US UINT64_C(3000000)

/* An endpoint with a buffer for sent messages and one for received ones. */
struct corner {
    it_ep_handle_t ep;
    it_remote_ep_info_t info;
    size_t longest;
    struct fx_buf out, in;
};

static size_t longest(const struct suite_side *side)
{
    for (size_t i = 0; i < side->info->num_spigots; i++)
        if (side->info->spigot_info[i].spigot_id == side->node.spigot)
            return side->info->spigot_info[i].max_ud_send_len;
    CHECK_FAIL("no Spigot %zu", side->node.spigot);
    return 0;
}

static it_ep_attributes_t datagram_attr(size_t payload)
{
    it_ep_attributes_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.max_dto_payload_size = payload;
    attr.max_request_dtos = DEPTH;
    attr.max_recv_dtos = DEPTH;
    attr.max_send_segments = 2;
    attr.max_recv_segments = 4;
    attr.srv.ud.ep_info.ud_ep_key = KEY;
    return attr;
}

static it_remote_ep_info_t identity(it_ep_handle_t ep)
{
    it_ep_param_t param;

    memset(&param, 0, sizeof(param));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &param));
    CHECK_EQ(IT_UD_SERVICE, param.service_type);
    CHECK_EQ(IT_EP_STATE_UD_OPERATIONAL, param.ep_state.ud);
    CHECK(param.attr.srv.ud.ep_info.ud_ep_id != 0);
    return param.attr.srv.ud.ep_info;
}

static struct corner corner_make(struct suite_side *side)
{
    struct corner corner;
    it_ep_attributes_t attr;

    corner.longest = longest(side);
    CHECK(corner.longest >= 256);
    attr = datagram_attr(corner.longest);
    CHECK_OK(it_ep_ud_create(side->node.pz, side->node.request_evd, side->node.recv_evd, &attr,
                             side->node.spigot, &corner.ep));
    corner.info = identity(corner.ep);
    CHECK_EQ(KEY, corner.info.ud_ep_key);
    corner.out = fx_buf_make(&side->node, corner.longest);
    corner.in = fx_buf_make(&side->node, (HEADER + corner.longest) * DEPTH);
    return corner;
}

static void corner_free(struct corner *corner)
{
    CHECK_OK(it_ep_free(corner->ep));
    fx_buf_free(&corner->out);
    fx_buf_free(&corner->in);
}

static size_t place_of(const struct corner *corner, size_t index)
{
    return (HEADER + corner->longest) * index;
}

static void expect(struct corner *corner, size_t index)
{
    it_lmr_triplet_t segment =
        fx_seg(&corner->in, place_of(corner, index), HEADER + corner->longest);

    CHECK_OK(it_post_recvfrom(corner->ep, &segment, 1, index, FX_SIGNAL));
}

static it_status_t send_to(struct corner *corner, it_addr_handle_t address, it_remote_ep_info_t to,
                           size_t length, it_dto_cookie_t cookie)
{
    it_dg_remote_ep_addr_t remote = {.type = IT_DG_TYPE_IB_UD,
                                     .addr.ud = {.addr = address, .ep_info = to}};
    it_lmr_triplet_t segment = fx_seg(&corner->out, 0, length);

    return it_post_sendto(corner->ep, &segment, 1, cookie, FX_SIGNAL, &remote);
}

static void sends(struct suite_side *side, struct corner *corner, it_addr_handle_t address,
                  it_remote_ep_info_t to, size_t length, uint32_t seed)
{
    fx_fill(corner->out.data, length, seed);
    CHECK_OK(send_to(corner, address, to, length, seed));
    fx_done_len(side->node.request_evd, corner->ep, IT_DTO_SEND_CMPL_EVENT, seed, (uint32_t)length);
}

/* Takes a message. Returns an address handle for the way back. */
static it_addr_handle_t arrives(struct suite_side *side, struct corner *corner, size_t index,
                                size_t length, uint32_t seed, it_remote_ep_info_t *from)
{
    it_event_t event = fx_next(side->node.recv_evd);
    const it_all_dto_cmpl_event_t *news = &event.all_dto_cmpl;
    it_addr_handle_t address;

    CHECK_EQ(IT_DTO_UD_RECV_CMPL_EVENT, news->event_number);
    CHECK(news->ep == corner->ep);
    CHECK_EQ(IT_DTO_SUCCESS, news->dto_status);
    CHECK_EQ(index, news->cookie);
    CHECK_EQ(length, news->transferred_length);
    CHECK(news->unlinked_mr_handle == NULL);
    CHECK(fx_is_filled(corner->in.data + place_of(corner, index) + HEADER, length, seed));
    from->ud_ep_id = news->ud_ep_id;
    from->ud_ep_key = KEY;
    CHECK_OK(
        it_address_handle_create(side->node.pz, &news->src_path, IT_AH_PATH_COMPLETE, &address));
    return address;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static it_ud_svc_req_handle_t ask_handle(struct suite_side *side, uint16_t port, uint64_t timeout,
                                         const void *data, size_t length)
{
    it_path_t path = fx_path_to(&side->node, &side->other_address);
    it_ud_svc_req_handle_t handle;
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    path.timeout = timeout;
    CHECK_OK(it_ud_service_request_handle_create(&qual, side->node.conn_evd, &path, data, length,
                                                 &handle));
    return handle;
}

static it_ud_svc_reply_event_t answer_to(struct suite_side *side, it_ud_svc_req_handle_t handle)
{
    it_event_t event = fx_next(side->node.conn_evd);

    CHECK_EQ(IT_CM_MSG_UD_SERVICE_REPLY_EVENT, event.event_number);
    CHECK(event.ud_svc_reply.ud_svc == handle);
    return event.ud_svc_reply;
}

static it_ud_svc_request_event_t asked(struct suite_side *side)
{
    it_event_t event = fx_next(side->node.listen_evd);

    CHECK_EQ(IT_CM_REQ_UD_SERVICE_REQUEST_EVENT, event.event_number);
    CHECK(event.ud_svc_request.ud_svc_req_id != 0);
    CHECK_EQ(side->node.spigot, event.ud_svc_request.spigot_id);
    return event.ud_svc_request;
}

/* The near side asks for and gets an address of the far corner. The far side answers. */
static it_addr_handle_t found(struct suite_side *side, it_remote_ep_info_t *to)
{
    it_ud_svc_req_handle_t handle;
    it_ud_svc_reply_event_t answer;
    it_addr_handle_t address;
    uint16_t port;

    suite_hear(side, &port, sizeof(port));
    handle = ask_handle(side, port, ASK_US, NULL, 0);
    CHECK_OK(it_ud_service_request(handle));
    answer = answer_to(side, handle);
    CHECK_EQ(IT_UD_SVC_EP_INFO_VALID, answer.status);
    CHECK(!answer.private_data_present);
    CHECK_OK(it_address_handle_create(side->node.pz, &answer.dst_path, (it_ah_flags_t)0, &address));
    CHECK_OK(it_ud_service_request_handle_free(handle));
    *to = answer.ep_info;
    return address;
}

static void is_found(struct suite_side *side, const struct corner *corner)
{
    it_listen_handle_t listener = suite_listen(side);

    CHECK_OK(it_ud_service_reply(asked(side).ud_svc_req_id, IT_UD_SVC_EP_INFO_VALID, corner->info,
                                 NULL, 0));
    CHECK_OK(it_listen_free(listener));
}

/* ---- There and back -------------------------------------------------------------------------- */

static const size_t sizes[] = {1, 0, 3, 40, 200, 255, 256};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* The last one is the longest possible. */
static size_t size_of(const struct corner *corner, size_t index)
{
    return index < SIZES ? sizes[index] : corner->longest;
}

static void echo_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t to, from;
    it_addr_handle_t address = found(side, &to);

    CHECK_EQ(KEY, to.ud_ep_key);
    for (size_t i = 0; i <= SIZES; i++)
        expect(&corner, i);
    suite_meet(side, "posted");
    for (size_t i = 0; i <= SIZES; i++) {
        it_addr_handle_t back;

        sends(side, &corner, address, to, size_of(&corner, i), (uint32_t)i + 1);
        back = arrives(side, &corner, i, size_of(&corner, i), (uint32_t)i + 101, &from);
        CHECK_EQ(to.ud_ep_id, from.ud_ep_id);
        CHECK_OK(it_address_handle_free(back));
    }
    CHECK_OK(it_address_handle_free(address));
    corner_free(&corner);
}

static void echo_far(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t from;

    is_found(side, &corner);
    for (size_t i = 0; i <= SIZES; i++)
        expect(&corner, i);
    suite_meet(side, "posted");
    for (size_t i = 0; i <= SIZES; i++) {
        it_addr_handle_t back =
            arrives(side, &corner, i, size_of(&corner, i), (uint32_t)i + 1, &from);

        sends(side, &corner, back, from, size_of(&corner, i), (uint32_t)i + 101);
        CHECK_OK(it_address_handle_free(back));
    }
    corner_free(&corner);
}

/* ---- A receive in pieces --------------------------------------------------------------------- */

#define PIECES_SIZE 100u

static void pieces_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t to;
    it_addr_handle_t address = found(side, &to);
    it_dg_remote_ep_addr_t remote = {.type = IT_DG_TYPE_IB_UD,
                                     .addr.ud = {.addr = address, .ep_info = to}};
    it_lmr_triplet_t segments[] = {fx_seg(&corner.out, 0, 30),
                                   fx_seg(&corner.out, 30, PIECES_SIZE - 30)};

    suite_meet(side, "posted");
    fx_fill(corner.out.data, PIECES_SIZE, 1);
    CHECK_OK(it_post_sendto(corner.ep, segments, 2, 1, FX_QUIET, &remote));
    CHECK_OK(it_post_sendto(corner.ep, segments, 2, 2, FX_SIGNAL, &remote));
    fx_done_len(side->node.request_evd, corner.ep, IT_DTO_SEND_CMPL_EVENT, 2, PIECES_SIZE);
    suite_meet(side, "seen");
    CHECK_OK(it_address_handle_free(address));
    corner_free(&corner);
}

/* The header is spread over three segments, or four. */
static void pieces_far(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_lmr_triplet_t segments[2][4] = {
        {fx_seg(&corner.in, 0, 7), fx_seg(&corner.in, 7, 1), fx_seg(&corner.in, 8, 40),
         fx_seg(&corner.in, 48, 92)},
        {fx_seg(&corner.in, 200, 1), fx_seg(&corner.in, 201, 1), fx_seg(&corner.in, 202, 37),
         fx_seg(&corner.in, 239, 101)},
    };
    it_event_t events[2];

    is_found(side, &corner);
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(it_post_recvfrom(corner.ep, segments[i], 4, i, FX_SIGNAL));
    suite_meet(side, "posted");
    for (size_t i = 0; i < 2; i++) {
        const it_all_dto_cmpl_event_t *news = &events[i].all_dto_cmpl;

        events[i] = fx_next(side->node.recv_evd);
        CHECK_EQ(i, news->cookie);
        CHECK_EQ(PIECES_SIZE, news->transferred_length);
        CHECK(fx_is_filled(corner.in.data + 200 * i + HEADER, PIECES_SIZE, 1));
        CHECK(memcmp(&events[0].all_dto_cmpl.src_path, &news->src_path, sizeof(it_path_t)) == 0);
    }
    suite_meet(side, "seen");
    corner_free(&corner);
}

/* ---- Many ------------------------------------------------------------------------------------ */

static void burst_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t to;
    it_addr_handle_t address = found(side, &to);

    for (uint32_t round = 0; round < 20; round++) {
        suite_meet(side, "posted");
        fx_fill(corner.out.data, 64, round);
        for (uint32_t i = 0; i < BURST; i++)
            CHECK_OK(send_to(&corner, address, to, 64, i));
        for (uint32_t i = 0; i < BURST; i++)
            fx_done_len(side->node.request_evd, corner.ep, IT_DTO_SEND_CMPL_EVENT, i, 64);
        suite_meet(side, "seen");
    }
    CHECK_OK(it_address_handle_free(address));
    corner_free(&corner);
}

static void burst_far(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t from;

    is_found(side, &corner);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < BURST; i++)
            expect(&corner, i);
        suite_meet(side, "posted");
        for (uint32_t i = 0; i < BURST; i++)
            CHECK_OK(it_address_handle_free(arrives(side, &corner, i, 64, round, &from)));
        suite_meet(side, "seen");
    }
    corner_free(&corner);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * Sends one message with a wrong key and one with the right key, before and after the far side
 * changes its key.
 */
static void key_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t to, wrong;
    it_addr_handle_t address = found(side, &to);

    suite_meet(side, "posted");
    wrong = to;
    wrong.ud_ep_key = OTHER_KEY;
    sends(side, &corner, address, wrong, 10, 1);
    sends(side, &corner, address, to, 10, 2);
    suite_meet(side, "first");
    suite_meet(side, "changed");
    sends(side, &corner, address, to, 10, 3);
    sends(side, &corner, address, wrong, 10, 4);
    suite_meet(side, "second");
    CHECK_OK(it_address_handle_free(address));
    corner_free(&corner);
}

static void key_far(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_ep_attributes_t attr = datagram_attr(0);
    it_remote_ep_info_t from;

    is_found(side, &corner);
    expect(&corner, 0);
    expect(&corner, 1);
    suite_meet(side, "posted");
    CHECK_OK(it_address_handle_free(arrives(side, &corner, 0, 10, 2, &from)));
    suite_meet(side, "first");
    attr.srv.ud.ep_info.ud_ep_key = OTHER_KEY;
    CHECK_OK(it_ep_modify(corner.ep, IT_EP_PARAM_EP_KEY, &attr));
    CHECK_EQ(OTHER_KEY, identity(corner.ep).ud_ep_key);
    suite_meet(side, "changed");
    CHECK_OK(it_address_handle_free(arrives(side, &corner, 1, 10, 4, &from)));
    suite_meet(side, "second");
    corner_free(&corner);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const it_ud_svc_req_status_t refusals[] = {IT_UD_SVC_ID_NOT_SUPPORTED,
                                                  IT_UD_SVC_REQ_REJECTED, IT_UD_NO_EP_AVAILABLE,
                                                  IT_UD_REQ_REDIRECTED};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

static void refuse_near(struct suite_side *side)
{
    size_t most = side->info->ud_req_private_data_len;
    unsigned char data[IT_MAX_PRIV_DATA];
    it_ud_svc_req_handle_t handle;
    it_ud_svc_reply_event_t answer;
    uint16_t port;

    suite_hear(side, &port, sizeof(port));
    memset(data, 0x5a, sizeof(data));
    CHECK(most > 0 && most <= sizeof(data));
    handle = ask_handle(side, port, ASK_US, data, most);
    for (size_t i = 0; i < REFUSALS; i++) {
        CHECK_OK(it_ud_service_request(handle));
        suite_meet(side, "asked");
        CHECK_STATUS(IT_ERR_RESOURCES, it_ud_service_request(handle));
        suite_meet(side, "waits");
        answer = answer_to(side, handle);
        CHECK_EQ(refusals[i], answer.status);
        CHECK(answer.private_data_present);
        CHECK(fx_is_byte(answer.private_data, side->info->ud_rep_private_data_len,
                         (unsigned char)(i + 1)));
        CHECK_EQ(0, answer.ep_info.ud_ep_id);
    }
    suite_meet(side, "closed");
    CHECK_OK(it_ud_service_request(handle));
    answer = answer_to(side, handle);
    CHECK_EQ(IT_UD_SVC_ID_NOT_SUPPORTED, answer.status);
    CHECK(!answer.private_data_present);
    CHECK_OK(it_ud_service_request_handle_free(handle));
}

static void refuse_far(struct suite_side *side)
{
    it_listen_handle_t listener = suite_listen(side);
    size_t most = side->info->ud_rep_private_data_len;
    unsigned char data[IT_MAX_PRIV_DATA];
    it_remote_ep_info_t none = {.ud_ep_id = 5};

    CHECK(most > 0 && most < sizeof(data));
    for (size_t i = 0; i < REFUSALS; i++) {
        it_ud_svc_request_event_t request = asked(side);
        it_ud_svc_req_identifier_t id = request.ud_svc_req_id;

        suite_meet(side, "asked");
        suite_meet(side, "waits");
        CHECK(request.private_data_present);
        CHECK(fx_is_byte(request.private_data, side->info->ud_req_private_data_len, 0x5a));
        CHECK(memcmp(&request.source_addr, &side->other_address, sizeof(request.source_addr)) == 0);
        memset(data, (int)i + 1, sizeof(data));
        CHECK_STATUS(IT_ERR_INVALID_UD_STATUS,
                     it_ud_service_reply(id, (it_ud_svc_req_status_t)5, none, NULL, 0));
        CHECK_STATUS(IT_ERR_FAULT, it_ud_service_reply(id, refusals[i], none, NULL, 1));
        CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                     it_ud_service_reply(id, refusals[i], none, data, most + 1));
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
        CHECK_OK(it_ud_service_reply(id, refusals[i], none, data, most));
        CHECK_STATUS(IT_ERR_INVALID_UD_SVC_REQ_ID,
                     it_ud_service_reply(id, refusals[i], none, data, most));
    }
    CHECK_OK(it_listen_free(listener));
    suite_meet(side, "closed");
}

/* The answer comes after the request has timed out. The next request is answered in time. */
static void late_near(struct suite_side *side)
{
    it_ud_svc_req_handle_t handle;
    it_ud_svc_reply_event_t answer;
    uint16_t port;

    suite_hear(side, &port, sizeof(port));
    handle = ask_handle(side, port, IMPATIENT_US, NULL, 0);
    CHECK_OK(it_ud_service_request(handle));
    answer = answer_to(side, handle);
    CHECK_EQ(IT_UD_SVC_REQ_REJECTED, answer.status);
    CHECK(!answer.private_data_present);
    CHECK_OK(it_ud_service_request_handle_free(handle));
    suite_meet(side, "over");
    handle = ask_handle(side, port, ASK_US, NULL, 0);
    CHECK_OK(it_ud_service_request(handle));
    CHECK_EQ(IT_UD_NO_EP_AVAILABLE, answer_to(side, handle).status);
    /* A handle that is freed with an open request gets no answer. */
    CHECK_OK(it_ud_service_request(handle));
    CHECK_OK(it_ud_service_request_handle_free(handle));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC, it_ud_service_request(handle));
    fx_empty(side->node.conn_evd);
    suite_meet(side, "end");
}

static void late_far(struct suite_side *side)
{
    it_listen_handle_t listener = suite_listen(side);
    it_remote_ep_info_t none = {.ud_ep_id = 0};
    it_ud_svc_req_identifier_t first = asked(side).ud_svc_req_id;

    suite_meet(side, "over");
    CHECK_OK(it_ud_service_reply(first, IT_UD_NO_EP_AVAILABLE, none, NULL, 0));
    CHECK_OK(it_ud_service_reply(asked(side).ud_svc_req_id, IT_UD_NO_EP_AVAILABLE, none, NULL, 0));
    suite_meet(side, "end");
    CHECK_OK(it_listen_free(listener));
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void rules_of_create(struct suite_side *side, size_t most)
{
    it_ep_attributes_t attr = datagram_attr(most + 1);
    struct fx_node *node = &side->node;
    it_ep_handle_t ep;

    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE, it_ep_ud_create(node->pz, node->request_evd, node->recv_evd,
                                                      &attr, node->spigot, &ep));
    attr = datagram_attr(most);
    attr.srv.ud.ep_info.ud_ep_key = UINT32_C(0x80000001);
    CHECK_STATUS(IT_ERR_INVALID_EP_KEY, it_ep_ud_create(node->pz, node->request_evd, node->recv_evd,
                                                        &attr, node->spigot, &ep));
}

static void rules_of_kind(struct corner *corner)
{
    it_lmr_triplet_t segment = fx_seg(&corner->out, 0, 1);
    it_ep_attributes_t attr = datagram_attr(1);
    it_ep_param_t param;

    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_post_send(corner->ep, &segment, 1, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_post_recv(corner->ep, &segment, 1, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE,
                 it_post_rdma_write(corner->ep, &segment, 1, 1, FX_SIGNAL, 0, 0));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_ep_disconnect(corner->ep, NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_MASK, it_ep_query(corner->ep, IT_EP_PARAM_MAX_ORD, &param));
    CHECK_STATUS(IT_ERR_INVALID_MASK, it_ep_query(corner->ep, IT_EP_PARAM_CONN_SEVD, &param));
    CHECK_STATUS(IT_ERR_INVALID_MASK, it_ep_modify(corner->ep, IT_EP_PARAM_MAX_PAYLOAD, &attr));
    CHECK_STATUS(IT_ERR_INVALID_MASK, it_ep_modify(corner->ep, IT_EP_PARAM_EP_ID, &attr));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_ep_modify(corner->ep, IT_EP_PARAM_MAX_ORD, &attr));
    attr.srv.ud.ep_info.ud_ep_key = UINT32_C(0xffffffff);
    CHECK_STATUS(IT_ERR_INVALID_EP_KEY, it_ep_modify(corner->ep, IT_EP_PARAM_EP_KEY, &attr));
    CHECK_OK(it_ep_reset(corner->ep));
    CHECK_EQ(KEY, identity(corner->ep).ud_ep_key);
}

static void rules_of_address(struct suite_side *side, struct corner *corner)
{
    it_path_t path = fx_path_to(&side->node, &side->other_address);
    it_addr_param_t param = {.path = path};
    it_addr_handle_t address;

    CHECK_OK(it_address_handle_create(side->node.pz, &path, (it_ah_flags_t)0, &address));
    memset(&param.path.remote.ib.remote_port_gid, 0, sizeof(it_ib_gid_t));
    CHECK_STATUS(IT_ERR_INVALID_ADDRESS,
                 it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param));
    param.path = path;
    memset(&param.path.remote.ib.local_port_gid, 0xfe, sizeof(it_ib_gid_t));
    CHECK_STATUS(IT_ERR_INVALID_SOURCE_PATH,
                 it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param));
    CHECK_STATUS(IT_ERR_INVALID_MASK, it_address_handle_modify(address, IT_ADDR_PARAM_IA, &param));
    param.path = path;
    memset(&param.path.remote.ib.local_port_gid, 0,
           sizeof(it_ib_gid_t)); /* unknown, to be resolved */
    CHECK_OK(it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param));
    memset(&param, 0, sizeof(param));
    CHECK_OK(it_address_handle_query(address, IT_ADDR_PARAM_ALL, &param));
    CHECK(param.ia == side->node.ia && param.pz == side->node.pz);
    CHECK(memcmp(&param.path.remote.ib.remote_port_gid, &path.remote.ib.remote_port_gid,
                 sizeof(it_ib_gid_t)) == 0);
    CHECK_STATUS(IT_ERR_INVALID_AH, send_to(corner, NULL, corner->info, 1, 1));
    CHECK_STATUS(IT_ERR_INVALID_AH,
                 send_to(corner, (it_addr_handle_t)(void *)corner->ep, corner->info, 1, 1));
    CHECK_OK(it_address_handle_free(address));
    CHECK_STATUS(IT_ERR_INVALID_AH, send_to(corner, address, corner->info, 1, 1));
    CHECK_STATUS(IT_ERR_INVALID_AH, it_address_handle_free(address));
}

static void rules_of_posts(struct suite_side *side, struct corner *corner)
{
    it_path_t path = fx_path_to(&side->node, &side->other_address);
    struct fx_buf large = fx_buf_make(&side->node, corner->longest + 1);
    it_lmr_triplet_t segment = fx_seg(&large, 0, corner->longest + 1);
    it_dg_remote_ep_addr_t remote = {.type = (it_dg_type_t)7};
    it_addr_handle_t address;
    it_pz_handle_t pz;

    CHECK_OK(it_pz_create(side->node.ia, &pz));
    CHECK_OK(it_address_handle_create(pz, &path, (it_ah_flags_t)0, &address));
    CHECK_STATUS(IT_ERR_INVALID_AH, send_to(corner, address, corner->info, 1, 1));
    CHECK_STATUS(IT_ERR_PZ_BUSY, it_pz_free(pz));
    CHECK_OK(it_address_handle_free(address));
    CHECK_OK(it_pz_free(pz));
    CHECK_OK(it_address_handle_create(side->node.pz, &path, (it_ah_flags_t)0, &address));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE,
                 it_post_sendto(corner->ep, &segment, 1, 1, FX_SIGNAL, &remote));
    CHECK_STATUS(IT_ERR_FAULT, it_post_sendto(corner->ep, &segment, 1, 1, FX_SIGNAL, NULL));
    remote.type = IT_DG_TYPE_IB_UD;
    remote.addr.ud.addr = address;
    CHECK_STATUS(IT_ERR_PAYLOAD_SIZE,
                 it_post_sendto(corner->ep, &segment, 1, 1, FX_SIGNAL, &remote));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                 it_post_sendto(corner->ep, &segment, 1, 1, IT_BARRIER_FENCE_FLAG, &remote));
    CHECK_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                 it_post_recvfrom(corner->ep, &segment, 1, 1, IT_SOLICITED_WAIT_FLAG));
    for (size_t i = 0; i < DEPTH; i++)
        expect(corner, i);
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recvfrom(corner->ep, &segment, 1, 1, FX_SIGNAL));
    CHECK_OK(it_address_handle_free(address));
    fx_buf_free(&large);
}

static void rules_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_ep_handle_t connected = suite_ep(side);
    it_lmr_triplet_t segment = fx_seg(&corner.in, 0, 100);

    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_post_recvfrom(connected, &segment, 1, 1, FX_SIGNAL));
    rules_of_create(side, corner.longest);
    rules_of_kind(&corner);
    rules_of_address(side, &corner);
    rules_of_posts(side, &corner);
    CHECK_OK(it_ep_free(connected));
    corner_free(&corner);
    suite_meet(side, "end");
}

static void rules_far(struct suite_side *side)
{
    suite_meet(side, "end");
}

/* ---- Failure and reset ----------------------------------------------------------------------- */

/* Devices differ in what they do to the queue when one datagram fails. After a reset it works. */
static void fail_near(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t to, from;
    it_addr_handle_t address = found(side, &to);
    it_event_t event;
    struct fx_buf foreign, own = corner.out;
    it_pz_handle_t pz;

    CHECK_OK(it_pz_create(side->node.ia, &pz));
    foreign = fx_buf_make_as(pz, 1000, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    expect(&corner, 0);
    corner.out = foreign;
    CHECK_OK(send_to(&corner, address, to, 1000, 1));
    corner.out = own;
    event = fx_next(side->node.request_evd);
    suite_failed(&event, 1, IT_DTO_ERR_LOCAL_PROTECTION);
    CHECK_OK(send_to(&corner, address, to, 10, 2));
    event = fx_next(side->node.request_evd);
    CHECK_EQ(2, event.dto_cmpl.cookie);
    if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        event = fx_next(side->node.recv_evd);
        CHECK_EQ(IT_DTO_UD_RECV_CMPL_EVENT, event.event_number);
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        event = fx_next(side->node.aff_evd);
        CHECK_EQ(IT_ASYNC_AFF_EP_FAILURE, event.event_number);
        CHECK(event.aff_async.cause.ep == corner.ep);
        CHECK_OK(it_ep_reset(corner.ep));
        corner.info = identity(corner.ep);
        expect(&corner, 0);
    }
    fx_buf_free(&foreign);
    CHECK_OK(it_pz_free(pz));
    suite_meet(side, "failed");
    suite_meet(side, "posted");
    sends(side, &corner, address, to, 20, 3);
    CHECK_OK(it_address_handle_free(arrives(side, &corner, 0, 30, 4, &from)));
    CHECK_OK(it_address_handle_free(address));
    corner_free(&corner);
}

static void fail_far(struct suite_side *side)
{
    struct corner corner = corner_make(side);
    it_remote_ep_info_t from;
    it_addr_handle_t back;

    is_found(side, &corner);
    suite_meet(side, "failed");
    for (size_t i = 0; i < 2; i++)
        expect(&corner, i);
    suite_meet(side, "posted");
    back = arrives(side, &corner, 0, 20, 3, &from);
    sends(side, &corner, back, from, 30, 4);
    CHECK_OK(it_address_handle_free(back));
    corner_free(&corner);
}

/* ---------------------------------------------------------------------------------------------- */

const struct suite_case suite_datagram_cases[] = {
    {.name = "datagram_echo", .near = echo_near, .far = echo_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_pieces", .near = pieces_near, .far = pieces_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_burst", .near = burst_near, .far = burst_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_key", .near = key_near, .far = key_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_refuse", .near = refuse_near, .far = refuse_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_late", .near = late_near, .far = late_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_rules", .near = rules_near, .far = rules_far, .needs = SUITE_DATAGRAMS},
    {.name = "datagram_fail", .near = fail_near, .far = fail_far, .needs = SUITE_DATAGRAMS},
    {0},
};
