/* SPDX-License-Identifier: BSD-2-Clause */
/* Many connections and many threads on one IA. */
#include "suite/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- A crowd of connections ------------------------------------------------------------------ */

#define CROWD 100
#define SIZE  200

struct crowd {
    struct suite_side *side;
    it_evd_handle_t request_evd; /* of all */
    it_evd_handle_t recv_evd;
    struct fx_buf in;
    struct fx_buf out;
    struct fx_buf written;
    it_ep_handle_t ep[CROWD];
    uint32_t number[CROWD]; /* the near side's number of this connection */
};

/* Returns the index of the endpoint with this handle. */
static size_t index_of(const struct crowd *crowd, it_ep_handle_t ep)
{
    for (size_t i = 0; i < CROWD; i++) {
        if (crowd->ep[i] == ep)
            return i;
    }
    CHECK_FAIL("an event of a strange endpoint");
}

static void crowd_open(struct crowd *crowd, struct suite_side *side)
{
    it_ep_attributes_t attr = suite_attr();
    const struct fx_node *node = &side->node;

    attr.max_request_dtos = 4;
    attr.max_recv_dtos = 4;
    memset(crowd, 0, sizeof(*crowd));
    crowd->side = side;
    crowd->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, (size_t)CROWD * 4, 0);
    crowd->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, (size_t)CROWD * 4, 0);
    crowd->in = fx_buf_make(node, (size_t)CROWD * SIZE);
    crowd->out = fx_buf_make(node, (size_t)CROWD * SIZE);
    crowd->written = fx_buf_make(node, (size_t)CROWD * SIZE);
    for (size_t i = 0; i < CROWD; i++) {
        CHECK_OK(it_ep_rc_create(node->pz, crowd->request_evd, crowd->recv_evd, node->conn_evd,
                                 IT_EP_NO_FLAG, &attr, &crowd->ep[i]));
        fx_recv(crowd->ep[i], &crowd->in, i * SIZE, SIZE, i);
    }
}

/* All endpoints connect at once. Each sends its number as private data. */
static void crowd_connect(struct crowd *crowd)
{
    uint16_t port = 0;

    suite_hear(crowd->side, &port, sizeof(port));
    for (uint32_t i = 0; i < CROWD; i++) {
        crowd->number[i] = i;
        CHECK_OK(suite_connect_to(crowd->side, crowd->ep[i], port, IT_CONNECT_FLAG_TWO_WAY, &i,
                                  sizeof(i)));
    }
}

static void crowd_accept(struct crowd *crowd)
{
    it_listen_handle_t listener = suite_listen(crowd->side);
    bool seen[CROWD] = {false};

    for (size_t i = 0; i < CROWD; i++) {
        it_event_t event;
        it_cn_est_identifier_t id = fx_request(&crowd->side->node, &event);

        memcpy(&crowd->number[i], event.conn_req.private_data, sizeof(crowd->number[i]));
        CHECK(crowd->number[i] < CROWD && !seen[crowd->number[i]]);
        seen[crowd->number[i]] = true;
        CHECK_OK(it_ep_accept(crowd->ep[i], id, NULL, 0));
    }
    CHECK_OK(it_listen_free(listener));
}

static void crowd_events(struct crowd *crowd, it_event_type_t number)
{
    bool seen[CROWD] = {false};

    for (size_t n = 0; n < CROWD; n++) {
        it_event_t event = fx_next(crowd->side->node.conn_evd);
        size_t i = index_of(crowd, event.conn.ep);

        if (event.event_number != number)
            CHECK_FAIL("%s instead of %s", itx_event_string(event.event_number),
                       itx_event_string(number));
        CHECK(!seen[i]);
        seen[i] = true;
    }
}

static void crowd_send(struct crowd *crowd, const struct suite_region *theirs)
{
    for (size_t i = 0; i < CROWD; i++) {
        uint32_t number = crowd->number[i];

        fx_fill(crowd->out.data + i * SIZE, SIZE, number + 1000u * crowd->side->near);
        suite_write(crowd->ep[i], &crowd->out, i * SIZE, SIZE, theirs, (size_t)number * SIZE, i,
                    FX_QUIET);
        fx_send(crowd->ep[i], &crowd->out, i * SIZE, SIZE, i, FX_SIGNAL);
    }
    for (size_t n = 0; n < CROWD; n++) {
        it_event_t event = fx_next(crowd->request_evd);

        CHECK_EQ(IT_DTO_SEND_CMPL_EVENT, event.event_number);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(index_of(crowd, event.dto_cmpl.ep), event.dto_cmpl.cookie);
    }
}

