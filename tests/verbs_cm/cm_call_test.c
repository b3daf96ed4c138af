/* SPDX-License-Identifier: BSD-2-Clause */
/* Failing calls of rdma_cm: the status or event that the consumer gets, and the log. */
#include "verbs_cm/cm_kit.h"

#include "vp/verbs/device/verbs_ep.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define ROWS(all) (sizeof(all) / sizeof((all)[0]))

/* The errors that manual pages and the kernel define for these calls. */
static const struct {
    int error;
    it_conn_reject_code_t code; /* code of an attempt that ends with this error */
} errors[] = {
    {ETIMEDOUT, IT_CN_REJ_TIMEOUT},     {ENETUNREACH, IT_CN_REJ_BAD_PATH},
    {EHOSTUNREACH, IT_CN_REJ_BAD_PATH}, {EADDRNOTAVAIL, IT_CN_REJ_BAD_PATH},
    {ENODEV, IT_CN_REJ_BAD_PATH},       {EACCES, IT_CN_REJ_BAD_PATH},
    {EPERM, IT_CN_REJ_BAD_PATH},        {ENOMEM, IT_CN_REJ_RESOURCES},
    {ENOBUFS, IT_CN_REJ_RESOURCES},     {EMFILE, IT_CN_REJ_RESOURCES},
    {EPROTO, IT_CN_REJ_BAD_CONN_PARMS}, {EINVAL, IT_CN_REJ_BAD_CONN_PARMS},
    {ECONNREFUSED, IT_CN_REJ_OTHER},    {ECONNRESET, IT_CN_REJ_OTHER},
    {ENOTCONN, IT_CN_REJ_OTHER},        {EIO, IT_CN_REJ_OTHER},
    {EAFNOSUPPORT, IT_CN_REJ_OTHER},    {ENOSYS, IT_CN_REJ_OTHER},
};

static void begin(struct kit *kit, enum kit_kind kind, const char *what, int error)
{
    static char about[96];

    (void)snprintf(about, sizeof(about), "%s, %s, errno %d", kit_kind_name(kind), what, error);
    check_context(about);
    kit_start(kind);
    kit_open(kit, kind);
}

static void end(struct kit *kit)
{
    kit_close(kit);
    check_context(NULL);
}

/* Checks that nothing has changed and that the log has a line. */
static void expect_refused(const struct kit *kit)
{
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, kit_state(kit));
    EXPECT(kit_warnings() > 0);
    fx_empty(kit->node.conn_evd);
    EXPECT(stub_rdma_newest(RDMA_PS_TCP) == NULL);
}

static struct ibv_qp *qp_of(const struct kit *kit)
{
    return verbs_ep_of((struct ual_ep *)(void *)kit->ep)->qp;
}

static bool is_iwarp(enum kit_kind kind)
{
    return kind == KIT_SIW || kind == KIT_IWARP;
}

/* ---------------------------------------------------------------- it_ep_connect */

static const struct {
    enum stub_call call;
    int error;
    it_status_t status;
} at_once[] = {
    {STUB_CREATE_ID, EMFILE, IT_ERR_RESOURCES},
    {STUB_CREATE_ID, ENOMEM, IT_ERR_RESOURCES},
    {STUB_CREATE_ID, ENODEV, IT_ERR_RESOURCES},
    {STUB_CREATE_ID, EINVAL, IT_ERR_RESOURCES},
    {STUB_BIND, EADDRINUSE, IT_ERR_CONN_QUAL_BUSY},
    {STUB_BIND, EACCES, IT_ERR_CONN_QUAL_BUSY},
    {STUB_BIND, EADDRNOTAVAIL, IT_ERR_INVALID_SOURCE_PATH},
    {STUB_BIND, ENODEV, IT_ERR_INVALID_SOURCE_PATH},
    {STUB_BIND, EINVAL, IT_ERR_INVALID_SOURCE_PATH},
    {STUB_BIND, ENOMEM, IT_ERR_RESOURCES},
    {STUB_BIND, EIO, IT_ERR_RESOURCES},
};

