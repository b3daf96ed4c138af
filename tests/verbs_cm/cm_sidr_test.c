/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests for a peer's datagram endpoint: every event of rdma_cm at every stage, and failing
 * calls. It is a plain program so that it can run under ThreadSanitizer.
 */
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/cm/verbs_cm_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum stage {
    ADDRESS,
    ROUTE,
    ASKED,
    STAGES
};

enum outcome {
    NOTHING,
    GOES_ON,
    ANSWERED /* answered with the status */
};

struct world {
    struct kit kit;
    it_ud_svc_req_handle_t service;
};

static void world_open_for(struct world *world, enum kit_kind kind, uint64_t timeout_us)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(4717)};
    it_path_t path;

    kit_start(kind);
    kit_open(&world->kit, kind);
    path = fx_path(&world->kit.node);
    path.timeout = timeout_us;
    CHECK_OK(it_ud_service_request_handle_create(&qual, world->kit.node.conn_evd, &path, NULL, 0,
                                                 &world->service));
}

static void world_open(struct world *world, enum kit_kind kind)
{
    world_open_for(world, kind, 0);
}

static void world_ask(struct world *world, enum stage stage)
{
    CHECK_OK(it_ud_service_request(world->service));
    world->kit.id = stub_rdma_newest(RDMA_PS_UDP);
    if (stage == ADDRESS)
        return;
    kit_tell(&world->kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    if (stage == ASKED)
        kit_tell(&world->kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
}

static enum outcome outcome_of(enum stage stage, int event)
{
    switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return stage == (event == RDMA_CM_EVENT_ADDR_RESOLVED ? ADDRESS : ROUTE) ? GOES_ON
                                                                                 : NOTHING;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_ESTABLISHED:
        return ANSWERED;
    default:
        return NOTHING;
    }
}

static void expect_answer(const struct world *world, it_ud_svc_req_status_t status)
{
    it_event_t event = fx_next(world->kit.node.conn_evd);

    EXPECT_EQ(IT_CM_MSG_UD_SERVICE_REPLY_EVENT, event.event_number);
    EXPECT_EQ(status, event.ud_svc_reply.status);
    fx_empty(world->kit.node.conn_evd);
    EXPECT(!stub_rdma_lives(world->kit.id));
}

static void cell(enum kit_kind kind, enum stage stage, int number)
{
    static const struct stub_news news = {.qp_num = 77, .qkey = 5};
    enum outcome outcome = outcome_of(stage, number);
    struct world world;
    char about[64];

    (void)snprintf(about, sizeof(about), "%s, stage %d, event %d", kit_kind_name(kind), (int)stage,
                   number);
    check_context(about);
    world_open(&world, kind);
    world_ask(&world, stage);
    kit_tell(&world.kit, number, number == RDMA_CM_EVENT_UNREACHABLE ? IT_UD_NO_EP_AVAILABLE : 0,
             &news);
    if (outcome == ANSWERED) {
        expect_answer(&world, number == RDMA_CM_EVENT_ESTABLISHED   ? IT_UD_SVC_EP_INFO_VALID
                              : number == RDMA_CM_EVENT_UNREACHABLE ? IT_UD_NO_EP_AVAILABLE
                                                                    : IT_UD_SVC_REQ_REJECTED);
        world_ask(&world, ASKED); /* the handle can be used again */
    } else {
        fx_empty(world.kit.node.conn_evd);
        EXPECT(stub_rdma_lives(world.kit.id));
    }
    CHECK_OK(it_ud_service_request_handle_free(world.service));
    kit_close(&world.kit);
    check_context(NULL);
}

/*
 * The peer's provider adds the key behind its private data. An answer that ends in the middle of
 * the addition has none.
 */
static void answered(size_t length, uint32_t key)
{
    static const uint8_t data[] = {[124] = 'I', 'T', 'U', 'D', [135] = 9};
    struct stub_news news = {.qp_num = 77, .qkey = 5, .data = data, .length = length};
    struct world world;
    it_event_t event;

    world_open(&world, KIT_ROCE);
    world_ask(&world, ASKED);
    kit_tell(&world.kit, RDMA_CM_EVENT_ESTABLISHED, 0, &news);
    event = fx_next(world.kit.node.conn_evd);
    EXPECT_EQ(IT_CM_MSG_UD_SERVICE_REPLY_EVENT, event.event_number);
    EXPECT_EQ(77, event.ud_svc_reply.ep_info.ud_ep_id);
    EXPECT_EQ(key, event.ud_svc_reply.ep_info.ud_ep_key);
    CHECK_OK(it_ud_service_request_handle_free(world.service));
    kit_close(&world.kit);
}

/* An IA that has failed returns no events, but the id is destroyed. */
static void removed(enum stage stage)
{
    struct world world;

    world_open(&world, KIT_ROCE);
    world_ask(&world, stage);
    kit_tell(&world.kit, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
    EXPECT(!stub_rdma_lives(world.kit.id));
    EXPECT(kit_warnings() > 0);
    kit_close(&world.kit);
}

static void call_fails(enum stub_call call, int error)
{
    struct world world;

    world_open(&world, KIT_ROCE);
    stub_rdma_fail(call, error, 0, 1);
    if (call == STUB_CREATE_ID) {
        EXPECT_STATUS(IT_ERR_RESOURCES, it_ud_service_request(world.service));
    } else {
        world_ask(&world, ASKED);
        expect_answer(&world, IT_UD_SVC_REQ_REJECTED);
    }
    EXPECT(kit_warnings() > 0);
    world_ask(&world, ASKED);
    kit_close(&world.kit);
}

/* Nobody answers, and the consumer has given so much time, or none: then it is the usual one. */
static void too_late(uint64_t timeout_us, uint64_t limit_ns)
{
    struct world world;

    world_open_for(&world, KIT_ROCE, timeout_us);
    kit_hurry_timers(true);
    CHECK_OK(it_ud_service_request(world.service));
    world.kit.id = stub_rdma_newest(RDMA_PS_UDP);
    FX_WAIT_WHILE(stub_rdma_lives(world.kit.id), "the time to be up");
    expect_answer(&world, IT_UD_SVC_REQ_REJECTED);
    EXPECT_EQ(limit_ns, kit_timer_ns());
    kit_close(&world.kit);
}

/* A handle asks once at a time. */
static void asked_twice(void)
{
    struct world world;

    world_open(&world, KIT_ROCE);
    world_ask(&world, ROUTE);
    EXPECT_STATUS(IT_ERR_RESOURCES, it_ud_service_request(world.service));
    EXPECT(stub_rdma_lives(world.kit.id));
    EXPECT(stub_rdma_newest(RDMA_PS_UDP) == world.kit.id);
    kit_tell(&world.kit, RDMA_CM_EVENT_ROUTE_ERROR, 0, NULL);
    expect_answer(&world, IT_UD_SVC_REQ_REJECTED);
    kit_close(&world.kit);
}

int main(void)
{
    static const int odd[] = {RDMA_CM_EVENT_TIMEWAIT_EXIT + 1, 255, INT_MAX, -1};
    static const enum stub_call calls[] = {STUB_CREATE_ID, STUB_RESOLVE_ADDR, STUB_RESOLVE_ROUTE,
                                           STUB_CONNECT};
    static const int errors[] = {EMFILE, ENOMEM, ENODEV, EINVAL, ETIMEDOUT};

    for (enum kit_kind kind = KIT_ROCE; kind <= KIT_INFINIBAND; kind++)
        for (enum stage stage = ADDRESS; stage < STAGES; stage++) {
            for (int event = 0; event <= RDMA_CM_EVENT_TIMEWAIT_EXIT; event++)
                if (event != RDMA_CM_EVENT_CONNECT_REQUEST && event != RDMA_CM_EVENT_DEVICE_REMOVAL)
                    cell(kind, stage, event);
            for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
                cell(kind, stage, odd[i]);
        }
    for (enum stage stage = ADDRESS; stage < STAGES; stage++)
        removed(stage);
    answered(136, 9);
    answered(132, 5);
    answered(131, 5);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++)
            call_fails(calls[i], errors[k]);
    too_late(7000, UINT64_C(7000000));
    too_late(0, VERBS_CM_ATTEMPT_US * 1000);
    asked_twice();
    check_done();
    return 0;
}
