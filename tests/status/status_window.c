/* SPDX-License-Identifier: BSD-2-Clause */
/* Remote memory regions: windows. */
#include "status/status_tables.h"

#include <stdint.h>

#define QUERY_MASK 0x7ffu
#define LINK_FLAGS                                                                                 \
    (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG)
#define UNLINK_FLAGS (LINK_FLAGS | IT_UNLINK_FENCE_FLAG)
#define RIGHTS       0x1fu

static void prepare(struct status_world *world)
{
    (void)world;
}

/* ---- Calls: the address is that of the region, so that it can be in a row -------------------- */

static void *start_of(it_lmr_handle_t lmr)
{
    it_lmr_param_t params;

    return it_lmr_query(lmr, IT_LMR_PARAM_ADDR, &params) == IT_SUCCESS ? params.addr : NULL;
}

STATUS_CALL(create10, it_rmr_create10(v[0].p, v[1].p));
STATUS_CALL(create20, it_rmr_create20(v[0].p, (it_rmr_type_t)v[1].n, v[2].p));
STATUS_CALL(bind10,
            it_rmr_bind10(v[0].p, v[1].p, (char *)start_of(v[1].p) + v[2].n, v[3].n,
                          (it_mem_priv_t)v[4].n, v[5].p, 1, (it_dto_flags_t)v[6].n, v[7].p));
STATUS_CALL(rmr_link, it_rmr_link(v[0].p, v[1].p, (char *)start_of(v[1].p) + v[2].n, v[3].n,
                                  (it_addr_mode_t)v[8].n, (it_mem_priv_t)v[4].n, v[5].p, 1,
                                  (it_dto_flags_t)v[6].n, v[7].p));
/* The window has a key. The last value is xored with it. */
static it_rmr_context_t key_of(it_rmr_handle_t rmr, it_rmr_context_t change)
{
    it_rmr_context_t key = 0;

    return itx_rmr_key(rmr, &key) == IT_SUCCESS ? key ^ change : change;
}

STATUS_CALL(rmr_link_key,
            itx_rmr_link_key(v[0].p, v[1].p, (char *)start_of(v[1].p) + v[2].n, v[3].n,
                             (it_addr_mode_t)v[8].n, (it_mem_priv_t)v[4].n, v[5].p, 1,
                             (it_dto_flags_t)v[6].n, key_of(v[0].p, v[7].n)));
STATUS_CALL(rmr_key, itx_rmr_key(v[0].p, v[1].p));
STATUS_CALL(rmr_reset, itx_rmr_reset(v[0].p));
STATUS_CALL(post_invalidate, itx_post_invalidate(v[1].p, v[0].n, 1, (it_dto_flags_t)v[2].n));
STATUS_CALL(rmr_unlink, it_rmr_unlink(v[0].p, v[1].p, 1, (it_dto_flags_t)v[2].n));
STATUS_CALL(query, it_rmr_query(v[0].p, (it_rmr_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(rmr_free, it_rmr_free(v[0].p));

/* ---- Scenes --------------------------------------------------------------------------------- */

static void fill_requests(it_ep_handle_t ep)
{
    while (it_post_send(ep, NULL, 0, 1, IT_COMPLETION_FLAG) == IT_SUCCESS)
        continue;
}

static void link_queue_is_full(struct status_world *world, union status_value *values)
{
    (void)world;
    fill_requests(values[5].p);
}

static void unlink_queue_is_full(struct status_world *world, union status_value *values)
{
    (void)world;
    fill_requests(values[1].p);
}

/* A region that the program itself may not write to. */
static void right_is_missing(struct status_world *world, union status_value *values)
{
    static unsigned char memory[STATUS_MEMORY];
    it_lmr_handle_t lmr = NULL;

    CHECK_OK(it_lmr_create10(world->node.pz, memory, sizeof(memory), IT_PRIV_LOCAL_READ,
                             IT_LMR_FLAG_NONE, 0, &lmr, NULL));
    values[1].p = lmr;
}

#define RMR                                                                                        \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_RMR, .object = OBJECT_RMR, .slot = SLOT_RMR    \
    }
#define LMR                                                                                        \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_LMR, .object = OBJECT_LMR, .slot = SLOT_LMR    \
    }
/* Parameters of all bindings: RMR, LMR, offset, length, rights, EP, flags, and a key. */
#define LINK_PARAMS LINK_KEY_PARAMS, STATUS_RESULT
#define LINK_KEY_PARAMS                                                                            \
    RMR, LMR, STATUS_NUMBER(0), STATUS_NUMBER(STATUS_MEMORY),                                      \
        STATUS_BITS(IT_ERR_INVALID_PRIVS, IT_PRIV_REMOTE, RIGHTS), STATUS_EP(SLOT_EP_CONNECTED),   \
        STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, LINK_FLAGS)
