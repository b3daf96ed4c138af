/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A socket becomes the stream of an EP: what is sent first, what is held back, what is agreed on.
 */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "tdi/iwarp/iw_mpa.h"
#include "uiw_bed.h"
#include "support/raw_peer.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define DEPTH       16u

static struct uiw_bed bed;
static struct raw_peer peer;
static struct raw_segment segment;
static struct fx_buf buf;
static int fd;

/* ---------------------------------------------------------------- the kernel's part */

static _Thread_local struct {
    int mss; /* 0: the socket's MSS; -1: it is unknown */
    int add_error;
} script;

int getsockopt(int of, int level, int name, void *value, socklen_t *size)
{
    if (level == IPPROTO_TCP && name == TCP_MAXSEG && script.mss != 0) {
        memcpy(value, &script.mss, sizeof(script.mss));
        return script.mss < 0 ? -1 : 0;
    }
    return (int)syscall(SYS_getsockopt, of, level, name, value, size);
}

int epoll_ctl(int set, int operation, int of, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && script.add_error) {
        errno = script.add_error;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, of, event);
}

/* ---------------------------------------------------------------- the bed */

static void setup(void)
{
    uiw_bed_open(&bed, DEPTH);
    buf = fx_buf_make(&bed.node, 64);
    raw_socket_pair(&peer, &fd);
}

static void teardown(void)
{
    CHECK_OK(it_ep_free(bed.handle));
    raw_close(&peer);
    fx_buf_free(&buf);
    fx_node_close(&bed.node);
}

TestSuite(uiw_start, .init = setup, .fini = teardown);

/* Prepares an attempt that is about to succeed. */
static void begin(void)
{
    atomic_store(&bed.ual->state, IT_EP_STATE_ACTIVE1_CONNECTION_PENDING);
}

static bool start_as(bool initiator, bool converted, struct iw_mpa_result result,
                     const struct raw_bytes *early)
{
    struct ual_conn_news news = {.ird = 0};

    if (result.ird == 0)
        result.ird = result.ord = 8;
    peer.crc = result.crc;
    return uiw_start_stream(bed.ual, fd, initiator, converted, &result, early ? early->data : NULL,
                            early ? early->len : 0, &news);
}

static it_event_t check_established(void)
{
    return fx_conn(bed.node.conn_evd, bed.handle, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

static void check_fpdu(enum raw_op op)
{
    cr_assert_eq(raw_receive_fpdu(&peer, &segment), RAW_OK, "%s", peer.error);
    cr_assert_eq(segment.op, (unsigned)op);
}

/* ---------------------------------------------------------------- what the peer gets */

static const struct rtr_row {
    enum iw_mpa_rtr rtr;
    const char *octets; /* without CRC */
} rtrs[] = {
    {IW_RTR_WRITE, "000ec140 00000001 00000000 00000000 00000000"},
    {IW_RTR_SEND, "00124143 00000000 00000000 00000001 00000000 00000000"},
    {IW_RTR_READ, "002e4141 00000000 00000001 00000001 00000000 00000001 00000000 00000000 "
                  "00000000 00000001 00000000 00000000 00000000"},
};

static void check_rtr(const struct rtr_row *row)
{
    RAW_BYTES(want);
    uint8_t found[128];
    size_t got;

    raw_add_hex(&want, row->octets);
    begin();
    cr_assert(start_as(true, false, (struct iw_mpa_result){.revision = 2, .rtr = row->rtr}, NULL));
    cr_assert_eq(raw_receive(&peer, found, want.len, &got), RAW_OK);
    cr_assert_eq(memcmp(found, want.data, want.len), 0);
}

TEST_ROW(uiw_start, ready_to_receive_write, check_rtr, &rtrs[0]);

Test(uiw_start, ready_to_receive_send)
{
    check_rtr(&rtrs[1]);
    cr_assert_eq(bed.ep->tx.next_send_msn, 2);
}

Test(uiw_start, ready_to_receive_read)
{
    check_rtr(&rtrs[2]);
    cr_assert_eq(bed.ep->tx.next_read_msn, 2);
    cr_assert_eq(uiw_orq_open(&bed.ep->reads), 1);
    cr_assert(uiw_orq_oldest(&bed.ep->reads)->rtr);
}

static void post_send(void)
{
    fx_send(bed.handle, &buf, 0, 5, 1, FX_SIGNAL);
}

Test(uiw_start, an_initiator_may_speak_first)
{
    begin();
    cr_assert(start_as(true, false, (struct iw_mpa_result){.revision = 1}, NULL));
    cr_assert_not(atomic_load(&bed.ep->tx.hold));
    (void)check_established();
    post_send();
    check_fpdu(RAW_SEND);
}

/* RFC 5044 7.1.2: a responder waits for the initiator's first FPDU. */
Test(uiw_start, a_responder_waits_for_the_peer)
{
    RAW_BYTES(ulpdu);

    begin();
    cr_assert(start_as(false, true, (struct iw_mpa_result){.revision = 1, .crc = true}, NULL));
    (void)check_established();
    post_send();
    cr_assert_eq(atomic_load(&bed.ep->tx.calls), 0);
    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    cr_assert(raw_send_ulpdu(&peer, &ulpdu));
    check_fpdu(RAW_SEND);
}

/* ---------------------------------------------------------------- octets behind the frame */

/* Adds a Send of five octets. */
static void add_early(struct raw_bytes *early)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "hello", 5, true, 0);
    raw_fpdu(early, &ulpdu, true);
}

