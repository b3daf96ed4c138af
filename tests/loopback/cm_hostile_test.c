/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that never finish, or send nonsense, to a listen point. Each loses only its own stream. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define DESCRIPTORS   1024 /* the usual limit */
#define UNDECIDED_MAX (DESCRIPTORS / 4)

static struct {
    struct fx_node node;
    it_listen_handle_t listener;
    uint16_t port;
    size_t descriptors;
} s;

static void open_service(void)
{
    fx_node_open(&s.node);
    s.listener = fx_listen(&s.node, &s.port);
    s.descriptors = fx_fd_count();
}

static struct itx_counters counters(void)
{
    struct itx_counters all = {.size = sizeof(all)};

    CHECK_OK(itx_ia_stats(s.node.ia, &all));
    return all;
}

static void request(struct raw_bytes *out)
{
    raw_mpa2(out, false, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 8u << 16 | 8u);
}

/* Checks that a well-behaved peer is served. */
static void still_serves(void)
{
    RAW_BYTES(out);
    struct raw_mpa_frame reply;
    struct raw_peer peer;

    raw_connect(&peer, s.port);
    request(&out);
    CHECK(raw_send(&peer, &out));
    CHECK_OK(it_reject(fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
    raw_close(&peer);
}

static void close_service(void)
{
    still_serves();
    fx_fd_settle(s.descriptors);
    fx_empty(s.node.listen_evd);
    fx_empty(s.node.conn_evd);
    CHECK_OK(it_listen_free(s.listener));
    fx_node_close(&s.node);
}

static void is_closed(struct raw_peer *peer)
{
    enum raw_result result = raw_drain(peer);

    CHECK(result == RAW_EOF || result == RAW_RESET);
    raw_close(peer);
}

/*
 * The library has nothing to deliver to this peer, so it resets the stream. Lingering would begin
 * with a FIN and would take a descriptor for each peer that stays.
 */
static void is_reset(struct raw_peer *peer)
{
    CHECK_EQ(RAW_RESET, raw_drain(peer));
    raw_close(peer);
}

/* ---- Nonsense ------------------------------------------------------------------------------- */

Test(cm_hostile, every_octet_of_the_key_counts, .init = open_service, .fini = close_service)
{
    for (size_t i = 0; i < 16; i++) {
        RAW_BYTES(out);
        struct raw_peer peer;

        request(&out);
        out.data[i] ^= 1;
        raw_connect(&peer, s.port);
        /* A wrong key is refused before the frame is complete. */
        CHECK(raw_send_part(&peer, out.data, i + 1));
        is_reset(&peer);
    }
}

Test(cm_hostile, malformed_requests, .init = open_service, .fini = close_service)
{
    static const char *const bad[] = {
        "4d504120494420526571204672616d65 40 00 0000",          /* revision 0 */
        "4d504120494420526571204672616d65 40 03 0000",          /* revision 3 */
        "4d504120494420526571204672616d65 40 ff 0000",          /* revision 255 */
        "4d504120494420526571204672616d65 50 02 0000",          /* S without the enhanced word */
        "4d504120494420526571204672616d65 50 02 0003 000000",   /* incomplete */
        "4d504120494420526571204672616d65 40 01 0201 00",       /* 513 octets of private data */
        "4d504120494420526571204672616d65 40 01 ffff 00",       /* 65535 */
        "4d504120494420526570204672616d65 40 01 0000",          /* a Reply */
        "474554202f20485454502f312e310d0a0d0a",                 /* GET / HTTP/1.1 */
        "16030100c2010000be0303000000000000000000000000000000", /* TLS */
        "00",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        RAW_BYTES(out);
        struct raw_peer peer;

        check_context(bad[i]);
        raw_add_hex(&out, bad[i]);
        raw_connect(&peer, s.port);
        CHECK(raw_send(&peer, &out));
        is_reset(&peer);
    }
}

/* The Request is complete, so the consumer gets it, but it cannot be accepted. */
Test(cm_hostile, octets_behind_the_request, .init = open_service, .fini = close_service)
{
    RAW_BYTES(out);
    struct raw_peer peer;
    it_ep_handle_t ep = fx_ep(&s.node, NULL);

    request(&out);
    raw_add_byte(&out, 0);
    raw_connect(&peer, s.port);
    CHECK(raw_send(&peer, &out));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    is_reset(&peer);
    CHECK_OK(it_ep_free(ep));
}

/* ---- Cut and slow --------------------------------------------------------------------------- */

Test(cm_hostile, request_cut_at_each_octet, .init = open_service, .fini = close_service)
{
    RAW_BYTES(out);

    request(&out);
    for (size_t i = 0; i < out.len; i++) {
        struct raw_peer fin;
        struct raw_peer reset;

        raw_connect(&fin, s.port);
        raw_connect(&reset, s.port);
        CHECK(raw_send_part(&fin, out.data, i));
        CHECK(raw_send_part(&reset, out.data, i));
        raw_finish(&fin);
        raw_close_with_reset(&reset);
        is_closed(&fin);
    }
}

Test(cm_hostile, request_in_single_octets, .init = open_service, .fini = close_service)
{
    RAW_BYTES(out);
    struct raw_mpa_frame reply;
    struct raw_peer peer;

    request(&out);
    raw_connect(&peer, s.port);
    for (size_t i = 0; i < out.len; i++) {
        fx_empty(s.node.listen_evd);
        CHECK(raw_send_part(&peer, out.data + i, 1));
        (void)poll(NULL, 0, 1);
    }
    CHECK_OK(it_reject(fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    raw_close(&peer);
}

/* A peer has ten seconds for the whole Request, even if it sends all the time. */
Test(cm_hostile, silent_and_slow_peers)
{
    uint64_t start = fx_now_us();
    RAW_BYTES(out);
    struct raw_peer silent;
    struct raw_peer slow;
    size_t sent = 0;

    open_service();
    request(&out);
    raw_connect(&silent, s.port);
    raw_connect(&slow, s.port);
    while (counters().half_open_timeouts < 2) {
        CHECK(fx_now_us() - start < 20000000);
        if (sent + 1 < out.len)
            (void)raw_send_part(&slow, out.data + sent++, 1);
        still_serves();
        (void)poll(NULL, 0, 500);
    }
    CHECK(fx_now_us() - start >= 9900000);
    is_reset(&silent);
    is_closed(&slow); /* the reset may have met the last octet */
    close_service();
}

/* ---- Many ----------------------------------------------------------------------------------- */

static bool set_descriptor_limit(rlim_t wanted)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted)
        return false;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/*
 * One request more than may wait for the consumer is closed without a Reply, since a Reply would be
 * the consumer's decision.
 */
Test(cm_hostile, undecided_requests_are_bounded)
{
    static struct raw_peer peers[UNDECIDED_MAX + 1];
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct raw_mpa_frame reply;
    RAW_BYTES(out);
    it_listen_handle_t listener;
    it_evd_handle_t evd;

    if (!set_descriptor_limit(DESCRIPTORS))
        cr_skip_test("too few descriptors allowed");
    open_service();
    request(&out);
    evd = fx_evd(&s.node, IT_CM_REQ_EVENT_STREAM, UNDECIDED_MAX + 1, IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(s.node.ia, 1, evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    for (size_t i = 0; i <= UNDECIDED_MAX; i++) {
        raw_connect(&peers[i], qual.conn_qual.port);
        CHECK(raw_send(&peers[i], &out));
        if (i < UNDECIDED_MAX)
            CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, fx_next(evd).event_number);
    }
    CHECK_EQ(RAW_RESET, raw_receive_mpa(&peers[UNDECIDED_MAX], &reply));
    CHECK_EQ(1, counters().half_open_refused);
    for (size_t i = 0; i <= UNDECIDED_MAX; i++)
        raw_close(&peers[i]);
    fx_fd_settle(s.descriptors + 2); /* at most the second listen point's sockets */
    CHECK_OK(it_listen_free(listener));
    close_service();
}

/*
 * A peer that connects and sends its Request while there is no free descriptor to accept it with.
 */
struct starved {
    struct raw_peer peer;
    struct rlimit limit; /* the limit before */
    int next;            /* the first descriptor that accept(2) returns afterwards */
};

static void starve(struct starved *starved)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = s.port};
    RAW_BYTES(out);
    struct rlimit low;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *starved = (struct starved){.peer.fd = fd, .next = fcntl(fd, F_DUPFD, 0)};
    CHECK(getrlimit(RLIMIT_NOFILE, &starved->limit) == 0);
    low = starved->limit;
    low.rlim_cur = (rlim_t)starved->next;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    (void)close(starved->next);
    CHECK(fcntl(fd, F_DUPFD, 0) < 0); /* really none */
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    request(&out);
    CHECK(raw_send(&starved->peer, &out));
}

static void relieve(const struct starved *starved)
{
    CHECK(setrlimit(RLIMIT_NOFILE, &starved->limit) == 0);
}

/* A silent peer is closed when another one connects and there is no free descriptor. */
Test(cm_hostile, silent_peers_make_room)
{
    struct fx_patience patience = fx_patience_start("the silent peers");
    struct raw_mpa_frame reply;
    struct raw_peer silent[2];
    struct starved starved;

    open_service();
    raw_connect(&silent[0], s.port);
    while (fx_fd_count() < s.descriptors + 2) /* in this order */
        fx_patience_check(&patience);
    raw_connect(&silent[1], s.port);
    while (fx_fd_count() < s.descriptors + 4)
        fx_patience_check(&patience);
    starve(&starved);
    CHECK_OK(it_reject(fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&starved.peer, &reply));
    is_closed(&silent[0]);
    relieve(&starved);
    raw_close(&silent[1]);
    raw_close(&starved.peer);
    close_service();
}

/* The descriptor that epoll refuses, or -1. */
static _Atomic int refused_fd = -1;

/* Replaces epoll_ctl of the C library, which libevent calls. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && fd == refused_fd) {
        refused_fd = -1;
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

/* The consumer already has the request when its stream cannot be watched. */
Test(cm_hostile, no_watch_of_an_announced_request, .init = open_service, .fini = close_service)
{
    it_cn_est_identifier_t id;
    struct starved starved;

    starve(&starved); /* makes stream and Request arrive together */
    refused_fd = starved.next;
    relieve(&starved);
    id = fx_request(&s.node, NULL);
    FX_WAIT_WHILE(refused_fd >= 0, "the refusal");
    is_closed(&starved.peer);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
}

/* Without a free descriptor accept(2) fails. The listener pauses and continues later. */
Test(cm_hostile, no_descriptor_left, .init = open_service, .fini = close_service)
{
    struct raw_mpa_frame reply;
    struct starved starved;
    uint64_t wakeups;

    starve(&starved);
    wakeups = counters().thread_wakeups;
    (void)poll(NULL, 0, 350);
    fx_empty(s.node.listen_evd);
    CHECK(counters().thread_wakeups - wakeups < 100);
    relieve(&starved);
    CHECK_OK(it_reject(fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&starved.peer, &reply));
    raw_close(&starved.peer);
}
