/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_cm/cm_kit.h"

#include "ual/object/ual_provider.h"
#include "vp/verbs/cm/verbs_cm_private.h"
#include "ual/providers/ual_providers.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIT_ADDRESS_TEXT "127.0.0.1"
#define KIT_PORT         4711

/* ---------------------------------------------------------------- freed memory */

void __real_free(void *memory);
void __wrap_free(void *memory);

/* Overwrites freed memory, so that its use fails in every build: its pointers lead nowhere. */
void __wrap_free(void *memory)
{
    if (memory)
        memset(memory, 0xd5, malloc_usable_size(memory));
    __real_free(memory);
}

/* ---------------------------------------------------------------- the log */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned log_warnings, log_watched;
static const char *log_watch;
static char log_last[512];

__attribute__((format(printf, 2, 3))) static void log_take(enum vp_log_level level,
                                                           const char *format, ...)
{
    va_list arguments;

    if (level > VP_LOG_WARN)
        return;
    va_start(arguments, format);
    pthread_mutex_lock(&log_lock);
    (void)vsnprintf(log_last, sizeof(log_last), format, arguments);
    log_warnings++;
    log_watched += log_watch && strstr(log_last, log_watch);
    pthread_mutex_unlock(&log_lock);
    va_end(arguments);
}

unsigned kit_warnings(void)
{
    unsigned count;

    pthread_mutex_lock(&log_lock);
    count = log_warnings;
    log_warnings = 0;
    pthread_mutex_unlock(&log_lock);
    return count;
}

void kit_watch_warnings(const char *part)
{
    pthread_mutex_lock(&log_lock);
    log_watch = part;
    log_watched = 0;
    pthread_mutex_unlock(&log_lock);
}

unsigned kit_watched_warnings(void)
{
    unsigned count;

    pthread_mutex_lock(&log_lock);
    count = log_watched;
    pthread_mutex_unlock(&log_lock);
    return count;
}

const char *kit_warning(void)
{
    return log_last;
}

/* ---------------------------------------------------------------- opening, closing */

const char *kit_kind_name(enum kit_kind kind)
{
    static const char *const names[] = {"siw", "iwarp", "roce", "infiniband"};

    return names[kind];
}

const char *kit_stage_name(enum kit_stage stage)
{
    static const char *const names[] = {
        "address", "route",    "calling",   "reply",   "arrived",      "live",
        "closing", "given up", "announced", "confirm", "passive live", "passive closing",
    };

    return names[stage];
}

static _Atomic bool request_held;
static void (*request_holder)(void); /* used on the IA's thread while the test waits for it */

void kit_hold_request(bool hold)
{
    atomic_store(&request_held, hold);
}

void kit_run_when_held(void (*run)(void))
{
    request_holder = run;
}

static bool withdraw(struct ual_request *request)
{
    void (*run)(void) = request_holder;

    if (!atomic_load(&request_held))
        return ual_host.request_withdraw(request);
    request_holder = NULL;
    if (run)
        run();
    return false;
}

static _Atomic bool timers_hurry;
static _Atomic uint64_t timer_ns;

void kit_hurry_timers(bool hurry)
{
    atomic_store(&timers_hurry, hurry);
}

uint64_t kit_timer_ns(void)
{
    return atomic_load(&timer_ns);
}

static bool start_timer(struct vp_timer *timer, uint64_t delay_ns)
{
    atomic_store(&timer_ns, delay_ns);
    return ual_host.timer_start(timer, atomic_load(&timers_hurry) ? 1 : delay_ns);
}

void kit_start(enum kit_kind kind)
{
    static struct vp_host host;

    memset(&stub, 0, sizeof(stub));
    stub.like_siw = kind == KIT_SIW;
    stub.like_iwarp = kind == KIT_IWARP;
    stub.on_ethernet = kind != KIT_INFINIBAND;
    stub_rdma_start();
    host = ual_host;
    host.log = log_take;
    host.request_withdraw = withdraw;
    host.timer_start = start_timer;
    kit_hold_request(false);
    kit_run_when_held(NULL);
    kit_hurry_timers(false);
    (void)vp_register(
        VP_ENTRY(&host, "")); /* returns false if an earlier start of this process registered it */
    (void)kit_warnings();
    CHECK_EQ(0, setenv("ITAPI_TEST_INTERFACE", STUB_NAME, 1));
    CHECK_EQ(0, setenv("ITAPI_TEST_ADDRESS", KIT_ADDRESS_TEXT, 1));
}