Test(cm_call, connect_at_once)
{
    for (size_t i = 0; i < ROWS(at_once); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
            struct kit kit;

            begin(&kit, kind, "it_ep_connect", at_once[i].error);
            stub_rdma_fail(at_once[i].call, at_once[i].error, 0, 1);
            EXPECT_STATUS(at_once[i].status, kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, 0));
            expect_refused(&kit);
            kit_reach(&kit, KIT_LIVE); /* now the attempt succeeds */
            end(&kit);
        }
    check_done();
}

/*
 * The call fails after the attempt has reached the stage before it. Nothing is left of the attempt.
 */
static void fails_later(enum kit_kind kind, enum stub_call call, int error,
                        it_conn_reject_code_t code)
{
    struct kit kit;

    begin(&kit, kind, "an attempt", error);
    stub_rdma_fail(call, error, 0, 1);
    CHECK_OK(kit_connect(&kit, IT_CONNECT_FLAG_TWO_WAY, 0));
    if (call != STUB_RESOLVE_ADDR)
        kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    if (call == STUB_CONNECT || call == STUB_ESTABLISH)
        kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    if (call == STUB_ESTABLISH)
        kit_tell(&kit, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL);
    kit_expect_failed(&kit, code);
    EXPECT(!stub_rdma_lives(kit.id));
    CHECK_OK(it_ep_reset(kit.ep));
    kit_reach(&kit, KIT_LIVE);
    end(&kit);
}

Test(cm_call, connect_later)
{
    static const enum stub_call calls[] = {STUB_RESOLVE_ADDR, STUB_RESOLVE_ROUTE, STUB_CONNECT,
                                           STUB_ESTABLISH};

    for (size_t i = 0; i < ROWS(errors); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
            for (size_t k = 0; k < ROWS(calls); k++)
                if (calls[k] != STUB_ESTABLISH || !is_iwarp(kind))
                    fails_later(kind, calls[k], errors[i].error, errors[i].code);
    check_done();
}

/* Each step of the QP may fail. The peer gets a reject, so it need not wait. */
Test(cm_call, steps_of_the_qp)
{
    for (unsigned step = 0; step < 3; step++) {
        struct kit kit;

        begin(&kit, KIT_ROCE, "rdma_init_qp_attr", (int)step);
        kit_reach(&kit, KIT_REPLY);
        stub_rdma_fail(STUB_INIT_QP_ATTR, EINVAL, step, 1);
        kit_tell(&kit, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL);
        kit_expect_failed(&kit, IT_CN_REJ_RESOURCES);
        EXPECT_EQ(1, stub_rdma_count(STUB_REJECT));
        end(&kit);
    }
    check_done();
}

/* InfiniBand pads private data, so zeros at its end are none. */
Test(cm_call, padding)
{
    static const struct stub_news zeros = {.data = "\0\0\0\0", .length = 4};
    static const struct stub_news padded = {.data = "no\0\0", .length = 4};
    const struct stub_news *rows[] = {&zeros, &padded};

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct kit kit;
        it_event_t event;

        begin(&kit, KIT_INFINIBAND, "padding", (int)i);
        kit_reach(&kit, KIT_REPLY);
        kit_tell(&kit, RDMA_CM_EVENT_REJECTED, 28 /* by the consumer */, rows[i]);
        event = fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
        EXPECT_EQ(rows[i] == &padded, event.conn.private_data_present);
        end(&kit);
    }
    check_done();
}

/* The QP has no more Reads at once than the peer takes. */
Test(cm_call, reads_at_once)
{
    static const struct stub_news one = {.responder_resources = 1, .initiator_depth = 1};
    struct kit kit;

    begin(&kit, KIT_ROCE, "reads at once", 0);
    kit_reach(&kit, KIT_REPLY);
    kit_tell(&kit, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &one);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(1, stub_ord(qp_of(&kit)));
    end(&kit);

    begin(&kit, KIT_ROCE, "more reads at once", 0);
    kit_reach(&kit, KIT_LIVE);
    EXPECT(stub_ord(qp_of(&kit)) > 1);
    end(&kit);
    check_done();
}

