/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer asks for an endpoint of datagrams: what the consumer hears, what the peer is answered, and
 * requests that end otherwise. It is a plain program so that it can run under ThreadSanitizer.
 */
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/cm/verbs_cm_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define ADDED   136u /* octets of an answer: 124 of the consumer, and those of the provider */
#define OWN     124u
#define TEXT    "which endpoint?"
#define MEANING 77u /* any number of a QP */

struct world {
    struct kit kit;
    struct rdma_cm_id *listener;
};

static void world_open(struct world *world)
{
    kit_start(KIT_ROCE);
    kit_open(&world->kit, KIT_ROCE);
    kit_listen(&world->kit);
    world->listener = stub_rdma_newest(RDMA_PS_UDP);
    CHECK(world->listener != NULL);
}

static void ask_with(struct world *world, const struct stub_news *news)
{
    struct sockaddr_in peer = {
        .sin_family = AF_INET, .sin_port = htons(4717), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    world->kit.id = stub_rdma_asked(world->listener, (const struct sockaddr *)&peer);
    stub_rdma_tell(world->kit.id, world->listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, news);
    kit_settle(&world->kit);
}

static struct rdma_cm_id *ask(struct world *world)
{
    static const struct stub_news news = {.data = TEXT, .length = sizeof(TEXT)};

    ask_with(world, &news);
    return world->kit.id;
}

/* Returns the name of the request. Zeros at the end of private data are lost. */
static it_ud_svc_req_identifier_t hear(const struct world *world)
{
    it_event_t event = fx_next(world->kit.node.listen_evd);

    CHECK_EQ(IT_CM_REQ_UD_SERVICE_REQUEST_EVENT, event.event_number);
    CHECK_EQ(world->kit.node.spigot, event.ud_svc_request.spigot_id);
    CHECK_EQ(htonl(INADDR_LOOPBACK), event.ud_svc_request.source_addr.addr.ipv4.s_addr);
    CHECK_EQ(IT_TRUE, event.ud_svc_request.private_data_present);
    CHECK_EQ(0, memcmp(event.ud_svc_request.private_data, TEXT, sizeof(TEXT)));
    return event.ud_svc_request.ud_svc_req_id;
}

static it_status_t reply(it_ud_svc_req_identifier_t name, it_ud_svc_req_status_t status)
{
    it_remote_ep_info_t info = {.ud_ep_id = MEANING, .ud_ep_key = 0x01020304};

    return it_ud_service_reply(name, status, info, (const unsigned char *)TEXT, sizeof(TEXT));
}

/* The provider's part of an answer: its mark, the status and, with an endpoint, the key. */
static void expect_answer(it_ud_svc_req_status_t status, uint32_t key)
{
    struct rdma_conn_param param = stub_rdma_param();
    const uint8_t *data = param.private_data;
    uint32_t got;

    CHECK_EQ(ADDED, param.private_data_len);
    CHECK_EQ(0, memcmp(data, TEXT, sizeof(TEXT)));
    CHECK(fx_is_byte(data + sizeof(TEXT), OWN - sizeof(TEXT), 0));
    CHECK_EQ(0, memcmp(data + OWN, "ITUD", 4));
    CHECK_EQ(status, data[OWN + 4]);
    memcpy(&got, data + OWN + 8, sizeof(got));
    CHECK_EQ(key, ntohl(got));
}

static void accepted(void)
{
    struct world world;
    struct rdma_cm_id *id;
    it_ud_svc_req_identifier_t name;

    world_open(&world);
    id = ask(&world);
    name = hear(&world);
    CHECK_OK(reply(name, IT_UD_SVC_EP_INFO_VALID));
    CHECK_EQ(1, stub_rdma_count(STUB_ACCEPT));
    CHECK_EQ(MEANING, stub_rdma_param().qp_num);
    expect_answer(IT_UD_SVC_EP_INFO_VALID, 0x01020304);
    CHECK(!stub_rdma_lives(id));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC_REQ_ID, reply(name, IT_UD_SVC_EP_INFO_VALID));
    kit_close(&world.kit);
}

