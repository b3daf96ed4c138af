/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include "status/status_tables.h"

#include "itx_api.h"

#include <stdint.h>

#define QUERY_MASK  0x3fu
#define MODIFY_MASK (IT_SRQ_PARAM_MAX_RECV_DTO | IT_SRQ_PARAM_LOW_WATERMARK)

static it_srq_param_t good;

static void prepare(struct status_world *world)
{
    (void)world;
    good.max_recv_dtos = 100;
    good.low_watermark = 2;
}

STATUS_CALL(create, it_srq_create(v[0].p, v[1].n, v[2].n, v[3].p));
STATUS_CALL(query, it_srq_query(v[0].p, (it_srq_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(modify, it_srq_modify(v[0].p, (it_srq_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(srq_free, it_srq_free(v[0].p));
STATUS_CALL(set_timeout, itx_srq_set_message_timeout(v[0].p, v[1].n));

static void two_receives(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_post_recv(values[0].p, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(values[0].p, NULL, 0, 2, FX_SIGNAL));
}

#define SRQ(which)                                                                                 \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_SRQ, .object = OBJECT_SRQ, .slot = (which)     \
    }

static const struct status_call calls[] = {
    {STATUS_NAMED(it_srq_create, create), .pooled = true,
     .params = {STATUS_PZ, STATUS_NUMBER(4), STATUS_NUMBER(8), STATUS_RESULT},
     .rows = ROWS(ROW("no receives", IT_ERR_INVALID_SRQ_SIZE, SET(2, 0)),
                  ROW("too many", IT_ERR_RESOURCE_RECV_DTO, SET(2, SIZE_MAX)),
                  ROW("too many segments", IT_ERR_RESOURCE_RSEG, SET(1, SIZE_MAX)),
                  ROW("no segments", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_srq_query, query),
     .params = {SRQ(SLOT_SRQ), STATUS_BITS(IT_ERR_INVALID_MASK, IT_SRQ_PARAM_ALL, QUERY_MASK),
                STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_srq_modify, modify), .when_short = IT_ERR_RESOURCE_RECV_DTO,
     .params = {SRQ(SLOT_SRQ),
                STATUS_BITS(IT_ERR_INVALID_MASK, IT_SRQ_PARAM_MAX_RECV_DTO, MODIFY_MASK),
                STATUS_GIVEN(good)},
     .rows = ROWS(
         ROW("nothing", IT_SUCCESS, SET(1, 0)),
         ROW("no receives", IT_ERR_INVALID_SRQ_SIZE, MEMBER(2, it_srq_param_t, max_recv_dtos, 0)),
         ROW("too many", IT_ERR_RESOURCE_RECV_DTO,
             MEMBER(2, it_srq_param_t, max_recv_dtos, SIZE_MAX)),
         SCENE("fewer than posted", IT_ERR_INVALID_SRQ_SIZE, two_receives,
               MEMBER(2, it_srq_param_t, max_recv_dtos, 1)),
         ROW("a watermark above the depth", IT_ERR_SRQ_LOW_WATERMARK,
             SET(1, IT_SRQ_PARAM_LOW_WATERMARK),
             MEMBER(2, it_srq_param_t, low_watermark, STATUS_DEPTH + 1)),
         ROW("above the depth to be", IT_ERR_SRQ_LOW_WATERMARK, SET(1, MODIFY_MASK),
             MEMBER(2, it_srq_param_t, low_watermark, 101)),
         ROW("both", IT_SUCCESS, SET(1, MODIFY_MASK)))},
    {STATUS_NAMED(itx_srq_set_message_timeout, set_timeout),
     .params = {SRQ(SLOT_SRQ), STATUS_NUMBER(1000)},
     .rows = ROWS(ROW("none at all", IT_SUCCESS, SET(1, 0)),
                  ROW("nearly for ever", IT_SUCCESS, SET(1, IT_TIMEOUT_INFINITE - 1)),
                  ROW("for ever", IT_SUCCESS, SET(1, IT_TIMEOUT_INFINITE)))},
    {STATUS_NAMED(it_srq_free, srq_free), .params = {SRQ(SLOT_SRQ_SPARE)},
     .rows = ROWS(ROW("an EP draws from it", IT_ERR_SRQ_BUSY, USE(0, SLOT_SRQ)),
                  SCENE("with receives", IT_SUCCESS, two_receives))},
    {.name = NULL},
};

const struct status_table status_srq = {calls, prepare};