void kit_open(struct kit *kit, enum kit_kind kind)
{
    memset(kit, 0, sizeof(*kit));
    kit->kind = kind;
    fx_node_open_sized(&kit->node, 64);
    kit->ep = fx_ep(&kit->node, NULL);
}

void kit_close(struct kit *kit)
{
    stub_rdma_hold_connect(false);
    stub_rdma_hold_destroy(NULL);
    CHECK_OK(it_ia_free(kit->node.ia));
    CHECK_EQ(0, stub_rdma_left());
    CHECK_EQ(0, stub_objects());
    CHECK_EQ(stub_rdma_handed(), stub_rdma_acknowledged());
}

void kit_each_kind(void (*test)(struct kit *kit))
{
    for (enum kit_kind kind = 0; kind < KIT_KINDS; kind++) {
        struct kit kit;

        check_context(kit_kind_name(kind));
        kit_start(kind);
        kit_open(&kit, kind);
        test(&kit);
        kit_close(&kit);
        check_context(NULL);
    }
    check_done();
}

/* ---------------------------------------------------------------- on the IA's thread */

static struct ual_ia *kit_ia(const struct kit *kit)
{
    return verbs_host->ia_of((struct ual_ep *)(void *)kit->ep);
}

static void take_events(void *argument)
{
    verbs_cm_take_events(argument);
}

void kit_settle(const struct kit *kit)
{
    verbs_host->ia_call(kit_ia(kit), take_events, verbs_ia_of(kit_ia(kit))->cm);
}

void kit_tell(struct kit *kit, int event, int status, const struct stub_news *news)
{
    stub_rdma_tell(kit->id, NULL, event, status, news);
    kit_settle(kit);
}

void kit_wait_calls(const struct kit *kit, enum stub_call call, unsigned count)
{
    FX_WAIT_WHILE(stub_rdma_count(call) < count, "a call of rdma_cm");
    kit_settle(kit);
}

struct look {
    const struct kit *kit;
    int state; /* state of the connection; -1: the EP has none */
};

static void look(void *argument)
{
    struct look *call = argument;
    const struct verbs_ep *ep = verbs_ep_of((struct ual_ep *)(void *)call->kit->ep);

    call->state = ep->conn ? (int)ep->conn->state : -1;
}

/* Waits until another thread has brought the connection to this state. */
static void wait_for(const struct kit *kit, enum verbs_conn_state state)
{
    struct fx_patience patience = fx_patience_start("a state of the connection");
    struct look call = {.kit = kit};

    for (;;) {
        verbs_host->ia_call(kit_ia(kit), look, &call);
        if (call.state == (int)state)
            return;
        fx_patience_check(&patience);
    }
}

it_ep_state_rc_t kit_state(const struct kit *kit)
{
    return verbs_host->ep_state((struct ual_ep *)(void *)kit->ep);
}

/* ---------------------------------------------------------------- the way of a connection */

static bool is_iwarp(enum kit_kind kind)
{
    return kind == KIT_SIW || kind == KIT_IWARP;
}

bool kit_has_stage(enum kit_kind kind, enum kit_stage stage)
{
    if (stage == KIT_CALLING || stage == KIT_GIVEN_UP)
        return is_iwarp(kind);
    return stage != KIT_ARRIVED || !is_iwarp(kind);
}

