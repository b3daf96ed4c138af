/* SPDX-License-Identifier: BSD-2-Clause */
/* libibverbs and librdmacm: rdma_cm with queue pairs, all data paths, and rsockets. */
#include "faults/faults_scenario.h"
#include "faults/faults_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY   (512u * 1024)
#define LARGE    (200u * 1024)
#define REQUESTS 64u
#define RECEIVES 8u
/* Offsets in the memory of an end. */
#define AT_RECEIVE 0u
#define AT_SEND    16384u
#define AT_READ    24576u
#define AT_WORD    32768u
#define AT_BEFORE  32776u
#define AT_LARGE   65536u

const enum fault_call scenario_unreached[] = {FAULT_DUPLICATE, FAULT_MAP, FAULT_DATAGRAM,
                                              FAULT_CALLS};
const bool scenario_pools = true;
const bool scenario_repeats = true;

static bool strict;

const char *scenario_stage(void)
{
    return sockets_get_stage();
}

/* What manual pages name, as far as a fault of the system or a lost connection explains it. */
static const struct find_result documented[] = {
    {NULL, {ENOMEM, EMFILE, ENFILE, ENOBUFS, ENOSPC, 0}},
    {"ibv_get_device_list", {ENODEV, 0}},
    {"rdma_create_id", {ENODEV, EAGAIN, 0}},
    {"rdma_create_qp", {EAGAIN, 0}},
    {"rdma_create_qp_ex", {EAGAIN, 0}},
    {"ibv_open_device", {EAGAIN, ENODEV, 0}},
    {"rdma_bind_addr", {EADDRINUSE, EADDRNOTAVAIL, ENODEV, EAGAIN, 0}},
    {"rdma_listen", {EADDRINUSE, EAGAIN, 0}},
    {"rdma_resolve_addr",
     {ENODEV, EADDRNOTAVAIL, EADDRINUSE, EAGAIN, EHOSTUNREACH, ETIMEDOUT, ECONNREFUSED, ENETUNREACH,
      0}},
    {"rdma_resolve_route", {ENODEV, EAGAIN, EHOSTUNREACH, ETIMEDOUT, 0}},
    {"rdma_connect", {ECONNREFUSED, ENETUNREACH, EADDRINUSE, EADDRNOTAVAIL, EAGAIN, 0}},
    {"rdma_accept", {EINVAL, ECONNRESET, ENOTCONN, EAGAIN, 0}}, /* EINVAL: the peer has left */
    {"rdma_disconnect", {EINVAL, ENOTCONN, 0}},
    {"rdma_get_cm_event", {EINTR, 0}},
    {NULL, {0}},
};

static bool succeeds(const char *call, int error)
{
    if (error != 0)
        find_failure(call, error, strerror(error), documented, strict);
    return error == 0;
}

