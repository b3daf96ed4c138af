/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that end while their connection changes, or while another thread polls. */
#include "cm_kit.h"
#include "verbs_kit.h"

#include <errno.h>
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 20000,
    ROUNDS = 300,
    DELAYS = 30, /* of different lengths between a request and the end of its id */
    DELAY_STEP = 2000,
    WINDOW_OCTETS = 64
};

static bool is_readable(int fd, int within_ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, within_ms) == 1;
}

/* ---- An id whose events are not acknowledged yet --------------------------------------------- */

struct ending {
    struct rdma_cm_id *id;
    struct rdma_cm_event *held; /* the end of the id waits for it */
    pthread_t thread;
};

static void *destroy(void *id)
{
    CHECK_EQ(0, rdma_destroy_id(id));
    return NULL;
}

/* Returns an id with a route, and its event, which the program keeps. */
static struct ending resolve(uint16_t port)
{
    struct sockaddr_in address = cm_kit_local(1, port);
    struct ending ending;

    CHECK_EQ(0, rdma_create_id(cm_kit.client, &ending.id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_resolve_addr(ending.id, NULL, (struct sockaddr *)&address, 1000));
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ADDR_RESOLVED) == ending.id);
    CHECK_EQ(0, rdma_resolve_route(ending.id, 1000));
    ending.held = cm_kit_expect(cm_kit.client, RDMA_CM_EVENT_ROUTE_RESOLVED);
    cm_kit_equip(ending.id);
    CHECK_EQ(0, rdma_connect(ending.id, NULL));
    return ending;
}

/* The queue pair stays; it is destroyed after its id. */
struct rest {
    struct ibv_qp *qp;
    struct ibv_cq *cqs[2];
};

static struct rest rest_of(const struct rdma_cm_id *id)
{
    return (struct rest){.qp = id->qp, .cqs = {id->send_cq, id->recv_cq}};
}

static void destroy_rest(const struct rest *rest)
{
    if (rest->qp)
        CHECK_EQ(0, ibv_destroy_qp(rest->qp));
    for (int i = 0; i < 2; i++) {
        struct ibv_comp_channel *channel = rest->cqs[i]->channel;

        CHECK_EQ(0, ibv_destroy_cq(rest->cqs[i]));
        CHECK_EQ(0, ibv_destroy_comp_channel(channel));
    }
}

static void begin_end(struct ending *ending)
{
    CHECK_EQ(0, pthread_create(&ending->thread, NULL, destroy, ending->id));
}

static void finish_end(struct ending *ending)
{
    CHECK_EQ(0, rdma_ack_cm_event(ending->held));
    CHECK_EQ(0, pthread_join(ending->thread, NULL));
}

/* Listens on TCP only; the peer of an attempt that gets no answer. */
static int listen_silently(uint16_t *port)
{
    struct sockaddr_in address = cm_kit_local(1, 0);
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK_EQ(0, bind(fd, (struct sockaddr *)&address, length));
    CHECK_EQ(0, listen(fd, 1));
    CHECK_EQ(0, getsockname(fd, (struct sockaddr *)&address, &length));
    *port = address.sin_port;
    return fd;
}

/* An attempt ends with its id, though the program keeps the queue pair. */
static void attempt_ends_with_its_id(void)
{
    uint16_t port;
    int listener = listen_silently(&port);
    struct ending ending = resolve(port);
    struct rest rest = rest_of(ending.id);
    int stream = accept(listener, NULL, NULL);
    char octets[512];

    CHECK(stream >= 0);
    begin_end(&ending);
    do {
        CHECK(is_readable(stream, PATIENCE_MS));
    } while (recv(stream, octets, sizeof(octets), 0) > 0);
    finish_end(&ending);
    CHECK(!is_readable(cm_kit.client->fd, 0));
    destroy_rest(&rest);
    (void)close(stream);
    (void)close(listener);
}

