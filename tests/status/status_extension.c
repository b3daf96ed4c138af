/* SPDX-License-Identifier: BSD-2-Clause */
/* Extensions of itx_api.h that are in no other table. */
#include "status/status_tables.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "status/status_thread.h"

static struct itx_mpa_params mpa;
static struct itx_mpa_info info;
static struct itx_ep_addresses addresses;
static int option;
static socklen_t option_length = sizeof(option);
static struct itx_features features;
static struct itx_counters counters;
static struct itx_ep_counters ep_counters;
static struct itx_provider_info provider_info;
static struct itx_aim aim;
static it_length_t used;
static struct event_base *base;

static void prepare(struct status_world *world)
{
    if (base != NULL)
        event_base_free(base);
    base = event_base_new();
    CHECK(base != NULL);
    mpa = fx_mpa(world->slot[SLOT_EP]);
    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    memset(&addresses, 0, sizeof(addresses));
    addresses.size = sizeof(addresses);
    aim = (struct itx_aim){
        .size = sizeof(aim), .octets = &features, .length = 1, .least = UINT32_MAX};
    memset(&features, 0, sizeof(features));
    features.size = sizeof(features);
    memset(&counters, 0, sizeof(counters));
    counters.size = sizeof(counters);
    memset(&ep_counters, 0, sizeof(ep_counters));
    ep_counters.size = sizeof(ep_counters);
    memset(&provider_info, 0, sizeof(provider_info));
    provider_info.size = sizeof(provider_info);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

STATUS_CALL(set_mpa, itx_ep_set_mpa_params(v[0].p, v[1].p));
STATUS_CALL(get_mpa, itx_ep_get_mpa_params(v[0].p, v[1].p));
STATUS_CALL(query_mpa, itx_ep_query_mpa(v[0].p, v[1].p));
STATUS_CALL(query_addresses, itx_ep_query_addresses(v[0].p, v[1].p));
STATUS_CALL(set_option,
            itx_ep_set_stream_option(v[0].p, (int)v[1].n, (int)v[2].n, v[3].p, (socklen_t)v[4].n));
STATUS_CALL(get_option, itx_ep_get_stream_option(v[0].p, (int)v[1].n, (int)v[2].n, v[3].p, v[4].p));
STATUS_CALL(dequeue_n, itx_evd_dequeue_n(v[0].p, v[1].n, v[2].p, v[3].p));
/* Thaws the IA again, since other calls would wait. */
static it_status_t freeze(it_ia_handle_t ia, bool twice)
{
    it_status_t status = itx_ia_freeze(ia);

    if (status == IT_SUCCESS && twice)
        status = itx_ia_freeze(ia);
    (void)itx_ia_thaw(ia);
    return status;
}

STATUS_CALL(ia_freeze, freeze(v[0].p, v[1].n != 0));
STATUS_CALL(ia_thaw, itx_ia_thaw(v[0].p));
/* Ends the lead again. */
static it_status_t lead_begin(it_ia_handle_t ia, int *fd, bool twice)
{
    it_status_t status;
    int other;

    if (twice)
        (void)itx_ia_lead_begin(ia, &other);
    status = itx_ia_lead_begin(ia, fd);
    (void)itx_ia_lead_end(ia, IT_FALSE);
    return status;
}

static it_status_t lead_end(it_ia_handle_t ia, bool leads)
{
    int fd;

    if (leads)
        (void)itx_ia_lead_begin(ia, &fd);
    return itx_ia_lead_end(ia, IT_TRUE);
}

STATUS_CALL(ia_lead_begin, lead_begin(v[0].p, v[1].p, v[2].n != 0));
STATUS_CALL(ia_lead_end, lead_end(v[0].p, v[1].n != 0));
STATUS_CALL(ep_claim, itx_ep_claim(v[0].p));
STATUS_CALL(limit_hold, itx_ep_limit_hold(v[0].p, (uint32_t)v[1].n, v[2].n));
STATUS_CALL(ep_aim, itx_ep_aim(v[0].p, v[1].p, v[2].p));
STATUS_CALL(ep_flush, itx_ep_flush(v[0].p));
STATUS_CALL(ep_clear, itx_ep_clear(v[0].p));
STATUS_CALL(last_recv, itx_ep_tell_last_recv(v[0].p, IT_FALSE));
STATUS_CALL(evd_arm, itx_evd_arm(v[0].p, (itx_evd_arm_t)v[1].n));
STATUS_CALL(set_waitable, itx_evd_set_waitable(v[0].p, v[1].n ? IT_TRUE : IT_FALSE));
STATUS_CALL(wait_n, itx_evd_wait_n(v[0].p, v[1].n, v[2].n, v[3].p, v[4].p, v[5].p));
STATUS_CALL(dequeue_n_elsewhere, it_evd_dequeue_n(v[0].p, (int)v[1].n, v[2].p, v[3].p));
STATUS_CALL(aevd_wait, itx_aevd_wait(v[0].p, v[1].n, v[2].n, v[3].p, v[4].p));

static atomic_int answer;

static void set_base_inside(it_evd_handle_t evd, void *ia)
{
    it_event_t event;

    (void)it_evd_dequeue(evd, &event);
    atomic_store(&answer, (int)itx_ia_set_event_base(ia, base));
}

/* The last value is an EVD whose callback makes the call. */
static it_status_t set_base(const union status_value *v)
{
    if (v[2].p == NULL)
        return itx_ia_set_event_base(v[0].p, v[1].p != NULL ? base : NULL);
    atomic_store(&answer, -1);
    CHECK_OK(it_evd_callback_attach(v[2].p, set_base_inside, v[0].p));
    CHECK_OK(it_evd_post_se(v[2].p, NULL));
    FX_WAIT_WHILE(atomic_load(&answer) < 0, "the callback");
    return (it_status_t)atomic_load(&answer);
}

STATUS_CALL(set_stats_source, itx_ia_set_stats_source(v[0].p, NULL, NULL));
STATUS_CALL(set_niceness, itx_ia_set_niceness(v[0].p, (int)v[1].n));
STATUS_CALL(set_spin, itx_ia_set_spin(v[0].p, v[1].n));
STATUS_CALL(set_share, itx_ia_set_half_open_share(v[0].p, v[1].n));
STATUS_CALL(query_features, itx_ia_query_features(v[0].p, v[1].p));
STATUS_CALL(ia_stats, itx_ia_stats(v[0].p, v[1].p));
STATUS_CALL(ep_stats, itx_ep_stats(v[0].p, v[1].p));
STATUS_CALL(query_provider, itx_provider_query(v[0].n, v[1].p));

/* ---- Scenes --------------------------------------------------------------------------------- */

static void ignore(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    (void)argument;
}

static void has_event(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_evd_post_se(values[0].p, NULL));
}

