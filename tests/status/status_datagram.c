/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams, which iWARP does not have. Arguments that can be checked without them are checked. */
#include "status/status_tables.h"

#include <stdint.h>
#include <string.h>

static it_ep_attributes_t attr;
static it_conn_qual_t qual;
static it_path_t path;
static unsigned char data[4];
static it_remote_ep_info_t ep_info;

static void prepare(struct status_world *world)
{
    attr = status_attributes();
    path = fx_path(&world->node);
    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = world->port;
}

STATUS_CALL(ep_create, it_ep_ud_create(v[0].p, v[1].p, v[2].p, v[3].p, v[4].n, v[5].p));
STATUS_CALL(sendto_ep, it_post_sendto(v[0].p, NULL, 0, 1, FX_SIGNAL, NULL));
STATUS_CALL(recvfrom_ep, it_post_recvfrom(v[0].p, NULL, 0, 1, FX_SIGNAL));
STATUS_CALL(request_create,
            it_ud_service_request_handle_create(v[1].p, v[0].p, v[2].p, v[3].p, v[4].n, v[5].p));
STATUS_CALL(request_query, it_ud_service_request_handle_query(v[0].p, IT_UD_PARAM_ALL, v[1].p));
STATUS_CALL(request_free, it_ud_service_request_handle_free(v[0].p));
STATUS_CALL(request, it_ud_service_request(v[0].p));
STATUS_CALL(reply, it_ud_service_reply(v[0].n, IT_UD_SVC_EP_INFO_VALID, ep_info, NULL, 0));
STATUS_CALL(address_create,
            it_address_handle_create(v[0].p, v[1].p, (it_ah_flags_t)v[2].n, v[3].p));
STATUS_CALL(address_query, it_address_handle_query(v[0].p, IT_ADDR_PARAM_ALL, v[1].p));
STATUS_CALL(address_modify, it_address_handle_modify(v[0].p, IT_ADDR_PARAM_PATH, v[1].p));
STATUS_CALL(address_free, it_address_handle_free(v[0].p));

#define PATH_ROWS(param)                                                                           \
    ROW("from elsewhere", IT_ERR_INVALID_SOURCE_PATH,                                              \
        MEMBER(param, it_path_t, remote.iwarp.laddr.ipv4.s_addr, 0x4d0200c0)),                     \
        ROW("to nobody", IT_ERR_INVALID_ADDRESS,                                                   \
            MEMBER(param, it_path_t, remote.iwarp.raddr.ipv4.s_addr, INADDR_ANY))
/* A handle that names no such object, whatever it is. */
#define NO_OBJECT(status)                                                                          \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = (status), .object = OBJECTS, .slot = SLOT_EP                  \
    }

static const struct status_call calls[] = {
    {STATUS_NAMED(it_ep_ud_create, ep_create),
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
                STATUS_GIVEN(attr),
                STATUS_NUMBER(1),
                STATUS_RESULT},
     .rows = ROWS(ROW("an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(1, SLOT_AEVD)),
                  ROW("requests to connections", IT_ERR_INVALID_REQ_EVD, USE(1, SLOT_EVD_CONN)),
                  ROW("receives to connections", IT_ERR_INVALID_RECV_EVD, USE(2, SLOT_EVD_CONN)),
                  ROW("the only Spigot", IT_ERR_OP_NOT_SUPPORTED, SET(4, 0)),
                  ROW("an unknown one", IT_ERR_INVALID_SPIGOT, SET(4, 2))),
     .at_best = IT_ERR_OP_NOT_SUPPORTED},
    {STATUS_NAMED(it_post_sendto, sendto_ep), .params = {STATUS_EP(SLOT_EP_CONNECTED)},
     .at_best = IT_ERR_INVALID_EP_TYPE},
    {STATUS_NAMED(it_post_recvfrom, recvfrom_ep), .params = {STATUS_EP(SLOT_EP_CONNECTED)},
     .at_best = IT_ERR_INVALID_EP_TYPE},
    {STATUS_NAMED(it_ud_service_request_handle_create, request_create),
     .params = {STATUS_EVD(SLOT_EVD_CONN, IT_ERR_INVALID_EVD), STATUS_GIVEN(qual),
                STATUS_GIVEN(path), STATUS_GIVEN_AS_IS(data), STATUS_NUMBER(0), STATUS_RESULT},
     .rows = ROWS(ROW("completions", IT_ERR_INVALID_EVD_TYPE, USE(0, SLOT_EVD_RECV)),
                  ROW("an aggregate", IT_ERR_AEVD_NOT_ALLOWED, USE(0, SLOT_AEVD)),
                  ROW("data from nowhere", IT_ERR_FAULT, SET(3, 0), SET(4, 1)), PATH_ROWS(2)),
     .at_best = IT_ERR_OP_NOT_SUPPORTED},
    {STATUS_NAMED(it_ud_service_request_handle_query, request_query),
     .params = {NO_OBJECT(IT_ERR_INVALID_UD_SVC), STATUS_OPTIONAL},
     .at_best = IT_ERR_INVALID_UD_SVC},
    {STATUS_NAMED(it_ud_service_request_handle_free, request_free),
     .params = {NO_OBJECT(IT_ERR_INVALID_UD_SVC)}, .at_best = IT_ERR_INVALID_UD_SVC},
    {STATUS_NAMED(it_ud_service_request, request), .params = {NO_OBJECT(IT_ERR_INVALID_UD_SVC)},
     .at_best = IT_ERR_INVALID_UD_SVC},
    {STATUS_NAMED(it_ud_service_reply, reply), .params = {STATUS_NUMBER(1)},
     .rows = ROWS(ROW("id 0", IT_ERR_INVALID_UD_SVC_REQ_ID, SET(0, 0))),
     .at_best = IT_ERR_INVALID_UD_SVC_REQ_ID},
    {STATUS_NAMED(it_address_handle_create, address_create),
     .params = {STATUS_PZ, STATUS_GIVEN(path),
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0, IT_AH_PATH_COMPLETE), STATUS_RESULT},
     .rows =
         ROWS(ROW("the only Spigot", IT_ERR_OP_NOT_SUPPORTED, MEMBER(1, it_path_t, spigot_id, 0)),
              ROW("an unknown one", IT_ERR_INVALID_SPIGOT, MEMBER(1, it_path_t, spigot_id, 2)),
              PATH_ROWS(1)),
     .at_best = IT_ERR_OP_NOT_SUPPORTED},
    {STATUS_NAMED(it_address_handle_query, address_query),
     .params = {NO_OBJECT(IT_ERR_INVALID_AH), STATUS_OPTIONAL}, .at_best = IT_ERR_INVALID_AH},
    {STATUS_NAMED(it_address_handle_modify, address_modify),
     .params = {NO_OBJECT(IT_ERR_INVALID_AH), STATUS_OPTIONAL}, .at_best = IT_ERR_INVALID_AH},
    {STATUS_NAMED(it_address_handle_free, address_free), .params = {NO_OBJECT(IT_ERR_INVALID_AH)},
     .at_best = IT_ERR_INVALID_AH},
    {.name = NULL},
};

const struct status_table status_datagram = {calls, prepare};
