/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stream at work, octet by octet: what is sent and when, and how octets of the peer are
 * handled.
 */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "tdi/iwarp/iw_wire.h"
#include "uiw_stream.h"
#include "vp/uiwarp/queue/uiw_progress.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static struct uiw_stream stream;
static struct raw_peer peer;
static struct raw_segment segment;
static struct raw_bytes ulpdu, octets;
static uint8_t staging[UIW_STAGING_SIZE];

/* ---------------------------------------------------------------- the kernel's part */

static _Thread_local void (*while_sending)(void); /* once */

static void send_begins(void)
{
    void (*call)(void) = while_sending;

    while_sending = NULL;
    if (call)
        call();
}

/*
 * The library enters the kernel through syscall(), under sanitizers through send(). Both are
 * replaced.
 */
long syscall(long number, ...)
{
    long (*next)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long arguments[6];
    va_list list;

    if (number == SYS_sendto)
        send_begins();
    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    send_begins();
    return sendto(fd, data, length, flags, NULL, 0);
}

/* ---------------------------------------------------------------- the stream */

static void setup(void)
{
    uiw_stream_open(&stream, true, 1460);
    uiw_stream_over_tcp(&stream, &peer);
}

static void teardown(void)
{
    raw_free(&ulpdu);
    raw_free(&octets);
    raw_close(&peer);
    uiw_stream_close(&stream);
}

TestSuite(uiw_drive, .init = setup, .fini = teardown);

static void post_send(void)
{
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
}

static void check_silent(void)
{
    int unread = 0;

    cr_assert_eq(ioctl(peer.fd, FIONREAD, &unread), 0);
    cr_assert_eq(unread, 0);
}

static void check_fpdu(enum raw_op op)
{
    cr_assert_eq(raw_receive_fpdu(&peer, &segment), RAW_OK, "%s", peer.error);
    cr_assert_eq(segment.op, (unsigned)op);
}

/* ---------------------------------------------------------------- to the peer */

Test(uiw_drive, posted_requests_leave)
{
    post_send();
    uiw_stream_let_send(&stream);
    check_silent();
    uiw_drive_send(stream.ual, true);
    check_fpdu(RAW_SEND);
    cr_assert_eq(atomic_load(&stream.ep->tx.token), UIW_TOKEN_FREE);
    uiw_stream_done(stream.node.request_evd, 1, IT_DTO_SUCCESS);
}

/* The thread that holds the token looks again before it releases it. */
Test(uiw_drive, a_token_that_is_taken_is_marked)
{
    post_send();
    atomic_store(&stream.ep->tx.token, UIW_TOKEN_HELD);
    uiw_drive_send(stream.ual, true);
    cr_assert_eq(atomic_load(&stream.ep->tx.token), UIW_TOKEN_AGAIN);
    check_silent();
}

/* A request posted while another thread sends leaves with that thread's requests. */
Test(uiw_drive, the_holder_of_a_marked_token_looks_again)
{
    post_send();
    uiw_stream_let_send(&stream);
    while_sending = post_send;
    uiw_drive_send(stream.ual, true);
    cr_assert_null(while_sending);
    check_fpdu(RAW_SEND);
    check_fpdu(RAW_SEND);
    cr_assert_eq(atomic_load(&stream.ep->tx.token), UIW_TOKEN_FREE);
}

/*
 * With markers an FPDU is a batch, and a batch costs one of the budget. An FPDU has 32 octets, and
 * markers of 4 stand 512 apart.
 */
static void check_turn(bool shared, unsigned fpdus, uint64_t octets_out)
{
    stream.ep->agreed.send_markers = true;
    for (unsigned i = 0; i < 39; i++)
        post_send();
    uiw_stream_let_send(&stream);
    uiw_drive_turn(stream.ual, true, false, shared);
    cr_assert_eq(stream.ep->tx.cursor.sq, fpdus);
    cr_assert_eq(atomic_load(&stream.ep->tx.octets), octets_out);
    cr_assert(atomic_load(&stream.ep->tx.blocked), "the leader is told to come again");
    uiw_drive_turn(stream.ual, true, false, shared);
    cr_assert_eq(stream.ep->tx.cursor.sq, fpdus);
    uiw_drive_turn(stream.ual, true, true, false);
    cr_assert_eq(stream.ep->tx.cursor.sq, 39);
    cr_assert_not(atomic_load(&stream.ep->tx.blocked));
}

TEST_ROW(uiw_drive, a_turn_ends, check_turn, false, 32, 32 * 32 + 3 * 4);
TEST_ROW(uiw_drive, a_turn_beside_others_is_shorter, check_turn, true, 8, 8 * 32 + 4);