static void crowd_receive(struct crowd *crowd)
{
    for (size_t n = 0; n < CROWD; n++) {
        it_event_t event = fx_next(crowd->recv_evd);
        size_t i = index_of(crowd, event.dto_cmpl.ep);
        uint32_t seed = crowd->number[i] + 1000u * !crowd->side->near;

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        CHECK(fx_is_filled(crowd->in.data + i * SIZE, SIZE, seed));
        CHECK(fx_is_filled(crowd->written.data + (size_t)crowd->number[i] * SIZE, SIZE, seed));
    }
}

static void crowd_run(struct suite_side *side)
{
    static struct crowd crowd;
    struct suite_region theirs;

    crowd_open(&crowd, side);
    suite_tell_region(side, &crowd.written);
    theirs = suite_hear_region(side);
    if (side->near)
        crowd_connect(&crowd);
    else
        crowd_accept(&crowd);
    crowd_events(&crowd, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_meet(side, "joined");
    if (side->near) {
        crowd_send(&crowd, &theirs);
        crowd_receive(&crowd);
    } else {
        crowd_receive(&crowd);
        crowd_send(&crowd, &theirs);
    }
    suite_meet(side, "part");
    for (size_t i = 0; side->near && i < CROWD; i++)
        CHECK_OK(it_ep_disconnect(crowd.ep[i], NULL, 0));
    crowd_events(&crowd, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    for (size_t i = 0; i < CROWD; i++)
        CHECK_OK(it_ep_free(crowd.ep[i]));
    fx_empty(crowd.request_evd);
    fx_empty(crowd.recv_evd);
    fx_empty(side->node.conn_evd);
}

/* ---- A thread for each connection ------------------------------------------------------------ */

#define THREADS 4
#define PINGS   40

struct pinger {
    struct suite_side *side;
    pthread_t thread;
    uint32_t number;
    it_evd_handle_t request_evd;
    it_evd_handle_t recv_evd;
    it_ep_handle_t ep;
    struct fx_buf buf; /* out, in */
};

static void ping_out(struct pinger *pinger, uint32_t seed)
{
    fx_fill(pinger->buf.data, SIZE, seed);
    fx_send(pinger->ep, &pinger->buf, 0, SIZE, seed, FX_SIGNAL);
    fx_done_len(pinger->request_evd, pinger->ep, IT_DTO_SEND_CMPL_EVENT, seed, SIZE);
}

static void ping_in(struct pinger *pinger, uint32_t seed)
{
    fx_done_len(pinger->recv_evd, pinger->ep, IT_DTO_RC_RECV_CMPL_EVENT, seed, SIZE);
    CHECK(fx_is_filled(pinger->buf.data + SIZE, SIZE, seed));
}

/* The receive for the next message is posted before this message is answered. */
static void *pinger_main(void *argument)
{
    struct pinger *pinger = argument;
    bool near = pinger->side->near;

    for (uint32_t i = 0; i < PINGS; i++) {
        uint32_t seed = pinger->number * PINGS + i;

        if (near)
            ping_out(pinger, seed);
        ping_in(pinger, seed);
        if (i + 1 < PINGS)
            fx_recv(pinger->ep, &pinger->buf, SIZE, SIZE, seed + 1);
        if (!near)
            ping_out(pinger, seed);
    }
    return NULL;
}

static void pingers(struct suite_side *side)
{
    struct pinger all[THREADS];
    it_ep_attributes_t attr = suite_attr();

    for (uint32_t i = 0; i < THREADS; i++) {
        struct pinger *pinger = &all[i];

        memset(pinger, 0, sizeof(*pinger));
        pinger->side = side;
        pinger->number = i;
        pinger->request_evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 128, 0);
        pinger->recv_evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 128, 0);
        pinger->buf = fx_buf_make(&side->node, (size_t)2 * SIZE);
        CHECK_OK(it_ep_rc_create(side->node.pz, pinger->request_evd, pinger->recv_evd,
                                 side->node.conn_evd, IT_EP_NO_FLAG, &attr, &pinger->ep));
        suite_join(side, pinger->ep);
        fx_recv(pinger->ep, &pinger->buf, SIZE, SIZE, (uint64_t)i * PINGS);
    }
    suite_meet(side, "posted");
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&all[i].thread, NULL, pinger_main, &all[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(all[i].thread, NULL) == 0);
    for (size_t i = 0; i < THREADS; i++)
        suite_part(side, all[i].ep);
}