/* A peer on siw may have missed what came first: it gets Writes of no octets. No other does. */
Test(cm_call, nudges)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
        struct kit kit;

        begin(&kit, kind, "nudges", 0);
        kit_reach(&kit, KIT_LIVE);
        if (kind == KIT_SIW)
            FX_WAIT_WHILE(stub_posted(qp_of(&kit)).empty_writes < VERBS_NUDGES, "the nudges");
        else
            EXPECT_EQ(0, stub_posted(qp_of(&kit)).empty_writes);
        end(&kit);
    }
    check_done();
}

/* An option that only tunes the connection does not end it. */
Test(cm_call, an_option)
{
    it_conn_attributes_t attributes = {.ib = {.local_ack_timeout = 14, .retry_count = 3}};
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(7)};
    struct kit kit;
    it_path_t path;

    begin(&kit, KIT_ROCE, "rdma_set_option", ENOSYS);
    path = fx_path(&kit.node);
    stub_rdma_fail(STUB_SET_OPTION, ENOSYS, 0, 1);
    CHECK_OK(it_ep_connect(kit.ep, &path, &attributes, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    EXPECT_EQ(1, stub_rdma_count(STUB_SET_OPTION));
    EXPECT(kit_warnings() > 0);
    EXPECT_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, kit_state(&kit));
    end(&kit);
    check_done();
}

/* ---------------------------------------------------------------- it_ep_accept, it_reject */

/* The request is used up, whatever the error was. */
static void expect_gone(const struct kit *kit)
{
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(kit->request, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(kit->ep, kit->request, NULL, 0));
    FX_WAIT_WHILE(stub_rdma_lives(kit->id), "the end of a request");
}

static void accept_fails(enum kit_kind kind, int error, it_conn_reject_code_t code)
{
    struct kit kit;

    begin(&kit, kind, "rdma_accept", error);
    kit_reach(&kit, KIT_ANNOUNCED);
    stub_rdma_fail(STUB_ACCEPT, error, 0, 1);
    if (is_iwarp(kind)) {
        EXPECT_STATUS(error == ENOMEM ? IT_ERR_RESOURCES : IT_ERR_INVALID_CN_EST_ID,
                      it_ep_accept(kit.ep, kit.request, NULL, 0));
        EXPECT(kit_warnings() > 0);
        fx_empty(kit.node.conn_evd);
        EXPECT_EQ(IT_EP_STATE_UNCONNECTED, kit_state(&kit));
    } else {
        CHECK_OK(it_ep_accept(kit.ep, kit.request, NULL, 0));
        kit_expect_failed(&kit, code);
    }
    expect_gone(&kit);
    end(&kit);
}

Test(cm_call, accept)
{
    for (size_t i = 0; i < ROWS(errors); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
            accept_fails(kind, errors[i].error, errors[i].code);
    check_done();
}

/* The first call fills in a path, the second asks for the peer. Then the QP changes state. */
Test(cm_call, accept_steps_of_the_qp)
{
    for (unsigned step = 0; step < 5; step++) {
        struct kit kit;

        begin(&kit, KIT_ROCE, "rdma_init_qp_attr", (int)step);
        kit_reach(&kit, KIT_ANNOUNCED);
        stub_rdma_fail(STUB_INIT_QP_ATTR, EINVAL, step, 1);
        EXPECT_STATUS(step == 1 ? IT_ERR_INVALID_CN_EST_ID : IT_SUCCESS,
                      it_ep_accept(kit.ep, kit.request, NULL, 0));
        if (step > 1)
            kit_expect_failed(&kit, IT_CN_REJ_RESOURCES);
        EXPECT_EQ(step > 1, stub_rdma_count(STUB_REJECT));
        if (step > 0)
            expect_gone(&kit);
        end(&kit);
    }
    check_done();
}

/* The request could not be withdrawn, since a call held it, but nobody waits for an answer. */
static void left(struct kit *kit)
{
    kit_reach(kit, KIT_ANNOUNCED);
    kit_hold_request(true);
    kit_tell(kit, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(kit->ep, kit->request, NULL, 0));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, kit_state(kit));
    EXPECT_EQ(0, stub_rdma_count(STUB_ACCEPT));
    kit_hold_request(false);
    FX_WAIT_WHILE(stub_rdma_lives(kit->id), "the end of a request");
}

