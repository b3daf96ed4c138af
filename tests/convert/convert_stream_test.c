/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion on a device over real sockets: both ends, and one end against peers that the test
 * plays octet by octet. The device is a model. If a conversion fails, every octet that the programs
 * send before and after it is compared.
 */
#include "convert/fake_host.h"

#include "support/check.h"
#include "support/it_fixture.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

struct link {
    struct fake_side side; /* converts .sd */
    struct fake_side far;  /* converts .peer, unless the test plays the peer */
    int sd;                /* the program's socket */
    int peer;
    int lowat, nodelay, cork, mode;
};

static int option(int sd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);

    CHECK(getsockopt(sd, level, name, &value, &length) == 0);
    return value;
}

static void set_option(int sd, int level, int name, int value)
{
    CHECK(setsockopt(sd, level, name, &value, sizeof(value)) == 0);
}

static void tcp_pair(int *a, int *b)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    *a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*a, (struct sockaddr *)&address, length) == 0);
    *b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(*b >= 0);
    (void)close(listener);
}

static void open_link(struct link *t)
{
    memset(t, 0, sizeof(*t));
    memset(&fake_device, 0, sizeof(fake_device));
    fake_device.port = 1000;
    fake_side_open(&t->side);
    fake_side_open(&t->far);
    tcp_pair(&t->sd, &t->peer);
    set_option(t->sd, SOL_SOCKET, SO_RCVLOWAT, 3);
    t->lowat = option(t->sd, SOL_SOCKET, SO_RCVLOWAT);
    t->nodelay = option(t->sd, IPPROTO_TCP, TCP_NODELAY);
    t->cork = option(t->sd, IPPROTO_TCP, TCP_CORK);
    t->mode = fcntl(t->sd, F_GETFL);
}

static void close_link(struct link *t)
{
    fake_side_close(&t->side);
    fake_side_close(&t->far);
    (void)close(t->sd);
    if (t->peer >= 0)
        (void)close(t->peer);
    CHECK_EQ(0, fake_device.live);
}

/* ---- What the test's peer says and hears ---------------------------------------------------- */

static void say(int sd, const void *octets, size_t length)
{
    CHECK_EQ(length, send(sd, octets, length, MSG_NOSIGNAL));
}

static void hear(int sd, const void *octets, size_t length)
{
    static uint8_t got[1 << 16];

    CHECK(length <= sizeof(got));
    CHECK_EQ(length, recv(sd, got, length, MSG_WAITALL));
    CHECK(memcmp(got, octets, length) == 0);
}

/* Checks that the stream has no more octets. */
static void hears_nothing(int sd)
{
    char octet;

    CHECK(recv(sd, &octet, 1, MSG_DONTWAIT | MSG_PEEK) == -1 && errno == EAGAIN);
}

