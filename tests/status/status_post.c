/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting: sends, receives, RDMA, atomic operations, immediate values. */
#include "status/status_tables.h"

#include <stdint.h>

#include "support/it_window.h"

#define SEGMENTS (STATUS_SEGMENT + 1) /* one more than an endpoint allows */

#define RECV_FLAGS (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_COALESCE_WR_FLAG)
#define RDMA_FLAGS (RECV_FLAGS | IT_BARRIER_FENCE_FLAG)
#define READ_FLAGS (RDMA_FLAGS | IT_UNLINK_LOCAL_SINK)
#define SEND_FLAGS (RDMA_FLAGS | IT_SOLICITED_WAIT_FLAG)
#define FROM_FLAGS (SEND_FLAGS & ~IT_COALESCE_WR_FLAG)

static it_lmr_triplet_t good[SEGMENTS];
static it_lmr_triplet_t long_ones[SEGMENTS]; /* two of them exceed the longest message */
static it_lmr_triplet_t wrapping[SEGMENTS];  /* the lengths of two of them overflow */
static it_lmr_triplet_t no_region[SEGMENTS]; /* from the second one on they have no region */
static it_lmr_triplet_t freed_region[SEGMENTS];
static it_lmr_triplet_t other_kind[SEGMENTS];
static it_lmr_triplet_t other_ia[SEGMENTS];
static it_rmr_triplet_t windows[SEGMENTS];
static it_rmr_triplet_t long_windows[SEGMENTS];
static it_rmr_triplet_t no_window[SEGMENTS];
static it_rmr_triplet_t freed_window[SEGMENTS];
static it_rmr_triplet_t closed_window[SEGMENTS];
static char elsewhere[16];
static size_t copied;
static uint64_t key;     /* key of the peer's memory */
static uint64_t address; /* its start */

static void prepare(struct status_world *world)
{
    struct fx_part part = fx_whole(&world->linked);

    for (unsigned i = 0; i < SEGMENTS; i++) {
        good[i] = fx_seg(&world->memory, 0, 8);
        long_ones[i] = fx_seg(&world->memory, 0, STATUS_MEMORY);
        wrapping[i] = fx_seg(&world->memory, 0, 8);
        wrapping[i].length = UINT64_MAX - 3;
        no_region[i] = freed_region[i] = other_kind[i] = other_ia[i] = good[i];
        windows[i] = fx_rmr_seg(world->slot[SLOT_RMR_LINKED], &part, 0, 8);
        long_windows[i] = fx_rmr_seg(world->slot[SLOT_RMR_LINKED], &part, 0, UINT32_MAX);
        no_window[i] = freed_window[i] = closed_window[i] = windows[i];
    }
    no_region[1].lmr = NULL;
    freed_region[1].lmr = world->stale[OBJECT_LMR];
    other_kind[1].lmr = world->slot[SLOT_RMR];
    other_ia[1].lmr = world->foreign[OBJECT_LMR];
    no_window[1].rmr = NULL;
    freed_window[1].rmr = world->stale[OBJECT_RMR];
    closed_window[1].rmr = world->slot[SLOT_RMR];
    key = world->foreign_memory.key;
    address = fx_addr(&world->foreign_memory, 0);
    CHECK_OK(itx_ep_enable_immediate(world->slot[SLOT_EP_CONNECTED], IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(world->slot[SLOT_EP], IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(world->slot[SLOT_EP_ENDED], IT_TRUE));
}

/* ---- Calls ---------------------------------------------------------------------------------- */

#define FLAGS(value) ((it_dto_flags_t)(value).n)

STATUS_CALL(post_send, it_post_send(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3])));
STATUS_CALL(post_send_unlink, it_post_send_and_unlink(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), key));
STATUS_CALL(post_recv, it_post_recv(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3])));
STATUS_CALL(post_write, it_post_rdma_write(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), address, key));
STATUS_CALL(post_read, it_post_rdma_read(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), address, key));
STATUS_CALL(post_read_rmr,
            it_post_rdma_read_to_rmr(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), address, key));
STATUS_CALL(post_atomic, it_post_atomic(v[0].p, (it_atomic_op_t)v[2].n, 1, 1, v[1].p, 1,
                                        FLAGS(v[3]), address + v[4].n, key));
STATUS_CALL(post_swap,
            itx_post_atomic_swap(v[0].p, 1, v[1].p, 1, FLAGS(v[3]), address + v[4].n, key));
STATUS_CALL(post_send_imm, itx_post_send_imm(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), 1));
STATUS_CALL(post_send_from,
            itx_post_send_from(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), v[4].p, v[5].p));
STATUS_CALL(post_write_imm,
            itx_post_rdma_write_imm(v[0].p, v[1].p, v[2].n, 1, FLAGS(v[3]), address, key, 1));
STATUS_CALL(enable_immediate, itx_ep_enable_immediate(v[0].p, (it_boolean_t)v[1].n));

