/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each cell of docs/connections.md: the roles of a connection startup, driven by octets and by a
 * timer that expires when the test says so. send() and recv() are the test's, and the IA lives on
 * the test's thread, so nothing else happens. The ends of streams are real.
 */
#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "ual/object/ual_request.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"
#include "vp/uiwarp/connect/uiw_listen.h"
#include "vp/uiwarp/stream/uiw_modify.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALL  SIZE_MAX
#define PART 5u /* octets */

/* ---------------------------------------------------------------- the socket */

static _Thread_local struct {
    bool on;
    size_t room;    /* what send() still takes */
    int send_error; /* then */
    uint8_t in[IW_MPA_FRAME_MAX];
    size_t length, at; /* of what recv() still gives */
    int end;           /* then: -1 is FIN, 0 nothing yet, else errno */
    uint8_t out[IW_MPA_FRAME_MAX];
    size_t sent;
} script;

ssize_t send(int fd, const void *octets, size_t length, int flags)
{
    if (!script.on)
        return sendto(fd, octets, length, flags, NULL, 0);
    if (script.room == 0) {
        errno = script.send_error ? script.send_error : EAGAIN;
        return -1;
    }
    if (length > script.room)
        length = script.room;
    if (length > sizeof(script.out) - script.sent)
        length = sizeof(script.out) - script.sent;
    script.room -= script.room == ALL ? 0 : length;
    memcpy(script.out + script.sent, octets, length);
    script.sent += length;
    return (ssize_t)length;
}

ssize_t recv(int fd, void *octets, size_t length, int flags)
{
    if (!script.on)
        return recvfrom(fd, octets, length, flags, NULL, NULL);
    if (script.at == script.length) {
        errno = script.end > 0 ? script.end : EAGAIN;
        return script.end == -1 ? 0 : -1;
    }
    if (length > script.length - script.at)
        length = script.length - script.at;
    memcpy(octets, script.in + script.at, length);
    if (!(flags & MSG_PEEK))
        script.at += length;
    return (ssize_t)length;
}

/* ---------------------------------------------------------------- the bed */

struct bed {
    struct fx_node node;
    struct event_base *base;
    struct uiw_ia *ia;
    it_listen_handle_t listen;
    const struct uiw_conn_role *role;
    /* One cell. */
    struct uiw_conn *conn;
    it_ep_handle_t ep;
    int listener; /* of the peer that is connected to, or -1 */
    int own;      /* the program's end of a socket that is converted, or -1 */
    int peer;     /* the other end */
    bool taken;
    struct raw_bytes frame;
};

static void bed_open(struct bed *bed, const struct uiw_conn_role *role)
{
    uint16_t port;

    *bed = (struct bed){.role = role, .listener = -1, .own = -1};
    fx_node_open(&bed->node);
    bed->base = event_base_new();
    CHECK_OK(itx_ia_set_event_base(bed->node.ia, bed->base));
    bed->ia = uiw_ia_of((struct ual_ia *)(void *)bed->node.ia);
    bed->listen = fx_listen(&bed->node, &port);
}

static void bed_close(struct bed *bed)
{
    raw_free(&bed->frame);
    fx_node_close(&bed->node);
    event_base_free(bed->base);
    check_done();
}

static struct ual_ep *bed_ep(const struct bed *bed)
{
    return (struct ual_ep *)(void *)bed->ep;
}

static enum uiw_conn_state bed_state(const struct bed *bed)
{
    return bed->conn->state;
}

static void bed_pump_until(struct bed *bed, enum uiw_conn_state state)
{
    struct fx_patience patience = fx_patience_start("the task of a call");

    while (bed_state(bed) != state) {
        (void)event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        fx_patience_check(&patience);
    }
}

/* The socket is ready. */
static void bed_kick(struct bed *bed)
{
    uiw_conn_step(bed->conn, UIW_ON_NOTHING);
}

static void bed_give_room(struct bed *bed, size_t room)
{
    script.room = room;
    bed_kick(bed);
}

static void bed_feed(struct bed *bed, const void *octets, size_t length)
{
    memcpy(script.in, octets, length);
    script.length = length;
    script.at = 0;
    bed_kick(bed);
}