static void hears_end(int sd)
{
    struct timeval patience = {.tv_sec = FAKE_PATIENCE_MS / 1000};
    char octet;

    CHECK(setsockopt(sd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
    CHECK_EQ(0, recv(sd, &octet, 1, 0));
}

static const struct agree_terms theirs = {
    .kind = AGREE_IWARP,
    .family = 4,
    .port = 4711,
    .address = {127, 0, 0, 1},
    .token = "the token of him",
    .private_length = 5,
    .private_data = "thine",
};

static void say_terms(const struct link *t, enum agree_type type, const struct agree_terms *terms)
{
    uint8_t octets[AGREE_OWN_MAX];

    say(t->peer, octets, agree_frame_encode_terms(type, terms, octets));
}

static void say_end(const struct link *t, enum agree_type type, enum agree_reason reason)
{
    uint8_t octets[AGREE_OWN_MAX];

    say(t->peer, octets, agree_frame_encode_end(type, reason, octets));
}

static void say_empty(const struct link *t, enum agree_type type)
{
    uint8_t octets[AGREE_OWN_MAX];

    say(t->peer, octets, agree_frame_encode_empty(type, octets));
}

static struct agree_frame hear_frame(const struct link *t, enum agree_type type)
{
    uint8_t octets[AGREE_FRAME_MAX];
    struct agree_frame frame;
    size_t wanted = AGREE_HEADER;

    CHECK_EQ(AGREE_HEADER, recv(t->peer, octets, AGREE_HEADER, MSG_WAITALL));
    if (agree_frame_find(octets, AGREE_HEADER, &frame, &wanted) == AGREE_MORE) {
        size_t body = wanted - AGREE_HEADER;

        CHECK_EQ(body, recv(t->peer, octets + AGREE_HEADER, body, MSG_WAITALL));
        CHECK_EQ(AGREE_WHOLE, agree_frame_find(octets, wanted, &frame, &wanted));
    }
    CHECK_EQ(type, frame.type);
    return frame;
}

static void hear_last(const struct link *t, enum agree_type type, enum agree_reason reason)
{
    CHECK_EQ(reason, hear_frame(t, type).reason);
    hears_nothing(t->peer);
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

static void failed(struct link *t, it_event_type_t number, it_conn_reject_code_t code)
{
    fake_run_until_news(&t->side, 1);
    CHECK_EQ(number, t->side.news[0].number);
    CHECK_EQ(code, t->side.news[0].reject_code);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fake_state(&t->side));
    CHECK_EQ(1, t->side.breaks);
    CHECK(t->side.ep->convert == NULL);
    fake_run();
    CHECK_EQ(1, t->side.news_count);
}

/* Checks that the socket is its owner's and unchanged. */
static void is_plain(struct link *t)
{
    CHECK_EQ(t->lowat, option(t->sd, SOL_SOCKET, SO_RCVLOWAT));
    CHECK_EQ(t->nodelay, option(t->sd, IPPROTO_TCP, TCP_NODELAY));
    CHECK_EQ(t->cork, option(t->sd, IPPROTO_TCP, TCP_CORK));
    CHECK_EQ(t->mode, fcntl(t->sd, F_GETFL));
    say(t->sd, "we go on in TCP", 15);
    hear(t->peer, "we go on in TCP", 15);
    say(t->peer, "so do we", 8);
    hear(t->sd, "so do we", 8);
    hears_nothing(t->sd);
    hears_nothing(t->peer);
}

static void converted(struct fake_side *side, const char *private_data)
{
    fake_run_until_news(side, 1);
    CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, side->news[0].number);
    CHECK_EQ(strlen(private_data), side->news[0].private_length);
    CHECK(memcmp(side->news[0].private_data, private_data, strlen(private_data)) == 0);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fake_state(side));
    CHECK(side->ep->convert == NULL);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void convert_as(struct link *t, bool initiator)
{
    const struct vp_convert what = {
        .initiator = initiator, .private_data = (const uint8_t *)"mine", .private_length = 4};

    CHECK_OK(fake_convert(&t->side, t->sd, &what));
}

static struct agree_terms offered(struct link *t)
{
    struct agree_frame frame;

    convert_as(t, true);
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fake_state(&t->side));
    frame = hear_frame(t, AGREE_OFFER);
    CHECK_EQ(0, frame.terms.port);
    CHECK_EQ(4, frame.terms.private_length);
    return frame.terms;
}

static struct agree_terms answered(struct link *t)
{
    struct agree_terms terms;

    convert_as(t, false);
    CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fake_state(&t->side));
    say_terms(t, AGREE_OFFER, &theirs);
    fake_run();
    terms = hear_frame(t, AGREE_ANSWER).terms;
    CHECK_EQ(fake_device.port, terms.port);
    return terms;
}

/* ---- Both ends ------------------------------------------------------------------------------ */

Test(convert_stream, both_ends)
{
    size_t before = fx_fd_count();

    for (int round = 0; round < 20; round++) {
        struct vp_convert initiator = {
            .initiator = true, .private_data = (const uint8_t *)"please", .private_length = 6};
        struct vp_convert responder = {.message = (const uint8_t *)"go ahead",
                                       .message_length = 8,
                                       .private_data = (const uint8_t *)"granted",
                                       .private_length = 7};
        struct link t;

        open_link(&t);
        say(t.sd, "before", 6);
        hear(t.peer, "before", 6);
        CHECK_OK(fake_convert(&t.far, t.peer, &responder));
        fake_run();
        hear(t.sd, "go ahead", 8);
        CHECK_OK(fake_convert(&t.side, t.sd, &initiator));
        converted(&t.side, "granted");
        converted(&t.far, "please");
        fake_run();
        hears_end(t.sd); /* although both programs' descriptors are open */
        hears_end(t.peer);
        close_link(&t);
        CHECK_EQ(0, fake_device.dropped);
    }
    fx_fd_settle(before);
}

