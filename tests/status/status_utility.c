/* SPDX-License-Identifier: BSD-2-Clause */
/* Utilities that take any handle, and those for addresses. */
#include "status/status_tables.h"

#include <arpa/inet.h>

static it_net_addr_t address;
static it_net_addr_t address6; /* contains no IPv4 address */
static it_net_addr_t endless;  /* longer than any buffer */

static void prepare(struct status_world *world)
{
    (void)world;
    address.addr_type = IT_IPV4;
    address.addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
    address6.addr_type = IT_IPV6;
    address6.addr.ipv6 = in6addr_loopback;
    endless.addr_type = IT_VIA_HOSTADDR;
    endless.addr.via.len = IT_MAX_VIA_ADDR_LEN + 1;
}

STATUS_CALL(get_type, it_get_handle_type(v[0].p, v[1].p));

static it_status_t set_context(const union status_value *v)
{
    it_context_t context = {.index = 7};

    return it_set_consumer_context(v[0].p, context);
}

STATUS_CALL(get_context, it_get_consumer_context(v[0].p, v[1].p));
STATUS_CALL(convert, it_convert_net_addr(v[0].p, (it_net_addr_type_t)v[1].n, v[2].p));

static void has_context(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(set_context(values));
}

#define ANY                                                                                        \
    {                                                                                              \
        .kind = PARAM_HANDLE, .bad = IT_ERR_INVALID_HANDLE, .of_any_kind = true, .slot = SLOT_EP   \
    }
#define EACH_KIND(status)                                                                          \
    ROW("an IA", status, USE(0, SLOT_IA)), ROW("a PZ", status, USE(0, SLOT_PZ)),                   \
        ROW("an EVD", status, USE(0, SLOT_EVD)), ROW("an AEVD", status, USE(0, SLOT_AEVD)),        \
        ROW("a listen point", status, USE(0, SLOT_LISTEN)),                                        \
        ROW("an LMR", status, USE(0, SLOT_LMR)), ROW("an RMR", status, USE(0, SLOT_RMR)),          \
        ROW("an S-RQ", status, USE(0, SLOT_SRQ))

static const struct status_call calls[] = {
    {STATUS_NAMED(it_get_handle_type, get_type), .params = {ANY, STATUS_RESULT},
     .rows = ROWS(EACH_KIND(IT_SUCCESS))},
    {STATUS_NAMED(it_set_consumer_context, set_context), .params = {ANY},
     .rows = ROWS(EACH_KIND(IT_SUCCESS))},
    {STATUS_NAMED(it_get_consumer_context, get_context), .params = {ANY, STATUS_RESULT},
     .rows = ROWS(EACH_KIND(IT_ERR_NO_CONTEXT), SCENE("one that was set", IT_SUCCESS, has_context)),
     .at_best = IT_ERR_NO_CONTEXT},
    {STATUS_NAMED(it_convert_net_addr, convert),
     .params = {STATUS_GIVEN(address), STATUS_NUMBER(IT_IPV6), STATUS_RESULT},
     .rows = ROWS(
         ROW("an unknown kind", IT_ERR_INVALID_NETADDR, MEMBER(0, it_net_addr_t, addr_type, 77)),
         ROW("too long", IT_ERR_INVALID_NETADDR, POINT(0, endless)),
         ROW("into an unknown kind", IT_ERR_INVALID_CONVERSION, SET(1, 77)),
         ROW("into another world's", IT_ERR_INVALID_CONVERSION, SET(1, IT_VIA_HOSTADDR)),
         ROW("into a smaller one", IT_ERR_INVALID_CONVERSION, POINT(0, address6), SET(1, IT_IPV4)),
         ROW("into itself", IT_SUCCESS, SET(1, IT_IPV4)),
         ROW("into a GID", IT_SUCCESS, SET(1, IT_IB_GID)))},
    {.name = NULL},
};

const struct status_table status_utility = {calls, prepare};
