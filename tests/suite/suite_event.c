/* SPDX-License-Identifier: BSD-2-Clause */
/* How completions are reported: waiting, thresholds, aggregates, descriptors, callbacks. */
#include "suite/suite.h"
#include "support/waiter.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#define SIZE     64
#define RECEIVES 32

/* Makes an endpoint whose receives complete on this EVD. */
static it_ep_handle_t receiver(struct suite_side *side, it_evd_handle_t evd)
{
    it_ep_attributes_t attr = suite_attr();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_ep_rc_create(side->node.pz, side->node.request_evd, evd, side->node.conn_evd,
                             IT_EP_NO_FLAG, &attr, &ep));
    return ep;
}

static void post(it_ep_handle_t ep, const struct fx_buf *buf, unsigned count, it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(buf, 0, SIZE);

    for (unsigned i = 0; i < count; i++)
        CHECK_OK(it_post_recv(ep, &segment, 1, i, flags));
}

/*
 * The near side of most cases: it sends as many messages as it is told, with these flags, until it
 * is told zero.
 */
struct order {
    unsigned count;
    it_dto_flags_t flags;
};

static void order(struct suite_side *side, unsigned count, it_dto_flags_t flags)
{
    struct order order;

    memset(&order, 0, sizeof(order));
    order.count = count;
    order.flags = flags;
    suite_tell(side, &order, sizeof(order));
}

static void sender(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = suite_joined(side);
    struct order order;

    fx_fill(buf.data, SIZE, 1);
    for (suite_hear(side, &order, sizeof(order)); order.count != 0;
         suite_hear(side, &order, sizeof(order))) {
        for (unsigned i = 0; i < order.count; i++)
            fx_send(ep, &buf, 0, SIZE, i, (it_dto_flags_t)(FX_SIGNAL | order.flags));
        for (unsigned i = 0; i < order.count; i++)
            fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, SIZE);
    }
    suite_part(side, ep);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void take(it_evd_handle_t evd, it_ep_handle_t ep, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        fx_done_len(evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
    fx_empty(evd);
}

/* Receives with notification wake. Of those without, a solicited one wakes. */
static void wake(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_evd_handle_t evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    it_ep_handle_t ep = receiver(side, evd);
    struct waiter waiter;
    it_event_t event;

    suite_join(side, ep);
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(evd, 0, &event, NULL));
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(evd, 1000, &event, NULL));
    post(ep, &buf, 1, IT_NOTIFY_FLAG);
    waiter_start(&waiter, evd);
    order(side, 1, FX_QUIET);
    waiter_returns(&waiter, 0, 0);

    /* A device does not say which receive was solicited, so there each of them may wake. */
    post(ep, &buf, 3, FX_QUIET);
    waiter_start(&waiter, evd);
    order(side, 2, FX_QUIET);
    order(side, 1, IT_SOLICITED_WAIT_FLAG);
    waiter_ends(&waiter, IT_SUCCESS);
    CHECK_EQ(0, waiter.event.dto_cmpl.cookie);
    CHECK(waiter.nmore <= 2);
    take(evd, ep, 1, 3);
    order(side, 0, FX_QUIET);
    suite_part(side, ep);
}

/* A waiter returns when the threshold is reached, and not before. */
static void threshold(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_evd_handle_t evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 256, 4);
    it_ep_handle_t ep = receiver(side, evd);
    struct waiter waiter;

    suite_join(side, ep);
    post(ep, &buf, 4, IT_NOTIFY_FLAG);
    waiter_start(&waiter, evd);
    order(side, 2, FX_QUIET);
    order(side, 2, FX_QUIET);
    waiter_returns(&waiter, 0, 3);
    take(evd, ep, 1, 4);

    /* A failure is reported at once. */
    post(ep, &buf, 2, FX_QUIET);
    waiter_start(&waiter, evd);
    order(side, 0, FX_QUIET);
    suite_part(side, ep);
    waiter_ends(&waiter, IT_SUCCESS);
    CHECK_EQ(IT_DTO_ERR_FLUSHED, waiter.event.dto_cmpl.dto_status);
}

/* Closing the IA releases a waiting thread. */
static void closed(struct suite_side *side)
{
    it_evd_handle_t evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    it_ep_handle_t ep = receiver(side, evd);
    struct waiter waiter;

    suite_join(side, ep);
    order(side, 0, FX_QUIET);
    suite_part(side, ep);
    waiter_start(&waiter, evd);
    CHECK_OK(it_ia_free(side->node.ia));
    side->node.ia = NULL;
    waiter_ends(&waiter, IT_ERR_ABORT);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

static void many(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_ep_handle_t ep = suite_joined(side);
    it_event_t events[RECEIVES];
    unsigned taken = 0;

    post(ep, &buf, RECEIVES, IT_NOTIFY_FLAG);
    order(side, RECEIVES, FX_QUIET);
    while (taken < RECEIVES) {
        size_t count = 0;

        CHECK_OK(itx_evd_wait_n(side->node.recv_evd, FX_PATIENCE_MS * 1000ull, RECEIVES, events,
                                &count, NULL));
        CHECK(count >= 1 && count <= RECEIVES - taken);
        for (size_t i = 0; i < count; i++, taken++) {
            CHECK_EQ(taken, events[i].dto_cmpl.cookie);
            CHECK_EQ(SIZE, events[i].dto_cmpl.transferred_length);
        }
    }
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY,
                 itx_evd_dequeue_n(side->node.recv_evd, RECEIVES, events, &(size_t){0}));
    order(side, 0, FX_QUIET);
    suite_part(side, ep);
}

