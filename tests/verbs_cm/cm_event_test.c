/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every event of rdma_cm, and numbers that are no event, at every stage of a connection: the event
 * of the API and the state of the endpoint that follow, that the log has a line for each failure,
 * and that everything is destroyed once (kit_close and the stub check it).
 */
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/device/verbs_ep.h"
#include "support/test_row.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define ROWS(all) (sizeof(all) / sizeof((all)[0]))

enum outcome {
    NOTHING,   /* nothing changes */
    GOES_ON,   /* the next call of rdma_cm has been made */
    FAILS,     /* NONPEER_REJECT with .code, NONOPERATIONAL, a warning */
    REFUSED,   /* PEER_REJECT, NONOPERATIONAL */
    ASKS,      /* ACCEPT_ARRIVAL, ACTIVE2 */
    STANDS,    /* ESTABLISHED, CONNECTED */
    ENDS,      /* DISCONNECT, NONOPERATIONAL */
    BREAKS,    /* BROKEN, NONOPERATIONAL, a warning */
    LETS_GO,   /* no event and no change, but the id is destroyed */
    WITHDRAWN, /* the request can no longer be decided */
};

#define AT(stage) (1u << (stage))
#define RESOLVING (AT(KIT_ADDRESS) | AT(KIT_ROUTE))
#define ANSWERED  (AT(KIT_CALLING) | AT(KIT_REPLY))
#define ALIVE     (AT(KIT_LIVE) | AT(KIT_PASSIVE_LIVE))
#define LEAVING   (AT(KIT_CLOSING) | AT(KIT_PASSIVE_CLOSING))
#define ACTIVE    (RESOLVING | ANSWERED | AT(KIT_ARRIVED))
#define UNDECIDED (ACTIVE | AT(KIT_ANNOUNCED) | AT(KIT_CONFIRM))

struct row {
    unsigned kinds, stages;
    int event, status;
    enum outcome outcome;
    it_conn_reject_code_t code;
};

/* The first matching row counts. Without one the outcome is NOTHING. */
static const struct row rows[] = {
    {KIT_ALL_KINDS, AT(KIT_ADDRESS), RDMA_CM_EVENT_ADDR_RESOLVED, 0, GOES_ON, 0},
    {KIT_ALL_KINDS, AT(KIT_ROUTE), RDMA_CM_EVENT_ROUTE_RESOLVED, 0, GOES_ON, 0},

    {KIT_ALL_KINDS, ACTIVE, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, FAILS, IT_CN_REJ_BAD_PATH},
    {KIT_ALL_KINDS, ACTIVE, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL, FAILS, IT_CN_REJ_BAD_PATH},
    {KIT_ALL_KINDS, ACTIVE | AT(KIT_CONFIRM), RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT, FAILS,
     IT_CN_REJ_TIMEOUT},
    {KIT_ALL_KINDS, ACTIVE | AT(KIT_CONFIRM), RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, FAILS,
     IT_CN_REJ_TIMEOUT},

    {KIT_OTHERS, AT(KIT_REPLY) | AT(KIT_CONFIRM), RDMA_CM_EVENT_REJECTED, 28, REFUSED, 0},
    {KIT_ON(KIT_SIW), ANSWERED | AT(KIT_CONFIRM), RDMA_CM_EVENT_REJECTED, -ECONNRESET, REFUSED, 0},
    {KIT_ON(KIT_IWARP), ANSWERED | AT(KIT_CONFIRM), RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, REFUSED,
     0},
    {KIT_ALL_KINDS, ACTIVE | AT(KIT_CONFIRM), RDMA_CM_EVENT_REJECTED, 8, FAILS, IT_CN_REJ_OTHER},
    {KIT_ALL_KINDS, AT(KIT_ANNOUNCED), RDMA_CM_EVENT_REJECTED, 8, WITHDRAWN, 0},
    {KIT_ALL_KINDS, AT(KIT_ANNOUNCED), RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT, WITHDRAWN, 0},
    {KIT_ALL_KINDS, AT(KIT_ANNOUNCED), RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, WITHDRAWN, 0},

    {KIT_ALL_KINDS, ANSWERED, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, STANDS, 0},
    {KIT_ALL_KINDS, ANSWERED | AT(KIT_CONFIRM), RDMA_CM_EVENT_ESTABLISHED, 0, STANDS, 0},

    {KIT_ALL_KINDS, ANSWERED | AT(KIT_ARRIVED) | AT(KIT_CONFIRM), RDMA_CM_EVENT_DISCONNECTED, 0,
     FAILS, IT_CN_REJ_OTHER},
    {KIT_ALL_KINDS, ALIVE, RDMA_CM_EVENT_DISCONNECTED, 0, ENDS, 0},
    {KIT_ALL_KINDS, LEAVING, RDMA_CM_EVENT_DISCONNECTED, 0, LETS_GO, 0},
    {KIT_ALL_KINDS, AT(KIT_ANNOUNCED), RDMA_CM_EVENT_DISCONNECTED, 0, WITHDRAWN, 0},

    {KIT_ALL_KINDS, ALIVE, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, BREAKS, 0},
    {KIT_ALL_KINDS, LEAVING, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, LETS_GO, 0},
    {KIT_ALL_KINDS, AT(KIT_ANNOUNCED), RDMA_CM_EVENT_DEVICE_REMOVAL, 0, WITHDRAWN, 0},
    {KIT_ALL_KINDS, ACTIVE | AT(KIT_CONFIRM), RDMA_CM_EVENT_DEVICE_REMOVAL, 0, FAILS,
     IT_CN_REJ_RESOURCES},
};