/* The programs close their descriptors at once. */
Test(convert_stream, both_ends_closed)
{
    struct vp_convert what = {.initiator = false};
    struct link t;

    open_link(&t);
    CHECK_OK(fake_convert(&t.side, t.sd, &what));
    what.initiator = true;
    CHECK_OK(fake_convert(&t.far, t.peer, &what));
    (void)close(t.sd);
    (void)close(t.peer);
    t.peer = -1;
    t.sd = -1;
    converted(&t.side, "");
    converted(&t.far, "");
    fake_run();
    close_link(&t);
}

static void both_fail(struct link *t, it_event_type_t initiator, it_event_type_t responder)
{
    const struct vp_convert what = {.initiator = false};

    say(t->sd, "one", 3);
    say(t->peer, "two", 3);
    hear(t->peer, "one", 3);
    hear(t->sd, "two", 3);
    CHECK_OK(fake_convert(&t->far, t->peer, &what));
    convert_as(t, true);
    fake_run_until_news(&t->far, 1);
    fake_run_until_news(&t->side, 1);
    CHECK_EQ(initiator, t->side.news[0].number);
    CHECK_EQ(responder, t->far.news[0].number);
    CHECK_EQ(1, t->side.breaks);
    CHECK_EQ(1, t->far.breaks);
    is_plain(t);
    close_link(t);
}

Test(convert_stream, both_ends_go_on_in_tcp)
{
    const it_event_type_t nonpeer = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT;
    struct link t;

    open_link(&t);
    fake_device.no_port = true;
    both_fail(&t, IT_CM_MSG_CONN_PEER_REJECT_EVENT, nonpeer);
    open_link(&t);
    fake_device.unreachable = true;
    both_fail(&t, nonpeer, nonpeer);
    CHECK_EQ(IT_CN_REJ_BAD_PATH, t.side.news[0].reject_code);
    open_link(&t);
    fake_device.no_accept = true;
    both_fail(&t, nonpeer, nonpeer);
    open_link(&t);
    fake_device.wrong_key = true;
    both_fail(&t, nonpeer, nonpeer);
    open_link(&t);
    t.far.ia.is_iwarp = false; /* other kind of device */
    both_fail(&t, IT_CM_MSG_CONN_PEER_REJECT_EVENT, nonpeer);
    CHECK_EQ(IT_CN_REJ_BAD_CONN_PARMS, t.side.news[0].reject_code);
}

/* The device answers nobody. The first time limit ends both conversions. */
Test(convert_stream, both_ends_run_out_of_time)
{
    const struct vp_convert what = {.initiator = false};
    struct link t;

    open_link(&t);
    fake_device.silent = true;
    CHECK_OK(fake_convert(&t.far, t.peer, &what));
    convert_as(&t, true);
    fake_run();
    CHECK_EQ(0, t.side.news_count + t.far.news_count);
    fake_advance(30 * SECOND);
    failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_TIMEOUT);
    fake_run_until_news(&t.far, 1);
    is_plain(&t);
    close_link(&t);
}

Test(convert_stream, both_are_initiators)
{
    const struct vp_convert what = {.initiator = true};
    struct link t;

    open_link(&t);
    CHECK_OK(fake_convert(&t.far, t.peer, &what));
    convert_as(&t, true);
    failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_CONN_PARMS);
    fake_run_until_news(&t.far, 1);
    is_plain(&t);
    close_link(&t);
}

/* ---- The peer says no, or nothing, or something else ---------------------------------------- */

Test(convert_stream, refused)
{
    struct link t;

    open_link(&t);
    (void)offered(&t);
    say_end(&t, AGREE_REFUSE, AGREE_NO_RESOURCES);
    say(t.peer, "and what I have to say", 22);
    failed(&t, IT_CM_MSG_CONN_PEER_REJECT_EVENT, IT_CN_REJ_RESOURCES);
    hear_last(&t, AGREE_ABORT, AGREE_NO_REASON);
    hear(t.sd, "and what I have to say", 22);
    is_plain(&t);
    close_link(&t);
}