/* is_last: set before the last request is rejected. */
static void *reject_all(void *is_last)
{
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;

    do {
        event = cm_kit_expect(cm_kit.server, RDMA_CM_EVENT_CONNECT_REQUEST);
        id = event->id;
        if (strcmp("last", event->param.conn.private_data) == 0)
            atomic_store((atomic_bool *)is_last, true);
        CHECK_EQ(0, rdma_ack_cm_event(event));
        (void)rdma_reject(id, NULL, 0); /* the caller may be gone */
        CHECK_EQ(0, rdma_destroy_id(id));
    } while (!atomic_load((atomic_bool *)is_last));
    return NULL;
}

static void delay(int round)
{
    for (volatile int i = 0; i < round % DELAYS * DELAY_STEP; i++) {
    }
}

/* An answer that arrives while an id ends causes no event of it, since it is freed soon. */
static void answers_meet_the_end(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    uint16_t port = rdma_get_src_port(listener);
    struct rdma_cm_id *last;
    struct ending ending;
    struct rest rest;
    pthread_t peer;
    atomic_bool is_last = false;

    CHECK_EQ(0, pthread_create(&peer, NULL, reject_all, &is_last));
    for (int i = 0; i < ROUNDS; i++) {
        ending = resolve(port);
        rest = rest_of(ending.id);
        delay(i);
        begin_end(&ending);
        destroy_rest(&rest); /* its connection has no more events then */
        finish_end(&ending);
        CHECK(!is_readable(cm_kit.client->fd, 0));
    }
    do { /* a full backlog rejects, too: then the peer has not seen it */
        last = cm_kit_call(1, port, "last");
        CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_REJECTED) == last);
        cm_kit_destroy(last);
    } while (!atomic_load(&is_last));
    CHECK_EQ(0, pthread_join(peer, NULL));
    cm_kit_destroy(listener);
}

/* ---- A queue pair that ends before the event of its connection is read ----------------------- */

static void queue_pair_goes_first(void)
{
    struct rdma_cm_id *listener = cm_kit_listen_at(1, 0);
    struct rdma_cm_id *caller = cm_kit_call(1, rdma_get_src_port(listener), "first");
    struct rdma_cm_id *called = cm_kit_requested("first");
    struct rest rest = rest_of(caller);

    cm_kit_equip(called);
    CHECK_EQ(0, rdma_accept(called, NULL));
    CHECK(is_readable(cm_kit.client->fd, PATIENCE_MS));
    CHECK_EQ(0, ibv_destroy_qp(rest.qp)); /* the id still names it */
    rest.qp = NULL;
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == caller);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_DISCONNECTED) == caller);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_TIMEWAIT_EXIT) == caller);
    CHECK_EQ(0, rdma_destroy_id(caller));
    destroy_rest(&rest);
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == called);
    cm_kit_destroy(called);
    cm_kit_destroy(listener);
}

/* ---- A window that ends while its invalidation is polled ------------------------------------- */

static unsigned char memory[WINDOW_OCTETS];
static struct ibv_mr *region;

struct side {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static struct side open_side(void)
{
    struct side side = {.cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0)};
    struct ibv_qp_init_attr attr = {
        .send_cq = side.cq,
        .recv_cq = side.cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

    CHECK(side.cq != NULL);
    side.qp = ibv_create_qp(verbs_kit.pd, &attr);
    CHECK(side.qp != NULL);
    return side;
}

static void close_side(const struct side *side)
{
    CHECK_EQ(0, ibv_destroy_qp(side->qp));
    CHECK_EQ(0, ibv_destroy_cq(side->cq));
}

static void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;

    wr->send_flags = IBV_SEND_SIGNALED;
    CHECK_EQ(0, ibv_post_send(qp, wr, &bad));
}

static struct ibv_mw *bind_window(const struct side *side)
{
    struct ibv_mw *window = ibv_alloc_mw(verbs_kit.pd, IBV_MW_TYPE_2);
    struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};

    CHECK(window != NULL);
    wr.bind_mw.mw = window;
    wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = region,
                                                     .addr = (uintptr_t)memory,
                                                     .length = sizeof(memory),
                                                     .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
    post(side->qp, &wr);
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(side->cq).status);
    return window;
}

static void *poll_invalidation(void *cq)
{
    static struct ibv_wc wc;

    wc = verbs_kit_completion(cq);
    return &wc;
}