/* Events with the status that the rows have. The other statuses of REJECTED are below. */
static const struct {
    int event, status;
} events[] = {
    {RDMA_CM_EVENT_ADDR_RESOLVED, 0},
    {RDMA_CM_EVENT_ADDR_ERROR, -ENODEV},
    {RDMA_CM_EVENT_ROUTE_RESOLVED, 0},
    {RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL},
    {RDMA_CM_EVENT_CONNECT_RESPONSE, 0},
    {RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT},
    {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT},
    {RDMA_CM_EVENT_REJECTED, 8},
    {RDMA_CM_EVENT_REJECTED, 28},
    {RDMA_CM_EVENT_REJECTED, -ECONNRESET},
    {RDMA_CM_EVENT_REJECTED, -ECONNREFUSED},
    {RDMA_CM_EVENT_ESTABLISHED, 0},
    {RDMA_CM_EVENT_DISCONNECTED, 0},
    {RDMA_CM_EVENT_DEVICE_REMOVAL, 0},
    {RDMA_CM_EVENT_MULTICAST_JOIN, 0},
    {RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL},
    {RDMA_CM_EVENT_ADDR_CHANGE, 0},
    {RDMA_CM_EVENT_TIMEWAIT_EXIT, 0},
    {RDMA_CM_EVENT_TIMEWAIT_EXIT + 1, 0},
    {255, -EIO},
    {INT_MAX, INT_MAX},
    {-1, INT_MIN},
};

/* ---------------------------------------------------------------- what came of it */

static void expect_event(const struct kit *kit, it_event_type_t number, it_conn_reject_code_t code)
{
    it_event_t event = fx_conn(kit->node.conn_evd, kit->ep, number);

    EXPECT_EQ(code, event.conn.reject_reason_code);
}

static void expect_no_event(const struct kit *kit)
{
    fx_empty(kit->node.conn_evd);
    fx_empty(kit->node.listen_evd);
}

static void expect_withdrawn(const struct kit *kit)
{
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(kit->ep, kit->request, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(kit->request, NULL, 0));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, kit_state(kit));
}

/* An IA that has failed returns no events. */
static void expect_events(const struct kit *kit, const struct row *row)
{
    switch (row->outcome) {
    case FAILS:
        expect_event(kit, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, row->code);
        break;
    case REFUSED:
        expect_event(kit, IT_CM_MSG_CONN_PEER_REJECT_EVENT, 0);
        break;
    case ASKS:
        expect_event(kit, IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT, 0);
        break;
    case STANDS:
        expect_event(kit, IT_CM_MSG_CONN_ESTABLISHED_EVENT, 0);
        break;
    case ENDS:
        expect_event(kit, IT_CM_MSG_CONN_DISCONNECT_EVENT, 0);
        break;
    case BREAKS:
        expect_event(kit, IT_CM_MSG_CONN_BROKEN_EVENT, 0);
        break;
    default:
        break;
    }
    expect_no_event(kit);
}

