/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: create, query, modify, reset, free. */
#include "status/status_tables.h"

#include <stdint.h>

#define QUERY_MASK (0x0fffffffu & ~(unsigned)(IT_EP_PARAM_EP_ID | IT_EP_PARAM_EP_KEY))
#define MODIFY_MASK                                                                                \
    ((unsigned)IT_EP_PARAM_RDMA_RD_ENABLE | (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |                 \
     (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG | (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG |          \
     (unsigned)IT_EP_PARAM_MAX_IRD | (unsigned)IT_EP_PARAM_MAX_ORD |                               \
     (unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_REQ_DTO |                       \
     (unsigned)IT_EP_PARAM_MAX_RECV_DTO | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                     \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG | (unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK |                \
     (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK | (unsigned)IT_EP_PARAM_ATOMICS_ENABLE |              \
     (unsigned)IT_EP_PARAM_EP_KEY)
#define BEYOND (UINT64_C(1) << 32) /* longer than an iWARP message can be */

static it_ep_attributes_t attr;
static it_ep_attributes_t deeper;
static it_ep_attributes_t srq_attr;
static it_ep_attributes_t no_srq;
static it_ep_attributes_t stale_srq;
static it_ep_attributes_t other_kind;
static it_ep_attributes_t foreign_srq;
static it_ep_attributes_t zone_srq;

static it_ep_attributes_t draws_from(void *srq)
{
    it_ep_attributes_t with = attr;

    with.srv.rc.srq = srq;
    with.srv.rc.soft_hi_watermark = 0;
    with.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return with;
}

static void prepare(struct status_world *world)
{
    attr = status_attributes();
    deeper = attr;
    deeper.max_request_dtos = 500;
    srq_attr = draws_from(world->slot[SLOT_SRQ]);
    no_srq = draws_from(NULL);
    stale_srq = draws_from(world->stale[OBJECT_SRQ]);
    other_kind = draws_from(world->slot[SLOT_EP]);
    foreign_srq = draws_from(world->foreign[OBJECT_SRQ]);
    zone_srq = draws_from(world->slot[SLOT_SRQ_ZONE]);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

STATUS_CALL(ep_create, it_ep_rc_create(v[0].p, v[1].p, v[2].p, v[3].p,
                                       (it_ep_rc_creation_flags_t)v[4].n, v[5].p, v[6].p));
STATUS_CALL(ep_query, it_ep_query(v[0].p, (it_ep_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(ep_modify, it_ep_modify(v[0].p, (it_ep_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(ep_reset, it_ep_reset(v[0].p));
STATUS_CALL(ep_free, it_ep_free(v[0].p));

/* ---- Scenes --------------------------------------------------------------------------------- */

/*
 * Makes an EVD overflow with one event too many: receives posted to an EP whose connection has
 * ended.
 */
static it_evd_handle_t overflowed_evd(struct status_world *world)
{
    it_evd_handle_t evd = fx_evd(&world->node, IT_DTO_EVENT_STREAM, 1, 0);
    it_ep_handle_t peer = fx_ep(&world->other, NULL);
    it_ep_handle_t ep = NULL;
    it_evd_param_t params;

    CHECK_OK(
        it_ep_rc_create(world->node.pz, evd, evd, world->node.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    fx_join(&world->node, ep, &world->other, peer);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
    CHECK_OK(it_evd_query(evd, IT_EVD_PARAM_OVERFLOWED, &params));
    CHECK_EQ(IT_TRUE, params.evd_overflowed);
    return evd;
}

static void requests_overflowed(struct status_world *world, union status_value *values)
{
    values[1].p = overflowed_evd(world);
}

static void receives_overflowed(struct status_world *world, union status_value *values)
{
    values[2].p = overflowed_evd(world);
}

static void two_receives(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_post_recv(values[0].p, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(values[0].p, NULL, 0, 2, FX_SIGNAL));
}

static void is_connecting(struct status_world *world, union status_value *values)
{
    fx_connect(&world->node, values[0].p, world->listener_port);
}

#define BAD_MEMBER(text, status, member, value)                                                    \
    ROW(text, status, MEMBER(5, it_ep_attributes_t, member, value))
#define BAD_CHANGE(text, status, bit, member, value)                                               \
    ROW(text, status, SET(1, bit), MEMBER(2, it_ep_attributes_t, member, value))

static const struct status_call calls[] = {
    {STATUS_NAMED(it_ep_rc_create, ep_create), .pooled = true,
     .params = {STATUS_PZ,
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_REQ_EVD,
                 .object = OBJECT_EVD,
                 .slot = SLOT_EVD_REQUEST,
                 .foreign = IT_ERR_INVALID_REQ_EVD},
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_RECV_EVD,
                 .object = OBJECT_EVD,
                 .slot = SLOT_EVD_RECV,
                 .foreign = IT_ERR_INVALID_RECV_EVD},
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_CONN_EVD,
                 .object = OBJECT_EVD,
                 .slot = SLOT_EVD_CONN,
                 .foreign = IT_ERR_INVALID_CONN_EVD},
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0, IT_EP_REUSEADDR | IT_EP_SRQ),
                STATUS_GIVEN(attr),
                STATUS_RESULT},
     .rows = ROWS(
         ROW("requests to connections", IT_ERR_INVALID_REQ_EVD, USE(1, SLOT_EVD_CONN)),
         ROW("requests to software", IT_ERR_INVALID_REQ_EVD, USE(1, SLOT_EVD)),
         ROW("receives to arrivals", IT_ERR_INVALID_RECV_EVD, USE(2, SLOT_EVD_LISTEN)),
         ROW("receives to errors", IT_ERR_INVALID_RECV_EVD, USE(2, SLOT_EVD_AFFILIATED)),
         ROW("connections to arrivals", IT_ERR_INVALID_CONN_EVD, USE(3, SLOT_EVD_LISTEN)),
         ROW("connections to receives", IT_ERR_INVALID_CONN_EVD, USE(3, SLOT_EVD_RECV)),
         ROW("requests to an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(1, SLOT_AEVD)),
         ROW("receives to an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(2, SLOT_AEVD)),
         ROW("connections to an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(3, SLOT_AEVD)),
         SCENE("requests overflowed", IT_ERR_INVALID_REQ_EVD_STATE, requests_overflowed),
         SCENE("receives overflowed", IT_ERR_INVALID_RECV_EVD_STATE, receives_overflowed),
         ROW("no S-RQ", IT_ERR_INVALID_SRQ, SET(4, IT_EP_SRQ), POINT(5, no_srq)),
         ROW("a freed S-RQ", IT_ERR_INVALID_SRQ, SET(4, IT_EP_SRQ), POINT(5, stale_srq)),
         ROW("an EP for an S-RQ", IT_ERR_INVALID_SRQ, SET(4, IT_EP_SRQ), POINT(5, other_kind)),
         ROW("an S-RQ of another IA", IT_ERR_INVALID_SRQ, SET(4, IT_EP_SRQ), POINT(5, foreign_srq)),
         ROW("an S-RQ of another PZ", IT_ERR_INVALID_SRQ, SET(4, IT_EP_SRQ), POINT(5, zone_srq)),
         ROW("a soft watermark too high", IT_ERR_INVALID_WATERMARK, SET(4, IT_EP_SRQ),
             POINT(5, srq_attr),
             MEMBER(5, it_ep_attributes_t, srv.rc.soft_hi_watermark, STATUS_DEPTH + 1)),
         ROW("a hard watermark too high", IT_ERR_INVALID_WATERMARK, SET(4, IT_EP_SRQ),
             POINT(5, srq_attr),
             MEMBER(5, it_ep_attributes_t, srv.rc.hard_hi_watermark, STATUS_DEPTH + 1)),
         BAD_MEMBER("privileged", IT_ERR_PRIV_OPS_UNAVAILABLE, priv_ops_enable, IT_TRUE),
         BAD_MEMBER("a message too long", IT_ERR_PAYLOAD_SIZE, max_dto_payload_size, BEYOND),
         BAD_MEMBER("too many requests", IT_ERR_RESOURCE_REQ_DTO, max_request_dtos, SIZE_MAX),
         BAD_MEMBER("too many receives", IT_ERR_RESOURCE_RECV_DTO, max_recv_dtos, SIZE_MAX),
         BAD_MEMBER("segments of a send", IT_ERR_RESOURCE_SSEG, max_send_segments, SIZE_MAX),
         BAD_MEMBER("segments of a receive", IT_ERR_RESOURCE_RSEG, max_recv_segments, SIZE_MAX),
         BAD_MEMBER("segments of a read", IT_ERR_RESOURCE_RRSEG, srv.rc.max_rdma_read_segments,
                    SIZE_MAX),
         BAD_MEMBER("segments of a write", IT_ERR_RESOURCE_RWSEG, srv.rc.max_rdma_write_segments,
                    SIZE_MAX),
         BAD_MEMBER("IRD", IT_ERR_RESOURCE_IRD, srv.rc.rdma_read_ird, UINT32_MAX),
         BAD_MEMBER("ORD", IT_ERR_RESOURCE_ORD, srv.rc.rdma_read_ord, UINT32_MAX),
         ROW("one EVD for both", IT_SUCCESS, USE(1, SLOT_EVD_RECV)),
         ROW("watermarks without S-RQ", IT_SUCCESS,
             MEMBER(5, it_ep_attributes_t, srv.rc.soft_hi_watermark, SIZE_MAX),
             MEMBER(5, it_ep_attributes_t, srv.rc.hard_hi_watermark, 1)),
         ROW("an S-RQ", IT_SUCCESS, SET(4, IT_EP_SRQ), POINT(5, srq_attr)),
         ROW("receives of one with S-RQ", IT_SUCCESS, SET(4, IT_EP_SRQ), POINT(5, srq_attr),
             MEMBER(5, it_ep_attributes_t, max_recv_dtos, SIZE_MAX)),
         ROW("the longest message", IT_SUCCESS,
             MEMBER(5, it_ep_attributes_t, max_dto_payload_size, BEYOND - 1)))},
    {STATUS_NAMED(it_ep_query, ep_query),
     .params = {STATUS_EP(SLOT_EP), STATUS_BITS(IT_ERR_INVALID_MASK, IT_EP_PARAM_ALL, QUERY_MASK),
                STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)),
                  ROW("datagrams", IT_ERR_INVALID_MASK, SET(1, IT_EP_PARAM_EP_KEY)),
                  ROW("a connected one", IT_SUCCESS, USE(0, SLOT_EP_CONNECTED)))},
    {STATUS_NAMED(it_ep_modify, ep_modify),
     .params = {STATUS_EP(SLOT_EP),
                STATUS_BITS(IT_ERR_INVALID_MASK, IT_EP_PARAM_MAX_REQ_DTO, MODIFY_MASK),
                STATUS_GIVEN(deeper)},
     .rows = ROWS(
         ROW("nothing", IT_SUCCESS, SET(1, 0)),
         ROW("nothing of a dead one", IT_SUCCESS, USE(0, SLOT_EP_ENDED), SET(1, 0)),
         ROW("segments of a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED),
             SET(1, IT_EP_PARAM_MAX_SEND_SEG)),
         ROW("IRD of a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED),
             SET(1, IT_EP_PARAM_MAX_IRD)),
         ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_ENDED)),
         SCENE("while it connects", IT_ERR_INVALID_EP_STATE, is_connecting),
         ROW("a key", IT_ERR_INVALID_EP_TYPE, SET(1, IT_EP_PARAM_EP_KEY)),
         ROW("watermark without S-RQ", IT_SUCCESS, SET(1, IT_EP_PARAM_SOFT_HI_WATERMARK)),
         BAD_CHANGE("any watermark without S-RQ", IT_SUCCESS, IT_EP_PARAM_HARD_HI_WATERMARK,
                    srv.rc.hard_hi_watermark, SIZE_MAX),
         ROW("receives with S-RQ", IT_ERR_OP_NOT_SUPPORTED, USE(0, SLOT_EP_SRQ),
             SET(1, IT_EP_PARAM_MAX_RECV_DTO)),
         ROW("a soft watermark too high", IT_ERR_INVALID_WATERMARK, USE(0, SLOT_EP_SRQ),
             SET(1, IT_EP_PARAM_SOFT_HI_WATERMARK), POINT(2, srq_attr),
             MEMBER(2, it_ep_attributes_t, srv.rc.soft_hi_watermark, STATUS_DEPTH + 1)),
         ROW("a hard watermark too high", IT_ERR_INVALID_WATERMARK, USE(0, SLOT_EP_SRQ),
             SET(1, IT_EP_PARAM_HARD_HI_WATERMARK), POINT(2, srq_attr),
             MEMBER(2, it_ep_attributes_t, srv.rc.hard_hi_watermark, STATUS_DEPTH + 1)),
         SCENE("fewer receives than posted", IT_ERR_INVALID_EP_ATTR, two_receives,
               SET(1, IT_EP_PARAM_MAX_RECV_DTO), MEMBER(2, it_ep_attributes_t, max_recv_dtos, 1)),
         BAD_CHANGE("a message too long", IT_ERR_PAYLOAD_SIZE, IT_EP_PARAM_MAX_PAYLOAD,
                    max_dto_payload_size, BEYOND),
         BAD_CHANGE("too many requests", IT_ERR_RESOURCE_REQ_DTO, IT_EP_PARAM_MAX_REQ_DTO,
                    max_request_dtos, SIZE_MAX),
         BAD_CHANGE("too many receives", IT_ERR_RESOURCE_RECV_DTO, IT_EP_PARAM_MAX_RECV_DTO,
                    max_recv_dtos, SIZE_MAX),
         BAD_CHANGE("segments of a send", IT_ERR_RESOURCE_SSEG, IT_EP_PARAM_MAX_SEND_SEG,
                    max_send_segments, SIZE_MAX),
         BAD_CHANGE("segments of a receive", IT_ERR_RESOURCE_RSEG, IT_EP_PARAM_MAX_RECV_SEG,
                    max_recv_segments, SIZE_MAX),
         BAD_CHANGE("segments of a read", IT_ERR_RESOURCE_RRSEG, IT_EP_PARAM_MAX_RDMA_READ_SEG,
                    srv.rc.max_rdma_read_segments, SIZE_MAX),
         BAD_CHANGE("segments of a write", IT_ERR_RESOURCE_RWSEG, IT_EP_PARAM_MAX_RDMA_WRITE_SEG,
                    srv.rc.max_rdma_write_segments, SIZE_MAX),
         BAD_CHANGE("IRD", IT_ERR_RESOURCE_IRD, IT_EP_PARAM_MAX_IRD, srv.rc.rdma_read_ird,
                    UINT32_MAX),
         BAD_CHANGE("ORD", IT_ERR_RESOURCE_ORD, IT_EP_PARAM_MAX_ORD, srv.rc.rdma_read_ord,
                    UINT32_MAX))},
    {STATUS_NAMED(it_ep_reset, ep_reset), .params = {STATUS_EP(SLOT_EP_ENDED)},
     .rows =
         ROWS(ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED)),
              SCENE("while it connects", IT_ERR_INVALID_EP_STATE, is_connecting, USE(0, SLOT_EP)),
              ROW("an idle one", IT_SUCCESS, USE(0, SLOT_EP)))},
    {STATUS_NAMED(it_ep_free, ep_free), .params = {STATUS_EP(SLOT_EP)},
     .rows = ROWS(ROW("narrow windows", IT_ERR_EP_BUSY, USE(0, SLOT_EP_CONNECTED)),
                  ROW("a dead one", IT_SUCCESS, USE(0, SLOT_EP_ENDED)),
                  ROW("one with an S-RQ", IT_SUCCESS, USE(0, SLOT_EP_SRQ)),
                  SCENE("while it connects", IT_SUCCESS, is_connecting))},
    {.name = NULL},
};

const struct status_table status_ep = {calls, prepare};