Test(cm_call, accept_after_the_peer_has_left)
{
    kit_each_kind(left);
    check_done();
}

Test(cm_call, reject)
{
    for (size_t i = 0; i < ROWS(errors); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
            struct kit kit;

            begin(&kit, kind, "rdma_reject", errors[i].error);
            kit_reach(&kit, KIT_ANNOUNCED);
            stub_rdma_fail(STUB_REJECT, errors[i].error, 0, 1);
            EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(kit.request, NULL, 0));
            EXPECT(kit_warnings() > 0);
            expect_gone(&kit);
            end(&kit);
        }
    check_done();
}

/* Even if the call fails, the consumer is rid of the answer. */
Test(cm_call, reject_of_an_answer)
{
    struct kit kit;

    begin(&kit, KIT_INFINIBAND, "rdma_reject", EINVAL);
    kit_reach(&kit, KIT_ARRIVED);
    stub_rdma_fail(STUB_REJECT, EINVAL, 0, 1);
    EXPECT_OK(it_reject(kit.request, NULL, 0));
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, kit_state(&kit));
    EXPECT(!stub_rdma_lives(kit.id));
    end(&kit);
    check_done();
}

/* ---------------------------------------------------------------- ends */

/* The end of a connection cannot fail. The id is destroyed with it. */
Test(cm_call, disconnect)
{
    static const int failures[] = {EINVAL, ENOTCONN, ENODEV, EIO};

    for (size_t i = 0; i < ROWS(failures); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
            struct kit kit;

            begin(&kit, kind, "rdma_disconnect", failures[i]);
            kit_reach(&kit, KIT_LIVE);
            stub_rdma_fail(STUB_DISCONNECT, failures[i], 0, 1);
            CHECK_OK(it_ep_disconnect(kit.ep, NULL, 0));
            fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
            EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, kit_state(&kit));
            EXPECT(!stub_rdma_lives(kit.id));
            end(&kit);
        }
    check_done();
}

/* The device is gone, but the endpoint is freed. */
Test(cm_call, destroy)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
        for (enum kit_stage stage = 0; stage < KIT_STAGES; stage++) {
            struct kit kit;

            if (!kit_has_stage(kind, stage))
                continue;
            begin(&kit, kind, kit_stage_name(stage), ENODEV);
            stub_rdma_fail(STUB_DESTROY, ENODEV, 0, UINT32_MAX);
            kit_reach(&kit, stage);
            end(&kit);
        }
    check_done();
}

/* The first message may come before the event that the peer has confirmed. */
Test(cm_call, notify)
{
    struct kit kit;

    begin(&kit, KIT_ROCE, "rdma_notify", EINVAL);
    kit_reach(&kit, KIT_CONFIRM);
    stub_rdma_fail(STUB_NOTIFY, EINVAL, 0, 1);
    stub_raise(IBV_EVENT_COMM_EST, qp_of(&kit), 0);
    kit_wait_calls(&kit, STUB_NOTIFY, 1);
    EXPECT_EQ(IT_EP_STATE_PASSIVE_CONNECTION_PENDING, kit_state(&kit));
    kit_tell(&kit, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    fx_conn(kit.node.conn_evd, kit.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    end(&kit);
    check_done();
}

/* ---------------------------------------------------------------- listen points, IAs */

static it_status_t listen_at(struct kit *kit, uint16_t port)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = port};

    return it_listen_create(kit->node.ia, kit->node.spigot, kit->node.listen_evd,
                            port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG, &qual,
                            &kit->listener);
}

