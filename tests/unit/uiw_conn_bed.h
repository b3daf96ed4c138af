/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection startup driven by octets and by a timer that expires when the test says so. The test
 * replaces send() and recv(), and its own thread runs the IA, so nothing else happens. Ends of
 * streams are real.
 */
#ifndef ITAPI_TESTS_UNIT_UIW_CONN_BED_H
#define ITAPI_TESTS_UNIT_UIW_CONN_BED_H

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "ual/object/ual_request.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define ALL  SIZE_MAX
#define PART 5u /* octets */

/* ---------------------------------------------------------------- the socket */

static _Thread_local struct {
    bool on;
    size_t room;    /* octets that send() still takes */
    int send_error; /* then */
    uint8_t in[IW_MPA_FRAME_MAX];
    size_t length, at; /* of the octets that recv() returns */
    int end;           /* after them: -1 is FIN, 0 nothing yet, else errno */
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
    int listener; /* where the startup connects to, or -1 */
    int own;      /* the program's end of a converted socket, or -1 */
    int peer;     /* the other end */
    bool taken;
    struct raw_bytes frame;
};

static inline void bed_open(struct bed *bed, const struct uiw_conn_role *role)
{
    uint16_t port;

    *bed = (struct bed){.role = role, .listener = -1, .own = -1};
    fx_node_open(&bed->node);
    bed->base = event_base_new();
    CHECK_OK(itx_ia_set_event_base(bed->node.ia, bed->base));
    bed->ia = uiw_ia_of((struct ual_ia *)(void *)bed->node.ia);
    bed->listen = fx_listen(&bed->node, &port);
}

static inline void bed_close(struct bed *bed)
{
    raw_free(&bed->frame);
    fx_node_close(&bed->node);
    event_base_free(bed->base);
    check_done();
}

static inline struct ual_ep *bed_ep(const struct bed *bed)
{
    return (struct ual_ep *)(void *)bed->ep;
}

static inline enum uiw_conn_state bed_state(const struct bed *bed)
{
    return bed->conn->state;
}

