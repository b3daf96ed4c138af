/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enters each cell of the table of verbs_conn_machine.c with a connection. The linker wraps
 * verbs_conn_step, and at the end no cell may be left. cm_event_test checks the effect of rdma_cm's
 * events.
 */
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/cm/verbs_cm_private.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SHORT_US 2000u

static _Atomic unsigned entered[VERBS_CONN_STATES][VERBS_CONN_EVENTS];

enum verbs_conn_action __real_verbs_conn_step(struct verbs_conn *conn, enum verbs_conn_event event);
enum verbs_conn_action __wrap_verbs_conn_step(struct verbs_conn *conn, enum verbs_conn_event event);

enum verbs_conn_action __wrap_verbs_conn_step(struct verbs_conn *conn, enum verbs_conn_event event)
{
    atomic_fetch_add(&entered[conn->state][event], 1);
    return __real_verbs_conn_step(conn, event);
}

static void wait_entered(enum verbs_conn_state state, enum verbs_conn_event event, unsigned before)
{
    FX_WAIT_WHILE(atomic_load(&entered[state][event]) == before, verbs_conn_state_name(state));
}

/* ---------------------------------------------------------------- events of rdma_cm */

static const struct {
    int event, status;
} events[] = {
    {RDMA_CM_EVENT_ADDR_RESOLVED, 0},      {RDMA_CM_EVENT_ROUTE_RESOLVED, 0},
    {RDMA_CM_EVENT_ADDR_ERROR, -ENODEV},   {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT},
    {RDMA_CM_EVENT_REJECTED, 28},          /* InfiniBand: rejected by the consumer */
    {RDMA_CM_EVENT_REJECTED, -ECONNRESET}, /* siw: rejected by the consumer */
    {RDMA_CM_EVENT_CONNECT_RESPONSE, 0},   {RDMA_CM_EVENT_ESTABLISHED, 0},
    {RDMA_CM_EVENT_DISCONNECTED, 0},       {RDMA_CM_EVENT_DEVICE_REMOVAL, 0},
    {RDMA_CM_EVENT_TIMEWAIT_EXIT, 0},
};

struct telling {
    struct kit *kit;
    size_t event;
};

static void *tell(void *argument)
{
    const struct telling *telling = argument;

    kit_tell(telling->kit, events[telling->event].event, events[telling->event].status, NULL);
    return NULL;
}

static unsigned entered_in(enum verbs_conn_state state)
{
    unsigned count = 0;

    for (size_t event = 0; event < VERBS_CONN_EVENTS; event++)
        count += atomic_load(&entered[state][event]);
    return count;
}

/* The thread in rdma_connect returns only after the event was handled. */
static void tell_while_calling(struct kit *kit, size_t event)
{
    unsigned before = entered_in(VERBS_CONN_CALLING);
    struct telling telling = {.kit = kit, .event = event};
    pthread_t thread;

    CHECK_EQ(0, pthread_create(&thread, NULL, tell, &telling));
    FX_WAIT_WHILE(entered_in(VERBS_CONN_CALLING) == before, "an event in CALLING");
    stub_rdma_hold_connect(false);
    CHECK_EQ(0, pthread_join(thread, NULL));
}

static void events_of_rdma_cm(enum kit_kind kind)
{
    for (enum kit_stage stage = 0; stage < KIT_STAGES; stage++) {
        for (size_t i = 0; kit_has_stage(kind, stage) && i < sizeof(events) / sizeof(events[0]);
             i++) {
            struct kit kit;

            kit_start(kind);
            kit_open(&kit, kind);
            kit_reach(&kit, stage);
            if (stage == KIT_CALLING)
                tell_while_calling(&kit, i);
            else
                kit_tell(&kit, events[i].event, events[i].status, NULL);
            kit_close(&kit);
        }
    }
}

/* ---------------------------------------------------------------- time */

static void expires(enum kit_kind kind, unsigned steps, enum verbs_conn_state state)
{
    unsigned before = atomic_load(&entered[state][VERBS_ON_EXPIRED]);
    struct kit kit;

    kit_start(kind);
    kit_open(&kit, kind);
    stub_rdma_hold_connect(state == VERBS_CONN_CALLING);
    /* On a slow machine the attempt ends before this state, so it is repeated with more time. */
    for (uint64_t limit = SHORT_US; atomic_load(&entered[state][VERBS_ON_EXPIRED]) == before;
         limit *= 2) {
        CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, limit));
        if (steps > 0)
            kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
        if (steps > 1)
            kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
        fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        stub_rdma_hold_connect(false);
        CHECK_OK(it_ep_reset(kit.ep));
        stub_rdma_hold_connect(state == VERBS_CONN_CALLING);
    }
    kit_close(&kit);
}

static void expire_first(void *argument)
{
    struct verbs_cm *cm = argument;

    verbs_conn_on(BASE_LIST_FIRST(&cm->connections, struct verbs_conn, link), VERBS_ON_EXPIRED);
}

/* Calls the timer's function, since its time is a minute. */
static void expires_while_closing(void)
{
    struct ual_ia *ia;
    struct kit kit;

    kit_start(KIT_ROCE);
    kit_open(&kit, KIT_ROCE);
    kit_reach(&kit, KIT_CLOSING);
    ia = verbs_host->ia_of((struct ual_ep *)(void *)kit.ep);
    verbs_host->ia_call(ia, expire_first, verbs_ia_of(ia)->cm);
    EXPECT(!stub_rdma_lives(kit.id));
    kit_close(&kit);
}