/* The chosen port is reported in the type of qualifier that the program has set. */
static void listen_anywhere(struct kit *kit)
{
    static const it_conn_qual_type_t types[] = {IT_IANA_LR_PORT, IT_IANA_PORT, IT_IB_SERVICEID};

    for (size_t i = 0; i < ROWS(types); i++) {
        bool pair = types[i] == IT_IANA_LR_PORT;
        it_conn_qual_t qual = {.type = types[i]};
        it_listen_handle_t listener = NULL;

        CHECK_OK(it_listen_create(kit->node.ia, kit->node.spigot, kit->node.listen_evd,
                                  IT_LISTEN_NO_FLAG, &qual, &listener));
        CHECK_EQ(pair ? IT_IANA_LR_PORT : IT_IANA_PORT, qual.type);
        CHECK(0 != (pair ? qual.conn_qual.lr_port.local : qual.conn_qual.port));
        CHECK_OK(it_listen_free(listener));
    }
}

Test(cm_call, listen_at_a_chosen_port)
{
    kit_each_kind(listen_anywhere);
}

/* If any address fails, there is no listen point, and those for other addresses are destroyed. */
Test(cm_call, listen)
{
    static const struct {
        enum stub_call call;
        int error;
        it_status_t status;
    } rows[] = {
        {STUB_CREATE_ID, EMFILE, IT_ERR_RESOURCES},
        {STUB_CREATE_ID, ENOMEM, IT_ERR_RESOURCES},
        {STUB_BIND, EADDRINUSE, IT_ERR_CONN_QUAL_BUSY},
        {STUB_BIND, EACCES, IT_ERR_NO_PERMISSION},
        {STUB_BIND, EPERM, IT_ERR_NO_PERMISSION},
        {STUB_BIND, ENOMEM, IT_ERR_RESOURCES},
        {STUB_LISTEN, EADDRINUSE, IT_ERR_CONN_QUAL_BUSY},
        {STUB_LISTEN, EINVAL, IT_ERR_RESOURCES},
        {STUB_LISTEN, EACCES, IT_ERR_NO_PERMISSION},
    };

    for (size_t i = 0; i < ROWS(rows); i++)
        for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
            struct kit kit;
            unsigned ids;

            begin(&kit, kind, "it_listen_create", rows[i].error);
            CHECK_OK(listen_at(&kit, htons(4712)));
            ids = stub_rdma_count(STUB_LISTEN);
            CHECK(ids > 0);
            CHECK_OK(it_listen_free(kit.listener));
            for (unsigned good = 0; good < ids; good++) {
                stub_rdma_fail(rows[i].call, rows[i].error, good, 1);
                EXPECT_STATUS(rows[i].status, listen_at(&kit, htons(4712)));
                expect_refused(&kit);
                EXPECT(stub_rdma_newest(RDMA_PS_UDP) == NULL);
            }
            end(&kit);
        }
    check_done();
}