static inline void bed_pump_until(struct bed *bed, enum uiw_conn_state state)
{
    struct fx_patience patience = fx_patience_start("the task of a call");

    while (bed_state(bed) != state) {
        (void)event_base_loop(bed->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        fx_patience_check(&patience);
    }
}

/* Tells the startup that the socket is ready. */
static inline void bed_kick(struct bed *bed)
{
    uiw_conn_step(bed->conn, UIW_ON_NOTHING);
}

static inline void bed_give_room(struct bed *bed, size_t room)
{
    script.room = room;
    bed_kick(bed);
}

static inline void bed_feed(struct bed *bed, const void *octets, size_t length)
{
    memcpy(script.in, octets, length);
    script.length = length;
    script.at = 0;
    bed_kick(bed);
}

static inline void bed_end(struct bed *bed, int end)
{
    script.room = 0;
    script.send_error = bed->conn->io.events == EVD_IO_WRITE ? ECONNRESET : 0;
    script.end = end;
    bed_kick(bed);
}

/* Feeds the rest of a frame whose first octets have arrived. */
static inline void bed_feed_rest(struct bed *bed)
{
    bed_feed(bed, bed->frame.data + PART, bed->frame.len - PART);
}

static inline void bed_start_frame(struct bed *bed, bool reply)
{
    raw_reset(&bed->frame);
    raw_mpa1(&bed->frame, reply, RAW_MPA_C);
    bed_feed(bed, bed->frame.data, PART);
}

static inline void bed_expire(struct bed *bed)
{
    struct evd_timer *timer = &bed->conn->timer;

    CHECK(timer->active);
    evd_timer_stop(timer);
    timer->expired(timer->argument);
}

static inline void bed_take(struct bed *bed)
{
    CHECK(ual_request_take(bed->conn->request.id, NULL, false) == &bed->conn->request);
    bed->taken = true;
}

static inline void bed_put_back(struct bed *bed)
{
    ual_request_put_back(&bed->conn->request, bed->conn->request.id);
    bed->taken = false;
}

static inline void bed_accept(struct bed *bed)
{
    bed_take(bed);
    CHECK_OK(uiw_accept(bed_ep(bed), &bed->conn->request, NULL, 0));
    bed->taken = false;
}

/* ---------------------------------------------------------------- to a state */

static inline void begin_connect(struct bed *bed)
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

/* Makes a stream for the startup. Returns the peer's end. */
static inline int begin_stream(struct bed *bed)
{
    struct raw_peer peer;
    int fd;

    raw_socket_pair(&peer, &fd);
    bed->peer = peer.fd;
    CHECK(fcntl(bed->peer, F_SETFL, O_NONBLOCK) == 0);
    return fd;
}

static inline void begin_accept(struct bed *bed)
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

static inline void begin_convert(struct bed *bed, bool no_request_reply)
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

static inline void begin(struct bed *bed, enum uiw_conn_state state)
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

/* Acts as if nobody listened. */
static inline void bed_refuse(struct bed *bed)
{
    bed->conn->patience_ns = BASE_NEVER;
    script.send_error = ECONNREFUSED;
    bed_kick(bed);
    script.send_error = 0;
}

/* Moves one state further on the way to the wanted one. */
static inline void advance(struct bed *bed, enum uiw_conn_event event)
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

static inline void bring(struct bed *bed, enum uiw_conn_state state, enum uiw_conn_event event)
{
    begin(bed, state);
    while (bed_state(bed) != state) {
        if (bed_state(bed) == UIW_CONN_ANNOUNCED && state == UIW_CONN_REPLY) {
            bed_accept(bed);
            bed_pump_until(bed, UIW_CONN_REPLY);
        } else if (state == UIW_CONN_REFUSED) {
            bed_refuse(bed);
        } else {
            advance(bed, event);
        }
    }
}

/* ---------------------------------------------------------------- an event */

static inline void fire_frame(struct bed *bed, enum uiw_conn_event event)
{
    bool reply = bed->conn->mpa.initiator;

    raw_reset(&bed->frame);
    if (event == UIW_ON_TERMINATE) /* the Reply is not the one asked for */
        raw_mpa2(&bed->frame, reply, RAW_MPA_C, 0);
    else if (event == UIW_ON_REFUSE) { /* no EP supports this Request */
        bed->conn->mpa.config.rtr = 0;
        raw_mpa2(&bed->frame, reply, RAW_MPA_C, RAW_ENH_A);
    } else
        raw_mpa1(&bed->frame, reply, event == UIW_ON_REJECTED ? RAW_MPA_R : RAW_MPA_C);
    if (event == UIW_ON_BAD)
        bed->frame.data[PART]++;
    bed_feed_rest(bed);
}

static inline void fire_moved(struct bed *bed)
{
    if (bed->conn->io.events == EVD_IO_WRITE)
        bed_give_room(bed, 1);
    else if (bed->conn->mpa.length > 0)
        bed_feed(bed, bed->frame.data + PART, 1);
    else
        bed_start_frame(bed, bed->conn->mpa.initiator);
}

static inline void fire(struct bed *bed, enum uiw_conn_event event)
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
    case UIW_ON_NO_MEMORY: /* the watch that follows each step may fail */
        uiw_conn_step(bed->conn, event);
        break;
    default:
        script.room = event == UIW_ON_DONE ? 0 : ALL;
        fire_frame(bed, event);
    }
}

/* ---------------------------------------------------------------- the outcome */

/* The end of the stream. */
enum fate {
    STAYS, /* the startup or the engine keeps it */
    RESET,
    ENDS, /* in order */
    OWNER /* the program has it back unchanged */
};

/* The report to the EP. */
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

static inline void check_report(struct bed *bed, int report)
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

static inline void check_fate(struct bed *bed, enum fate fate)
{
    struct pollfd wait = {bed->peer, POLLIN, 0};
    char octet;

    if (fate == OWNER) /* the stream works, and nothing was sent on it */
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

/* Checks that lists and counts match the state. */
static inline void check_books(struct bed *bed)
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

static inline void finish(struct bed *bed)
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

static inline void judge(struct bed *bed, const struct cell *cell)
{
    EXPECT_EQ(cell->next, bed_state(bed));
    check_books(bed);
    check_fate(bed, cell->fate);
    if (cell->report == UP)
        script.on = false; /* the engine has the stream now */
    check_report(bed, cell->report);
    finish(bed);
}

/* ---------------------------------------------------------------- one cell by itself */

static inline void other_begin(struct bed *bed, const struct uiw_conn_role *role,
                               enum uiw_conn_state state, enum uiw_conn_event event)
{
    bed_open(bed, role);
    bring(bed, state, event);
}

static inline void other_judge(struct bed *bed, enum uiw_conn_state next, int report,
                               enum fate fate)
{
    const struct cell cell = {.next = next, .report = report, .fate = fate};

    judge(bed, &cell);
    bed_close(bed);
}

#endif