/* ---- Aggregates ------------------------------------------------------------------------------ */

struct group {
    it_evd_handle_t aevd;
    it_evd_handle_t recv_evd;
    it_evd_handle_t conn_evd;
    it_evd_handle_t soft_evd;
    it_ep_handle_t ep;
};

static it_evd_handle_t member(struct suite_side *side, it_evd_handle_t aevd, it_event_type_t stream)
{
    it_evd_handle_t evd = NULL;

    CHECK_OK(it_evd_create(side->node.ia, stream, (it_evd_flags_t)0, 256, IT_THRESHOLD_DISABLE,
                           aevd, &evd, NULL));
    return evd;
}

static void group_open(struct group *group, struct suite_side *side, it_evd_flags_t flags, int *fd)
{
    it_ep_attributes_t attr = suite_attr();

    CHECK_OK(it_evd_create(side->node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, flags, 0, 0, NULL,
                           &group->aevd, fd));
    group->recv_evd = member(side, group->aevd, IT_DTO_EVENT_STREAM);
    group->conn_evd = member(side, group->aevd, IT_CM_MSG_EVENT_STREAM);
    group->soft_evd = member(side, group->aevd, IT_SOFTWARE_EVENT_STREAM);
    CHECK_OK(it_ep_rc_create(side->node.pz, side->node.request_evd, group->recv_evd,
                             group->conn_evd, IT_EP_NO_FLAG, &attr, &group->ep));
}

/* Accepts a connection. Only the aggregate tells that it is established. */
static void group_join(struct group *group, struct suite_side *side, struct fx_buf *buf)
{
    it_listen_handle_t listener = suite_listen(side);

    post(group->ep, buf, 1, FX_SIGNAL); /* for the near side's first message */
    CHECK_OK(it_ep_accept(group->ep, fx_request(&side->node, NULL), NULL, 0));
    CHECK_OK(it_listen_free(listener));
}

/* One EVD returns all events and says to which member each belongs. */
static void aggregate(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct group group;
    it_event_t event;
    unsigned received = 0;
    bool soft = false;

    group_open(&group, side, (it_evd_flags_t)0, NULL);
    CHECK_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_wait(group.recv_evd, 0, &event, NULL));
    group_join(&group, side, &buf);
    event = fx_wait(group.aevd);
    if (event.event_number == IT_DTO_RC_RECV_CMPL_EVENT) { /* the first message may precede it */
        received++;
        event = fx_wait(group.aevd);
    }
    CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, event.event_number);
    CHECK(event.any.evd == group.conn_evd);
    if (received == 0)
        CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, fx_wait(group.aevd).event_number);
    suite_meet(side, "joined");

    post(group.ep, &buf, 8, FX_SIGNAL);
    CHECK_OK(it_evd_post_se(group.soft_evd, &group));
    order(side, 8, FX_QUIET);
    for (received = 0; received < 8 || !soft;) {
        event = fx_wait(group.aevd);
        if (event.event_number == IT_SOFTWARE_EVENT) {
            CHECK(event.sw.data == &group && event.any.evd == group.soft_evd && !soft);
            soft = true;
        } else {
            CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
            CHECK(event.any.evd == group.recv_evd);
            CHECK_EQ(received, event.dto_cmpl.cookie);
            received++;
        }
    }
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(group.aevd, &event));
    order(side, 0, FX_QUIET);
    suite_meet(side, "part");
    event = fx_wait(group.aevd);
    CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, event.event_number);
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    return poll(&pollfd, 1, timeout_ms) == 1;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void until_readable(int fd)
{
    if (!readable(fd, FX_PATIENCE_MS))
        CHECK_FAIL("the descriptor is not readable");
}

/* The descriptor of an EVD for receives. */
static void descriptor(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    it_evd_handle_t evd = NULL;
    it_ep_handle_t ep;
    it_event_t event;
    int fd = -1;

    CHECK_OK(it_evd_create(side->node.ia, IT_DTO_EVENT_STREAM, IT_EVD_CREATE_FD, 256,
                           IT_THRESHOLD_DISABLE, NULL, &evd, &fd));
    ep = receiver(side, evd);
    suite_join(side, ep);
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(evd, &event));
    CHECK(!readable(fd, 0));
    for (unsigned round = 0; round < 4; round++) {
        post(ep, &buf, 3, IT_NOTIFY_FLAG);
        order(side, 1 + round % 2, FX_QUIET);
        until_readable(fd);
        for (unsigned i = 0; i < 1 + round % 2; i++)
            fx_done_len(evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(evd, &event));
        CHECK(!readable(fd, 0));
        order(side, 2 - round % 2, FX_QUIET);
        until_readable(fd);
        for (unsigned i = 1 + round % 2; i < 3; i++)
            fx_done_len(evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(evd, &event));
    }
    order(side, 0, FX_QUIET);
    suite_part(side, ep);
}