static void member_has_event(struct status_world *world, union status_value *values)
{
    (void)values;
    CHECK_OK(it_evd_post_se(world->slot[SLOT_EVD_MEMBER], NULL));
}

static void has_callback(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_evd_callback_attach(values[0].p, ignore, NULL));
}

static void is_unwaitable(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(itx_evd_set_waitable(values[0].p, IT_FALSE));
}

static void has_all_waiters(struct status_world *world, union status_value *values)
{
    (void)world;
    for (unsigned i = 0; i < 8; i++)
        status_thread_waits(values[0].p);
}

static void is_freed_meanwhile(struct status_world *world, union status_value *values)
{
    (void)world;
    values[1].n = IT_TIMEOUT_INFINITE;
    status_thread_frees(values[0].p);
}

/* The AEVD has no members, which would keep it busy. */
static void empty_one_is_freed(struct status_world *world, union status_value *values)
{
    it_evd_handle_t aevd = NULL;

    CHECK_OK(it_evd_create(world->node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0,
                           0, NULL, &aevd, NULL));
    values[0].p = aevd;
    is_freed_meanwhile(world, values);
}

static void is_interrupted(struct status_world *world, union status_value *values)
{
    (void)world;
    values[1].n = IT_TIMEOUT_INFINITE;
    status_thread_interrupts();
}

#define EVD STATUS_EVD(SLOT_EVD, IT_ERR_INVALID_EVD)