Test(uiw_drive, a_request_that_cannot_be_sent_ends_the_stream)
{
    struct fx_buf gone = fx_buf_make(&stream.node, 64);
    it_lmr_triplet_t part = fx_seg(&gone, 0, 5);
    struct vp_request request = {.opcode = VP_SEND,
                                 .flags = FX_SIGNAL,
                                 .cookie = 9,
                                 .segments = &part,
                                 .segment_count = 1,
                                 .length = 5};

    uiw_stream_post_request(&stream, &request);
    fx_buf_free(&gone);
    uiw_stream_let_send(&stream);
    uiw_drive_send(stream.ual, true);
    check_fpdu(RAW_TERMINATE);
    uiw_stream_done(stream.node.request_evd, 9, IT_DTO_ERR_LOCAL_PROTECTION);
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION);
}

Test(uiw_drive, a_completion_that_was_lost_ends_the_stream)
{
    atomic_store(&stream.ep->lost_event, true);
    uiw_stream_let_send(&stream);
    uiw_drive_send(stream.ual, true);
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_FAILURE);
}

/* ---------------------------------------------------------------- a nudge */

static void nudge(void)
{
    uint8_t fpdu[IW_LENGTH_FIELD + IW_TAGGED_HEADER];

    uiw_drive_nudge(stream.ual, fpdu, iw_encode_tagged(fpdu, IW_OP_WRITE, true, 1, 0, 0));
}

static void check_nudges(uint64_t count)
{
    cr_assert_eq(atomic_load(&stream.ep->tx.nudges), count);
}

Test(uiw_drive, a_nudge_is_an_fpdu_by_itself)
{
    uiw_stream_let_send(&stream);
    nudge();
    check_fpdu(RAW_WRITE);
    cr_assert_eq(segment.len, 0);
    check_nudges(1);
    check_silent();
}

Test(uiw_drive, no_nudge_beside_a_request)
{
    post_send();
    uiw_stream_let_send(&stream);
    nudge();
    check_fpdu(RAW_SEND);
    check_silent();
    check_nudges(0);
}

Test(uiw_drive, no_nudge_beside_a_response)
{
    uiw_irq_enter(&stream.ep->reads,
                  &(struct uiw_irq_entry){.request = {.source_stag = uiw_stream_stag(&stream)}});
    uiw_stream_let_send(&stream);
    nudge();
    check_fpdu(RAW_READ_RESPONSE);
    check_silent();
    check_nudges(0);
}

Test(uiw_drive, no_nudge_by_a_side_that_may_not_speak_yet)
{
    atomic_store(&stream.ep->tx.hold, true);
    uiw_stream_let_send(&stream);
    nudge();
    check_silent();
    check_nudges(0);
}

Test(uiw_drive, no_nudge_while_another_thread_sends)
{
    atomic_store(&stream.ep->tx.token, UIW_TOKEN_HELD);
    nudge();
    check_silent();
    check_nudges(0);
    cr_assert_eq(atomic_load(&stream.ep->tx.token), UIW_TOKEN_AGAIN);
}

/* ---------------------------------------------------------------- from the peer */

static void peer_sends_ulpdu(void)
{
    cr_assert(raw_send_ulpdu(&peer, &ulpdu));
    raw_reset(&ulpdu);
}

static void peer_writes(void)
{
    raw_tagged(&ulpdu, RAW_WRITE, uiw_stream_stag(&stream), fx_addr(&stream.buf, 0), "w", 1, true);
    peer_sends_ulpdu();
}

/* Reads until something has arrived. Over TCP that takes a moment. */
static void receive(void)
{
    int generation = stream.ep->fd;

    uiw_reader_drop(stream.ep);
    FX_WAIT_WHILE(uiw_drive_receive(stream.ual, staging, false) == 0 && stream.ep->fd == generation,
                  "octets of the peer");
    uiw_reader_take(stream.ep);
}

Test(uiw_drive, octets_are_left_to_the_reader)
{
    peer_writes();
    uiw_stream_let_send(&stream);
    cr_assert_eq(uiw_drive_receive(stream.ual, staging, false), 0);
    cr_assert_eq(atomic_load(&stream.ep->rx.calls_in), 0);
    receive();
    cr_assert_eq(atomic_load(&stream.ep->rx.fpdus_in), 1);
    uiw_stream_check_alive(&stream);
}

Test(uiw_drive, a_message_completes_a_receive)
{
    uiw_stream_post_recv(&stream, 0, 64);
    uiw_stream_let_send(&stream);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "hello", 5, true, 0);
    peer_sends_ulpdu();
    receive();
    uiw_stream_done(stream.node.recv_evd, 1, IT_DTO_SUCCESS);
    cr_assert_not(stream.ep->rx.wake_recv);
}