/* An IA has at most as many listening ids as its process may have descriptors. */
static void listen_to_the_limit(struct kit *kit)
{
    enum {
        LIMIT = 100
    };
    it_listen_handle_t all[LIMIT];
    struct rlimit before, limit;
    unsigned count = 0;
    unsigned ids = 1; /* of a listen point */

    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    limit = (struct rlimit){.rlim_cur = LIMIT, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (count < LIMIT && listen_at(kit, htons((uint16_t)(4712 + count))) == IT_SUCCESS) {
        all[count++] = kit->listener;
        ids = stub_rdma_count(STUB_LISTEN) / count;
    }
    EXPECT_EQ(LIMIT / ids, count);
    EXPECT_STATUS(IT_ERR_RESOURCES, listen_at(kit, htons(4711)));
    CHECK_OK(it_listen_free(all[--count]));
    CHECK_OK(listen_at(kit, htons(4711)));
    CHECK_OK(it_listen_free(kit->listener));
    kit->listener = NULL;
    while (count > 0)
        CHECK_OK(it_listen_free(all[--count]));
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

Test(cm_call, listen_to_the_limit)
{
    kit_each_kind(listen_to_the_limit);
}

Test(cm_call, no_channel)
{
    static const int failures[] = {ENOMEM, EMFILE, ENODEV, ENOENT};

    for (size_t i = 0; i < ROWS(failures); i++) {
        it_ia_handle_t ia = NULL;

        kit_start(KIT_ROCE);
        stub_rdma_fail(STUB_CREATE_CHANNEL, failures[i], 0, 1);
        EXPECT_STATUS(IT_ERR_RESOURCES, it_ia_create(STUB_NAME, 2, 1, &ia));
        EXPECT(kit_warnings() > 0);
        EXPECT_EQ(0, stub_rdma_left());
        EXPECT_EQ(0, stub_objects());
    }
    check_done();
}

/* A shortage is not reported as an address that the device lacks. */
Test(cm_call, no_descriptor_for_an_address)
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
        it_net_addr_t address = fx_address_from("127.0.0.1");
        it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(4717)};
        it_ia_info_t *info;
        struct kit kit;
        it_path_t path;
        size_t count = 1;
        size_t total = 7;

        begin(&kit, kind, "it_get_pathinfo", EMFILE);
        path = fx_path(&kit.node);
        stub_rdma_fail_all(STUB_CREATE_ID, EMFILE);
        EXPECT_STATUS(IT_ERR_RESOURCES,
                      it_ep_connect(kit.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
        EXPECT_STATUS(IT_ERR_RESOURCES, it_ia_query(kit.node.ia, &info));
        EXPECT_STATUS(IT_ERR_RESOURCES, it_get_pathinfo(kit.node.ia, kit.node.spigot, &address,
                                                        &count, &total, &path));
        EXPECT_EQ(7, total);
        stub_rdma_fail_all(STUB_CREATE_ID, 0);
        end(&kit);
    }
    check_done();
}

/* ---------------------------------------------------------------- what a program passes */

static it_status_t connect_to(const struct kit *kit, const it_path_t *path, const void *data,
                              size_t length)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(4711)};

    return it_ep_connect(kit->ep, path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, data, length);
}

/* A path without a time limit gets one, and private data comes to rdma_cm as it is. */
Test(cm_call, private_data_without_a_time_limit)
{
    static const unsigned char data[] = "private";

    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
        struct rdma_conn_param param;
        struct kit kit;
        it_path_t path;

        begin(&kit, kind, "private data", 0);
        path = fx_path(&kit.node);
        path.timeout = 0;
        CHECK_OK(connect_to(&kit, &path, data, sizeof(data)));
        kit.id = stub_rdma_newest(RDMA_PS_TCP);
        kit_tell(&kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
        kit_tell(&kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
        FX_WAIT_WHILE(stub_rdma_count(STUB_CONNECT) == 0, "rdma_connect");
        param = stub_rdma_param();
        EXPECT(param.private_data_len >= sizeof(data));
        EXPECT(memcmp(param.private_data, data, sizeof(data)) == 0);
        end(&kit);
    }
    check_done();
}

/* Addresses that no peer can have. */
Test(cm_call, addresses_of_nobody)
{
    static const char *const texts[] = {"0.0.0.0", "224.0.0.1", "255.255.255.255"};

    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++)
        for (size_t i = 0; i < ROWS(texts); i++) {
            struct kit kit;
            struct in_addr address;
            it_path_t path;

            begin(&kit, kind, texts[i], 0);
            (void)inet_pton(AF_INET, texts[i], &address);
            path = fx_path(&kit.node);
            if (is_iwarp(kind))
                path.remote.iwarp.raddr.ipv4 = address;
            else
                memcpy(path.remote.ib.remote_port_gid.s6_addr + 12, &address, sizeof(address));
            EXPECT_STATUS(IT_ERR_INVALID_ADDRESS, connect_to(&kit, &path, NULL, 0));
            EXPECT_EQ(IT_EP_STATE_UNCONNECTED, kit_state(&kit));
            EXPECT(stub_rdma_newest(RDMA_PS_TCP) == NULL);
            end(&kit);
        }
    check_done();
}