#define LINK_ROWS                                                                                  \
    ROW("RMR of another PZ", IT_ERR_INVALID_PZ, USE(0, SLOT_RMR_ZONE)),                            \
        ROW("LMR of another PZ", IT_ERR_INVALID_PZ, USE(1, SLOT_LMR_ZONE)),                        \
        ROW("a start too far", IT_ERR_RANGE, SET(2, STATUS_MEMORY)),                               \
        ROW("an end too far", IT_ERR_RANGE, SET(2, 1)),                                            \
        ROW("all there is", IT_ERR_RANGE, SET(3, SIZE_MAX)),                                       \
        ROW("no octet", IT_ERR_INVALID_LENGTH, SET(3, 0)),                                         \
        ROW("no rights", IT_ERR_INVALID_PRIVS, SET(4, 0)),                                         \
        ROW("local rights", IT_ERR_INVALID_PRIVS, SET(4, IT_PRIV_REMOTE | IT_PRIV_LOCAL_READ)),    \
        SCENE("a right we lack", IT_ERR_ACCESS, right_is_missing),                                 \
        ROW("an idle EP", IT_ERR_INVALID_EP_STATE, USE(5, SLOT_EP)),                               \
        SCENE("a full queue", IT_ERR_TOO_MANY_POSTS, link_queue_is_full),                          \
        ROW("a dead EP", IT_SUCCESS, USE(5, SLOT_EP_ENDED)),                                       \
        ROW("a window that is open", IT_SUCCESS, USE(0, SLOT_RMR_LINKED))

static const struct status_call calls[] = {
    {STATUS_NAMED(it_rmr_create10, create10), .pooled = true, .params = {STATUS_PZ, STATUS_RESULT}},
    {STATUS_NAMED(it_rmr_create20, create20), .pooled = true,
     .params = {STATUS_PZ, STATUS_NUMBER(IT_RMR_TYPE_WIDE), STATUS_RESULT},
     .rows = ROWS(ROW("an unknown type", IT_ERR_INVALID_RMR_TYPE, SET(1, 3)),
                  ROW("another", IT_ERR_INVALID_RMR_TYPE, SET(1, UINT32_MAX)),
                  ROW("a narrow one", IT_SUCCESS, SET(1, IT_RMR_TYPE_NARROW)))},
    {STATUS_NAMED(it_rmr_bind10, bind10), .params = {LINK_PARAMS}, .rows = ROWS(LINK_ROWS)},
    {STATUS_NAMED(it_rmr_link, rmr_link),
     .params = {LINK_PARAMS, STATUS_NUMBER(IT_ADDR_MODE_ABSOLUTE)},
     .rows = ROWS(LINK_ROWS, ROW("an unknown mode", IT_ERR_INVALID_ADDR_MODE, SET(8, 2)))},
    {STATUS_NAMED(itx_rmr_link_key, rmr_link_key),
     .params = {LINK_KEY_PARAMS, STATUS_NUMBER(1), STATUS_NUMBER(IT_ADDR_MODE_ABSOLUTE)},
     .rows = ROWS(LINK_ROWS, ROW("an unknown mode", IT_ERR_INVALID_ADDR_MODE, SET(8, 2)),
                  ROW("a key of another", IT_ERR_RANGE, SET(7, 256)))},
    {STATUS_NAMED(itx_rmr_key, rmr_key), .params = {RMR, STATUS_RESULT}},
    {STATUS_NAMED(itx_rmr_reset, rmr_reset), .params = {RMR},
     .rows = ROWS(ROW("a window that is open", IT_SUCCESS, USE(0, SLOT_RMR_LINKED)))},
    {STATUS_NAMED(itx_post_invalidate, post_invalidate),
     .params = {STATUS_NUMBER(1), STATUS_EP(SLOT_EP_CONNECTED),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, UNLINK_FLAGS)},
     .rows = ROWS(ROW("an idle EP", IT_ERR_INVALID_EP_STATE, USE(1, SLOT_EP)),
                  SCENE("a full queue", IT_ERR_TOO_MANY_POSTS, unlink_queue_is_full),
                  ROW("a dead EP", IT_SUCCESS, USE(1, SLOT_EP_ENDED)))},
    {STATUS_NAMED(it_rmr_unlink, rmr_unlink),
     .params = {RMR, STATUS_EP(SLOT_EP_CONNECTED),
                STATUS_BITS(IT_ERR_INVALID_DTO_FLAGS, FX_SIGNAL, UNLINK_FLAGS)},
     .rows = ROWS(ROW("RMR of another PZ", IT_ERR_INVALID_PZ, USE(0, SLOT_RMR_ZONE)),
                  ROW("an idle EP", IT_ERR_INVALID_EP_STATE, USE(1, SLOT_EP)),
                  SCENE("a full queue", IT_ERR_TOO_MANY_POSTS, unlink_queue_is_full),
                  ROW("a dead EP", IT_SUCCESS, USE(1, SLOT_EP_ENDED)),
                  ROW("a window that is open", IT_SUCCESS, USE(0, SLOT_RMR_LINKED)))},
    {STATUS_NAMED(it_rmr_query, query),
     .params = {RMR, STATUS_BITS(IT_ERR_INVALID_MASK, IT_RMR_PARAM_ALL, QUERY_MASK), STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_rmr_free, rmr_free), .params = {RMR},
     .rows = ROWS(ROW("a window that is open", IT_SUCCESS, USE(0, SLOT_RMR_LINKED)),
                  ROW("a narrow one", IT_SUCCESS, USE(0, SLOT_RMR_NARROW)))},
    {.name = NULL},
};

const struct status_table status_window = {calls, prepare};
