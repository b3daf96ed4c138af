/* SPDX-License-Identifier: BSD-2-Clause */
/* Event dispatchers. */
#include "status/status_tables.h"

#include "status/status_thread.h"

#include <stdint.h>
#include <string.h>

#define QUERY_MASK 0xfffu
#define MODIFY_MASK                                                                                \
    (IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_THRESHOLD | IT_EVD_PARAM_AEVD_HANDLE |                 \
     IT_EVD_PARAM_ENABLED | IT_EVD_PARAM_OVERFLOWED | IT_EVD_PARAM_FLAG)
#define CREATE_FLAGS 0x1fu
#define MIXED_STREAMS                                                                              \
    (ITX_STREAM_DTO | ITX_STREAM_CM_REQ | ITX_STREAM_CM_MSG | ITX_STREAM_ASYNC_AFF |               \
     ITX_STREAM_ASYNC_UNAFF | ITX_STREAM_SOFTWARE)
#define WAITERS 8u /* waiters on one EVD */

static it_evd_param_t good;
static it_evd_param_t joins;         /* an AEVD */
static it_evd_param_t joins_simple;  /* a handle that is no EVD */
static it_evd_param_t joins_foreign; /* an EVD of another IA */
static it_evd_handle_t foreign_aevd;

static void prepare(struct status_world *world)
{
    memset(&good, 0, sizeof(good));
    good.sevd_queue_size = 4;
    good.sevd_threshold = 1;
    good.evd_enabled = IT_TRUE;
    CHECK_OK(it_evd_create(world->other.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0,
                           0, NULL, &foreign_aevd, NULL));
    joins = joins_simple = joins_foreign = good;
    joins.aevd = world->slot[SLOT_AEVD];
    joins_simple.aevd = world->slot[SLOT_EVD_REQUEST];
    joins_foreign.aevd = foreign_aevd;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void ignore(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    (void)argument;
}

STATUS_CALL(evd_create, it_evd_create(v[0].p, (it_event_type_t)v[1].n, (it_evd_flags_t)v[2].n,
                                      v[3].n, v[4].n, v[5].p, v[6].p, v[7].p));
STATUS_CALL(evd_create_mixed, itx_evd_create_mixed(v[0].p, (uint32_t)v[1].n, (it_evd_flags_t)v[2].n,
                                                   v[3].n, v[4].n, v[5].p, v[6].p, v[7].p));
STATUS_CALL(evd_query, it_evd_query(v[0].p, (it_evd_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(evd_modify, it_evd_modify(v[0].p, (it_evd_param_mask_t)v[1].n, v[2].p));
STATUS_CALL(evd_wait, it_evd_wait(v[0].p, v[1].n, v[2].p, v[3].p));
STATUS_CALL(evd_dequeue, it_evd_dequeue(v[0].p, v[1].p));
STATUS_CALL(evd_post_se, it_evd_post_se(v[0].p, v[1].p));
STATUS_CALL(evd_attach, it_evd_callback_attach(v[0].p, v[1].p != NULL ? ignore : NULL, NULL));
STATUS_CALL(evd_detach, it_evd_callback_detach(v[0].p));
STATUS_CALL(evd_free, it_evd_free(v[0].p));

/* ---- Scenes --------------------------------------------------------------------------------- */

static void has_unaffiliated(struct status_world *world, union status_value *values)
{
    (void)values;
    (void)fx_evd(&world->node, IT_ASYNC_UNAFF_EVENT_STREAM, 4, 0);
}

static void foreign_aggregate(struct status_world *world, union status_value *values)
{
    (void)world;
    values[5].p = foreign_aevd;
}

static void two_are_queued(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_evd_post_se(values[0].p, NULL));
    CHECK_OK(it_evd_post_se(values[0].p, NULL));
}

static void queue_is_full(struct status_world *world, union status_value *values)
{
    two_are_queued(world, values);
    two_are_queued(world, values);
}

static void has_callback(struct status_world *world, union status_value *values)
{
    (void)world;
    CHECK_OK(it_evd_callback_attach(values[0].p, ignore, NULL));
}

/* The waiter returns when the world is closed. */
static void has_waiter(struct status_world *world, union status_value *values)
{
    (void)world;
    status_thread_waits(values[0].p);
}

static void has_all_waiters(struct status_world *world, union status_value *values)
{
    for (unsigned i = 0; i < WAITERS; i++)
        has_waiter(world, values);
}

static void is_freed_meanwhile(struct status_world *world, union status_value *values)
{
    (void)world;
    values[1].n = IT_TIMEOUT_INFINITE;
    status_thread_frees(values[0].p);
}

static void is_interrupted(struct status_world *world, union status_value *values)
{
    (void)world;
    values[1].n = IT_TIMEOUT_INFINITE;
    status_thread_interrupts();
}

#define EVD STATUS_EVD(SLOT_EVD, IT_ERR_INVALID_EVD)

static const struct status_call calls[] = {
    {STATUS_NAMED(it_evd_create, evd_create), .pooled = true,
     .params = {STATUS_IA,
                STATUS_NUMBER(IT_SOFTWARE_EVENT_STREAM),
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0, CREATE_FLAGS),
                STATUS_NUMBER(4),
                STATUS_NUMBER(1),
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_AEVD,
                 .object = OBJECT_EVD,
                 .foreign = IT_ERR_INVALID_AEVD,
                 .optional = true},
                STATUS_RESULT,
                STATUS_OPTIONAL},
     .rows = ROWS(
         ROW("an event", IT_ERR_INVALID_EVD_TYPE, SET(1, IT_SOFTWARE_EVENT)),
         ROW("a connection event", IT_ERR_INVALID_EVD_TYPE,
             SET(1, IT_CM_MSG_CONN_ESTABLISHED_EVENT)),
         ROW("two streams", IT_ERR_INVALID_EVD_TYPE,
             SET(1, IT_CM_REQ_EVENT_STREAM | IT_CM_MSG_EVENT_STREAM)),
         ROW("an unknown stream", IT_ERR_INVALID_EVD_TYPE, SET(1, 0x40000)),
         ROW("an event's flag for an SEVD", IT_ERR_INVALID_FLAGS,
             SET(2, IT_EVD_DEQUEUE_NOTIFICATIONS)),
         ROW("no room", IT_ERR_INVALID_QUEUE_SIZE, SET(3, 0)),
         ROW("too much room", IT_ERR_RESOURCE_QUEUE_SIZE, SET(3, SIZE_MAX)),
         ROW("half of that", IT_ERR_RESOURCE_QUEUE_SIZE, SET(3, SIZE_MAX / 2)),
         ROW("a threshold above the room", IT_ERR_INVALID_THRESHOLD, SET(4, 5)),
         ROW("a simple one for an aggregate", IT_ERR_INVALID_AEVD, USE(5, SLOT_EVD_REQUEST)),
         SCENE("an aggregate of another IA", IT_ERR_INVALID_AEVD, foreign_aggregate),
         ROW("an aggregate in an aggregate", IT_ERR_AEVD_NOT_ALLOWED,
             SET(1, IT_AEVD_NOTIFICATION_EVENT_STREAM), USE(5, SLOT_AEVD)),
         ROW("a descriptor to nowhere", IT_ERR_MISMATCH_FD, SET(2, IT_EVD_CREATE_FD), SET(7, 0)),
         ROW("a descriptor of a member", IT_ERR_MISMATCH_FD, SET(2, IT_EVD_CREATE_FD),
             USE(5, SLOT_AEVD)),
         ROW("a second affiliated one", IT_ERR_ASYNC_AFF_EVD_EXISTS,
             SET(1, IT_ASYNC_AFF_EVENT_STREAM)),
         SCENE("a second unaffiliated one", IT_ERR_ASYNC_UNAFF_EVD_EXISTS, has_unaffiliated,
               SET(1, IT_ASYNC_UNAFF_EVENT_STREAM)),
         ROW("nowhere for a descriptor", IT_SUCCESS, SET(7, 0)),
         ROW("a descriptor", IT_SUCCESS, SET(2, IT_EVD_CREATE_FD)),
         ROW("a member", IT_SUCCESS, USE(5, SLOT_AEVD)),
         ROW("an aggregate without room", IT_SUCCESS, SET(1, IT_AEVD_NOTIFICATION_EVENT_STREAM),
             SET(3, 0), SET(4, 9)))},
    {STATUS_NAMED(itx_evd_create_mixed, evd_create_mixed), .pooled = true,
     .params = {STATUS_IA,
                STATUS_BITS(IT_ERR_INVALID_EVD_TYPE, ITX_STREAM_SOFTWARE, MIXED_STREAMS),
                STATUS_BITS(IT_ERR_INVALID_FLAGS, 0, CREATE_FLAGS),
                STATUS_NUMBER(4),
                STATUS_NUMBER(1),
                {.kind = PARAM_HANDLE,
                 .bad = IT_ERR_INVALID_AEVD,
                 .object = OBJECT_EVD,
                 .foreign = IT_ERR_INVALID_AEVD,
                 .optional = true},
                STATUS_RESULT,
                STATUS_OPTIONAL},
     .rows = ROWS(
         ROW("no stream", IT_ERR_INVALID_EVD_TYPE, SET(1, 0)),
         ROW("an aggregate's flag", IT_ERR_INVALID_FLAGS, SET(2, IT_EVD_DEQUEUE_NOTIFICATIONS)),
         ROW("no room", IT_ERR_INVALID_QUEUE_SIZE, SET(3, 0)),
         ROW("too much room", IT_ERR_RESOURCE_QUEUE_SIZE, SET(3, SIZE_MAX)),
         ROW("a threshold above the room", IT_ERR_INVALID_THRESHOLD, SET(4, 5)),
         ROW("a simple one for an aggregate", IT_ERR_INVALID_AEVD, USE(5, SLOT_EVD_REQUEST)),
         SCENE("an aggregate of another IA", IT_ERR_INVALID_AEVD, foreign_aggregate),
         ROW("a descriptor to nowhere", IT_ERR_MISMATCH_FD, SET(2, IT_EVD_CREATE_FD), SET(7, 0)),
         ROW("a descriptor of a member", IT_ERR_MISMATCH_FD, SET(2, IT_EVD_CREATE_FD),
             USE(5, SLOT_AEVD)),
         ROW("a second affiliated one", IT_ERR_ASYNC_AFF_EVD_EXISTS,
             SET(1, ITX_STREAM_DTO | ITX_STREAM_ASYNC_AFF)),
         SCENE("a second unaffiliated one", IT_ERR_ASYNC_UNAFF_EVD_EXISTS, has_unaffiliated,
               SET(1, ITX_STREAM_DTO | ITX_STREAM_ASYNC_UNAFF)),
         ROW("several streams", IT_SUCCESS, SET(1, ITX_STREAM_DTO | ITX_STREAM_CM_MSG)),
         ROW("a descriptor", IT_SUCCESS, SET(2, IT_EVD_CREATE_FD)),
         ROW("a member", IT_SUCCESS, USE(5, SLOT_AEVD)))},
    {STATUS_NAMED(it_evd_query, evd_query),
     .params = {EVD, STATUS_BITS(IT_ERR_INVALID_MASK, IT_EVD_PARAM_ALL, QUERY_MASK), STATUS_RESULT},
     .rows = ROWS(ROW("nothing", IT_SUCCESS, SET(1, 0)))},
    {STATUS_NAMED(it_evd_modify, evd_modify),
     .params = {EVD, STATUS_BITS(IT_ERR_INVALID_MASK, IT_EVD_PARAM_QUEUE_SIZE, MODIFY_MASK),
                STATUS_GIVEN(good)},
     .rows = ROWS(
         ROW("room of an aggregate", IT_ERR_INVALID_MASK, USE(0, SLOT_AEVD)),
         ROW("threshold of an aggregate", IT_ERR_INVALID_MASK, USE(0, SLOT_AEVD),
             SET(1, IT_EVD_PARAM_THRESHOLD)),
         ROW("aggregate of an aggregate", IT_ERR_INVALID_MASK, USE(0, SLOT_AEVD),
             SET(1, IT_EVD_PARAM_AEVD_HANDLE)),
         ROW("no room", IT_ERR_INVALID_QUEUE_SIZE, MEMBER(2, it_evd_param_t, sevd_queue_size, 0)),
         ROW("too much room", IT_ERR_RESOURCE_QUEUE_SIZE,
             MEMBER(2, it_evd_param_t, sevd_queue_size, SIZE_MAX)),
         SCENE("room for less than is queued", IT_ERR_INVALID_QUEUE_SIZE, two_are_queued,
               MEMBER(2, it_evd_param_t, sevd_queue_size, 1)),
         ROW("a threshold above the room", IT_ERR_INVALID_THRESHOLD, SET(1, IT_EVD_PARAM_THRESHOLD),
             MEMBER(2, it_evd_param_t, sevd_threshold, 5)),
         ROW("less room than the threshold", IT_ERR_INVALID_THRESHOLD,
             SET(1, IT_EVD_PARAM_THRESHOLD | IT_EVD_PARAM_QUEUE_SIZE),
             MEMBER(2, it_evd_param_t, sevd_threshold, 4),
             MEMBER(2, it_evd_param_t, sevd_queue_size, 3)),
         ROW("a simple one for an aggregate", IT_ERR_INVALID_AEVD, SET(1, IT_EVD_PARAM_AEVD_HANDLE),
             POINT(2, joins_simple)),
         ROW("an aggregate of another IA", IT_ERR_INVALID_AEVD, SET(1, IT_EVD_PARAM_AEVD_HANDLE),
             POINT(2, joins_foreign)),
         ROW("joins with a descriptor", IT_ERR_INVALID_EVD_STATE, USE(0, SLOT_EVD_FD),
             SET(1, IT_EVD_PARAM_AEVD_HANDLE), POINT(2, joins)),
         SCENE("joins with a callback", IT_ERR_INVALID_EVD_STATE, has_callback,
               SET(1, IT_EVD_PARAM_AEVD_HANDLE), POINT(2, joins)),
         SCENE("joins with a waiter", IT_ERR_INVALID_EVD_STATE, has_waiter,
               SET(1, IT_EVD_PARAM_AEVD_HANDLE), POINT(2, joins)),
         ROW("lets it overflow", IT_ERR_INVALID_EVD_STATE, SET(1, IT_EVD_PARAM_OVERFLOWED),
             MEMBER(2, it_evd_param_t, evd_overflowed, IT_TRUE)),
         ROW("an unknown flag", IT_ERR_INVALID_FLAGS, SET(1, IT_EVD_PARAM_FLAG),
             MEMBER(2, it_evd_param_t, evd_flag, 0x20)),
         ROW("a descriptor later", IT_ERR_INVALID_FLAGS, SET(1, IT_EVD_PARAM_FLAG),
             MEMBER(2, it_evd_param_t, evd_flag, IT_EVD_CREATE_FD)),
         ROW("nothing", IT_SUCCESS, SET(1, 0)),
         ROW("joins", IT_SUCCESS, SET(1, IT_EVD_PARAM_AEVD_HANDLE), POINT(2, joins)),
         ROW("leaves", IT_SUCCESS, USE(0, SLOT_EVD_MEMBER), SET(1, IT_EVD_PARAM_AEVD_HANDLE)),
         ROW("an aggregate is disabled", IT_SUCCESS, USE(0, SLOT_AEVD),
             SET(1, IT_EVD_PARAM_ENABLED)))},
    {STATUS_NAMED(it_evd_wait, evd_wait),
     .params = {EVD, STATUS_NUMBER(0), STATUS_RESULT, STATUS_OPTIONAL},
     .rows = ROWS(ROW("a member", IT_ERR_INVALID_EVD_STATE, USE(0, SLOT_EVD_MEMBER)),
                  ROW("some time", IT_ERR_TIMEOUT_EXPIRED, SET(1, 1000)),
                  ROW("an aggregate", IT_ERR_TIMEOUT_EXPIRED, USE(0, SLOT_AEVD)),
                  SCENE("with a callback", IT_ERR_CALLBACK_EXISTS, has_callback),
                  SCENE("one too many", IT_ERR_WAITER_LIMIT, has_all_waiters, SET(1, 1000)),
                  SCENE("a second waiter", IT_ERR_TIMEOUT_EXPIRED, has_waiter),
                  SCENE("freed meanwhile", IT_ERR_ABORT, is_freed_meanwhile),
                  SCENE("a signal", IT_ERR_INTERRUPT, is_interrupted),
                  SCENE("an event", IT_SUCCESS, two_are_queued)),
     .at_best = IT_ERR_TIMEOUT_EXPIRED},
    {STATUS_NAMED(it_evd_dequeue, evd_dequeue), .params = {EVD, STATUS_RESULT},
     .rows = ROWS(ROW("an aggregate", IT_ERR_QUEUE_EMPTY, USE(0, SLOT_AEVD)),
                  SCENE("an event", IT_SUCCESS, two_are_queued)),
     .at_best = IT_ERR_QUEUE_EMPTY},
    {STATUS_NAMED(it_evd_post_se, evd_post_se), .params = {EVD, STATUS_GIVEN_AS_IS(good)},
     .rows = ROWS(ROW("completions", IT_ERR_INVALID_SOFT_EVD, USE(0, SLOT_EVD_REQUEST)),
                  ROW("connections", IT_ERR_INVALID_SOFT_EVD, USE(0, SLOT_EVD_CONN)),
                  ROW("requests", IT_ERR_INVALID_SOFT_EVD, USE(0, SLOT_EVD_LISTEN)),
                  ROW("errors", IT_ERR_INVALID_SOFT_EVD, USE(0, SLOT_EVD_AFFILIATED)),
                  ROW("an aggregate", IT_ERR_INVALID_SOFT_EVD, USE(0, SLOT_AEVD)),
                  SCENE("no room", IT_ERR_EVD_QUEUE_FULL, queue_is_full))},
    {STATUS_NAMED(it_evd_callback_attach, evd_attach), .params = {EVD, STATUS_RESULT},
     .rows = ROWS(ROW("a member", IT_ERR_INVALID_EVD_STATE, USE(0, SLOT_EVD_MEMBER)),
                  SCENE("a second one", IT_ERR_CALLBACK_EXISTS, has_callback),
                  SCENE("with a waiter", IT_ERR_EVD_WAIT, has_waiter))},
    {STATUS_NAMED(it_evd_callback_detach, evd_detach), .params = {EVD},
     .rows = ROWS(SCENE("a callback", IT_SUCCESS, has_callback)),
     .at_best = IT_ERR_INVALID_EVD_STATE},
    {STATUS_NAMED(it_evd_free, evd_free), .params = {EVD},
     .rows = ROWS(ROW("requests complete there", IT_ERR_EVD_BUSY, USE(0, SLOT_EVD_REQUEST)),
                  ROW("receives do", IT_ERR_EVD_BUSY, USE(0, SLOT_EVD_RECV)),
                  ROW("connections are told there", IT_ERR_EVD_BUSY, USE(0, SLOT_EVD_CONN)),
                  ROW("a listen point", IT_ERR_EVD_BUSY, USE(0, SLOT_EVD_LISTEN)),
                  ROW("a member", IT_ERR_EVD_BUSY, USE(0, SLOT_AEVD)),
                  ROW("of a member", IT_SUCCESS, USE(0, SLOT_EVD_MEMBER)),
                  ROW("with a descriptor", IT_SUCCESS, USE(0, SLOT_EVD_FD)),
                  SCENE("with a callback", IT_SUCCESS, has_callback),
                  SCENE("with a waiter", IT_SUCCESS, has_waiter))},
    {.name = NULL},
};

const struct status_table status_evd = {calls, prepare};