/* Returns the completion of a receive whose sender invalidates a window that is freed meanwhile. */
static struct ibv_wc invalidate(const struct side *from, const struct side *to,
                                struct ibv_mw *window)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = window->rkey};
    struct ibv_recv_wr receive = {.wr_id = 1};
    struct ibv_recv_wr *bad;
    pthread_t poller;
    void *wc;

    CHECK_EQ(0, ibv_post_recv(to->qp, &receive, &bad));
    post(from->qp, &wr);
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(from->cq).status);
    CHECK_EQ(0, pthread_create(&poller, NULL, poll_invalidation, to->cq));
    CHECK_EQ(0, ibv_dealloc_mw(window));
    CHECK_EQ(0, pthread_join(poller, &wc));
    return *(struct ibv_wc *)wc;
}

static void window_goes_first(void)
{
    struct side from = open_side();
    struct side to = open_side();

    verbs_kit_bring_up(from.qp, to.qp->qp_num);
    verbs_kit_bring_up(to.qp, from.qp->qp_num);
    for (int i = 0; i < ROUNDS; i++) {
        struct ibv_mw *window = bind_window(&to);
        uint32_t key = window->rkey;
        struct ibv_wc wc = invalidate(&from, &to, window);

        CHECK_EQ(IBV_WC_SUCCESS, wc.status);
        CHECK(!(wc.wc_flags & IBV_WC_WITH_INV) || wc.invalidated_rkey == key);
    }
    close_side(&from);
    close_side(&to);
}

/* A completion names the key that was invalidated: of a window bound twice, the second. */
static void invalidated_keys(void)
{
    struct side from = open_side();
    struct side to = open_side();
    struct ibv_recv_wr receive = {.wr_id = 1};
    struct ibv_recv_wr *bad;
    struct ibv_mw *window;
    struct ibv_wc wc;

    verbs_kit_bring_up(from.qp, to.qp->qp_num);
    verbs_kit_bring_up(to.qp, from.qp->qp_num);
    window = bind_window(&to);
    for (int i = 0; i < 2; i++) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = window->rkey};
        struct ibv_send_wr again = {.opcode = IBV_WR_BIND_MW};

        CHECK_EQ(0, ibv_post_recv(to.qp, &receive, &bad));
        post(from.qp, &wr);
        wc = verbs_kit_completion(to.cq);
        CHECK(wc.wc_flags & IBV_WC_WITH_INV);
        CHECK_EQ(window->rkey, wc.invalidated_rkey);
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(from.cq).status);
        again.bind_mw.mw = window;
        again.bind_mw.rkey = ibv_inc_rkey(window->rkey);
        again.bind_mw.bind_info =
            (struct ibv_mw_bind_info){.mr = region,
                                      .addr = (uintptr_t)memory,
                                      .length = sizeof(memory),
                                      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
        post(to.qp, &again);
        CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(to.cq).status);
    }
    close_side(&to);
    close_side(&from);
    CHECK_EQ(0, ibv_dealloc_mw(window));
}

/* A thread domain is busy while a parent domain names it. */
static void thread_domain(void)
{
    struct ibv_td_init_attr none = {.comp_mask = 0};
    struct ibv_td *td = ibv_alloc_td(verbs_kit.context, &none);
    struct ibv_parent_domain_init_attr attr = {.pd = verbs_kit.pd, .td = td};
    struct ibv_pd *parent;

    CHECK(td != NULL);
    parent = ibv_alloc_parent_domain(verbs_kit.context, &attr);
    CHECK(parent != NULL);
    CHECK_EQ(EBUSY, ibv_dealloc_td(td));
    CHECK_EQ(0, ibv_dealloc_pd(parent));
    CHECK_EQ(0, ibv_dealloc_td(td));
}

int main(void)
{
    cm_kit_open();
    verbs_kit_open();
    region = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
    CHECK(region != NULL);
    attempt_ends_with_its_id();
    answers_meet_the_end();
    queue_pair_goes_first();
    invalidated_keys();
    window_goes_first();
    CHECK_EQ(0, ibv_dereg_mr(region));
    thread_domain();
    verbs_kit_close();
    cm_kit_close();
    check_done();
    return 0;
}