/* ---- Scenes --------------------------------------------------------------------------------- */

static void requests_are_full(struct status_world *world, union status_value *values)
{
    (void)world;
    while (it_post_send(values[0].p, NULL, 0, 1, IT_COMPLETION_FLAG) == IT_SUCCESS)
        continue;
}

static void receives_are_full(struct status_world *world, union status_value *values)
{
    (void)world;
    while (it_post_recv(values[0].p, NULL, 0, 1, IT_COMPLETION_FLAG) == IT_SUCCESS)
        continue;
}

static void srq_is_full(struct status_world *world, union status_value *values)
{
    values[0].p = world->slot[SLOT_SRQ];
    receives_are_full(world, values);
}

static void is_connecting(struct status_world *world, union status_value *values)
{
    fx_connect(&world->node, world->slot[SLOT_EP], world->listener_port);
    values[0].p = world->slot[SLOT_EP];
}

static void not_enabled(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(itx_ep_enable_immediate(values[0].p, IT_FALSE));
}

/* Parameters of every posting call: EP, segments, their number, flags. */
#define PARAMS(flags)                                                                              \
    STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN_OR_NULL(good), STATUS_NUMBER(2),                    \
        STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, flags)
#define SEGMENT_ROWS                                                                               \
    ROW("from nowhere", IT_ERR_FAULT, SET(1, 0)),                                                  \
        ROW("one segment too many", IT_ERR_INVALID_NUM_SEGMENTS, SET(2, SEGMENTS)),                \
        ROW("absurdly many", IT_ERR_INVALID_NUM_SEGMENTS, SET(2, SIZE_MAX)),                       \
        ROW("no region", IT_ERR_INVALID_LMR, POINT(1, no_region)),                                 \
        ROW("a freed one", IT_ERR_INVALID_LMR, POINT(1, freed_region)),                            \
        ROW("a window", IT_ERR_INVALID_LMR, POINT(1, other_kind)),                                 \
        ROW("one of another IA", IT_ERR_INVALID_LMR, POINT(1, other_ia)),                          \
        ROW("nothing from nowhere", IT_SUCCESS, SET(1, 0), SET(2, 0))
#define LENGTH_ROWS                                                                                \
    ROW("too long", IT_ERR_PAYLOAD_SIZE, POINT(1, long_ones)),                                     \
        ROW("far too long", IT_ERR_PAYLOAD_SIZE, POINT(1, wrapping))
#define ONE_SIDED_LENGTH_ROWS                                                                      \
    ROW("longer than a Send", IT_SUCCESS, POINT(1, long_ones)),                                    \
        ROW("far too long", IT_ERR_PAYLOAD_SIZE, POINT(1, wrapping))
#define STATE_ROWS                                                                                 \
    ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)),                                  \
        SCENE("while it connects", IT_ERR_INVALID_EP_STATE, is_connecting),                        \
        SCENE("a full queue", IT_ERR_TOO_MANY_POSTS, requests_are_full),                           \
        ROW("a dead one", IT_SUCCESS, USE(0, SLOT_EP_ENDED))
#define POST_ROWS           SEGMENT_ROWS, LENGTH_ROWS, STATE_ROWS
#define ONE_SIDED_POST_ROWS SEGMENT_ROWS, ONE_SIDED_LENGTH_ROWS, STATE_ROWS
#define RESULT_ROWS                                                                                \
    ROW("a result too short", IT_ERR_INVALID_LENGTH, MEMBER(1, it_lmr_triplet_t, length, 7)),      \
        ROW("too long", IT_ERR_INVALID_LENGTH, MEMBER(1, it_lmr_triplet_t, length, 9)),            \
        ROW("a crooked address", IT_ERR_ADDRESS, SET(4, 4)),                                       \
        ROW("no region", IT_ERR_INVALID_LMR, MEMBER(1, it_lmr_triplet_t, lmr, 0)), STATE_ROWS

