/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that are being closed while their peers stay: limits the descriptors that they take. */
#include "base/base_clock.h"
#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <criterion/criterion.h>

#include <event2/event.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS 256
#define LINGER_MAX  (DESCRIPTORS / 8)
#define STREAMS     (LINGER_MAX + 8)

struct bed {
    it_ia_handle_t ia;
    struct uiw_ia *uiw;
    int peers[STREAMS];
    unsigned begun;
    unsigned most; /* the most that there were at a time */
};

static void bed_open(struct bed *bed)
{
    struct rlimit limit;

    *bed = (struct bed){.begun = 0};
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = DESCRIPTORS;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(it_ia_create("uiwarp", 2, 1, &bed->ia), IT_SUCCESS);
    bed->uiw = uiw_ia_of((struct ual_ia *)(void *)bed->ia);
}

/* Runs on the loop thread and asserts nothing. */
static void begin_all(void *argument)
{
    struct bed *bed = argument;

    for (; bed->begun < STREAMS; bed->begun++) {
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return;
        bed->peers[bed->begun] = ends[0];
        uiw_linger(&bed->uiw->cm.lingering, ends[1], "last words", 10);
        if (bed->uiw->cm.lingering.count > bed->most)
            bed->most = bed->uiw->cm.lingering.count;
    }
}

/* The oldest streams are closed first, and each peer still gets its last octets. */
Test(uiw_linger, a_part_of_the_descriptors)
{
    struct bed bed;

    bed_open(&bed);
    evd_loop_call(bed.uiw->ual->evd.loop, begin_all, &bed);
    cr_assert_eq(bed.begun, STREAMS);
    cr_assert_eq(bed.most, LINGER_MAX);
    for (unsigned i = 0; i < STREAMS; i++) {
        char words[16];

        cr_assert_eq(recv(bed.peers[i], words, sizeof(words), 0), 10);
        cr_assert_eq(recv(bed.peers[i], words, sizeof(words), 0), 0);
    }
    for (unsigned i = 0; i < STREAMS - LINGER_MAX; i++)
        cr_assert_lt(send(bed.peers[i], "x", 1, MSG_NOSIGNAL), 0, "nobody is at the other end");
    cr_assert_eq(it_ia_free(bed.ia), IT_SUCCESS);
    for (unsigned i = 0; i < STREAMS; i++)
        (void)close(bed.peers[i]);
}

/* ---------------------------------------------------------------- one stream */

struct one {
    it_ia_handle_t ia;
    struct event_base *base;
    struct uiw_lingering *set;
    struct raw_peer peer;
    int fd;
};

static void one_open(struct one *one)
{
    one->base = event_base_new();
    CHECK_OK(it_ia_create("uiwarp", 2, 1, &one->ia));
    CHECK_OK(itx_ia_set_event_base(one->ia, one->base));
    one->set = &uiw_ia_of((struct ual_ia *)(void *)one->ia)->cm.lingering;
    raw_socket_pair(&one->peer, &one->fd);
}

static void one_close(struct one *one)
{
    raw_close(&one->peer);
    CHECK_OK(it_ia_free(one->ia));
    event_base_free(one->base);
    check_done();
}

static void one_run_until(struct one *one, unsigned count)
{
    struct fx_patience patience = fx_patience_start("the end of the stream");

    while (one->set->count != count) {
        (void)event_base_loop(one->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        fx_patience_check(&patience);
    }
}

/* Unread octets would turn the close into a reset, which may overtake the last octets. */
Test(uiw_linger, the_peer_gets_the_last_words_whatever_it_sends)
{
    char words[16];
    size_t got;
    struct one one;

    one_open(&one);
    CHECK(raw_send_part(&one.peer, "unread", 6));
    uiw_linger(one.set, one.fd, "last words", 10);
    CHECK_EQ(1, one.set->count);
    CHECK(raw_send_part(&one.peer, "more", 4));
    EXPECT_EQ(RAW_OK, raw_receive(&one.peer, words, 10, &got));
    EXPECT_EQ(RAW_EOF, raw_drain(&one.peer));
    EXPECT_EQ(1, one.set->count);
    raw_finish(&one.peer);
    one_run_until(&one, 0);
    one_close(&one);
}

/* A peer that never closes its end keeps the descriptor for five seconds. */
Test(uiw_linger, a_peer_that_stays_is_left)
{
    uint64_t began = base_now_ns();
    char words[16];
    size_t got;
    struct one one;

    one_open(&one);
    uiw_linger(one.set, one.fd, "last words", 10);
    EXPECT_EQ(RAW_OK, raw_receive(&one.peer, words, 10, &got));
    EXPECT_EQ(RAW_EOF, raw_drain(&one.peer));
    while (one.set->count > 0)
        (void)event_base_loop(one.base, EVLOOP_ONCE);
    CHECK(base_now_ns() - began >= 5 * BASE_NS_PER_S);
    one_close(&one);
}

/* A copy of the descriptor does not keep the stream alive. */
Test(uiw_linger, a_reset_reaches_the_peer_through_copies)
{
    struct one one;
    int copy;

    one_open(&one);
    copy = dup(one.fd);
    uiw_reset_fd(one.fd);
    EXPECT_EQ(RAW_RESET, raw_drain(&one.peer));
    (void)close(copy);
    one_close(&one);
}

/* The last octets do not fit the socket. They are sent as the peer reads, followed by FIN. */
Test(uiw_linger, long_words_go_out_as_the_peer_reads)
{
    static unsigned char words[8 << 20];
    static unsigned char heard[sizeof(words)];
    size_t got = 0;
    struct one one;

    one_open(&one);
    fx_fill(words, sizeof(words), 1);
    uiw_linger(one.set, one.fd, words, sizeof(words));
    while (got < sizeof(words)) {
        ssize_t length = recv(one.peer.fd, heard + got, sizeof(heard) - got, MSG_DONTWAIT);

        (void)event_base_loop(one.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        got += length > 0 ? (size_t)length : 0;
    }
    fx_check_same(words, heard, sizeof(words));
    EXPECT_EQ(RAW_EOF, raw_drain(&one.peer));
    raw_close(&one.peer);
    one_run_until(&one, 0);
    one_close(&one);
}