Test(convert_stream, plain_peer)
{
    for (int initiator = 0; initiator < 2; initiator++) {
        struct link t;

        open_link(&t);
        convert_as(&t, initiator);
        if (initiator)
            (void)hear_frame(&t, AGREE_OFFER);
        say(t.peer, "G", 1); /* one octet is enough */
        failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_CONN_PARMS);
        hears_nothing(t.peer);
        say(t.peer, "ET /", 4);
        hear(t.sd, "GET /", 5);
        is_plain(&t);
        close_link(&t);
    }
}

/* Octets that begin like a frame are not taken either. */
Test(convert_stream, plain_peer_that_begins_like_a_frame)
{
    uint8_t octets[AGREE_OWN_MAX];
    size_t length = agree_frame_encode_terms(AGREE_OFFER, &theirs, octets);

    for (size_t cut = 1; cut < 8; cut++) {
        struct link t;

        open_link(&t);
        convert_as(&t, false);
        for (size_t i = 0; i < cut; i++) {
            say(t.peer, octets + i, 1);
            fake_run();
        }
        CHECK_EQ(0, t.side.news_count);
        say(t.peer, "?", 1);
        failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_CONN_PARMS);
        hear(t.sd, octets, cut);
        hear(t.sd, "?", 1);
        is_plain(&t);
        close_link(&t);
    }
    CHECK(length > 8);
}

Test(convert_stream, silent_peer)
{
    struct link t;

    open_link(&t);
    convert_as(&t, false);
    fake_run();
    fake_advance(30 * SECOND);
    failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_TIMEOUT);
    is_plain(&t); /* nothing was sent */
    close_link(&t);

    open_link(&t);
    (void)offered(&t);
    fake_advance(30 * SECOND);
    fake_run();
    CHECK_EQ(0, t.side.news_count);
    hear_last(&t, AGREE_ABORT, AGREE_TIMEOUT);
    fake_advance(10 * SECOND);
    failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_TIMEOUT);
    hears_end(t.peer); /* the stream is closed: its position is unknown */
    hears_end(t.sd);
    close_link(&t);
}

/* The peer closes or dies at every octet of the frame that is awaited. */
Test(convert_stream, peer_leaves_in_the_middle_of_a_frame)
{
    uint8_t octets[AGREE_OWN_MAX];
    size_t length = agree_frame_encode_terms(AGREE_OFFER, &theirs, octets);

    for (size_t cut = 0; cut < length; cut++) {
        struct link t;

        open_link(&t);
        convert_as(&t, false);
        if (cut > 0)
            say(t.peer, octets, cut);
        fake_run();
        (void)shutdown(t.peer, SHUT_WR);
        failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_OTHER);
        if (cut > 0)
            hear(t.sd, octets, cut); /* not taken: the frame was incomplete */
        hears_end(t.sd);
        say(t.sd, "goodbye", 7);
        hear(t.peer, "goodbye", 7);
        close_link(&t);
    }
}

Test(convert_stream, peer_dies_after_each_step)
{
    for (int step = 0; step < 5; step++) {
        const struct linger hard = {.l_onoff = 1, .l_linger = 0};
        struct link t;

        open_link(&t);
        if (step < 2)
            (void)offered(&t);
        else
            (void)answered(&t);
        if (step == 1)
            say_terms(&t, AGREE_ANSWER, &theirs);
        if (step == 3)
            say_empty(&t, AGREE_READY);
        if (step == 4)
            say_end(&t, AGREE_ABORT, AGREE_NO_RESOURCES);
        if (step == 1)
            fake_device.silent = true;
        fake_run();
        CHECK(setsockopt(t.peer, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)) == 0);
        (void)close(t.peer); /* with a reset */
        t.peer = -1;
        failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
               step == 4 ? IT_CN_REJ_RESOURCES : IT_CN_REJ_OTHER);
        close_link(&t);
    }
}

/* ---- Keys ----------------------------------------------------------------------------------- */