static const struct status_call calls[] = {
    {STATUS_NAMED(itx_ep_set_mpa_params, set_mpa),
     .params = {STATUS_EP(SLOT_EP), STATUS_GIVEN(mpa)},
     .rows = ROWS(
         ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_mpa_params, size, 0)),
         ROW("revision 0", IT_ERR_INVALID_EP_ATTR, MEMBER(1, struct itx_mpa_params, revision, 0)),
         ROW("revision 3", IT_ERR_INVALID_EP_ATTR, MEMBER(1, struct itx_mpa_params, revision, 3)),
         ROW("an unknown RTR", IT_ERR_INVALID_EP_ATTR,
             MEMBER(1, struct itx_mpa_params, rtr_types, 8)),
         ROW("no RTR", IT_ERR_INVALID_EP_ATTR, MEMBER(1, struct itx_mpa_params, rtr_types, 0)),
         ROW("markers", IT_ERR_INVALID_EP_ATTR,
             MEMBER(1, struct itx_mpa_params, request_markers, IT_TRUE)),
         ROW("a connection", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_CONNECTED)),
         ROW("a dead one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP_ENDED)))},
    {STATUS_NAMED(itx_ep_get_mpa_params, get_mpa),
     .params = {STATUS_EP(SLOT_EP), STATUS_GIVEN(mpa)},
     .rows =
         ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_mpa_params, size, 0)))},
    {STATUS_NAMED(itx_ep_query_mpa, query_mpa),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(info)},
     .rows = ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_mpa_info, size, 0)),
                  ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)))},
    {STATUS_NAMED(itx_ep_query_addresses, query_addresses),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(addresses)},
     .rows =
         ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_ep_addresses, size, 0)),
              ROW("a dead one", IT_SUCCESS, USE(0, SLOT_EP_ENDED)),
              ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)))},
    {STATUS_NAMED(itx_ep_set_stream_option, set_option),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_NUMBER(SOL_SOCKET),
                STATUS_NUMBER(SO_KEEPALIVE), STATUS_GIVEN(option), STATUS_NUMBER(sizeof(option))},
     .rows = ROWS(ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)),
                  ROW("not allowed", IT_ERR_OP_NOT_SUPPORTED, SET(2, SO_RCVBUF)),
                  ROW("too short", IT_ERR_RANGE, SET(4, 1)))},
    {STATUS_NAMED(itx_ep_get_stream_option, get_option),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_NUMBER(SOL_SOCKET),
                STATUS_NUMBER(SO_KEEPALIVE), STATUS_GIVEN(option), STATUS_GIVEN(option_length)},
     .rows = ROWS(ROW("an idle one", IT_ERR_INVALID_EP_STATE, USE(0, SLOT_EP)),
                  ROW("not allowed", IT_ERR_OP_NOT_SUPPORTED, SET(2, SO_ERROR)),
                  ROW("unknown", IT_ERR_RANGE, SET(2, 9999)))},
    {STATUS_NAMED(itx_ia_freeze, ia_freeze), .params = {STATUS_IA, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("twice", IT_ERR_EVD_BUSY, SET(1, 1)))},
    {STATUS_NAMED(itx_ia_thaw, ia_thaw), .params = {STATUS_IA}},
    {STATUS_NAMED(itx_ia_lead_begin, ia_lead_begin),
     .params = {STATUS_IA, STATUS_RESULT, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("twice", IT_ERR_WAITER_LIMIT, SET(2, 1)))},
    {STATUS_NAMED(itx_ia_lead_end, ia_lead_end), .params = {STATUS_IA, STATUS_NUMBER(1)},
     .rows = ROWS(ROW("not begun", IT_ERR_INVALID_EVD_STATE, SET(1, 0)))},
    {STATUS_NAMED(itx_ep_claim, ep_claim), .params = {STATUS_EP(SLOT_EP)}},
    {STATUS_NAMED(itx_ep_limit_hold, limit_hold),
     .params = {STATUS_EP(SLOT_EP), STATUS_NUMBER(0), STATUS_NUMBER(10)},
     .rows = ROWS(ROW("more than for ever", IT_ERR_RANGE, SET(1, ITX_HOLD_TRIES + 1)),
                  ROW("too long", IT_ERR_RANGE, SET(2, ITX_HOLD_TRY_US + 1)),
                  ROW("a connected one", IT_SUCCESS, USE(0, SLOT_EP_CONNECTED)))},
    {STATUS_NAMED(itx_ep_aim, ep_aim),
     .params = {STATUS_EP(SLOT_EP), STATUS_GIVEN_OR_NULL(aim), STATUS_GIVEN_OR_NULL(used)},
     .rows = ROWS(ROW("none", IT_SUCCESS, SET(1, 0)),
                  ROW("nowhere", IT_ERR_FAULT, MEMBER(1, struct itx_aim, octets, 0)),
                  ROW("no octet", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_aim, length, 0)),
                  ROW("too long", IT_ERR_INVALID_LENGTH,
                      MEMBER(1, struct itx_aim, length, UINT64_C(0x80000001))),
                  ROW("an old struct", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_aim, size, 8)),
                  ROW("a connected one", IT_SUCCESS, USE(0, SLOT_EP_CONNECTED)))},
    {STATUS_NAMED(itx_ep_flush, ep_flush), .params = {STATUS_EP(SLOT_EP)},
     .rows = ROWS(ROW("a connected one", IT_SUCCESS, USE(0, SLOT_EP_CONNECTED)))},
    {STATUS_NAMED(itx_ep_clear, ep_clear), .params = {STATUS_EP(SLOT_EP)},
     .rows = ROWS(ROW("a connected one", IT_SUCCESS, USE(0, SLOT_EP_CONNECTED)))},
    {STATUS_NAMED(itx_ep_tell_last_recv, last_recv), .params = {STATUS_EP(SLOT_EP)}},
    {STATUS_NAMED(itx_evd_dequeue_n, dequeue_n),
     .params = {EVD, STATUS_NUMBER(1), STATUS_RESULT, STATUS_RESULT},
     .rows = ROWS(ROW("none", IT_ERR_INVALID_LENGTH, SET(1, 0)),
                  SCENE("an event", IT_SUCCESS, has_event)),
     .at_best = IT_ERR_QUEUE_EMPTY},
    {STATUS_NAMED(it_evd_dequeue_n, dequeue_n_elsewhere),
     .params = {EVD, STATUS_NUMBER(1), STATUS_RESULT, STATUS_RESULT},
     .rows = ROWS(ROW("none", IT_ERR_INVALID_LENGTH, SET(1, 0)),
                  ROW("less than none", IT_ERR_INVALID_LENGTH, SET(1, -1)),
                  SCENE("an event", IT_SUCCESS, has_event))},
    {STATUS_NAMED(itx_aevd_wait, aevd_wait),
     .params = {STATUS_EVD(SLOT_AEVD, IT_ERR_INVALID_EVD), STATUS_NUMBER(0), STATUS_NUMBER(1),
                STATUS_RESULT, STATUS_RESULT},
     .rows = ROWS(ROW("none", IT_ERR_INVALID_LENGTH, SET(2, 0)),
                  ROW("a simple one", IT_ERR_INVALID_AEVD, USE(0, SLOT_EVD)),
                  SCENE("waits forbidden", IT_ERR_INVALID_EVD_STATE, is_unwaitable),
                  SCENE("with a callback", IT_ERR_CALLBACK_EXISTS, has_callback),
                  SCENE("one waiter too many", IT_ERR_WAITER_LIMIT, has_all_waiters, SET(1, 1000)),
                  SCENE("freed meanwhile", IT_ERR_ABORT, empty_one_is_freed),
                  SCENE("a signal", IT_ERR_INTERRUPT, is_interrupted),
                  SCENE("an event", IT_SUCCESS, member_has_event))},
    {STATUS_NAMED(itx_evd_arm, evd_arm), .params = {EVD, STATUS_NUMBER(ITX_EVD_ARM_OFF)},
     .rows = ROWS(ROW("none of the values", IT_ERR_INVALID_FLAGS, SET(1, 4)),
                  ROW("an aggregate one", IT_ERR_INVALID_EVD_TYPE, USE(0, SLOT_AEVD)),
                  ROW("its AEVD gives the events", IT_ERR_INVALID_EVD_STATE,
                      USE(0, SLOT_EVD_MEMBER), SET(1, ITX_EVD_ARM_ANY)))},
    {STATUS_NAMED(itx_evd_set_waitable, set_waitable), .params = {EVD, STATUS_NUMBER(1)},
     .rows = ROWS(ROW("an aggregate", IT_SUCCESS, USE(0, SLOT_AEVD)))},
    {STATUS_NAMED(itx_evd_wait_n, wait_n),
     .params = {EVD, STATUS_NUMBER(0), STATUS_NUMBER(1), STATUS_RESULT, STATUS_RESULT,
                STATUS_OPTIONAL},
     .rows = ROWS(ROW("none", IT_ERR_INVALID_LENGTH, SET(2, 0)),
                  ROW("a member", IT_ERR_INVALID_EVD_STATE, USE(0, SLOT_EVD_MEMBER)),
                  SCENE("waits forbidden", IT_ERR_INVALID_EVD_STATE, is_unwaitable),
                  SCENE("with a callback", IT_ERR_CALLBACK_EXISTS, has_callback),
                  SCENE("one waiter too many", IT_ERR_WAITER_LIMIT, has_all_waiters, SET(1, 1000)),
                  SCENE("freed meanwhile", IT_ERR_ABORT, is_freed_meanwhile),
                  SCENE("a signal", IT_ERR_INTERRUPT, is_interrupted),
                  SCENE("an event", IT_SUCCESS, has_event)),
     .at_best = IT_ERR_TIMEOUT_EXPIRED, .tells = true},
    {STATUS_NAMED(itx_ia_set_event_base, set_base),
     .params = {STATUS_IA, STATUS_RESULT, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("from a callback", IT_ERR_EVD_BUSY, USE(2, SLOT_EVD)))},
    {STATUS_NAMED(itx_ia_set_spin, set_spin), .params = {STATUS_IA, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("as it was", IT_SUCCESS, SET(1, ITX_SPIN_DEFAULT)),
                  ROW("nearly for ever", IT_SUCCESS, SET(1, ITX_SPIN_DEFAULT - 1)))},
    {STATUS_NAMED(itx_ia_set_half_open_share, set_share), .params = {STATUS_IA, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("one", IT_SUCCESS, SET(1, 1)),
                  ROW("more than there may be", IT_SUCCESS, SET(1, SIZE_MAX)))},
    {STATUS_NAMED(itx_ia_set_stats_source, set_stats_source), .params = {STATUS_IA}},
    {STATUS_NAMED(itx_ia_set_niceness, set_niceness), .params = {STATUS_IA, STATUS_NUMBER(0)},
     .rows = ROWS(ROW("below the least", IT_ERR_RANGE, SET(1, -21)),
                  ROW("above the most", IT_ERR_RANGE, SET(1, 20)))},
    {STATUS_NAMED(itx_ia_query_features, query_features),
     .params = {STATUS_IA, STATUS_GIVEN(features)},
     .rows = ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_features, size, 0)))},
    {STATUS_NAMED(itx_ia_stats, ia_stats), .params = {STATUS_IA, STATUS_GIVEN(counters)},
     .rows = ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_counters, size, 0)))},
    {STATUS_NAMED(itx_ep_stats, ep_stats),
     .params = {STATUS_EP(SLOT_EP_CONNECTED), STATUS_GIVEN(ep_counters)},
     .rows = ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_ep_counters, size, 0)),
                  ROW("an idle one", IT_SUCCESS, USE(0, SLOT_EP)))},
    {STATUS_NAMED(itx_provider_query, query_provider),
     .params = {STATUS_NUMBER(0), STATUS_GIVEN(provider_info)},
     .rows =
         ROWS(ROW("no size", IT_ERR_INVALID_LENGTH, MEMBER(1, struct itx_provider_info, size, 0)),
              ROW("behind the last", IT_ERR_RANGE, SET(0, 1000)))},
    {.name = NULL},
};

const struct status_table status_extension = {calls, prepare};