static const struct status_call calls[] = {
    {STATUS_NAMED(it_post_send, post_send), .params = {PARAMS(SEND_FLAGS)},
     .rows = ROWS(POST_ROWS)},
    {STATUS_NAMED(it_post_send_and_unlink, post_send_unlink), .params = {PARAMS(SEND_FLAGS)},
     .rows = ROWS(POST_ROWS)},
    {STATUS_NAMED(it_post_recv, post_recv),
     .params = {{.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_HANDLE,
                 .object = OBJECT_EP,
                 .or_else = OBJECT_SRQ,
                 .slot = SLOT_EP_CONNECTED},
                STATUS_GIVEN_OR_NULL(good),
                STATUS_NUMBER(2),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, RECV_FLAGS)},
     .rows = ROWS(
         SEGMENT_ROWS, ROW("draws from an S-RQ", IT_ERR_INVALID_RECV_DTO, USE(0, SLOT_EP_SRQ)),
         SCENE("a full queue", IT_ERR_TOO_MANY_POSTS, receives_are_full),
         SCENE("a full S-RQ", IT_ERR_TOO_MANY_POSTS, srq_is_full),
         ROW("an S-RQ from nowhere", IT_ERR_FAULT, USE(0, SLOT_SRQ), SET(1, 0)),
         ROW("too many for the S-RQ", IT_ERR_INVALID_NUM_SEGMENTS, USE(0, SLOT_SRQ),
             SET(2, SEGMENTS)),
         ROW("no region for the S-RQ", IT_ERR_INVALID_LMR, USE(0, SLOT_SRQ), POINT(1, no_region)),
         ROW("an S-RQ", IT_SUCCESS, USE(0, SLOT_SRQ)),
         ROW("an idle one", IT_SUCCESS, USE(0, SLOT_EP)),
         ROW("a dead one", IT_SUCCESS, USE(0, SLOT_EP_ENDED)),
         SCENE("while it connects", IT_SUCCESS, is_connecting),
         ROW("longer than a message", IT_SUCCESS, POINT(1, long_ones)))},
    {STATUS_NAMED(it_post_rdma_write, post_write), .params = {PARAMS(RDMA_FLAGS)},
     .rows = ROWS(ONE_SIDED_POST_ROWS)},
    {STATUS_NAMED(it_post_rdma_read, post_read), .params = {PARAMS(READ_FLAGS)},
     .rows = ROWS(ONE_SIDED_POST_ROWS, ROW("which of two sinks", IT_ERR_INVALID_DTO_FLAGS,
                                           SET(3, IT_UNLINK_LOCAL_SINK)))},
    {STATUS_NAMED(it_post_rdma_read_to_rmr, post_read_rmr),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN_OR_NULL(windows), STATUS_NUMBER(2),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, READ_FLAGS)},
     .rows =
         ROWS(ROW("from nowhere", IT_ERR_FAULT, SET(1, 0)),
              ROW("one segment too many", IT_ERR_INVALID_NUM_SEGMENTS, SET(2, SEGMENTS)),
              ROW("no window", IT_ERR_INVALID_RMR, POINT(1, no_window)),
              ROW("a freed one", IT_ERR_INVALID_RMR, POINT(1, freed_window)),
              ROW("a closed one", IT_ERR_INVALID_RMR, POINT(1, closed_window)),
              ROW("too long", IT_ERR_PAYLOAD_SIZE, POINT(1, long_windows)), STATE_ROWS,
              ROW("which of two sinks", IT_ERR_INVALID_DTO_FLAGS, SET(3, IT_UNLINK_LOCAL_SINK)))},
    {STATUS_NAMED(it_post_atomic, post_atomic),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(good), STATUS_NUMBER(IT_FETCH_AND_ADD),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, RDMA_FLAGS), STATUS_NUMBER(0)},
     .rows = ROWS(RESULT_ROWS, ROW("an unknown operation", IT_ERR_INVALID_ATOMIC_OP, SET(2, 77)),
                  ROW("the other one", IT_SUCCESS, SET(2, IT_COMPARE_AND_SWAP)))},
    {STATUS_NAMED(itx_post_atomic_swap, post_swap),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(good), STATUS_NUMBER(0),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, RDMA_FLAGS), STATUS_NUMBER(0)},
     .rows = ROWS(RESULT_ROWS)},
    {STATUS_NAMED(itx_post_send_imm, post_send_imm), .params = {PARAMS(SEND_FLAGS)},
     .rows = ROWS(POST_ROWS, SCENE("not enabled", IT_ERR_OP_NOT_SUPPORTED, not_enabled))},
    {STATUS_NAMED(itx_post_send_from, post_send_from),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(good), STATUS_NUMBER(2),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, FROM_FLAGS),
                STATUS_GIVEN(elsewhere), STATUS_GIVEN_OR_NULL(copied)},
     .rows = ROWS(ROW("one segment too many", IT_ERR_INVALID_NUM_SEGMENTS, SET(2, SEGMENTS)),
                  ROW("no segment", IT_ERR_INVALID_NUM_SEGMENTS, SET(2, 0)),
                  ROW("no region", IT_ERR_INVALID_LMR, POINT(1, no_region)),
                  ROW("a freed one", IT_ERR_INVALID_LMR, POINT(1, freed_region)), LENGTH_ROWS,
                  STATE_ROWS)},
    {STATUS_NAMED(itx_post_rdma_write_imm, post_write_imm), .params = {PARAMS(SEND_FLAGS)},
     .rows = ROWS(ONE_SIDED_POST_ROWS, SCENE("not enabled", IT_ERR_OP_NOT_SUPPORTED, not_enabled))},
    {STATUS_NAMED(itx_ep_enable_immediate, enable_immediate),
     .params = {STATUS_EP(SLOT_EP), STATUS_NUMBER(IT_TRUE)}},
    {.name = NULL},
};

const struct status_table status_post = {calls, prepare};