/*
 * The peer leaves while a call has taken the request. The provider checks again and again whether
 * it is back.
 */
static void expires_undecided(enum kit_stage stage, enum verbs_conn_state state)
{
    unsigned before = atomic_load(&entered[state][VERBS_ON_EXPIRED]);
    struct kit kit;

    kit_start(KIT_ROCE);
    kit_open(&kit, KIT_ROCE);
    kit_reach(&kit, stage);
    kit_hold_request(true);
    kit_tell(&kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    wait_entered(state, VERBS_ON_EXPIRED, before);
    EXPECT(stub_rdma_lives(kit.id));
    before = atomic_load(&entered[state][VERBS_ON_WITHDRAWN]);
    kit_hold_request(false);
    wait_entered(state, VERBS_ON_WITHDRAWN, before);
    kit_close(&kit);
}

static void nudges(void)
{
    unsigned before = atomic_load(&entered[VERBS_CONN_LIVE][VERBS_ON_EXPIRED]);
    struct kit kit;

    kit_start(KIT_SIW);
    kit_open(&kit, KIT_SIW);
    kit_reach(&kit, KIT_LIVE);
    wait_entered(VERBS_CONN_LIVE, VERBS_ON_EXPIRED, before);
    kit_close(&kit);
}

/* ---------------------------------------------------------------- calls, the device */

static void request_fails(enum kit_kind kind, int error)
{
    struct kit kit;

    kit_start(kind);
    kit_open(&kit, kind);
    stub_rdma_fail(STUB_CONNECT, error, 0, 1);
    CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, 0));
    kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    if (error == EADDRINUSE)
        (void)kit_resolve_again(&kit, 1);
    else
        kit_expect_failed(&kit, IT_CN_REJ_OTHER);
    kit_close(&kit);
}

static void decides(enum kit_stage stage, bool accepts, int error)
{
    struct kit kit;

    kit_start(KIT_ROCE);
    kit_open(&kit, KIT_ROCE);
    kit_reach(&kit, stage);
    stub_rdma_fail(STUB_ACCEPT, error, 0, error != 0);
    if (accepts)
        CHECK_OK(it_ep_accept(kit.ep, kit.request, NULL, 0));
    else
        CHECK_OK(it_reject(kit.request, NULL, 0));
    kit_close(&kit);
}

static void told_by_the_device(enum kit_stage stage, enum verbs_conn_state state,
                               enum ibv_event_type type, enum verbs_conn_event event)
{
    unsigned before = atomic_load(&entered[state][event]);
    struct kit kit;

    kit_start(KIT_ROCE);
    kit_open(&kit, KIT_ROCE);
    kit_reach(&kit, stage);
    stub_raise(type, verbs_ep_of((struct ual_ep *)(void *)kit.ep)->qp, 0);
    wait_entered(state, event, before);
    kit_close(&kit);
}

/* ---------------------------------------------------------------- all */

/* tests/convert tests conversions. The responder of one has no request to announce. */
static bool is_elsewhere(enum verbs_conn_state state, enum verbs_conn_event event)
{
    return state == VERBS_CONN_REQUESTED && event == VERBS_ON_ACCEPTED;
}

static void expect_all_entered(void)
{
    for (enum verbs_conn_state state = 0; state < VERBS_CONN_STATES; state++) {
        for (enum verbs_conn_event event = 0; event < VERBS_CONN_EVENTS; event++) {
            struct verbs_conn_cell cell = verbs_conn_cell(state, event);
            char about[64];

            if ((cell.next == VERBS_CONN_SAME && cell.action == VERBS_DO_NOTHING) ||
                is_elsewhere(state, event))
                continue;
            (void)snprintf(about, sizeof(about), "%s, event %u", verbs_conn_state_name(state),
                           event);
            check_context(about);
            EXPECT(atomic_load(&entered[state][event]) > 0);
        }
    }
    check_context(NULL);
}

Test(cm_machine, every_cell_is_entered)
{
    events_of_rdma_cm(KIT_SIW);
    events_of_rdma_cm(KIT_ROCE);
    expires(KIT_ROCE, 0, VERBS_CONN_ADDRESS);
    expires(KIT_ROCE, 1, VERBS_CONN_ROUTE);
    expires(KIT_SIW, 2, VERBS_CONN_CALLING);
    expires(KIT_ROCE, 2, VERBS_CONN_REPLY);
    expires_while_closing();
    expires_undecided(KIT_ANNOUNCED, VERBS_CONN_ANNOUNCED);
    expires_undecided(KIT_ARRIVED, VERBS_CONN_ARRIVED);
    nudges();
    for (enum kit_kind kind = KIT_SIW; kind <= KIT_ROCE; kind++) {
        request_fails(kind, EADDRINUSE);
        request_fails(kind, ECONNREFUSED);
    }
    decides(KIT_ARRIVED, true, 0);
    decides(KIT_ARRIVED, false, 0);
    decides(KIT_ANNOUNCED, false, 0);
    decides(KIT_ANNOUNCED, true, ECONNREFUSED);
    told_by_the_device(KIT_LIVE, VERBS_CONN_LIVE, IBV_EVENT_QP_FATAL, VERBS_ON_QP_FAILED);
    told_by_the_device(KIT_CONFIRM, VERBS_CONN_CONFIRM, IBV_EVENT_COMM_EST, VERBS_ON_QP_HEARD);
    expect_all_entered();
    check_done();
}