Test(uiw_drive, a_read_of_the_peer_is_answered)
{
    uiw_stream_let_send(&stream);
    raw_read_request(&ulpdu, 1, 77, 0, 64, uiw_stream_stag(&stream), fx_addr(&stream.buf, 0));
    peer_sends_ulpdu();
    receive();
    check_fpdu(RAW_READ_RESPONSE);
    cr_assert_eq(segment.stag, 77);
    cr_assert_eq(segment.len, 64);
    cr_assert_not(stream.ep->rx.kick);
}

/* RFC 5044 7.1.2: a responder waits for the initiator's first FPDU. */
Test(uiw_drive, the_first_fpdu_of_the_peer_releases_a_responder)
{
    atomic_store(&stream.ep->tx.hold, true);
    post_send();
    uiw_stream_let_send(&stream);
    uiw_drive_send(stream.ual, true);
    check_silent();
    peer_writes();
    receive();
    cr_assert_not(atomic_load(&stream.ep->tx.hold));
    check_fpdu(RAW_SEND);
}

Test(uiw_drive, part_of_an_fpdu_releases_nothing)
{
    atomic_store(&stream.ep->tx.hold, true);
    uiw_stream_let_send(&stream);
    cr_assert(raw_send_part(&peer, "\0\16", 2));
    receive();
    cr_assert(atomic_load(&stream.ep->tx.hold));
    uiw_stream_check_alive(&stream);
}

/* ---------------------------------------------------------------- ends */

Test(uiw_drive, a_damaged_fpdu_is_answered_by_a_terminate)
{
    uiw_stream_let_send(&stream);
    raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
    raw_fpdu(&octets, &ulpdu, true);
    octets.data[octets.len - 1] ^= 1;
    cr_assert(raw_send(&peer, &octets));
    receive();
    check_fpdu(RAW_TERMINATE);
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_L_LLP_ERROR);
}

/* The Terminate counts more than the end of the stream behind it. */
Test(uiw_drive, a_terminate_of_the_peer)
{
    uiw_stream_let_send(&stream);
    raw_terminate(&ulpdu, 0, 1, 2, 0, NULL, 0, NULL, 0);
    peer_sends_ulpdu();
    raw_finish(&peer);
    receive();
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION);
    cr_assert_eq(atomic_load(&stream.ep->rx.terminates_in), 1);
}

/* A Terminate counts more than anything else that the same read has found. */
static void terminate_counts_more_than(enum uiw_read_state state)
{
    const struct uiw_read read = {.state = state, .error = IW_ERR_MPA_CRC};

    uiw_stream_let_send(&stream);
    stream.ep->rx.terminated = true;
    stream.ep->rx.terminate = (struct iw_terminate){.error = IW_ERR_DDP_TOO_LONG};
    uiw_drive_act(stream.ual, &read, false);
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR);
    cr_assert_eq(atomic_load(&stream.ep->rx.terminates_in), 1);
    cr_assert_eq(atomic_load(&stream.ep->tx.terminates), 0);
}

TEST_ROW(uiw_drive, a_terminate_with_more_behind_it, terminate_counts_more_than, UIW_READ_MORE);
TEST_ROW(uiw_drive, a_terminate_and_the_end, terminate_counts_more_than, UIW_READ_CLOSED);
TEST_ROW(uiw_drive, a_terminate_and_a_reset, terminate_counts_more_than, UIW_READ_LOST);
TEST_ROW(uiw_drive, a_terminate_and_damage, terminate_counts_more_than, UIW_READ_REFUSED);

Test(uiw_drive, the_peer_closes)
{
    uiw_stream_let_send(&stream);
    raw_finish(&peer);
    receive();
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_DISCONNECT_EVENT, 0);
}

Test(uiw_drive, the_peer_resets)
{
    uiw_stream_let_send(&stream);
    raw_close_with_reset(&peer);
    receive();
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_L_LLP_ERROR);
}

/* A leader may come to a stream after its end. */
Test(uiw_drive, a_stream_that_is_gone_is_not_read)
{
    static const struct uiw_end end = {.step = UAL_EP_CLOSED, .recv_status = IT_DTO_ERR_FLUSHED};

    uiw_stream_let_send(&stream);
    cr_assert(uiw_ep_end(stream.ual, &end, true));
    uiw_reader_drop(stream.ep);
    cr_assert_eq(uiw_drive_receive(stream.ual, staging, false), 0);
    uiw_reader_take(stream.ep);
    cr_assert_eq(atomic_load(&stream.ep->rx.calls_in), 0);
}
