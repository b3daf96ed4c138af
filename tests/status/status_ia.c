/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces, IAs, paths, privileged mapping, PZs. */
#include "status/status_tables.h"

#include <arpa/inet.h>
#include <string.h>

static char good_name[IT_INTERFACE_NAME_SIZE];
static const char no_name[] = "";
static const char unknown_name[] = "uiwarpx";
static const char other_case[] = "UIWARP";
static const char no_interface[] = "uiwarp:";
static const char unknown_interface[] = "uiwarp:no_such_if";
static char endless_name[IT_INTERFACE_NAME_SIZE + 8];
static it_net_addr_t address;
static const size_t capacity = 4;
static unsigned char memory[64];

static void prepare(struct status_world *world)
{
    (void)world;
    strncpy(good_name, fx_interface(), sizeof(good_name) - 1);
    memset(endless_name, 'u', sizeof(endless_name));
    address.addr_type = IT_IPV4;
    address.addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
}

STATUS_CALL(ia_create, it_ia_create(v[0].p, (uint32_t)v[1].n, (uint32_t)v[2].n, v[3].p));

static it_status_t ia_query(const union status_value *v)
{
    it_ia_info_t *info = NULL;
    it_status_t status = it_ia_query(v[0].p, v[1].p != NULL ? &info : NULL);

    if (status == IT_SUCCESS)
        it_ia_info_free(info);
    return status;
}