/* rdma_cm has one status for all refusals; the provider's part has the consumer's. */
static void refused(void)
{
    struct world world;

    world_open(&world);
    for (it_ud_svc_req_status_t status = IT_UD_SVC_ID_NOT_SUPPORTED; status <= IT_UD_REQ_REDIRECTED;
         status++) {
        struct rdma_cm_id *id = ask(&world);

        CHECK_OK(reply(hear(&world), status));
        CHECK_EQ((unsigned)status, stub_rdma_count(STUB_REJECT));
        expect_answer(status, 0);
        CHECK(!stub_rdma_lives(id));
    }
    CHECK_EQ(0, stub_rdma_count(STUB_ACCEPT));
    kit_close(&world.kit);
}

/* An answer that cannot be sent may be given again. */
static void not_sent(enum stub_call call, it_ud_svc_req_status_t status)
{
    struct world world;
    it_ud_svc_req_identifier_t name;

    world_open(&world);
    (void)ask(&world);
    name = hear(&world);
    stub_rdma_fail(call, ENOMEM, 0, 1);
    CHECK_STATUS(IT_ERR_RESOURCES, reply(name, status));
    CHECK(kit_warnings() > 0);
    CHECK(stub_rdma_lives(world.kit.id));
    CHECK_OK(reply(name, status));
    CHECK(!stub_rdma_lives(world.kit.id));
    kit_close(&world.kit);
}