static it_ep_state_rc_t state_after(enum outcome outcome, it_ep_state_rc_t before)
{
    switch (outcome) {
    case FAILS:
    case REFUSED:
    case ENDS:
    case BREAKS:
        return IT_EP_STATE_NONOPERATIONAL;
    case ASKS:
        return IT_EP_STATE_ACTIVE2_CONNECTION_PENDING;
    case STANDS:
        return IT_EP_STATE_CONNECTED;
    default:
        return before;
    }
}

static bool id_lives_after(enum outcome outcome)
{
    return outcome == NOTHING || outcome == GOES_ON || outcome == ASKS || outcome == STANDS;
}

/* Another thread may be about to destroy the id. */
static void expect_id(const struct kit *kit, bool lives)
{
    FX_WAIT_WHILE(!lives && stub_rdma_lives(kit->id), "the end of an id");
    EXPECT_EQ(lives, stub_rdma_lives(kit->id));
}

static const struct row *row_for(enum kit_kind kind, enum kit_stage stage, int event, int status)
{
    static struct row nothing;

    for (size_t i = 0; i < ROWS(rows); i++)
        if ((rows[i].kinds & KIT_ON(kind)) && (rows[i].stages & AT(stage)) &&
            rows[i].event == event && rows[i].status == status)
            return &rows[i];
    /* Skips a reason that another kind of device would send. */
    if (event == RDMA_CM_EVENT_REJECTED && (AT(stage) & UNDECIDED))
        return NULL;
    return &nothing;
}

/* ---------------------------------------------------------------- one cell */

static unsigned calls(void)
{
    return stub_rdma_count(STUB_RESOLVE_ROUTE) + stub_rdma_count(STUB_CONNECT);
}

static void tell(struct kit *kit, enum kit_stage stage, int event, int status, enum outcome outcome)
{
    unsigned before = calls();

    /* An answer comes when the call is about to return. */
    if (stage == KIT_CALLING && outcome != NOTHING && event != RDMA_CM_EVENT_DEVICE_REMOVAL)
        stub_rdma_hold_connect(false);
    kit_tell(kit, event, status, NULL);
    if (stage == KIT_ROUTE && outcome == GOES_ON)
        kit_wait_calls(kit, STUB_CONNECT, 1);
    if (stage != KIT_CALLING)
        EXPECT_EQ(before + (outcome == GOES_ON), calls());
}

static void cell(enum kit_kind kind, enum kit_stage stage, int event, int status,
                 const struct row *row)
{
    bool removed = event == RDMA_CM_EVENT_DEVICE_REMOVAL;
    it_ep_state_rc_t before;
    struct kit kit;
    char about[96];

    (void)snprintf(about, sizeof(about), "%s, %s, event %d, status %d", kit_kind_name(kind),
                   kit_stage_name(stage), event, status);
    check_context(about);
    kit_start(kind);
    kit_open(&kit, kind);
    kit_reach(&kit, stage);
    before = kit_state(&kit);
    tell(&kit, stage, event, status, row->outcome);
    EXPECT_EQ(state_after(row->outcome, before), kit_state(&kit));
    if (!removed)
        expect_events(&kit, row);
    if (row->outcome == WITHDRAWN)
        expect_withdrawn(&kit);
    expect_id(&kit, id_lives_after(row->outcome));
    EXPECT_EQ(row->outcome == FAILS || row->outcome == BREAKS || removed, kit_warnings() > 0);
    kit_close(&kit);
    check_context(NULL);
}

static void all_on(enum kit_kind kind)
{
    for (enum kit_stage stage = 0; stage < KIT_STAGES; stage++) {
        for (size_t i = 0; kit_has_stage(kind, stage) && i < ROWS(events); i++) {
            const struct row *row = row_for(kind, stage, events[i].event, events[i].status);

            if (row)
                cell(kind, stage, events[i].event, events[i].status, row);
        }
    }
    check_done();
}

TEST_ROW(cm_event, siw, all_on, KIT_SIW);
TEST_ROW(cm_event, iwarp, all_on, KIT_IWARP);
TEST_ROW(cm_event, roce, all_on, KIT_ROCE);
TEST_ROW(cm_event, infiniband, all_on, KIT_INFINIBAND);