static void start_with(const struct raw_bytes *early)
{
    begin();
    fx_recv(bed.handle, &buf, 0, 64, 3);
    cr_assert(start_as(false, false, (struct iw_mpa_result){.revision = 1, .crc = true}, early));
    (void)check_established();
}

Test(uiw_start, octets_that_were_read_before_count)
{
    RAW_BYTES(early);

    add_early(&early);
    start_with(&early);
    cr_assert_eq(atomic_load(&bed.ep->rx.fpdus_in), 1);
    cr_assert_not(atomic_load(&bed.ep->tx.hold));
    fx_done_len(bed.node.recv_evd, bed.handle, IT_DTO_RC_RECV_CMPL_EVENT, 3, 5);
}

Test(uiw_start, octets_that_were_read_before_may_be_bad)
{
    RAW_BYTES(early);

    add_early(&early);
    early.data[early.len - 1] ^= 1;
    start_with(&early);
    (void)fx_conn(bed.node.conn_evd, bed.handle, IT_CM_MSG_CONN_BROKEN_EVENT);
    check_fpdu(RAW_TERMINATE);
}

/* ---------------------------------------------------------------- what is agreed on */

Test(uiw_start, the_program_sees_what_was_agreed)
{
    static const struct iw_mpa_result result = {
        .revision = 2, .crc = true, .ird = 5, .ord = 3, .peer_ird = 7, .peer_ord = 9};
    struct itx_mpa_info info = {.size = sizeof(info)};
    it_ep_param_t param;
    it_event_t event;

    bed.ep->generation = UINT32_MAX;
    begin();
    cr_assert(start_as(true, false, result, NULL));
    event = check_established();
    cr_assert_eq(event.conn.rdma_read_ird, 5);
    cr_assert_eq(event.conn.rdma_read_ord, 3);
    CHECK_OK(it_ep_query(bed.handle, IT_EP_PARAM_ALL, &param));
    cr_assert_eq(param.attr.srv.rc.rdma_read_ird, 5);
    cr_assert_eq(param.attr.srv.rc.rdma_read_ord, 3);
    CHECK_OK(itx_ep_query_mpa(bed.handle, &info));
    cr_assert(info.initiator && info.crc && !info.send_markers);
    cr_assert_eq(info.revision, 2);
    cr_assert_eq(info.ird, 5);
    cr_assert_eq(info.ord, 3);
    cr_assert_eq(info.peer_ird, 7);
    cr_assert_eq(info.peer_ord, 9);
    cr_assert_eq(info.max_ulpdu, bed.ep->tx.max_ulpdu);
    cr_assert_eq(bed.ep->generation, 1, "0 names none");
    cr_assert_eq(atomic_load(&bed.ep->limits.ord), 3);
}

