/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uDAPL: the provider behind libdat2. Endpoints with receives of their own and of an S-RQ, a CNO,
 * all data paths, a window; connections that are rejected and refused.
 */
#include "faults/faults_scenario.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/udat.h>

#define NAME     "itapi-lo"
#define QUEUE    32
#define MEMORY   (512u * 1024)
#define LARGE    (200u * 1024)
#define REQUESTS 64u
#define RECEIVES 8u
/* Offsets in the memory of a side; each leg has its own part for small messages. */
#define AT_LEG(number) (65536u * (number))
#define AT_SEND        16384u
#define AT_WINDOW      32768u
#define AT_READ        49152u
#define AT_LARGE       262144u

const enum fault_call scenario_unreached[] = {FAULT_DUPLICATE, FAULT_MAP, FAULT_FILE,
                                              FAULT_DATAGRAM, FAULT_CALLS};
const bool scenario_pools = true; /* its slabs */
const bool scenario_repeats = true;

static const char *stage = "";
static bool strict;

const char *scenario_stage(void)
{
    return stage;
}

/* ---- Statuses -------------------------------------------------------------------------------- */

/* What DAT 2.0 and docs/udapl.md name, as far as a fault or a lost connection explains it. */
static const struct find_result documented[] = {
    {NULL, {DAT_INSUFFICIENT_RESOURCES, 0}},
    {"dat_ia_open", {DAT_PROVIDER_NOT_FOUND, 0}},
    {"dat_psp_create_any", {DAT_CONN_QUAL_UNAVAILABLE, 0}},
    {"dat_ep_connect", {DAT_INVALID_ADDRESS, 0}},
    {"dat_cr_accept", {DAT_INVALID_HANDLE, 0}}, /* the peer has given up */
    {"dat_cr_reject", {DAT_INVALID_HANDLE, 0}},
    {"dat_evd_wait", {DAT_INTERRUPTED_CALL, 0}},
    {"dat_cno_wait", {DAT_INTERRUPTED_CALL, 0}},
    {NULL, {0}},
};

static const char *text_of(DAT_RETURN status)
{
    const char *major = "?", *minor = "?";

    (void)dat_strerror(status, &major, &minor);
    return major;
}

static bool good(const char *call, DAT_RETURN status)
{
    if (status == DAT_SUCCESS)
        return true;
    find_failure(call, (int)DAT_GET_TYPE(status), text_of(status), documented, strict);
    return false;
}