it_status_t kit_connect(struct kit *kit, it_cn_est_flags_t flags, uint64_t timeout_us)
{
    it_path_t path = fx_path(&kit->node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_status_t status;

    qual.conn_qual.port = htons(KIT_PORT);
    if (timeout_us != 0)
        path.timeout = timeout_us;
    status = it_ep_connect(kit->ep, &path, NULL, &qual, flags, NULL, 0);
    kit->id = stub_rdma_newest(RDMA_PS_TCP);
    return status;
}

void kit_listen(struct kit *kit)
{
    uint16_t port;

    kit->listener = fx_listen(&kit->node, &port);
    kit->listen_id = stub_rdma_newest(RDMA_PS_TCP);
}

void kit_ask(struct kit *kit)
{
    static const struct stub_news news = {.responder_resources = 4, .initiator_depth = 3};
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(KIT_PORT)};

    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    kit->id = stub_rdma_asked(kit->listen_id, (const struct sockaddr *)&peer);
    stub_rdma_tell(kit->id, kit->listen_id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &news);
    kit_settle(kit);
}

static void answer(struct kit *kit)
{
    static const struct stub_news news = {.responder_resources = 4, .initiator_depth = 3};

    kit_tell(kit, is_iwarp(kit->kind) ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE,
             0, &news);
}

static void reach_request(struct kit *kit, enum kit_stage stage)
{
    bool three_way = stage == KIT_ARRIVED;

    if (stage == KIT_CALLING)
        stub_rdma_hold_connect(true);
    CHECK_OK(kit_connect(kit, three_way ? IT_CONNECT_FLAG_THREE_WAY : IT_CONNECT_FLAG_TWO_WAY, 0));
    if (stage == KIT_ADDRESS)
        return;
    kit_tell(kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    if (stage == KIT_ROUTE)
        return;
    kit_tell(kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    wait_for(kit, stage == KIT_CALLING ? VERBS_CONN_CALLING : VERBS_CONN_REPLY);
}

static void reach_as_passive(struct kit *kit, enum kit_stage stage)
{
    kit_listen(kit);
    kit_ask(kit);
    kit->request = fx_request(&kit->node, NULL);
    if (stage == KIT_ANNOUNCED)
        return;
    CHECK_OK(it_ep_accept(kit->ep, kit->request, NULL, 0));
    if (stage != KIT_CONFIRM)
        kit_tell(kit, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
}

static void close_connection(struct kit *kit)
{
    CHECK_OK(it_ep_disconnect(kit->ep, NULL, 0));
    fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

void kit_reach(struct kit *kit, enum kit_stage stage)
{
    if (stage >= KIT_ANNOUNCED)
        reach_as_passive(kit, stage);
    else
        reach_request(kit, stage);
    if (stage == KIT_ARRIVED) {
        answer(kit);
        kit->request = fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT)
                           .conn.cn_est_id;
    }
    if (stage == KIT_LIVE || stage == KIT_CLOSING)
        answer(kit);
    if (stage == KIT_LIVE || stage == KIT_CLOSING || stage == KIT_PASSIVE_LIVE ||
        stage == KIT_PASSIVE_CLOSING)
        fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    if (stage == KIT_GIVEN_UP)
        stub_rdma_hold_destroy(kit->id);
    if (stage == KIT_GIVEN_UP || stage == KIT_CLOSING || stage == KIT_PASSIVE_CLOSING)
        close_connection(kit);
    (void)kit_warnings();
}

uint16_t kit_resolve_again(struct kit *kit, unsigned connects)
{
    uint16_t port;

    kit_wait_calls(kit, STUB_CONNECT, connects);
    kit_wait_calls(kit, STUB_RESOLVE_ADDR, connects + 1);
    kit->id = stub_rdma_newest(RDMA_PS_TCP);
    port = rdma_get_src_port(kit->id); /* the id may be destroyed as soon as it connects */
    kit_tell(kit, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    kit_tell(kit, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    return port;
}

void kit_expect_failed(const struct kit *kit, it_conn_reject_code_t code)
{
    it_event_t event = fx_conn(kit->node.conn_evd, kit->ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    EXPECT_EQ(code, event.conn.reject_reason_code);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, kit_state(kit));
    EXPECT(kit_warnings() > 0);
    fx_empty(kit->node.conn_evd);
}