static void start_and_check_ulpdu(int mss, bool markers, uint32_t max_ulpdu)
{
    script.mss = mss;
    begin();
    cr_assert(start_as(true, false, (struct iw_mpa_result){.revision = 1, .send_markers = markers},
                       NULL));
    script.mss = 0;
    cr_assert_eq(bed.ep->tx.max_ulpdu, max_ulpdu);
}

/*
 * An FPDU needs a length field, a CRC, and padding to a multiple of four; and a marker for each 512
 * octets.
 */
TEST_ROW(uiw_start, an_fpdu_fills_a_segment, start_and_check_ulpdu, 1448, false, 1448 - 6);
TEST_ROW(uiw_start, an_fpdu_with_markers_fills_a_segment, start_and_check_ulpdu, 1448, true,
         1448 - 6 - 3 * 4);
TEST_ROW(uiw_start, an_fpdu_where_the_mss_is_not_known, start_and_check_ulpdu, -1, false, 536 - 6);
TEST_ROW(uiw_start, an_fpdu_on_a_path_of_small_segments, start_and_check_ulpdu, 16383, false,
         16383 - 6 - 3);
TEST_ROW(uiw_start, an_fpdu_on_a_path_of_large_segments, start_and_check_ulpdu, 16384, false,
         65518);
TEST_ROW(uiw_start, an_fpdu_with_markers_on_a_path_of_large_segments, start_and_check_ulpdu, 65483,
         true, 16384);

/* ---------------------------------------------------------------- who speaks first */

static const struct release_row {
    bool initiator, converted, peer_to_peer;
    uint64_t release_us, release_ns;
} releases[] = {
    {false, false, false, 700, 700000},
    {false, false, false, 0, 0},
    {false, false, false, UINT64_MAX, 0}, /* never */
    {false, false, false, UINT64_MAX / 1000 + 1, 0},
    {true, false, false, 700, 0},
    {false, true, false, 700, 0},
    {false, false, true, 700, 0},
};

static void check_release(const struct release_row *row)
{
    bed.ep->mpa.release_us = row->release_us;
    begin();
    cr_assert(start_as(row->initiator, row->converted,
                       (struct iw_mpa_result){.revision = 1, .peer_to_peer = row->peer_to_peer},
                       NULL));
    cr_assert_eq(bed.ep->release_ns, row->release_ns);
}

Test(uiw_start, when_a_responder_may_speak_first)
{
    for (size_t i = 0; i < COUNT(releases); i++) {
        check_release(&releases[i]);
        (void)check_established();
        CHECK_OK(it_ep_disconnect(bed.handle, NULL, 0));
        (void)fx_conn(bed.node.conn_evd, bed.handle, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(bed.handle));
        raw_close(&peer);
        raw_socket_pair(&peer, &fd);
    }
    (void)close(fd);
}

/* ---------------------------------------------------------------- it does not start */

Test(uiw_start, an_attempt_that_was_given_up)
{
    atomic_store(&bed.ual->state, IT_EP_STATE_NONOPERATIONAL);
    cr_assert_not(
        start_as(true, false, (struct iw_mpa_result){.revision = 2, .rtr = IW_RTR_WRITE}, NULL));
    fx_empty(bed.node.conn_evd);
    cr_assert_eq(bed.ep->fd, -1);
    cr_assert_null(bed.ep->tx.image.buffer);
    cr_assert_eq(write(fd, "x", 1), 1, "the socket is the caller's");
    (void)close(fd);
    atomic_store(&bed.ual->state, IT_EP_STATE_UNCONNECTED);
}

Test(uiw_start, a_stream_that_cannot_be_watched_is_lost)
{
    script.add_error = ENOMEM;
    begin();
    cr_assert(start_as(true, false, (struct iw_mpa_result){.revision = 1}, NULL));
    script.add_error = 0;
    (void)check_established();
    (void)fx_conn(bed.node.conn_evd, bed.handle, IT_CM_MSG_CONN_BROKEN_EVENT);
    cr_assert_eq(raw_drain(&peer), RAW_RESET);
}