/* For calls that return -1 and set errno, and for those that return NULL. */
#define GOOD(call, ...)     succeeds(#call, call(__VA_ARGS__) == 0 ? 0 : errno)
#define MADE(to, call, ...) succeeds(#call, ((to) = call(__VA_ARGS__)) != NULL ? 0 : errno)
/* For calls that return an errno. */
#define DONE(call, ...) succeeds(#call, call(__VA_ARGS__))
/* Whatever happens, objects can be destroyed. */
#define MUST(call, ...)                                                                            \
    do {                                                                                           \
        if (call(__VA_ARGS__) != 0)                                                                \
            find_say("%s: %s", #call, strerror(errno));                                            \
    } while (0)

/* ---- One end --------------------------------------------------------------------------------- */

struct end {
    const char *name;
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *completions;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    unsigned char *memory;
    bool up, failed, ended;
    bool is_posted[REQUESTS];
    unsigned completions_of[REQUESTS];
    enum ibv_wc_status status_of[REQUESTS];
    unsigned next;
    unsigned due, received;
};

static struct end ends[2]; /* the client and the server */
static struct rdma_cm_id *listener, *request;

static bool channel_open(struct end *end)
{
    return MADE(end->channel, rdma_create_event_channel) &&
           fcntl(end->channel->fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool end_equip(struct end *end)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 32, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_context *context = end->id->verbs;

    if (!MADE(end->pd, ibv_alloc_pd, context) ||
        !MADE(end->completions, ibv_create_comp_channel, context) ||
        !MADE(end->cq, ibv_create_cq, context, 128, NULL, end->completions, 0) ||
        !MADE(end->mr, ibv_reg_mr, end->pd, end->memory, MEMORY,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                  IBV_ACCESS_REMOTE_ATOMIC))
        return false;
    attr.send_cq = attr.recv_cq = end->cq;
    return GOOD(rdma_create_qp, end->id, end->pd, &attr);
}

static void take_completion(struct end *end, const struct ibv_wc *wc)
{
    if (wc->wr_id >= REQUESTS || !end->is_posted[wc->wr_id] ||
        end->completions_of[wc->wr_id]++ != 0) {
        find_say("%s: a completion of %u that is not due", end->name, (unsigned)wc->wr_id);
        return;
    }
    end->status_of[wc->wr_id] = wc->status;
    end->due--;
    if (wc->status == IBV_WC_SUCCESS && wc->opcode & IBV_WC_RECV)
        end->received++;
    if (strict && wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
        find_say("%s: %s", end->name, ibv_wc_status_str(wc->status));
}

static void look_at_cq(struct end *end)
{
    struct ibv_wc wc[16];
    int count;

    while (end->cq && (count = ibv_poll_cq(end->cq, 16, wc)) > 0) {
        for (int i = 0; i < count; i++)
            take_completion(end, &wc[i]);
    }
}

/* Waits for an event of completion for some milliseconds. */
static void sleep_on_cq(struct end *end)
{
    struct pollfd entry = {end->completions ? end->completions->fd : -1, POLLIN, 0};
    struct ibv_cq *cq;
    void *context;

    if (!end->cq || !DONE(ibv_req_notify_cq, end->cq, 0))
        return;
    look_at_cq(end);
    if (poll(&entry, 1, 2) == 1 && ibv_get_cq_event(end->completions, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
}

static void take_event(struct end *end, const struct rdma_cm_event *event)
{
    switch (event->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        request = event->id;
        return;
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
    case RDMA_CM_EVENT_ESTABLISHED:
        if (end->up || end->failed)
            find_say("%s: %s out of turn", end->name, rdma_event_str(event->event));
        end->up = true;
        return;
    case RDMA_CM_EVENT_DISCONNECTED:
        if (end->ended)
            find_say("%s: disconnected twice", end->name);
        end->ended = true;
        return;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
    case RDMA_CM_EVENT_ADDR_CHANGE:
        return;
    default:
        if (end->failed || strict)
            find_say("%s: %s", end->name, rdma_event_str(event->event));
        end->failed = true;
    }
}

static void look_at_channel(struct end *end)
{
    struct rdma_cm_event *event;

    while (end->channel && rdma_get_cm_event(end->channel, &event) == 0) {
        take_event(end, event);
        MUST(rdma_ack_cm_event, event);
    }
}

static void look(void)
{
    for (unsigned i = 0; i < 2; i++) {
        look_at_channel(&ends[i]);
        look_at_cq(&ends[i]);
    }
}

static bool any_over(void)
{
    return ends[0].failed || ends[1].failed || ends[0].ended || ends[1].ended;
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        uint64_t end_us = find_now_us() + find_limit_us();                                         \
                                                                                                   \
        look();                                                                                    \
        while (!(condition)) {                                                                     \
            if (find_now_us() > end_us) {                                                          \
                find_say("never: %s", #condition);                                                 \
                break;                                                                             \
            }                                                                                      \
            sleep_on_cq(&ends[find_now_us() / 1000 % 2]);                                          \
            (void)usleep(200);                                                                     \
            look();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool listen_open(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (!channel_open(&ends[1]) ||
        !GOOD(rdma_create_id, ends[1].channel, &listener, NULL, RDMA_PS_TCP) ||
        !GOOD(rdma_bind_addr, listener, (struct sockaddr *)&address) ||
        !GOOD(rdma_listen, listener, 4))
        return false;
    *port = rdma_get_src_port(listener);
    return true;
}

static bool step_done(struct end *end)
{
    AWAIT(end->up || end->failed);
    if (!end->up)
        return false;
    end->up = false;
    return true;
}

static bool client_resolve(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct end *end = &ends[0];

    return channel_open(end) && GOOD(rdma_create_id, end->channel, &end->id, NULL, RDMA_PS_TCP) &&
           GOOD(rdma_resolve_addr, end->id, NULL, (struct sockaddr *)&address, 5000) &&
           step_done(end) && GOOD(rdma_resolve_route, end->id, 5000) && step_done(end);
}

static bool post_receive(struct end *end);

static bool server_accept(const struct rdma_conn_param *param)
{
    struct rdma_conn_param copy = *param;

    ends[1].id = request;
    request = NULL;
    if (!end_equip(&ends[1]))
        return false;
    for (unsigned i = 0; i < RECEIVES; i++)
        (void)post_receive(&ends[1]);
    return GOOD(rdma_accept, ends[1].id, &copy);
}

/* A second request, of a client that tries again, is rejected. */
static bool is_settled(void)
{
    if (request) {
        (void)rdma_reject(request, NULL, 0);
        (void)rdma_destroy_id(request);
        request = NULL;
    }
    return (ends[0].up && ends[1].up) || any_over();
}

static bool connect_both(void)
{
    struct rdma_conn_param param = {
        .responder_resources = 4, .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7};
    uint16_t port = 0;

    if (!listen_open(&port) || !client_resolve(port) || !end_equip(&ends[0]))
        return false;
    for (unsigned i = 0; i < RECEIVES; i++)
        (void)post_receive(&ends[0]);
    if (!GOOD(rdma_connect, ends[0].id, &param))
        return false;
    AWAIT(request || ends[0].failed);
    if (!request || !server_accept(&param))
        return false;
    AWAIT(is_settled());
    return ends[0].up && ends[1].up;
}

/* ---- Traffic --------------------------------------------------------------------------------- */

static struct ibv_sge part(const struct end *end, size_t offset, size_t length)
{
    return (struct ibv_sge){(uintptr_t)(end->memory + offset), (uint32_t)length, end->mr->lkey};
}

static void posted(struct end *end)
{
    end->is_posted[end->next++] = true;
    end->due++;
}

static bool post_receive(struct end *end)
{
    struct ibv_sge sge = part(end, AT_RECEIVE + 1024 * end->next, 1024);
    struct ibv_recv_wr wr = {.wr_id = end->next, .sg_list = &sge, .num_sge = 1}, *bad;

    if (!DONE(ibv_post_recv, end->id->qp, &wr, &bad))
        return false;
    posted(end);
    return true;
}

/* Returns whether the request is done. */
static bool post(struct end *end, enum ibv_wr_opcode opcode, size_t from, size_t length, size_t to)
{
    const struct end *peer = &ends[end == &ends[0]];
    struct ibv_sge sge = part(end, from, length);
    struct ibv_send_wr wr = {.wr_id = end->next,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    unsigned number = end->next;

    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = (uintptr_t)(peer->memory + to);
        wr.wr.atomic.rkey = peer->mr->rkey;
        wr.wr.atomic.compare_add = 2;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)(peer->memory + to);
        wr.wr.rdma.rkey = peer->mr->rkey;
    }
    if (number >= REQUESTS || !DONE(ibv_post_send, end->id->qp, &wr, &bad))
        return false;
    posted(end);
    AWAIT(end->completions_of[number] != 0);
    return end->completions_of[number] && end->status_of[number] == IBV_WC_SUCCESS;
}

static bool exchange(unsigned from, size_t length)
{
    struct end *to = &ends[1 - from];
    unsigned before = to->received;

    find_fill(ends[from].memory + AT_SEND, length, before + 3);
    if (!post(&ends[from], IBV_WR_SEND, AT_SEND, length, 0))
        return false;
    AWAIT(to->received > before || any_over());
    if (to->received > before &&
        !find_is_filled(to->memory + AT_RECEIVE + 1024 * before, length, before + 3))
        find_say("%s: the message is not what was sent", to->name);
    return to->received > before;
}

static bool write_and_read(void)
{
    find_fill(ends[0].memory + AT_LARGE, LARGE, 11);
    memset(ends[1].memory + AT_LARGE, 0, LARGE);
    if (!post(&ends[0], IBV_WR_RDMA_WRITE, AT_LARGE, LARGE, AT_LARGE) ||
        !post(&ends[0], IBV_WR_RDMA_READ, AT_READ, 3000, AT_LARGE))
        return false;
    if (!find_is_filled(ends[1].memory + AT_LARGE, LARGE, 11))
        find_say("what was written is not there");
    if (!find_is_filled(ends[0].memory + AT_READ, 3000, 11))
        find_say("what was read is not what is there");
    return true;
}

static bool count_up(void)
{
    uint64_t *word = (uint64_t *)(void *)(ends[1].memory + AT_WORD);
    const uint64_t *before = (const uint64_t *)(const void *)(ends[0].memory + AT_BEFORE);

    *word = 40;
    if (!post(&ends[0], IBV_WR_ATOMIC_FETCH_AND_ADD, AT_BEFORE, 8, AT_WORD))
        return false;
    if (*word != 42 || *before != 40)
        find_say("fetch and add made %u of %u", (unsigned)*word, (unsigned)*before);
    return true;
}

static void traffic(void)
{
    bool alive = exchange(0, 24) && exchange(1, 1000) && write_and_read() && count_up() &&
                 exchange(0, 1) && exchange(1, 500);

    if (strict && !alive)
        find_say("the traffic has ended early");
}

/* ---- The end --------------------------------------------------------------------------------- */

static void end_both(void)
{
    if (!ends[0].up || !ends[1].up || any_over())
        return;
    (void)GOOD(rdma_disconnect, ends[0].id);
    AWAIT((ends[0].ended && ends[1].ended) || ends[0].failed || ends[1].failed);
}

/* Everything that was posted completes, at the latest in the state of error. */
static void end_drain(struct end *end)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    if (!end->id || !end->id->qp)
        return;
    (void)DONE(ibv_modify_qp, end->id->qp, &attr, IBV_QP_STATE);
    AWAIT(end->due == 0);
}

static void end_close(struct end *end)
{
    if (end->id && end->id->qp)
        rdma_destroy_qp(end->id);
    if (end->cq)
        MUST(ibv_destroy_cq, end->cq);
    if (end->completions)
        MUST(ibv_destroy_comp_channel, end->completions);
    if (end->mr)
        MUST(ibv_dereg_mr, end->mr);
    if (end->pd)
        MUST(ibv_dealloc_pd, end->pd);
    if (end->id)
        MUST(rdma_destroy_id, end->id);
}

static void both_close(void)
{
    end_drain(&ends[0]);
    end_drain(&ends[1]);
    look_at_channel(&ends[1]); /* takes a late request */
    if (request)
        MUST(rdma_destroy_id, request);
    end_close(&ends[0]);
    end_close(&ends[1]);
    if (listener)
        MUST(rdma_destroy_id, listener);
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i].channel)
            rdma_destroy_event_channel(ends[i].channel);
        free(ends[i].memory);
    }
    request = listener = NULL;
}

static void run_verbs(void)
{
    sockets_stage("verbs");
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = (struct end){.name = i ? "server" : "client"};
        ends[i].memory = calloc(1, MEMORY);
    }
    if (connect_both())
        traffic();
    end_both();
    both_close();
}

/* ---- Queues of the library ------------------------------------------------------------------- */

/* What a single fault has prevented succeeds with the same attributes. */
static void create_twice(struct rdma_cm_id *id, bool lasts)
{
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

    if (!GOOD(rdma_create_qp_ex, id, &attr) && !lasts)
        MUST(rdma_create_qp_ex, id, &attr);
    if (id->qp)
        rdma_destroy_qp(id);
}

static void run_queues(bool lasts)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rdma_cm_id *id;

    sockets_stage("queues");
    if (!GOOD(rdma_create_id, NULL, &id, NULL, RDMA_PS_TCP))
        return;
    if (GOOD(rdma_bind_addr, id, (struct sockaddr *)&address))
        create_twice(id, lasts);
    MUST(rdma_destroy_id, id);
}

/* ---- rsockets -------------------------------------------------------------------------------- */

static int set_waiting(int fd, bool waits)
{
    return rfcntl(fd, F_SETFL, waits ? 0 : O_NONBLOCK);
}

static const struct socket_calls rsockets = {
    .socket = rsocket,
    .bind = rbind,
    .listen = rlisten,
    .accept = raccept,
    .connect = rconnect,
    .name = rgetsockname,
    .send = rsend,
    .receive = rrecv,
    .poll = rpoll,
    .get_option = rgetsockopt,
    .shutdown = rshutdown,
    .close = rclose,
    .set_waiting = set_waiting,
};

static void run_rsockets(void)
{
    struct socket_pair pair;

    sockets_stage("rsockets");
    if (sockets_open(&pair))
        sockets_traffic(&pair);
    sockets_close(&pair);
    sockets_stage("refused");
    sockets_refused();
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool is_strict,
                  struct fault_findings *findings)
{
    struct socket_pair bystander = {-1, -1, -1};

    find_begin(findings);
    strict = is_strict;
    sockets_begin(&rsockets, strict);
    sockets_stage("open");
    if (mode == FAULT_BESIDE && !sockets_open(&bystander))
        find_say("no bystander");
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, true);
    faults_arm(plan);
    run_verbs();
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, false);
    run_queues(plan->repeat > 1);
    run_rsockets();
    faults_disarm();
    sockets_stage("close");
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, true);
    sockets_close(&bystander);
}