/* The descriptor of an aggregate that returns notifications: the program sleeps in poll only. */
static void descriptor_of_group(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct group group;
    unsigned received = 0;
    unsigned told = 0;
    bool connected = false;
    bool ended = false;
    int fd = -1;

    group_open(&group, side, IT_EVD_CREATE_FD | IT_EVD_DEQUEUE_NOTIFICATIONS, &fd);
    group_join(&group, side, &buf);
    while (!ended) {
        it_event_t note;
        it_event_t event;

        until_readable(fd);
        while (it_evd_dequeue(group.aevd, &note) == IT_SUCCESS) {
            CHECK_EQ(IT_AEVD_NOTIFICATION_EVENT, note.event_number);
            CHECK(note.aevd_notify.aevd == group.aevd);
            while (it_evd_dequeue(note.aevd_notify.sevd, &event) == IT_SUCCESS) {
                received += event.event_number == IT_DTO_RC_RECV_CMPL_EVENT;
                connected = connected || event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT;
                ended = ended || event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT;
            }
        }
        if (told == 0 && connected && received == 1) {
            suite_meet(side, "joined");
            post(group.ep, &buf, 10, FX_SIGNAL);
            order(side, 10, FX_QUIET);
            told = 1;
        } else if (told == 1 && received == 11) {
            order(side, 0, FX_QUIET);
            suite_meet(side, "part");
            told = 2;
        }
    }
    CHECK_EQ(11, received);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

#define ECHOES 50

struct echo {
    struct fx_buf buf;
    atomic_uint done;
    atomic_bool sick;
};

/* Sends each message back from inside the callback. */
static void echo(it_evd_handle_t evd, void *argument)
{
    struct echo *echo = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        it_lmr_triplet_t segment = fx_seg(&echo->buf, 0, SIZE);

        if (event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED)
            continue;
        if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS ||
            it_post_recv(event.dto_cmpl.ep, &segment, 1, 0, FX_SIGNAL) != IT_SUCCESS ||
            it_post_send(event.dto_cmpl.ep, &segment, 1, 0, FX_SIGNAL) != IT_SUCCESS)
            atomic_store(&echo->sick, true);
        atomic_fetch_add(&echo->done, 1);
    }
}

static void callback_near(struct suite_side *side)
{
    struct fx_buf buf = fx_buf_make(&side->node, 2 * SIZE);
    it_ep_handle_t ep = suite_joined(side);

    suite_meet(side, "attached");
    for (unsigned i = 0; i < ECHOES; i++) {
        fx_fill(buf.data, SIZE, i);
        fx_recv(ep, &buf, SIZE, SIZE, i);
        fx_send(ep, &buf, 0, SIZE, i, FX_SIGNAL);
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, SIZE);
        fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, SIZE);
        CHECK(fx_is_filled(buf.data + SIZE, SIZE, i));
    }
    suite_part(side, ep);
}

static void callback_far(struct suite_side *side)
{
    it_evd_handle_t evd = fx_evd(&side->node, IT_DTO_EVENT_STREAM, 256, IT_THRESHOLD_DISABLE);
    it_ep_handle_t ep = receiver(side, evd);
    struct echo state;
    it_event_t event;

    memset(&state, 0, sizeof(state));
    state.buf = fx_buf_make(&side->node, SIZE);
    suite_join(side, ep);
    CHECK_OK(it_evd_callback_attach(evd, echo, &state));
    CHECK_STATUS(IT_ERR_CALLBACK_EXISTS, it_evd_wait(evd, 0, &event, NULL));
    fx_recv(ep, &state.buf, 0, SIZE, 0);
    suite_meet(side, "attached");
    for (unsigned i = 0; i < ECHOES; i++)
        fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 0, SIZE);
    suite_part(side, ep);
    CHECK_OK(it_evd_callback_detach(evd));
    CHECK_EQ(ECHOES, atomic_load(&state.done));
    CHECK(!atomic_load(&state.sick));
}

const struct suite_case suite_event_cases[] = {
    {.name = "event_wake", .near = sender, .far = wake},
    {.name = "event_threshold", .near = sender, .far = threshold},
    {.name = "event_closed", .near = sender, .far = closed},
    {.name = "event_many", .near = sender, .far = many},
    {.name = "event_aggregate", .near = sender, .far = aggregate},
    {.name = "event_descriptor", .near = sender, .far = descriptor},
    {.name = "event_descriptor_of_group", .near = sender, .far = descriptor_of_group},
    {.name = "event_callback", .near = callback_near, .far = callback_far},
    {0},
};