Test(convert_stream, strangers_are_refused)
{
    struct agree_terms terms;
    uint8_t key[AGREE_KEY_FRAME];
    struct link t;

    open_link(&t);
    terms = answered(&t);
    CHECK(fake_request_is_refused(NULL, 0));
    CHECK(fake_request_is_refused((const uint8_t *)"let me in", 9));
    (void)agree_frame_encode_key(theirs.token, key);
    CHECK(fake_request_is_refused(key, sizeof(key)));
    (void)agree_frame_encode_key(terms.token, key);
    key[AGREE_HEADER] ^= 1;
    CHECK(fake_request_is_refused(key, sizeof(key)));
    key[AGREE_HEADER] ^= 1;
    CHECK_EQ(0, t.side.news_count);
    fake_device.no_accept = true; /* no connection follows the test's request */
    CHECK(!fake_request_is_refused(key, sizeof(key)));
    say_end(&t, AGREE_ABORT, AGREE_NO_REASON);
    failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_OTHER);
    hear_last(&t, AGREE_ABORT, AGREE_NO_CONNECTION);
    is_plain(&t);
    close_link(&t);
}

/* Every conversion has its own token. */
Test(convert_stream, tokens_differ)
{
    uint8_t before[AGREE_TOKEN] = {0};

    for (int i = 0; i < 8; i++) {
        struct agree_terms terms;
        struct link t;

        open_link(&t);
        terms = i % 2 ? offered(&t) : answered(&t);
        CHECK(memcmp(terms.token, before, AGREE_TOKEN) != 0);
        memcpy(before, terms.token, AGREE_TOKEN);
        close_link(&t);
    }
}

/* ---- Octets the program has read already, and has still to say ------------------------------ */

Test(convert_stream, early_octets)
{
    uint8_t octets[AGREE_OWN_MAX];
    size_t length = agree_frame_encode_terms(AGREE_OFFER, &theirs, octets);

    for (size_t early = 0; early <= length; early++) {
        struct vp_convert what = {.early = octets, .early_length = early};
        struct link t;

        open_link(&t);
        CHECK_OK(fake_convert(&t.side, t.sd, &what));
        fake_run();
        if (early < length)
            say(t.peer, octets + early, length - early);
        fake_run();
        (void)hear_frame(&t, AGREE_ANSWER);
        say_end(&t, AGREE_ABORT, AGREE_NO_REASON);
        failed(&t, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_OTHER);
        hear_last(&t, AGREE_ABORT, AGREE_NO_REASON);
        is_plain(&t);
        close_link(&t);
    }
}

/* Reads more than fits at once, while the library runs in between. */
static void hear_in_parts(const struct link *t, const uint8_t *octets, size_t length)
{
    struct fx_patience patience = fx_patience_start("the message");
    static uint8_t got[65536];
    size_t heard = 0;

    CHECK(length <= sizeof(got));
    while (heard < length) {
        ssize_t part = recv(t->peer, got + heard, length - heard, MSG_DONTWAIT);

        heard += part > 0 ? (size_t)part : 0;
        fake_run();
        fx_patience_check(&patience);
    }
    CHECK(memcmp(got, octets, length) == 0);
}

/* The socket is full of what the program has sent before. */
Test(convert_stream, long_message_into_a_full_socket)
{
    static uint8_t message[65536];
    static uint8_t said[1 << 16];
    struct vp_convert what = {
        .initiator = true, .message = message, .message_length = sizeof(message)};
    size_t filled = 0;
    struct link t;
    ssize_t sent;

    open_link(&t);
    set_option(t.sd, SOL_SOCKET, SO_SNDBUF, 4096);
    fx_fill(message, sizeof(message), 7);
    memset(said, 'x', sizeof(said));
    while ((sent = send(t.sd, said, sizeof(said), MSG_DONTWAIT)) > 0)
        filled += (size_t)sent;
    CHECK_OK(fake_convert(&t.side, t.sd, &what));
    memset(message, 0, sizeof(message)); /* the library has its own copy */
    while (filled > 0) {
        size_t part = filled < sizeof(said) ? filled : sizeof(said);

        hear(t.peer, said, part);
        filled -= part;
    }
    fx_fill(message, sizeof(message), 7);
    hear_in_parts(&t, message, sizeof(message));
    fake_run();
    (void)hear_frame(&t, AGREE_OFFER);
    say_end(&t, AGREE_REFUSE, AGREE_BAD_KIND);
    failed(&t, IT_CM_MSG_CONN_PEER_REJECT_EVENT, IT_CN_REJ_BAD_CONN_PARMS);
    hear_last(&t, AGREE_ABORT, AGREE_NO_REASON);
    close_link(&t);
}