STATUS_CALL(ia_free, it_ia_free(v[0].p));
STATUS_CALL(get_pathinfo, it_get_pathinfo(v[0].p, v[1].n, v[2].p, v[3].p, v[4].p, v[5].p));
STATUS_CALL(mem_map, it_mem_map(v[0].p, v[1].p, v[2].n, v[3].n, v[4].p, v[5].p));
STATUS_CALL(mem_unmap, it_mem_unmap(v[0].p, v[1].p, v[2].n));
STATUS_CALL(pz_create, it_pz_create(v[0].p, v[1].p));
STATUS_CALL(pz_query, it_pz_query(v[0].p, (it_pz_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(pz_free, it_pz_free(v[0].p));

/* ---- What keeps a PZ ------------------------------------------------------------------------ */

static void pz_has_ep(struct status_world *world, union status_value *values)
{
    it_ep_attributes_t attr = status_attributes();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_ep_rc_create(values[0].p, world->node.request_evd, world->node.recv_evd,
                             world->node.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
}

static void pz_has_lmr(struct status_world *world, union status_value *values)
{
    it_lmr_handle_t lmr = NULL;

    (void)world;
    CHECK_OK(it_lmr_create10(values[0].p, memory, sizeof(memory), IT_PRIV_LOCAL, IT_LMR_FLAG_NONE,
                             0, &lmr, NULL));
}

static void pz_has_rmr(struct status_world *world, union status_value *values)
{
    it_rmr_handle_t rmr = NULL;

    (void)world;
    CHECK_OK(it_rmr_create10(values[0].p, &rmr));
}

static void pz_has_srq(struct status_world *world, union status_value *values)
{
    it_srq_handle_t srq = NULL;

    (void)world;
    CHECK_OK(it_srq_create(values[0].p, 1, 1, &srq));
}

static const struct status_call calls[] = {
    {STATUS_NAMED(it_ia_create, ia_create),
     .params =
         {{.kind = PARAM_POINTER, .optional = true, .at = good_name, .size = sizeof(good_name)},
          STATUS_NUMBER(2),
          STATUS_NUMBER(1),
          STATUS_RESULT},
     .rows = ROWS(ROW("no name", IT_ERR_INVALID_NAME, SET(0, 0)),
                  ROW("an empty name", IT_ERR_INVALID_NAME, POINT(0, no_name)),
                  ROW("an unknown name", IT_ERR_INVALID_NAME, POINT(0, unknown_name)),
                  ROW("other letters", IT_ERR_INVALID_NAME, POINT(0, other_case)),
                  ROW("no network interface", IT_ERR_INVALID_NAME, POINT(0, no_interface)),
                  ROW("an unknown one", IT_ERR_INVALID_NAME, POINT(0, unknown_interface)),
                  ROW("a name without end", IT_ERR_INVALID_NAME, POINT(0, endless_name)),
                  ROW("version 0.0", IT_ERR_INVALID_MAJOR_VERSION, SET(1, 0), SET(2, 0)),
                  ROW("version 3.0", IT_ERR_INVALID_MAJOR_VERSION, SET(1, 3), SET(2, 0)),
                  ROW("version 1.1", IT_ERR_INVALID_MINOR_VERSION, SET(1, 1)),
                  ROW("version 2.2", IT_ERR_INVALID_MINOR_VERSION, SET(2, 2)),
                  ROW("version 1.0", IT_SUCCESS, SET(1, 1), SET(2, 0)),
                  ROW("version 2.0", IT_SUCCESS, SET(2, 0)))},
    {STATUS_NAMED(it_ia_query, ia_query), .params = {STATUS_IA, STATUS_RESULT}},
    {STATUS_NAMED(it_ia_free, ia_free), .params = {{.kind = PARAM_HANDLE,
                                                    .bad = IT_ERR_INVALID_IA,
                                                    .object = OBJECT_IA,
                                                    .slot = SLOT_IA_SPARE}}},
    {STATUS_NAMED(it_get_pathinfo, get_pathinfo),
     .params = {STATUS_IA, STATUS_NUMBER(1), STATUS_GIVEN(address), STATUS_GIVEN(capacity),
                STATUS_RESULT, STATUS_RESULT},
     .rows = ROWS(
         ROW("the only Spigot", IT_SUCCESS, SET(1, 0)),
         ROW("an unknown one", IT_ERR_INVALID_SPIGOT, SET(1, 2)),
         ROW("a Spigot far away", IT_ERR_INVALID_SPIGOT, SET(1, UINT64_MAX)),
         ROW("an unknown type", IT_ERR_INVALID_NETADDR, MEMBER(2, it_net_addr_t, addr_type, 77)),
         ROW("a type of others", IT_ERR_INVALID_NETADDR,
             MEMBER(2, it_net_addr_t, addr_type, IT_VIA_HOSTADDR)))},
    {STATUS_NAMED(it_mem_map, mem_map),
     .params = {STATUS_IA, STATUS_GIVEN_AS_IS(memory), STATUS_NUMBER(0), STATUS_NUMBER(64),
                STATUS_RESULT, STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_ERR_PRIV_OPS_UNAVAILABLE, SET(3, 0))),
     .at_best = IT_ERR_PRIV_OPS_UNAVAILABLE},
    {STATUS_NAMED(it_mem_unmap, mem_unmap),
     .params = {STATUS_IA, STATUS_NUMBER(0), STATUS_NUMBER(64)},
     .at_best = IT_ERR_PRIV_OPS_UNAVAILABLE},
    {STATUS_NAMED(it_pz_create, pz_create), .pooled = true, .params = {STATUS_IA, STATUS_RESULT}},
    {STATUS_NAMED(it_pz_query, pz_query),
     .params = {STATUS_PZ, STATUS_BITS(IT_ERR_INVALID_MASK, IT_PZ_PARAM_ALL, 0x3), STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_pz_free, pz_free),
     .params = {{.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_PZ,
                 .object = OBJECT_PZ,
                 .slot = SLOT_PZ_SPARE}},
     .rows = ROWS(ROW("with all kinds of objects", IT_ERR_PZ_BUSY, USE(0, SLOT_PZ)),
                  SCENE("with an EP", IT_ERR_PZ_BUSY, pz_has_ep),
                  SCENE("with an LMR", IT_ERR_PZ_BUSY, pz_has_lmr),
                  SCENE("with an RMR", IT_ERR_PZ_BUSY, pz_has_rmr),
                  SCENE("with an S-RQ", IT_ERR_PZ_BUSY, pz_has_srq))},
    {.name = NULL},
};

const struct status_table status_ia = {calls, prepare};