/* ---- Threads on one connection --------------------------------------------------------------- */

#define POSTERS  3
#define EACH     60
#define MESSAGES ((size_t)POSTERS * EACH)

struct stamp {
    uint32_t thread;
    uint32_t number;
};

struct shared {
    struct suite_side *side;
    it_ep_handle_t ep;
    struct fx_buf buf;
    atomic_uint next_thread;
    atomic_uint taken;
    atomic_uchar seen[MESSAGES];
};

static it_ep_handle_t shared_ep(struct suite_side *side)
{
    it_ep_attributes_t attr = suite_attr();

    attr.max_request_dtos = MESSAGES;
    attr.max_recv_dtos = MESSAGES + 1;
    return fx_ep(&side->node, &attr);
}

static void *poster_main(void *argument)
{
    struct shared *shared = argument;
    uint32_t thread = atomic_fetch_add(&shared->next_thread, 1);

    for (uint32_t i = 0; i < EACH; i++) {
        size_t at = ((size_t)thread * EACH + i) * sizeof(struct stamp);
        struct stamp stamp = {thread, i};

        memcpy(shared->buf.data + at, &stamp, sizeof(stamp));
        fx_send(shared->ep, &shared->buf, at, sizeof(stamp), i, FX_SIGNAL);
    }
    return NULL;
}

/* Several threads wait on the same EVD. Each completion goes to one of them. */
static void *taker_main(void *argument)
{
    struct shared *shared = argument;

    while (atomic_fetch_add(&shared->taken, 1) < MESSAGES) {
        it_event_t event = fx_next(shared->side->node.recv_evd);
        struct stamp stamp;

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(sizeof(stamp), event.dto_cmpl.transferred_length);
        memcpy(&stamp, shared->buf.data + event.dto_cmpl.cookie * sizeof(stamp), sizeof(stamp));
        CHECK(stamp.thread < POSTERS && stamp.number < EACH);
        CHECK_EQ(0, atomic_fetch_add(&shared->seen[stamp.thread * EACH + stamp.number], 1));
    }
    return NULL;
}

static void run_threads(void *(*start)(void *), struct shared *shared)
{
    pthread_t thread[POSTERS];

    for (size_t i = 0; i < POSTERS; i++)
        CHECK(pthread_create(&thread[i], NULL, start, shared) == 0);
    for (size_t i = 0; i < POSTERS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

/* Checks that the messages of one thread arrive in order. */
static void check_order(const struct shared *shared)
{
    uint32_t next[POSTERS] = {0};

    for (size_t i = 0; i < MESSAGES; i++) {
        struct stamp stamp;

        memcpy(&stamp, shared->buf.data + i * sizeof(stamp), sizeof(stamp));
        CHECK_EQ(next[stamp.thread], stamp.number);
        next[stamp.thread]++;
    }
}

static void shared_connection(struct suite_side *side)
{
    static struct shared shared;

    shared.side = side;
    shared.ep = shared_ep(side);
    shared.buf = fx_buf_make(&side->node, MESSAGES * sizeof(struct stamp));
    suite_join(side, shared.ep);
    for (size_t i = 0; !side->near && i < MESSAGES; i++)
        fx_recv(shared.ep, &shared.buf, i * sizeof(struct stamp), sizeof(struct stamp), i);
    suite_meet(side, "posted");
    if (side->near) {
        run_threads(poster_main, &shared);
        for (size_t i = 0; i < MESSAGES; i++)
            CHECK_EQ(IT_DTO_SUCCESS, fx_next(side->node.request_evd).dto_cmpl.dto_status);
    } else {
        run_threads(taker_main, &shared);
        check_order(&shared);
    }
    suite_part(side, shared.ep);
}

const struct suite_case suite_thread_cases[] = {
    {.name = "thread_crowd", .near = crowd_run, .far = crowd_run, .needs = SUITE_PRIVATE_DATA},
    {.name = "thread_connections", .near = pingers, .far = pingers},
    {.name = "thread_shared", .near = shared_connection, .far = shared_connection},
    {0},
};