/* ---- The device's connection ends ----------------------------------------------------------- */

/* Converts two streams. The test carries frames from one to the other, and delays the commit. */
Test(convert_stream, end_of_the_connection_does_not_overtake_commit)
{
    const struct vp_convert what = {.initiator = false};
    struct agree_terms terms;
    struct link t;
    struct link u;

    open_link(&t);
    u = t;
    tcp_pair(&u.sd, &u.peer);
    terms = offered(&t);
    CHECK_OK(fake_convert(&t.far, u.sd, &what));
    say_terms(&u, AGREE_OFFER, &terms);
    fake_run();
    terms = hear_frame(&u, AGREE_ANSWER).terms;
    say_terms(&t, AGREE_ANSWER, &terms);
    fake_run();
    (void)hear_frame(&t, AGREE_READY);
    fake_disconnect(&t.side);
    fake_run();
    CHECK_EQ(0, t.side.news_count);
    say_empty(&t, AGREE_COMMIT);
    fake_run_until_news(&t.side, 2);
    CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, t.side.news[0].number);
    CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, t.side.news[1].number);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fake_state(&t.side));
    CHECK_EQ(1, t.side.breaks);
    (void)close(u.sd);
    (void)close(u.peer);
    fake_run();
    close_link(&t);
}

/* ---- The consumer ends it ------------------------------------------------------------------- */

Test(convert_stream, disconnected_while_pending)
{
    size_t before = fx_fd_count();

    for (int i = 0; i < 4; i++) {
        struct link t;

        open_link(&t);
        if (i == 0)
            convert_as(&t, false);
        else if (i == 1)
            (void)offered(&t);
        else
            (void)answered(&t);
        if (i < 3)
            CHECK_OK(verbs_convert_disconnect(t.side.ep->convert));
        else
            verbs_convert_abandon(t.side.ep->convert); /* as when the EP is freed */
        CHECK_EQ(i < 3, t.side.news_count);
        if (i < 3)
            CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, t.side.news[0].number);
        hears_end(t.peer); /* although the program's own descriptor is open */
        (void)close(t.peer);
        t.peer = -1;
        fake_run();
        close_link(&t);
    }
    fx_fd_settle(before);
}

/* The library waits 5 seconds for a peer to close its end, but not when the IA closes. */
Test(convert_stream, stream_is_retired_in_time)
{
    size_t before = fx_fd_count();

    for (int i = 0; i < 2; i++) {
        struct link t;

        open_link(&t);
        convert_as(&t, false);
        CHECK_OK(verbs_convert_disconnect(t.side.ep->convert));
        say(t.peer, "still there", 11);
        fake_run();
        CHECK(!base_list_is_empty(&t.side.cm.conversions));
        if (i == 0)
            fake_advance(5 * SECOND);
        else
            verbs_convert_close(&t.side.ia);
        CHECK(base_list_is_empty(&t.side.cm.conversions));
        close_link(&t);
    }
    fx_fd_settle(before);
}

Test(convert_stream, wrong_calls)
{
    struct vp_convert what = {.no_request_reply = true};
    struct link t;

    open_link(&t);
    CHECK_EQ(IT_ERR_INVALID_FLAGS, fake_convert(&t.side, t.sd, &what));
    what.no_request_reply = false;
    what.private_length = AGREE_PRIVATE_MAX + 1;
    CHECK_EQ(IT_ERR_INVALID_PDATA_LENGTH, fake_convert(&t.side, t.sd, &what));
    what.private_length = 0;
    CHECK_OK(fake_convert(&t.side, t.sd, &what));
    CHECK_EQ(IT_ERR_INVALID_EP_STATE, fake_convert(&t.side, t.sd, &what));
    hears_nothing(t.peer);
    close_link(&t);
}