/* The id is destroyed, since the kernel waits for that, and nobody can be answered any more. */
static void removed(void)
{
    struct world world;
    it_ud_svc_req_identifier_t name;

    world_open(&world);
    (void)ask(&world);
    name = hear(&world);
    kit_tell(&world.kit, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
    CHECK(!stub_rdma_lives(world.kit.id));
    CHECK(reply(name, IT_UD_SVC_EP_INFO_VALID) != IT_SUCCESS);
    CHECK_EQ(0, stub_rdma_count(STUB_ACCEPT));
    kit_close(&world.kit);
}

/* Other events of the id change nothing. */
static void disturbed(void)
{
    struct world world;

    world_open(&world);
    (void)ask(&world);
    for (int event = 0; event <= RDMA_CM_EVENT_TIMEWAIT_EXIT; event++) {
        if (event != RDMA_CM_EVENT_CONNECT_REQUEST && event != RDMA_CM_EVENT_DEVICE_REMOVAL)
            kit_tell(&world.kit, event, 0, NULL);
    }
    CHECK_OK(reply(hear(&world), IT_UD_SVC_EP_INFO_VALID));
    CHECK_EQ(1, stub_rdma_count(STUB_ACCEPT));
    kit_close(&world.kit);
}

/* The transport pads private data with zeros. So a request of zeros alone has none. */
static void without_data(void)
{
    static const struct stub_news news = {.data = "\0\0\0\0", .length = 4};
    struct world world;
    it_event_t event;

    world_open(&world);
    ask_with(&world, &news);
    event = fx_next(world.kit.node.listen_evd);
    CHECK_EQ(IT_CM_REQ_UD_SERVICE_REQUEST_EVENT, event.event_number);
    CHECK_EQ(IT_FALSE, event.ud_svc_request.private_data_present);
    kit_close(&world.kit);
}

/* The EVD is full: requests are refused by destroying their ids, and later ones are served. */
static void too_many(void)
{
    struct world world;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct rdma_cm_id *asked[4];
    it_evd_handle_t evd;

    kit_start(KIT_ROCE);
    kit_open(&world.kit, KIT_ROCE);
    evd = fx_evd(&world.kit.node, IT_CM_REQ_EVENT_STREAM, 2, IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(world.kit.node.ia, world.kit.node.spigot, evd, IT_LISTEN_NO_FLAG,
                              &qual, &world.kit.listener));
    world.listener = stub_rdma_newest(RDMA_PS_UDP);
    for (unsigned i = 0; i < 4; i++)
        asked[i] = ask(&world);
    CHECK(stub_rdma_lives(asked[0]) && stub_rdma_lives(asked[1]));
    CHECK(!stub_rdma_lives(asked[2]) && !stub_rdma_lives(asked[3]));
    CHECK_EQ(2, fx_counters(&world.kit.node).half_open_refused);
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(reply(fx_next(evd).ud_svc_request.ud_svc_req_id, IT_UD_SVC_REQ_REJECTED));
    fx_empty(evd);
    kit_close(&world.kit);
}

/* Peers cannot make the IA keep any number of requests. */
static void without_limit(void)
{
    struct world world;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_evd_handle_t evd;

    kit_start(KIT_ROCE);
    kit_open(&world.kit, KIT_ROCE);
    evd = fx_evd(&world.kit.node, IT_CM_REQ_EVENT_STREAM, VERBS_CM_UNDECIDED_MAX + 4,
                 IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(world.kit.node.ia, world.kit.node.spigot, evd, IT_LISTEN_NO_FLAG,
                              &qual, &world.kit.listener));
    world.listener = stub_rdma_newest(RDMA_PS_UDP);
    for (unsigned i = 0; i < VERBS_CM_UNDECIDED_MAX; i++)
        CHECK(stub_rdma_lives(ask(&world)));
    CHECK(!stub_rdma_lives(ask(&world)));
    CHECK_EQ(1, fx_counters(&world.kit.node).half_open_refused);
    CHECK_OK(reply(fx_next(evd).ud_svc_request.ud_svc_req_id, IT_UD_SVC_REQ_REJECTED));
    CHECK(stub_rdma_lives(ask(&world)));
    CHECK_EQ(1, fx_counters(&world.kit.node).half_open_refused);
    kit_close(&world.kit);
}

/* The consumer does not decide: in the end the request is forgotten, unless a call holds it. */
static void forgotten(bool held)
{
    struct world world;
    it_ud_svc_req_identifier_t name;
    struct rdma_cm_id *id;

    world_open(&world);
    kit_hold_request(held);
    kit_hurry_timers(true);
    id = ask(&world);
    name = hear(&world);
    if (held) {
        kit_settle(&world.kit);
        CHECK(stub_rdma_lives(id));
        kit_hold_request(false);
    }
    FX_WAIT_WHILE(stub_rdma_lives(id), "the request to be forgotten");
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC_REQ_ID, reply(name, IT_UD_SVC_EP_INFO_VALID));
    CHECK_EQ(0, stub_rdma_count(STUB_ACCEPT));
    kit_close(&world.kit);
}

static it_ud_svc_req_identifier_t late_name;

static void reply_late(void)
{
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC_REQ_ID, reply(late_name, IT_UD_SVC_EP_INFO_VALID));
    kit_hold_request(false);
}

/* The consumer's call has begun when the device goes; its turn comes when the id is gone. */
static void removed_below_a_call(void)
{
    struct world world;

    world_open(&world);
    (void)ask(&world);
    late_name = hear(&world);
    kit_hold_request(true);
    kit_run_when_held(reply_late);
    kit_tell(&world.kit, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
    CHECK(!stub_rdma_lives(world.kit.id));
    CHECK_EQ(0, stub_rdma_count(STUB_ACCEPT));
    kit_close(&world.kit);
}

/* Nobody has answered when the IA is freed. */
static void left(void)
{
    struct world world;

    world_open(&world);
    (void)ask(&world);
    (void)ask(&world);
    (void)hear(&world);
    kit_close(&world.kit);
}

int main(void)
{
    accepted();
    refused();
    not_sent(STUB_ACCEPT, IT_UD_SVC_EP_INFO_VALID);
    not_sent(STUB_REJECT, IT_UD_NO_EP_AVAILABLE);
    removed();
    disturbed();
    without_data();
    too_many();
    without_limit();
    forgotten(false);
    forgotten(true);
    removed_below_a_call();
    left();
    check_done();
    return 0;
}
