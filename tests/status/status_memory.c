/* SPDX-License-Identifier: BSD-2-Clause */
/* Local memory regions. */
#include "status/status_tables.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PRIVS       0x1fu
#define FLAGS       0x6000000fu
#define QUERY_MASK  0x7fffu
#define MODIFY_MASK (IT_LMR_PARAM_PZ | IT_LMR_PARAM_MEM_PRIV | ITX_LMR_KEEP_KEY)
#define LINK_FLAGS                                                                                 \
    (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG)

static unsigned char memory[64];
static unsigned char *readable; /* a page without write permission */
static size_t page;
static it_iobl_t list;
static it_iobl_t bad_list;
static it_iobl_t empty_list;
static it_io_addr_t list_elements[1];
static it_lmr_param_t good;
static it_lmr_param_t no_pz;
static it_lmr_param_t foreign_pz;
static it_lmr_triplet_t segment;
static it_lmr_triplet_t other_kind;
static it_lmr_triplet_t stale;
static it_lmr_triplet_t outside;

static unsigned char *map(size_t pages)
{
    void *mapped = mmap(NULL, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(mapped != MAP_FAILED);
    return mapped;
}

static void prepare(struct status_world *world)
{
    if (readable == NULL) {
        page = (size_t)sysconf(_SC_PAGESIZE);
        readable = map(1);
    }
    list.iobl_type = IT_IOBL_PAGE_LIST;
    list.num_elts = 1;
    list.list.ce_list.list_elt = list_elements;
    list.list.ce_list.elt_len = page;
    bad_list = empty_list = list;
    bad_list.iobl_type = (it_iobl_type_t)0x40;
    empty_list.num_elts = 0;
    memset(&good, 0, sizeof(good));
    good.pz = world->slot[SLOT_PZ_ZONE];
    good.privs = IT_PRIV_LOCAL;
    no_pz = foreign_pz = good;
    no_pz.pz = NULL;
    foreign_pz.pz = world->foreign[OBJECT_PZ];
    segment = fx_seg(&world->memory, 0, 8);
    other_kind = stale = segment;
    other_kind.lmr = world->slot[SLOT_PZ];
    stale.lmr = world->stale[OBJECT_LMR];
    outside = fx_seg(&world->memory, STATUS_MEMORY - 7, 8);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

STATUS_CALL(create10, it_lmr_create10(v[0].p, v[1].p, v[2].n, (it_mem_priv_t)v[3].n,
                                      (it_lmr_flag_t)v[4].n, (uint32_t)v[5].n, v[6].p, v[7].p));
STATUS_CALL(create20,
            it_lmr_create20(v[0].p, v[1].p, v[2].n, (it_addr_mode_t)v[8].n, (it_mem_priv_t)v[3].n,
                            (it_lmr_flag_t)v[4].n, (uint32_t)v[5].n, v[6].p, v[7].p));
STATUS_CALL(create21, it_lmr_create21(v[0].p, v[1].p, v[9].p, v[2].n, (it_addr_mode_t)v[8].n,
                                      (it_mem_priv_t)v[3].n, (it_lmr_flag_t)v[4].n,
                                      (uint32_t)v[5].n, v[6].p, v[7].p));
STATUS_CALL(create_at, itx_lmr_create_at(v[0].p, v[1].p, v[2].n, v[5].n, (it_mem_priv_t)v[3].n,
                                         (it_lmr_flag_t)v[4].n, v[6].p, v[7].p));
STATUS_CALL(create_unlinked,
            it_lmr_create_unlinked(v[0].p, v[1].n, (it_lmr_flag_t)v[2].n, 0, v[3].p));
STATUS_CALL(lmr_link, it_lmr_link(v[0].p, memory, v[1].p, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                                  v[2].p, 1, (it_dto_flags_t)v[3].n, v[4].p));
STATUS_CALL(lmr_unlink, it_lmr_unlink(v[0].p, v[1].p, 1, (it_dto_flags_t)v[2].n));
STATUS_CALL(modify, it_lmr_modify(v[0].p, (it_lmr_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(query, it_lmr_query(v[0].p, (it_lmr_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(lmr_free, it_lmr_free(v[0].p));
STATUS_CALL(flush, it_lmr_flush_to_mem(v[0].p, v[1].n));
STATUS_CALL(refresh, it_lmr_refresh_from_mem(v[0].p, v[1].n));

/* ---- Scenes: memory that is not as it should be --------------------------------------------- */

static void cannot_be_written(struct status_world *world, union status_value *values)
{
    (void)world;
    values[1].p = readable;
}

static void runs_into_a_hole(struct status_world *world, union status_value *values)
{
    unsigned char *hole = map(3) + page;

    (void)world;
    CHECK(munmap(hole, page) == 0); /* unmapped only now, so that nothing else is mapped there */
    values[1].p = hole - 1;
    values[2].n = 2;
    values[3].n = IT_PRIV_LOCAL_READ;
}

static void region_cannot_be_written(struct status_world *world, union status_value *values)
{
    it_lmr_handle_t lmr = NULL;

    CHECK_OK(it_lmr_create10(world->node.pz, readable, page, IT_PRIV_LOCAL_READ, IT_LMR_FLAG_NONE,
                             0, &lmr, NULL));
    values[0].p = lmr;
}

#define LMR(which)                                                                                 \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_LMR, .object = OBJECT_LMR, .slot = (which)     \
    }
/* Parameters of all bindings: PZ, address, length, rights, flags, shared id, handle, key. */
#define CREATE_PARAMS                                                                              \
    STATUS_PZ, STATUS_GIVEN_AS_IS(memory), STATUS_NUMBER(sizeof(memory)),                          \
        STATUS_BITS(IT_ERR_INVALID_PRIVS, IT_PRIV_LOCAL, PRIVS),                                   \
        STATUS_BITS(IT_ERR_INVALID_FLAGS, IT_LMR_FLAG_NONE, FLAGS), STATUS_NUMBER(0),              \
        STATUS_RESULT, STATUS_OPTIONAL
#define CREATE_ROWS                                                                                \
    ROW("no octet", IT_ERR_INVALID_LENGTH, SET(2, 0)),                                             \
        ROW("all octets", IT_ERR_RESOURCE_LMR_LENGTH, SET(2, SIZE_MAX)),                           \
        ROW("peers may write, we not", IT_ERR_INVALID_PRIVS, SET(3, IT_PRIV_REMOTE_WRITE)),        \
        ROW("shared and not", IT_ERR_INVALID_FLAGS,                                                \
            SET(4, IT_LMR_FLAG_SHARED | IT_LMR_FLAG_NON_SHAREABLE)),                               \
        SCENE("not to be written", IT_ERR_ACCESS, cannot_be_written),                              \
        SCENE("not there", IT_ERR_FAULT, runs_into_a_hole),                                        \
        ROW("no rights", IT_SUCCESS, SET(3, 0)), ROW("no flags", IT_SUCCESS, SET(4, 0)),           \
        ROW("shared", IT_SUCCESS, SET(4, IT_LMR_FLAG_SHARED))
#define CREATE_MODES                                                                               \
    ROW("an unknown mode", IT_ERR_INVALID_ADDR_MODE, SET(8, 2)),                                   \
        ROW("offsets", IT_SUCCESS, SET(8, IT_ADDR_MODE_RELATIVE))
#define SYNC_ROWS                                                                                  \
    ROWS(ROW("a freed region", IT_ERR_INVALID_LMR, POINT(0, stale)),                               \
         ROW("a PZ", IT_ERR_INVALID_LMR, POINT(0, other_kind)),                                    \
         ROW("too far", IT_ERR_RANGE, POINT(0, outside)),                                          \
         ROW("from nowhere", IT_ERR_FAULT, SET(0, 0)),                                             \
         ROW("absurdly many", IT_ERR_INVALID_NUM_SEGMENTS, SET(1, SIZE_MAX)),                      \
         ROW("none", IT_SUCCESS, SET(1, 0)),                                                       \
         ROW("none from nowhere", IT_SUCCESS, SET(0, 0), SET(1, 0)))

static const struct status_call calls[] = {
    {STATUS_NAMED(it_lmr_create10, create10), .pooled = true, .params = {CREATE_PARAMS},
     .rows = ROWS(CREATE_ROWS, ROW("no address", IT_ERR_FAULT, SET(1, 0)))},
    {STATUS_NAMED(it_lmr_create20, create20), .pooled = true,
     .params = {CREATE_PARAMS, STATUS_NUMBER(IT_ADDR_MODE_ABSOLUTE)},
     .rows = ROWS(CREATE_ROWS, CREATE_MODES, ROW("no address", IT_ERR_FAULT, SET(1, 0)))},
    {STATUS_NAMED(it_lmr_create21, create21), .pooled = true,
     .params = {CREATE_PARAMS, STATUS_NUMBER(IT_ADDR_MODE_ABSOLUTE), STATUS_NUMBER(0)},
     .rows =
         ROWS(CREATE_ROWS, CREATE_MODES, ROW("no address", IT_ERR_ADDRESS, SET(1, 0)),
              ROW("no address, offsets", IT_ERR_ADDRESS, SET(1, 0), SET(8, IT_ADDR_MODE_RELATIVE)),
              ROW("a list", IT_ERR_PRIV_OPS_UNAVAILABLE, POINT(9, list)),
              ROW("an unknown list", IT_ERR_INVALID_IOBL, POINT(9, bad_list)),
              ROW("an empty list", IT_ERR_INVALID_IOBL, POINT(9, empty_list)))},
    {STATUS_NAMED(itx_lmr_create_at, create_at), .pooled = true, .params = {CREATE_PARAMS},
     .rows = ROWS(CREATE_ROWS, ROW("no address", IT_ERR_ADDRESS, SET(1, 0)),
                  ROW("too far up", IT_ERR_RANGE, SET(5, UINT64_MAX)))},
    {STATUS_NAMED(it_lmr_create_unlinked, create_unlinked),
     .params = {STATUS_PZ, STATUS_NUMBER(4), STATUS_BITS(IT_ERR_INVALID_FLAGS, 1, FLAGS),
                STATUS_RESULT},
     .rows = ROWS(ROW("no elements", IT_ERR_INVALID_IOBL, SET(1, 0))),
     .at_best = IT_ERR_OP_NOT_SUPPORTED},
    {STATUS_NAMED(it_lmr_link, lmr_link),
     .params = {LMR(SLOT_LMR), STATUS_NUMBER(0), STATUS_EP(SLOT_EP_CONNECTED),
                STATUS_NUMBER(FX_SIGNAL), STATUS_NUMBER(1)},
     .at_best = IT_ERR_INVALID_LMR},
    {STATUS_NAMED(it_lmr_unlink, lmr_unlink),
     .params = {LMR(SLOT_LMR), STATUS_EP(SLOT_EP_CONNECTED), STATUS_NUMBER(FX_SIGNAL)},
     .at_best = IT_ERR_INVALID_LMR},
    {STATUS_NAMED(it_lmr_modify, modify),
     .params = {LMR(SLOT_LMR), STATUS_BITS(IT_ERR_INVALID_MASK, IT_LMR_PARAM_MEM_PRIV, MODIFY_MASK),
                STATUS_GIVEN(good)},
     .rows =
         ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)),
              ROW("no PZ", IT_ERR_INVALID_PZ, SET(1, IT_LMR_PARAM_PZ), POINT(2, no_pz)),
              ROW("a PZ of another IA", IT_ERR_INVALID_PZ, SET(1, IT_LMR_PARAM_PZ),
                  POINT(2, foreign_pz)),
              ROW("unknown rights", IT_ERR_INVALID_PRIVS, MEMBER(2, it_lmr_param_t, privs, 0x20)),
              ROW("peers may write, we not", IT_ERR_INVALID_PRIVS,
                  MEMBER(2, it_lmr_param_t, privs, IT_PRIV_REMOTE_WRITE)),
              SCENE("not to be written", IT_ERR_ACCESS, region_cannot_be_written),
              ROW("windows", IT_ERR_LMR_BUSY, USE(0, SLOT_LMR_LINKED)),
              ROW("another PZ", IT_SUCCESS, SET(1, MODIFY_MASK)))},
    {STATUS_NAMED(it_lmr_query, query),
     .params = {LMR(SLOT_LMR), STATUS_BITS(IT_ERR_INVALID_MASK, IT_LMR_PARAM_ALL, QUERY_MASK),
                STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_lmr_free, lmr_free), .params = {LMR(SLOT_LMR)},
     .rows = ROWS(ROW("windows", IT_ERR_LMR_BUSY, USE(0, SLOT_LMR_LINKED)))},
    {STATUS_NAMED(it_lmr_flush_to_mem, flush),
     .params = {STATUS_GIVEN_OR_NULL(segment), STATUS_NUMBER(1)}, .rows = SYNC_ROWS},
    {STATUS_NAMED(it_lmr_refresh_from_mem, refresh),
     .params = {STATUS_GIVEN_OR_NULL(segment), STATUS_NUMBER(1)}, .rows = SYNC_ROWS},
    {.name = NULL},
};

const struct status_table status_memory = {calls, prepare};