static void bed_end(struct bed *bed, int end)
{
    script.room = 0;
    script.send_error = bed->conn->io.events == EVD_IO_WRITE ? ECONNRESET : 0;
    script.end = end;
    bed_kick(bed);
}

/* The rest of a frame whose first octets are there. */
static void bed_feed_rest(struct bed *bed)
{
    bed_feed(bed, bed->frame.data + PART, bed->frame.len - PART);
}

static void bed_start_frame(struct bed *bed, bool reply)
{
    raw_reset(&bed->frame);
    raw_mpa1(&bed->frame, reply, RAW_MPA_C);
    bed_feed(bed, bed->frame.data, PART);
}

static void bed_expire(struct bed *bed)
{
    struct evd_timer *timer = &bed->conn->timer;

    CHECK(timer->active);
    evd_timer_stop(timer);
    timer->expired(timer->argument);
}

static void bed_take(struct bed *bed)
{
    CHECK(ual_request_take(bed->conn->request.id, NULL, false) == &bed->conn->request);
    bed->taken = true;
}

static void bed_put_back(struct bed *bed)
{
    ual_request_put_back(&bed->conn->request, bed->conn->request.id);
    bed->taken = false;
}

static void bed_accept(struct bed *bed)
{
    bed_take(bed);
    CHECK_OK(uiw_accept(bed_ep(bed), &bed->conn->request, NULL, 0));
    bed->taken = false;
}

/* ---------------------------------------------------------------- to a state */