#define GOOD(call, ...) good(#call, call(__VA_ARGS__))
/* Whatever happens, objects can be freed. */
#define MUST(call, ...)                                                                            \
    do {                                                                                           \
        DAT_RETURN got = call(__VA_ARGS__);                                                        \
                                                                                                   \
        if (got != DAT_SUCCESS)                                                                    \
            find_say("%s: %s", #call, text_of(got));                                               \
    } while (0)

/* ---- The two sides --------------------------------------------------------------------------- */

struct side {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, request, recv, connect, cr; /* DAT_HANDLE_NULL: not made */
    DAT_CNO_HANDLE cno;
    DAT_PZ_HANDLE pz;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_CR_HANDLE waiting; /* a connection request without an answer */
    bool is_open;
};

/* One endpoint, and what has happened to it. */
struct leg {
    const char *name;
    struct side *side;
    DAT_EP_HANDLE ep;
    DAT_SRQ_HANDLE srq;
    bool connecting, up, failed, ended;
    bool is_posted[REQUESTS];
    unsigned completions[REQUESTS];
    DAT_DTO_COMPLETION_STATUS status[REQUESTS];
    unsigned next;
    unsigned due; /* receives of an S-RQ are not */
    unsigned receives, received;
};

enum {
    CLIENT,
    SERVER,
    BYSTANDER_CLIENT,
    BYSTANDER_SERVER,
    LEGS
};

static struct side sides[2];
static struct leg legs[LEGS];
static unsigned char memories[2][MEMORY] __attribute__((aligned(4096)));

static unsigned char *memory_of(const struct leg *leg)
{
    return memories[leg->side - sides];
}

static bool evds_create(struct side *side)
{
    DAT_CNO_HANDLE cno = side->cno;

    return GOOD(dat_evd_create, side->ia, 2 * REQUESTS, DAT_HANDLE_NULL,
                (DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG), &side->request) &&
           GOOD(dat_evd_create, side->ia, 2 * REQUESTS, cno, DAT_EVD_DTO_FLAG, &side->recv) &&
           GOOD(dat_evd_create, side->ia, QUEUE, cno, DAT_EVD_CONNECTION_FLAG, &side->connect) &&
           GOOD(dat_evd_create, side->ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &side->cr);
}

/* The client waits on a CNO, the server on an EVD. */
static bool side_open(struct side *side)
{
    DAT_REGION_DESCRIPTION region = {.for_va = memories[side - sides]};
    DAT_OS_WAIT_PROXY_AGENT no_agent = {NULL, NULL};
    char name[] = NAME;

    side->is_open = GOOD(dat_ia_open, name, QUEUE, &side->async, &side->ia);
    return side->is_open && GOOD(dat_pz_create, side->ia, &side->pz) &&
           (side != sides || GOOD(dat_cno_create, side->ia, no_agent, &side->cno)) &&
           evds_create(side) &&
           GOOD(dat_lmr_create, side->ia, DAT_MEM_TYPE_VIRTUAL, region, MEMORY, side->pz,
                DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context,
                &side->rmr_context, NULL, NULL);
}

static void evd_free(DAT_EVD_HANDLE evd)
{
    if (evd != DAT_HANDLE_NULL)
        MUST(dat_evd_free, evd);
}

/* Everything is free then: a graceful close refuses an IA with objects. */
static void side_close(const struct side *side)
{
    if (!side->is_open)
        return;
    if (side->lmr != DAT_HANDLE_NULL)
        MUST(dat_lmr_free, side->lmr);
    evd_free(side->request);
    evd_free(side->recv);
    evd_free(side->connect);
    evd_free(side->cr);
    if (side->cno != DAT_HANDLE_NULL)
        MUST(dat_cno_free, side->cno);
    if (side->pz != DAT_HANDLE_NULL)
        MUST(dat_pz_free, side->pz);
    MUST(dat_ia_close, side->ia, DAT_CLOSE_GRACEFUL_FLAG);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void completed(const char *what, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status)
{
    struct leg *leg = &legs[cookie / REQUESTS % LEGS];
    unsigned number = (unsigned)(cookie % REQUESTS);

    if (!leg->is_posted[number] || leg->completions[number]++ != 0) {
        find_say("%s: a %s of %u that is not due", leg->name, what, number);
        return;
    }
    leg->status[number] = status;
    if (number >= leg->receives || leg->srq == DAT_HANDLE_NULL)
        leg->due--;
    if (number < leg->receives && status == DAT_DTO_SUCCESS)
        leg->received++;
    if (strict && status != DAT_DTO_SUCCESS && status != DAT_DTO_ERR_FLUSHED)
        find_say("%s: a %s with status %d", leg->name, what, (int)status);
}

static struct leg *leg_of(DAT_EP_HANDLE ep)
{
    for (unsigned i = 0; i < LEGS; i++) {
        if (legs[i].ep != DAT_HANDLE_NULL && legs[i].ep == ep)
            return &legs[i];
    }
    return NULL;
}

static void connection_changed(DAT_EVENT_NUMBER number, DAT_EP_HANDLE ep)
{
    struct leg *leg = leg_of(ep);

    if (!leg || leg->failed || leg->ended) {
        find_say("connection event 0x%x of %s", number, leg ? leg->name : "nobody");
        return;
    }
    switch (number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED:
        if (leg->up)
            find_say("%s: established twice", leg->name);
        leg->up = true;
        break;
    case DAT_CONNECTION_EVENT_DISCONNECTED:
    case DAT_CONNECTION_EVENT_BROKEN:
        if (!leg->up || (strict && number == DAT_CONNECTION_EVENT_BROKEN))
            find_say("%s: connection event 0x%x", leg->name, number);
        leg->ended = true;
        break;
    default:
        if (leg->up)
            find_say("%s: connection event 0x%x when it is up", leg->name, number);
        leg->failed = true;
    }
}

/* A client whose first attempt was lost tries again: the last request counts. */
static void request_came(DAT_CR_HANDLE cr)
{
    struct side *server = &sides[SERVER];

    if (server->waiting != DAT_HANDLE_NULL)
        (void)GOOD(dat_cr_reject, server->waiting, 0, NULL);
    server->waiting = cr;
}

static void take(const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
    const DAT_RMR_BIND_COMPLETION_EVENT_DATA *bind = &event->event_data.rmr_completion_event_data;

    switch (event->event_number) {
    case DAT_DTO_COMPLETION_EVENT:
        completed("completion", dto->user_cookie.as_64, dto->status);
        break;
    case DAT_RMR_BIND_COMPLETION_EVENT:
        completed("bind", bind->user_cookie.as_64, bind->status);
        break;
    case DAT_CONNECTION_REQUEST_EVENT:
        request_came(event->event_data.cr_arrival_event_data.cr_handle);
        break;
    case DAT_ASYNC_ERROR_EP_BROKEN:
        break; /* its connection event tells the same */
    case DAT_ASYNC_ERROR_EVD_OVERFLOW:
    case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
    case DAT_ASYNC_ERROR_TIMED_OUT:
    case DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR:
        find_say("asynchronous error 0x%x", event->event_number);
        break;
    default:
        connection_changed(event->event_number, event->event_data.connect_event_data.ep_handle);
    }
}

static void look_at(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    while (evd != DAT_HANDLE_NULL && dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
        take(&event);
}

static void look(void)
{
    for (unsigned i = 0; i < 2; i++) {
        look_at(sides[i].cr);
        look_at(sides[i].connect);
        look_at(sides[i].request);
        look_at(sides[i].recv);
        if (sides[i].is_open)
            look_at(sides[i].async);
    }
}

#define SLEEP_US 1000

/* Sleeps on one of the two sides until an event comes, for some time. */
static void sleep_on(unsigned i)
{
    DAT_EVD_HANDLE told;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN status;

    if (sides[i].cno != DAT_HANDLE_NULL) {
        status = dat_cno_wait(sides[i].cno, SLEEP_US, &told);
        if (DAT_GET_TYPE(status) != DAT_QUEUE_EMPTY)
            (void)good("dat_cno_wait", status);
    } else if (sides[i].connect != DAT_HANDLE_NULL) {
        status = dat_evd_wait(sides[i].connect, SLEEP_US, 1, &event, &more);
        if (status == DAT_SUCCESS)
            take(&event);
        else if (DAT_GET_TYPE(status) != DAT_TIMEOUT_EXPIRED)
            (void)good("dat_evd_wait", status);
    }
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        uint64_t end_us = find_now_us() + find_limit_us();                                         \
                                                                                                   \
        look();                                                                                    \
        for (unsigned turn = 0; !(condition); turn++) {                                            \
            if (find_now_us() > end_us) {                                                          \
                find_say("never: %s", #condition);                                                 \
                break;                                                                             \
            }                                                                                      \
            sleep_on(turn % 2);                                                                    \
            look();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- Posting --------------------------------------------------------------------------------- */

static DAT_DTO_COOKIE next_cookie(const struct leg *leg)
{
    return (DAT_DTO_COOKIE){.as_64 = (DAT_UINT64)(leg - legs) * REQUESTS + leg->next};
}

static DAT_LMR_TRIPLET local(const struct leg *leg, size_t offset, size_t length)
{
    return (DAT_LMR_TRIPLET){.virtual_address = (DAT_VADDR)(uintptr_t)(memory_of(leg) + offset),
                             .segment_length = (DAT_SEG_LENGTH)length,
                             .lmr_context = leg->side->lmr_context};
}

static DAT_RMR_TRIPLET remote(const struct leg *leg, size_t offset, size_t length)
{
    return (DAT_RMR_TRIPLET){.virtual_address = (DAT_VADDR)(uintptr_t)(memory_of(leg) + offset),
                             .segment_length = (DAT_SEG_LENGTH)length,
                             .rmr_context = leg->side->rmr_context};
}

static bool posted(struct leg *leg, bool is_due)
{
    leg->is_posted[leg->next++] = true;
    leg->due += is_due;
    return true;
}

/* Waits for the last request. Returns whether it is a success. */
static bool is_done(const struct leg *leg)
{
    unsigned number = leg->next - 1;

    AWAIT(leg->completions[number] != 0);
    return leg->completions[number] && leg->status[number] == DAT_DTO_SUCCESS;
}

static size_t place_of_receive(const struct leg *leg, unsigned number)
{
    return AT_LEG((size_t)(leg - legs) / 2) + 1024 * (size_t)number;
}

/* They come first: request number i is receive i. */
static bool post_receives(struct leg *leg)
{
    for (unsigned i = 0; i < RECEIVES; i++) {
        DAT_LMR_TRIPLET to = local(leg, place_of_receive(leg, i), 1024);
        bool shared = leg->srq != DAT_HANDLE_NULL;

        if (!(shared ? GOOD(dat_srq_post_recv, leg->srq, 1, &to, next_cookie(leg))
                     : GOOD(dat_ep_post_recv, leg->ep, 1, &to, next_cookie(leg),
                            DAT_COMPLETION_DEFAULT_FLAG)))
            return false;
        (void)posted(leg, !shared);
        leg->receives++;
    }
    return true;
}

static bool send_one(struct leg *leg, size_t length, unsigned seed)
{
    size_t at = AT_LEG((size_t)(leg - legs) / 2) + AT_SEND;
    DAT_LMR_TRIPLET from = local(leg, at, length);

    find_fill(memory_of(leg) + at, length, seed);
    return GOOD(dat_ep_post_send, leg->ep, 1, &from, next_cookie(leg),
                DAT_COMPLETION_DEFAULT_FLAG) &&
           posted(leg, true) && is_done(leg);
}

/* ---- Traffic --------------------------------------------------------------------------------- */

static bool is_over(const struct leg *leg)
{
    return leg->failed || leg->ended;
}

static bool exchange(struct leg *from, struct leg *to, size_t length)
{
    unsigned before = to->received, seed = before + 3;
    size_t at = place_of_receive(to, before);

    memset(memory_of(to) + at, 0, 1024);
    if (before == to->receives || !send_one(from, length, seed))
        return false;
    AWAIT(to->received > before || is_over(to));
    if (to->received > before && !find_is_filled(memory_of(to) + at, length, seed))
        find_say("%s: the message is not what was sent", to->name);
    return to->received > before;
}

static bool write_large(struct leg *from, const struct leg *to)
{
    DAT_LMR_TRIPLET source = local(from, AT_LARGE, LARGE);
    DAT_RMR_TRIPLET sink = remote(to, AT_LARGE, LARGE);

    find_fill(memory_of(from) + AT_LARGE, LARGE, 11);
    memset(memory_of(to) + AT_LARGE, 0, LARGE);
    return GOOD(dat_ep_post_rdma_write, from->ep, 1, &source, next_cookie(from), &sink,
                DAT_COMPLETION_DEFAULT_FLAG) &&
           posted(from, true) && is_done(from);
}

/* The Read behind the Write shows that it has arrived. */
static bool write_and_read(struct leg *from, const struct leg *to)
{
    DAT_LMR_TRIPLET sink = local(from, AT_READ, 3000);
    DAT_RMR_TRIPLET source = remote(to, AT_LARGE, 3000);

    if (!write_large(from, to) ||
        !GOOD(dat_ep_post_rdma_read, from->ep, 1, &sink, next_cookie(from), &source,
              DAT_COMPLETION_DEFAULT_FLAG) ||
        !posted(from, true) || !is_done(from))
        return false;
    if (!find_is_filled(memory_of(to) + AT_LARGE, LARGE, 11))
        find_say("what was written is not there");
    if (!find_is_filled(memory_of(from) + AT_READ, 3000, 11))
        find_say("what was read is not what is there");
    return true;
}

/* The window covers 1000 octets, or nothing. */
static bool bind_window(struct leg *leg, DAT_RMR_HANDLE rmr, size_t length, DAT_RMR_CONTEXT *key)
{
    DAT_LMR_TRIPLET segment = local(leg, AT_WINDOW, length);

    return GOOD(dat_rmr_bind, rmr, length ? leg->side->lmr : DAT_HANDLE_NULL, &segment,
                length ? DAT_MEM_PRIV_ALL_FLAG : DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA, leg->ep,
                next_cookie(leg), DAT_COMPLETION_BARRIER_FENCE_FLAG, key) &&
           posted(leg, true) && is_done(leg);
}

static bool write_window(struct leg *from, struct leg *to, DAT_RMR_CONTEXT key)
{
    DAT_LMR_TRIPLET source = local(from, AT_READ, 1000);
    DAT_RMR_TRIPLET sink = remote(to, AT_WINDOW, 1000);

    sink.rmr_context = key;
    find_fill(memory_of(from) + AT_READ, 1000, 12);
    memset(memory_of(to) + AT_WINDOW, 0, 1000);
    if (!GOOD(dat_ep_post_rdma_write, from->ep, 1, &source, next_cookie(from), &sink,
              DAT_COMPLETION_DEFAULT_FLAG) ||
        !posted(from, true) || !is_done(from) || !exchange(from, to, 1))
        return false;
    if (!find_is_filled(memory_of(to) + AT_WINDOW, 1000, 12))
        find_say("what was written through the window is not there");
    return true;
}

static bool use_window(struct leg *from, struct leg *to)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT key = 0, none;
    bool used;

    if (!GOOD(dat_rmr_create, to->side->pz, &rmr))
        return false;
    used = bind_window(to, rmr, 1000, &key) && write_window(from, to, key) &&
           bind_window(to, rmr, 0, &none);
    MUST(dat_rmr_free, rmr);
    return used;
}

static void traffic(struct leg *client, struct leg *server)
{
    bool alive = exchange(client, server, 24) && exchange(server, client, 1000) &&
                 write_and_read(client, server) && use_window(client, server) &&
                 exchange(client, server, 1) && exchange(server, client, 500);

    if (strict && !alive)
        find_say("the traffic has ended early");
}

/* ---- Connections ----------------------------------------------------------------------------- */

static bool srq_create(struct leg *leg)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = RECEIVES, .max_recv_iov = 1};
    const struct side *side = leg->side;

    return GOOD(dat_srq_create, side->ia, side->pz, &attr, &leg->srq) &&
           GOOD(dat_ep_create_with_srq, side->ia, side->pz, side->recv, side->request,
                side->connect, leg->srq, NULL, &leg->ep);
}

static bool leg_open(struct leg *leg, const char *name, unsigned side, bool shared)
{
    DAT_EP_ATTR attr = {.max_recv_dtos = RECEIVES,
                        .max_request_dtos = QUEUE,
                        .max_recv_iov = 2,
                        .max_request_iov = 2,
                        .max_rdma_read_in = 4,
                        .max_rdma_read_out = 4};
    const struct side *of = &sides[side];

    *leg = (struct leg){.name = name, .side = &sides[side]};
    if (shared)
        return srq_create(leg);
    return GOOD(dat_ep_create, of->ia, of->pz, of->recv, of->request, of->connect, &attr, &leg->ep);
}

/* A connection that is up is disconnected: what was posted completes. */
static void leg_end(struct leg *leg)
{
    if (leg->up && !is_over(leg))
        MUST(dat_ep_disconnect, leg->ep, DAT_CLOSE_GRACEFUL_FLAG);
}

static bool leg_connect(struct leg *leg, DAT_CONN_QUAL qual)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    leg->connecting = GOOD(dat_ep_connect, leg->ep, (DAT_IA_ADDRESS_PTR)(void *)&address, qual,
                           (DAT_TIMEOUT)(find_limit_us() / 4), 0, NULL, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG);
    return leg->connecting;
}

static bool is_accepted(struct leg *leg)
{
    struct side *server = &sides[SERVER];
    DAT_CR_HANDLE cr = server->waiting;

    server->waiting = DAT_HANDLE_NULL;
    if (leg && GOOD(dat_cr_accept, cr, leg->ep, 0, NULL))
        leg->connecting = true;
    else
        (void)GOOD(dat_cr_reject, cr, 0, NULL);
    return leg && leg->connecting;
}

/* A client whose connection is lost tries again: that request is rejected. */
static bool is_answered(const struct leg *client)
{
    if (sides[SERVER].waiting != DAT_HANDLE_NULL)
        (void)is_accepted(NULL);
    return client->up || is_over(client);
}

static void leg_close(struct leg *leg)
{
    if (leg->ep != DAT_HANDLE_NULL) {
        if (leg->connecting)
            AWAIT(is_answered(leg));
        if (leg->up)
            AWAIT(leg->ended);
        if (is_over(leg))
            AWAIT(leg->due == 0);
        MUST(dat_ep_free, leg->ep);
        look(); /* nothing of it comes any more */
    }
    leg->ep = DAT_HANDLE_NULL;
    if (leg->srq != DAT_HANDLE_NULL)
        MUST(dat_srq_free, leg->srq);
    leg->srq = DAT_HANDLE_NULL;
}

static bool is_settled(const struct leg *client, const struct leg *server)
{
    return (is_answered(client) && (server->up || is_over(client))) || is_over(server);
}

static bool join(struct leg *client, struct leg *server)
{
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;

    if (!post_receives(client) || !post_receives(server) ||
        !GOOD(dat_psp_create_any, sides[SERVER].ia, &qual, sides[SERVER].cr, DAT_PSP_CONSUMER_FLAG,
              &psp))
        return false;
    if (leg_connect(client, qual)) {
        AWAIT(sides[SERVER].waiting != DAT_HANDLE_NULL || is_over(client));
        if (sides[SERVER].waiting != DAT_HANDLE_NULL && is_accepted(server))
            AWAIT(is_settled(client, server));
        else
            AWAIT(is_answered(client));
    }
    MUST(dat_psp_free, psp);
    return client->up && server->up;
}

/* If one end is up and the other is not, the first ends when the other is freed. */
static void part(struct leg *client, struct leg *server)
{
    bool both = client->up && server->up;

    leg_end(client);
    if (!both)
        leg_end(server);
    leg_close(client);
    leg_close(server);
}

static void run_pair(const char *name, bool shared)
{
    struct leg *client = &legs[CLIENT], *server = &legs[SERVER];

    stage = name;
    if (leg_open(client, "client", CLIENT, false) && leg_open(server, "server", SERVER, shared) &&
        join(client, server))
        traffic(client, server);
    part(client, server);
}

/* Nobody accepts: the server says so, or nobody listens. */
static void run_refused(bool is_listening)
{
    struct leg *client = &legs[CLIENT];
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qual = 1;

    stage = is_listening ? "rejected" : "refused";
    if (leg_open(client, "client", CLIENT, false) &&
        (!is_listening || GOOD(dat_psp_create_any, sides[SERVER].ia, &qual, sides[SERVER].cr,
                               DAT_PSP_CONSUMER_FLAG, &psp)) &&
        leg_connect(client, qual)) {
        AWAIT(sides[SERVER].waiting != DAT_HANDLE_NULL || is_over(client));
        AWAIT(is_answered(client));
        if (client->up)
            find_say("connected to nobody");
    }
    if (psp != DAT_HANDLE_NULL)
        MUST(dat_psp_free, psp);
    leg_end(client);
    leg_close(client);
}

/* ---- The bystander --------------------------------------------------------------------------- */

static void ping(bool last)
{
    const char *during = stage;
    bool was_strict = strict;
    struct leg *from = &legs[BYSTANDER_CLIENT], *to = &legs[BYSTANDER_SERVER];
    unsigned before = to->received;

    if (!to->up)
        return;
    stage = last ? "bystander, no fault left" : "bystander";
    strict = last;
    if (send_one(from, 500, 5)) {
        AWAIT(to->received > before || is_over(to));
        if (!find_is_filled(memory_of(to) + place_of_receive(to, before), 500, 5))
            find_say("the bystander's message is not what was sent");
    } else if (from->is_posted[from->next - 1] && from->completions[from->next - 1]) {
        if (from->status[from->next - 1] != DAT_DTO_SUCCESS)
            find_say("the bystander's send fails: %d", (int)from->status[from->next - 1]);
    }
    strict = was_strict;
    stage = during;
}

/* ---- The scenario ---------------------------------------------------------------------------- */

static bool sides_open(void)
{
    stage = "open";
    return side_open(&sides[CLIENT]) && side_open(&sides[SERVER]);
}

static bool bystander_open(void)
{
    return leg_open(&legs[BYSTANDER_CLIENT], "bystanding client", CLIENT, false) &&
           leg_open(&legs[BYSTANDER_SERVER], "bystanding server", SERVER, false) &&
           join(&legs[BYSTANDER_CLIENT], &legs[BYSTANDER_SERVER]);
}

static void all_close(void)
{
    stage = "close";
    ping(true);
    if (sides[SERVER].waiting != DAT_HANDLE_NULL)
        (void)is_accepted(NULL);
    part(&legs[BYSTANDER_CLIENT], &legs[BYSTANDER_SERVER]);
    side_close(&sides[CLIENT]);
    side_close(&sides[SERVER]);
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool is_strict,
                  struct fault_findings *findings)
{
    bool ready;

    find_begin(findings);
    strict = is_strict;
    memset(legs, 0, sizeof(legs));
    memset(sides, 0, sizeof(sides));
    if (mode == FAULT_ALONE)
        faults_arm(plan);
    ready = sides_open();
    if (mode == FAULT_BESIDE) {
        if (!ready || !bystander_open())
            find_say("no bystander");
        faults_arm(plan);
    }
    if (ready) {
        run_pair("endpoints", false);
        ping(false);
        run_pair("shared receives", true);
        run_refused(true);
        run_refused(false);
        ping(false);
    }
    faults_disarm();
    all_close();
}