static void begin_connect(struct bed *bed)
{
    it_net_addr_t address = fx_address_from("127.0.0.1");
    it_path_t path = fx_path_to(&bed->node, &address);
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct raw_peer peer;

    bed->listener = raw_listen(&qual.conn_qual.port);
    CHECK_OK(uiw_connect(bed_ep(bed), &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    bed->conn = uiw_ep_of(bed_ep(bed))->conn;
    raw_accept(&peer, bed->listener);
    bed->peer = peer.fd;
    CHECK(fcntl(bed->peer, F_SETFL, O_NONBLOCK) == 0);
    while (!bed->conn->timer.active) /* until its task has run */
        (void)event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* Two ends of a stream. */
static int begin_stream(struct bed *bed)
{
    struct raw_peer peer;
    int fd;

    raw_socket_pair(&peer, &fd);
    bed->peer = peer.fd;
    CHECK(fcntl(bed->peer, F_SETFL, O_NONBLOCK) == 0);
    return fd;
}

static void begin_accept(struct bed *bed)
{
    struct uiw_listener *listener =
        uiw_listen_of((struct ual_listen *)(void *)bed->listen)->listener;
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(peer);
    int fd = begin_stream(bed);

    CHECK(getpeername(fd, (struct sockaddr *)&peer, &length) == 0);
    uiw_accept_begin(bed->ia, listener, fd, &peer);
    bed->conn = BASE_LIST_FIRST(&bed->ia->cm.connections, struct uiw_conn, link);
}

static void begin_convert(struct bed *bed, bool no_request_reply)
{
    struct vp_convert convert = {
        .initiator = bed->role == &uiw_initiator_role,
        .no_request_reply = no_request_reply,
        .message = (const unsigned char *)"go ahead",
        .message_length = 8,
    };

    bed->own = begin_stream(bed);
    convert.fd = dup(bed->own);
    CHECK_OK(uiw_convert(bed_ep(bed), &convert));
    bed->conn = uiw_ep_of(bed_ep(bed))->conn;
}

static void begin(struct bed *bed, enum uiw_conn_state state)
{
    memset(&script, 0, sizeof(script));
    script.on = true;
    bed->ep = fx_ep(&bed->node, NULL);
    if (bed->role == &uiw_connect_role)
        begin_connect(bed);
    else if (bed->role == &uiw_accept_role)
        begin_accept(bed);
    else
        begin_convert(bed, state == UIW_CONN_ONLY_MESSAGE);
    uiw_conn_hold(bed->conn);
}

/* From one state to the next on the way to the one that is wanted. */
static void advance(struct bed *bed, enum uiw_conn_event event)
{
    switch ((int)bed_state(bed)) {
    case UIW_CONN_CONNECTING:
    case UIW_CONN_NEXT_REQUEST:
        bed_give_room(bed, PART);
        break;
    case UIW_CONN_MESSAGE:
        bed_give_room(bed, 8);
        break;
    case UIW_CONN_REQUEST:
        bed_give_room(bed, ALL);
        break;
    case UIW_CONN_WAIT_REPLY:
        bed_start_frame(bed, true);
        break;
    case UIW_CONN_WAIT_REQUEST:
        bed_start_frame(bed, false);
        break;
    case UIW_CONN_READ_REQUEST:
        bed_feed_rest(bed);
        break;
    case UIW_CONN_ANNOUNCED:
        bed_expire(bed);
        break;
    case UIW_CONN_WATCHED: /* to GONE */
        if (event == UIW_ON_ACCEPT || event == UIW_ON_CANCEL)
            bed_accept(bed);
        else
            bed_take(bed);
        bed_end(bed, -1);
        break;
    default:
        CHECK_FAIL("no way on from state %d", (int)bed_state(bed));
    }
}

static void bring(struct bed *bed, enum uiw_conn_state state, enum uiw_conn_event event)
{
    begin(bed, state);
    while (bed_state(bed) != state) {
        if (bed_state(bed) == UIW_CONN_ANNOUNCED && state == UIW_CONN_REPLY) {
            bed_accept(bed);
            bed_pump_until(bed, UIW_CONN_REPLY);
        } else {
            advance(bed, event);
        }
    }
}

/* ---------------------------------------------------------------- an event */

static void fire_frame(struct bed *bed, enum uiw_conn_event event)
{
    bool reply = bed->conn->mpa.initiator;

    raw_reset(&bed->frame);
    if (event == UIW_ON_TERMINATE) /* not what was asked for */
        raw_mpa2(&bed->frame, reply, RAW_MPA_C, 0);
    else if (event == UIW_ON_REFUSE) { /* there is no such EP */
        bed->conn->mpa.config.rtr = 0;
        raw_mpa2(&bed->frame, reply, RAW_MPA_C, RAW_ENH_A);
    } else
        raw_mpa1(&bed->frame, reply, event == UIW_ON_REJECTED ? RAW_MPA_R : RAW_MPA_C);
    if (event == UIW_ON_BAD)
        bed->frame.data[PART]++;
    bed_feed_rest(bed);
}

static void fire_moved(struct bed *bed)
{
    if (bed->conn->io.events == EVD_IO_WRITE)
        bed_give_room(bed, 1);
    else if (bed->conn->mpa.length > 0)
        bed_feed(bed, bed->frame.data + PART, 1);
    else
        bed_start_frame(bed, bed->conn->mpa.initiator);
}

static void fire(struct bed *bed, enum uiw_conn_event event)
{
    enum uiw_conn_state state = bed_state(bed);

    switch ((int)event) {
    case UIW_ON_MOVED:
        fire_moved(bed);
        break;
    case UIW_ON_SENT:
        bed_give_room(bed, state == UIW_CONN_MESSAGE ? 8 : ALL);
        break;
    case UIW_ON_LOST:
        bed_end(bed, -1);
        break;
    case UIW_ON_EXPIRED:
        bed_expire(bed);
        break;
    case UIW_ON_ACCEPT:
        if (state != UIW_CONN_GONE)
            bed_accept(bed);
        bed_pump_until(bed, state == UIW_CONN_GONE ? UIW_CONN_OVER : UIW_CONN_REPLY);
        break;
    case UIW_ON_REJECT:
        script.room = ALL;
        bed_take(bed);
        CHECK_OK(uiw_reject(&bed->conn->request, "no", 2));
        bed->taken = false;
        break;
    case UIW_ON_CANCEL:
        if (!bed->conn->ep)
            bed_accept(bed);
        uiw_conn_cancel(bed_ep(bed), true);
        break;
    case UIW_ON_CLOSE:
        if (bed->taken)
            bed_put_back(bed);
        uiw_cm_close(bed->ia);
        break;
    case UIW_ON_NO_MEMORY: /* of the watch that follows each step */
        uiw_conn_step(bed->conn, event);
        break;
    default:
        script.room = event == UIW_ON_DONE ? 0 : ALL;
        fire_frame(bed, event);
    }
}

/* ---------------------------------------------------------------- the outcome */

/* Of the stream. */
enum fate {
    STAYS, /* with the startup or the engine */
    RESET,
    ENDS, /* in order */
    OWNER /* with the program, as it was */
};

/* Of the EP. */
enum report {
    QUIET,
    UP,
    REJECTED,
    FAILED /* + reject code */
};

#define OTHER     (FAILED + IT_CN_REJ_OTHER)
#define TIMEOUT   (FAILED + IT_CN_REJ_TIMEOUT)
#define RESOURCES (FAILED + IT_CN_REJ_RESOURCES)
#define BAD_PARMS (FAILED + IT_CN_REJ_BAD_CONN_PARMS)

struct cell {
    enum uiw_conn_state state;
    enum uiw_conn_event event;
    enum uiw_conn_state next;
    int report;
    enum fate fate;
};

static void check_report(struct bed *bed, int report)
{
    it_event_t event;

    if (report == QUIET) {
        fx_empty(bed->node.conn_evd);
    } else if (report == UP) {
        fx_conn(bed->node.conn_evd, bed->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    } else if (report == REJECTED) {
        fx_conn(bed->node.conn_evd, bed->ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    } else {
        event = fx_conn(bed->node.conn_evd, bed->ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        EXPECT_EQ(report - FAILED, event.conn.reject_reason_code);
    }
}

static void check_fate(struct bed *bed, enum fate fate)
{
    struct pollfd wait = {bed->peer, POLLIN, 0};
    char octet;

    if (fate == OWNER) /* it works, and nothing has been sent on it */
        CHECK(write(bed->own, "x", 1) == 1);
    if (fate != STAYS)
        CHECK(poll(&wait, 1, FX_PATIENCE_MS) == 1);
    switch (fate) {
    case STAYS:
        EXPECT_EQ(-1, read(bed->peer, &octet, 1));
        EXPECT_EQ(EAGAIN, errno);
        break;
    case RESET:
        EXPECT_EQ(-1, read(bed->peer, &octet, 1));
        EXPECT_EQ(ECONNRESET, errno);
        break;
    case ENDS:
        EXPECT_EQ(0, read(bed->peer, &octet, 1));
        break;
    case OWNER:
        EXPECT_EQ(1, read(bed->peer, &octet, 1));
        break;
    }
}

/* Lists and counts are those of the state. */
static void check_books(struct bed *bed)
{
    const struct uiw_cm *cm = &bed->ia->cm;
    unsigned in = 1u << bed_state(bed);
    unsigned half_open = UIW_IN(WAIT_REQUEST) | UIW_IN(READ_REQUEST);

    EXPECT_EQ(bed_state(bed) == UIW_CONN_OVER, base_list_is_empty(&cm->connections));
    EXPECT_EQ((in & UIW_CONN_UNDECIDED) != 0, cm->undecided);
    if (bed->role == &uiw_accept_role)
        EXPECT_EQ((in & half_open) != 0, cm->half_open.all.count);
    if (bed_state(bed) == UIW_CONN_OVER)
        EXPECT(!bed->conn->io.active && !bed->conn->timer.active && bed->conn->fd == -1);
}

static void finish(struct bed *bed)
{
    if (bed->taken)
        bed_put_back(bed);
    uiw_cm_close(bed->ia);
    (void)event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    CHECK_OK(it_ep_free(bed->ep));
    EXPECT_EQ(UIW_CONN_OVER, bed_state(bed));
    EXPECT_EQ(1, bed->conn->holders);
    uiw_conn_drop(bed->conn);
    script.on = false;
    while (it_evd_dequeue(bed->node.listen_evd, &(it_event_t){0}) == IT_SUCCESS) {
    }
    (void)close(bed->own);
    (void)close(bed->peer);
    (void)close(bed->listener);
    bed->own = -1;
    bed->listener = -1;
}

static void judge(struct bed *bed, const struct cell *cell)
{
    EXPECT_EQ(cell->next, bed_state(bed));
    check_books(bed);
    check_fate(bed, cell->fate);
    if (cell->report == UP)
        script.on = false; /* the engine's now */
    check_report(bed, cell->report);
    finish(bed);
}

static void check_cells(const struct uiw_conn_role *role, const struct cell *cells, size_t count)
{
    bool covered[UIW_CONN_STATES][UIW_ON_EVENTS] = {{false}};
    char name[64];
    struct bed bed;

    bed_open(&bed, role);
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells[i];

        (void)snprintf(name, sizeof(name), "state %d, event %d", cell->state, cell->event);
        check_context(name);
        covered[cell->state][cell->event] = true;
        bring(&bed, cell->state, cell->event);
        fire(&bed, cell->event);
        judge(&bed, cell);
    }
    for (int state = 0; state < UIW_CONN_STATES; state++) {
        for (int event = 0; event < UIW_ON_EVENTS; event++) {
            (void)snprintf(name, sizeof(name), "state %d, event %d", state, event);
            check_context(name);
            EXPECT_EQ(covered[state][event], uiw_conn_row(role, (enum uiw_conn_state)state,
                                                          (enum uiw_conn_event)event) != NULL);
        }
    }
    check_context(NULL);
    bed_close(&bed);
}

/* clang-format off */
#define CELL(state, event, next, report, fate) \
    {UIW_CONN_##state, UIW_ON_##event, UIW_CONN_##next, report, fate}
#define FAILURES(state, fate)                          \
    CELL(state, EXPIRED, OVER, TIMEOUT, fate),         \
    CELL(state, NO_MEMORY, OVER, RESOURCES, fate)
#define GIVEN_UP(state, fate)                          \
    CELL(state, CANCEL, OVER, QUIET, fate),            \
    CELL(state, CLOSE, OVER, QUIET, fate)
#define REQUEST_CELLS                                  \
    CELL(REQUEST, MOVED, REQUEST, QUIET, STAYS),       \
    CELL(REQUEST, SENT, WAIT_REPLY, QUIET, STAYS),     \
    CELL(REQUEST, LOST, OVER, OTHER, RESET),           \
    FAILURES(REQUEST, RESET), GIVEN_UP(REQUEST, ENDS)
#define REPLY_CELLS                                    \
    CELL(WAIT_REPLY, MOVED, READ_REPLY, QUIET, STAYS), \
    FAILURES(WAIT_REPLY, RESET), GIVEN_UP(WAIT_REPLY, ENDS), \
    CELL(READ_REPLY, MOVED, READ_REPLY, QUIET, STAYS), \
    CELL(READ_REPLY, DONE, OVER, UP, STAYS),           \
    CELL(READ_REPLY, REJECTED, OVER, REJECTED, ENDS),  \
    CELL(READ_REPLY, TERMINATE, OVER, BAD_PARMS, ENDS), \
    CELL(READ_REPLY, BAD, OVER, BAD_PARMS, RESET),     \
    CELL(READ_REPLY, LOST, OVER, BAD_PARMS, ENDS),     \
    FAILURES(READ_REPLY, RESET), GIVEN_UP(READ_REPLY, ENDS)
#define MESSAGE_CELLS(state)                           \
    CELL(state, MOVED, state, QUIET, STAYS),           \
    CELL(state, LOST, OVER, OTHER, OWNER),             \
    FAILURES(state, OWNER), GIVEN_UP(state, ENDS)
/* clang-format on */

Test(uiw_conn, connect)
{
    static const struct cell cells[] = {
        CELL(CONNECTING, MOVED, REQUEST, QUIET, STAYS),
        CELL(CONNECTING, LOST, OVER, OTHER, RESET),
        FAILURES(CONNECTING, RESET),
        GIVEN_UP(CONNECTING, RESET),
        REQUEST_CELLS,
        CELL(WAIT_REPLY, LOST, CONNECTING, QUIET, RESET),
        REPLY_CELLS,
    };

    check_cells(&uiw_connect_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, accept)
{
    static const struct cell cells[] = {
        CELL(WAIT_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(WAIT_REQUEST, LOST, OVER, QUIET, ENDS),
        CELL(WAIT_REQUEST, EXPIRED, OVER, QUIET, RESET),
        CELL(WAIT_REQUEST, NO_MEMORY, OVER, QUIET, RESET),
        CELL(WAIT_REQUEST, CLOSE, OVER, QUIET, RESET),
        CELL(READ_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(READ_REQUEST, DONE, ANNOUNCED, QUIET, STAYS),
        CELL(READ_REQUEST, REFUSE, OVER, QUIET, ENDS),
        CELL(READ_REQUEST, BAD, OVER, QUIET, RESET),
        CELL(READ_REQUEST, LOST, OVER, QUIET, ENDS),
        CELL(READ_REQUEST, EXPIRED, OVER, QUIET, RESET),
        CELL(READ_REQUEST, NO_MEMORY, OVER, QUIET, RESET),
        CELL(READ_REQUEST, CLOSE, OVER, QUIET, RESET),
        CELL(ANNOUNCED, EXPIRED, WATCHED, QUIET, STAYS),
        CELL(ANNOUNCED, ACCEPT, REPLY, QUIET, STAYS),
        CELL(ANNOUNCED, REJECT, OVER, QUIET, ENDS),
        GIVEN_UP(ANNOUNCED, RESET),
        CELL(WATCHED, LOST, OVER, QUIET, RESET),
        CELL(WATCHED, NO_MEMORY, OVER, QUIET, RESET),
        CELL(WATCHED, ACCEPT, REPLY, QUIET, STAYS),
        CELL(WATCHED, REJECT, OVER, QUIET, ENDS),
        GIVEN_UP(WATCHED, RESET),
        CELL(GONE, EXPIRED, GONE, QUIET, STAYS),
        CELL(GONE, ACCEPT, OVER, OTHER, RESET),
        GIVEN_UP(GONE, RESET),
        CELL(REPLY, MOVED, REPLY, QUIET, STAYS),
        CELL(REPLY, SENT, OVER, UP, STAYS),
        CELL(REPLY, LOST, OVER, OTHER, RESET),
        FAILURES(REPLY, RESET),
        GIVEN_UP(REPLY, ENDS),
    };

    check_cells(&uiw_accept_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, convert_as_initiator)
{
    static const struct cell cells[] = {
        MESSAGE_CELLS(MESSAGE),
        CELL(MESSAGE, SENT, NEXT_REQUEST, QUIET, STAYS),
        MESSAGE_CELLS(ONLY_MESSAGE),
        CELL(ONLY_MESSAGE, SENT, OVER, UP, STAYS),
        CELL(NEXT_REQUEST, MOVED, REQUEST, QUIET, STAYS),
        CELL(NEXT_REQUEST, LOST, OVER, OTHER, OWNER),
        FAILURES(NEXT_REQUEST, OWNER),
        GIVEN_UP(NEXT_REQUEST, ENDS),
        REQUEST_CELLS,
        CELL(WAIT_REPLY, LOST, OVER, OTHER, ENDS),
        REPLY_CELLS,
    };

    check_cells(&uiw_initiator_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, convert_as_responder)
{
    static const struct cell cells[] = {
        MESSAGE_CELLS(MESSAGE),
        CELL(MESSAGE, SENT, WAIT_REQUEST, QUIET, STAYS),
        MESSAGE_CELLS(ONLY_MESSAGE),
        CELL(ONLY_MESSAGE, SENT, OVER, UP, STAYS),
        CELL(WAIT_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(WAIT_REQUEST, LOST, OVER, OTHER, OWNER),
        FAILURES(WAIT_REQUEST, OWNER),
        GIVEN_UP(WAIT_REQUEST, ENDS),
        CELL(READ_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(READ_REQUEST, DONE, REPLY, QUIET, STAYS),
        CELL(READ_REQUEST, REFUSE, OVER, BAD_PARMS, ENDS),
        CELL(READ_REQUEST, BAD, OVER, BAD_PARMS, RESET),
        CELL(READ_REQUEST, LOST, OVER, BAD_PARMS, ENDS),
        FAILURES(READ_REQUEST, RESET),
        GIVEN_UP(READ_REQUEST, ENDS),
        CELL(REPLY, MOVED, REPLY, QUIET, STAYS),
        CELL(REPLY, SENT, OVER, UP, STAYS),
        CELL(REPLY, LOST, OVER, OTHER, RESET),
        FAILURES(REPLY, RESET),
        GIVEN_UP(REPLY, ENDS),
    };

    check_cells(&uiw_responder_role, cells, sizeof(cells) / sizeof(cells[0]));
}

/* ---------------------------------------------------------------- the other outcome of an act */

static void other_begin(struct bed *bed, const struct uiw_conn_role *role,
                        enum uiw_conn_state state, enum uiw_conn_event event)
{
    bed_open(bed, role);
    bring(bed, state, event);
}

static void other_judge(struct bed *bed, enum uiw_conn_state next, int report, enum fate fate)
{
    const struct cell cell = {.next = next, .report = report, .fate = fate};

    judge(bed, &cell);
    bed_close(bed);
}

/* A task or a call that comes too late finds nothing to do. */
Test(uiw_conn, takes_no_event_when_it_is_over)
{
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_REQUEST, UIW_ON_CANCEL);
    fire(&bed, UIW_ON_CANCEL);
    for (int event = 0; event < UIW_ON_EVENTS; event++)
        uiw_conn_step(bed.conn, (enum uiw_conn_event)event);
    other_judge(&bed, UIW_CONN_OVER, QUIET, ENDS);
}

/* After the second try, with revision 1. */
Test(uiw_conn, retries_once)
{
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_WAIT_REPLY, UIW_ON_LOST);
    bed_end(&bed, ECONNRESET);
    EXPECT_EQ(UIW_CONN_CONNECTING, bed_state(&bed));
    EXPECT_EQ(1, bed.conn->mpa.config.revision);
    EXPECT_EQ(0, bed.conn->error);
    script.end = 0;
    script.sent = 0;
    bed_give_room(&bed, ALL);
    EXPECT_EQ(UIW_CONN_WAIT_REPLY, bed_state(&bed));
    EXPECT_EQ(1, script.out[17]); /* the revision */
    bed_end(&bed, -1);
    other_judge(&bed, UIW_CONN_OVER, OTHER, RESET); /* of the first stream */
}

Test(uiw_conn, turns_away_what_is_too_much)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    bed.ia->cm.undecided_max = 0;
    bed_feed_rest(&bed);
    EXPECT_EQ(1, bed.ia->cm.half_open_refused);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

Test(uiw_conn, turns_away_what_cannot_be_announced)
{
    it_evd_handle_t evd;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    evd = fx_evd(&bed.node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);
    bed.conn->request.connect_evd = (struct evd *)(void *)evd;
    while (ual_request_announce_unless_full(&bed.conn->request)) {
    }
    bed_feed_rest(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* Such an initiator comes back with revision 1. */
Test(uiw_conn, refuses_a_revision_that_the_ep_does_not_take)
{
    struct itx_mpa_params params;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_WAIT_REQUEST, UIW_ON_ACCEPT);
    params = fx_mpa(bed.ep);
    params.revision = 1;
    CHECK_OK(itx_ep_set_mpa_params(bed.ep, &params));
    raw_mpa2(&bed.frame, false, RAW_MPA_C, RAW_ENH_A | RAW_ENH_C);
    bed_feed(&bed, bed.frame.data, bed.frame.len);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_accept(&bed);
    bed_pump_until(&bed, UIW_CONN_OVER);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, RESET);
}

/* The call that had it puts it back. */
Test(uiw_conn, takes_back_the_request_of_a_peer_that_has_gone)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_GONE, UIW_ON_EXPIRED);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_reject(&bed.conn->request, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_accept(bed_ep(&bed), &bed.conn->request, NULL, 0));
    bed_expire(&bed);
    EXPECT_EQ(UIW_CONN_GONE, bed_state(&bed));
    bed_put_back(&bed);
    bed_expire(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* It is announced, and nobody can take it. */
Test(uiw_conn, nothing_may_follow_a_request)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    raw_add(&bed.frame, "x", 1);
    bed_feed_rest(&bed);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_take(&bed);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_accept(bed_ep(&bed), &bed.conn->request, NULL, 0));
    bed_put_back(&bed);
    bed_expire(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* ---------------------------------------------------------------- what the peer gets */

Test(uiw_conn, rejects_with_the_octets_of_the_program)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_ANNOUNCED, UIW_ON_REJECT);
    fire(&bed, UIW_ON_REJECT);
    raw_reset(&bed.frame);
    raw_mpa(&bed.frame, true, RAW_MPA_C | RAW_MPA_R, 1, "no", 2);
    CHECK_EQ(bed.frame.len, script.sent);
    EXPECT(memcmp(bed.frame.data, script.out, script.sent) == 0);
    other_judge(&bed, UIW_CONN_OVER, QUIET, ENDS);
}

Test(uiw_conn, refuses_with_a_reply)
{
    struct bed bed;

    other_begin(&bed, &uiw_responder_role, UIW_CONN_READ_REQUEST, UIW_ON_REFUSE);
    script.sent = 0;
    fire(&bed, UIW_ON_REFUSE);
    raw_reset(&bed.frame);
    raw_mpa(&bed.frame, true, RAW_MPA_R, 2, NULL, 0);
    CHECK_EQ(bed.frame.len, script.sent);
    EXPECT(memcmp(bed.frame.data, script.out, script.sent) == 0);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, ENDS);
}

/* LLP error of MPA: no matching RTR (RFC 6581 8.2). */
Test(uiw_conn, terminates_what_it_cannot_take)
{
    static const char terminate[] = "0016 4147 00000000 00000002 00000001 00000000 20070000";
    struct raw_bytes want = {0};
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_READ_REPLY, UIW_ON_TERMINATE);
    script.sent = 0;
    fire(&bed, UIW_ON_TERMINATE);
    raw_add_hex(&want, terminate);
    CHECK(script.sent >= want.len);
    EXPECT(memcmp(want.data, script.out, want.len) == 0);
    raw_free(&want);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, ENDS);
}

/* The program has read the Reply before: the socket has no octet of it. */
Test(uiw_conn, takes_octets_that_were_read_before)
{
    struct raw_bytes reply = {0};
    struct vp_convert convert = {.initiator = true};
    struct bed bed;

    bed_open(&bed, &uiw_initiator_role);
    memset(&script, 0, sizeof(script));
    script.on = true;
    script.room = ALL;
    bed.ep = fx_ep(&bed.node, NULL);
    raw_mpa1(&reply, true, RAW_MPA_C);
    bed.own = begin_stream(&bed);
    convert.fd = dup(bed.own);
    convert.early = reply.data;
    convert.early_length = reply.len;
    CHECK_OK(uiw_convert(bed_ep(&bed), &convert));
    EXPECT_EQ(NULL, uiw_ep_of(bed_ep(&bed))->conn);
    script.on = false;
    check_report(&bed, UP);
    CHECK_OK(it_ep_free(bed.ep));
    (void)close(bed.own);
    (void)close(bed.peer);
    raw_free(&reply);
    bed_close(&bed);
}

/* ---------------------------------------------------------------- it_handoff */

Test(uiw_conn, hands_a_request_to_another_listen_point)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_evd_handle_t evd;
    it_listen_handle_t listen;
    it_cn_est_identifier_t id;
    it_event_t event;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_ANNOUNCED, UIW_ON_ACCEPT);
    id = bed.conn->request.id;
    evd = fx_evd(&bed.node, IT_CM_REQ_EVENT_STREAM, 8, IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(bed.node.ia, bed.node.spigot, evd, IT_LISTEN_SUPPRESS_IRD_ORD, &qual,
                              &listen));
    bed_take(&bed);
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT, uiw_handoff(&bed.conn->request, &qual, 2));
    qual.conn_qual.port ^= htons(1);
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, uiw_handoff(&bed.conn->request, &qual, 1));
    qual.conn_qual.port ^= htons(1);
    EXPECT_OK(uiw_handoff(&bed.conn->request, &qual, 1));
    bed.taken = false;
    EXPECT(bed.conn->mpa.config.suppress_depths);
    event = fx_next(evd);
    EXPECT_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    EXPECT(event.conn_req.cn_est_id == bed.conn->request.id && bed.conn->request.id != id);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_accept(&bed);
    bed_pump_until(&bed, UIW_CONN_REPLY);
    bed_give_room(&bed, ALL);
    other_judge(&bed, UIW_CONN_OVER, UP, STAYS);
}

Test(uiw_conn, hands_over_no_request_of_a_peer_that_has_gone)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_GONE, UIW_ON_EXPIRED);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_handoff(&bed.conn->request, &qual, 1));
    EXPECT_EQ(UIW_CONN_GONE, bed_state(&bed));
    other_judge(&bed, UIW_CONN_GONE, QUIET, STAYS);
}
