/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of connections and of attempts: what the peer gets, what is flushed, what is reported. */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "tdi/iwarp/iw_wire.h"
#include "uiw_stream.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <criterion/criterion.h>

#include <string.h>

static struct uiw_stream stream;
static struct raw_peer peer;
static struct raw_segment segment;

static const struct iw_terminate local_error = {.error = IW_ERR_RDMAP_LOCAL};

static void setup(void)
{
    uiw_stream_open(&stream, true, 1460);
    uiw_stream_over_tcp(&stream, &peer);
}

static void teardown(void)
{
    raw_close(&peer);
    uiw_stream_close(&stream);
}

TestSuite(uiw_end, .init = setup, .fini = teardown);

static void post_send(void)
{
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
}

static bool end_with(struct uiw_end end)
{
    if (end.recv_status == 0)
        end.recv_status = IT_DTO_ERR_FLUSHED;
    return uiw_ep_end(stream.ual, &end, true);
}

static void check_flushed(it_evd_handle_t evd, it_dto_cookie_t cookie)
{
    uiw_stream_done(evd, cookie, IT_DTO_ERR_FLUSHED);
}

Test(uiw_end, it_ends_once)
{
    uiw_stream_post_recv(&stream, 0, 64);
    post_send();
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_CLOSED}));
    check_flushed(stream.node.recv_evd, 1);
    check_flushed(stream.node.request_evd, 2);
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_DISCONNECT_EVENT, 0);
    cr_assert_eq(raw_drain(&peer), RAW_EOF);

    cr_assert_not(end_with((struct uiw_end){.step = UAL_EP_BROKEN}));
    fx_empty(stream.node.conn_evd);
    fx_empty(stream.node.request_evd);
    fx_empty(stream.node.recv_evd);
}

Test(uiw_end, later_posts_flush_themselves)
{
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_CLOSED}));
    post_send();
    check_flushed(stream.node.request_evd, 1);
    uiw_stream_post_recv(&stream, 0, 64);
    check_flushed(stream.node.recv_evd, 2);
}

Test(uiw_end, an_earlier_connection_is_not_meant)
{
    stream.ep->generation = 5;
    uiw_stream_let_send(&stream);
    cr_assert_not(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .generation = 4}));
    uiw_stream_check_alive(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .generation = 5}));
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, 0);
}

Test(uiw_end, the_consumer_hears_of_an_error)
{
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .async = IT_ASYNC_AFF_EP_FAILURE}));
    uiw_stream_check_end(&stream, IT_CM_MSG_CONN_BROKEN_EVENT, IT_ASYNC_AFF_EP_FAILURE);
}

/* The failed request keeps its place. The others are flushed. */
Test(uiw_end, the_request_and_the_receive_that_failed)
{
    uiw_stream_post_recv(&stream, 0, 64);
    uiw_stream_post_recv(&stream, 64, 64);
    for (unsigned i = 0; i < 3; i++)
        post_send();
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN,
                                        .has_failed_request = true,
                                        .failed_index = 1,
                                        .failed_status = IT_DTO_ERR_LOCAL_PROTECTION,
                                        .recv_status = IT_DTO_ERR_LOCAL_LENGTH}));
    check_flushed(stream.node.request_evd, 3);
    uiw_stream_done(stream.node.request_evd, 4, IT_DTO_ERR_LOCAL_PROTECTION);
    check_flushed(stream.node.request_evd, 5);
    uiw_stream_done(stream.node.recv_evd, 1, IT_DTO_ERR_LOCAL_LENGTH);
    check_flushed(stream.node.recv_evd, 2);
}

/* ---------------------------------------------------------------- what the peer gets */

static void check_terminate(void)
{
    cr_assert_eq(raw_receive_fpdu(&peer, &segment), RAW_OK, "%s", peer.error);
    cr_assert_eq(segment.op, RAW_TERMINATE);
    cr_assert_eq(segment.qn, 2);
    cr_assert_eq(segment.msn, 1);
    cr_assert_eq(atomic_load(&stream.ep->tx.terminates), 1);
    cr_assert_eq(raw_drain(&peer), RAW_EOF);
}

Test(uiw_end, a_terminate_is_the_last_fpdu)
{
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .terminate = &local_error}));
    check_terminate();
}

Test(uiw_end, a_terminate_follows_the_rest_of_an_fpdu)
{
    uint8_t fpdu[IW_LENGTH_FIELD + IW_TAGGED_HEADER];
    uint8_t rest[sizeof(fpdu) + IW_CRC_FIELD - 4];
    size_t length = iw_encode_tagged(fpdu, IW_OP_WRITE, true, 1, 0, 0);
    size_t got;

    cr_assert(uiw_out_prepend_fpdu(stream.ep, fpdu, length));
    stream.ep->tx.image.start = 4; /* these octets have left */
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .terminate = &local_error}));
    cr_assert_eq(raw_receive(&peer, rest, sizeof(rest), &got), RAW_OK);
    cr_assert_eq(memcmp(rest, fpdu + 4, length - 4), 0);
    check_terminate();
}

Test(uiw_end, a_dead_stream_is_reset)
{
    atomic_store(&stream.ep->tx.dead, true);
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_BROKEN, .terminate = &local_error}));
    cr_assert_eq(atomic_load(&stream.ep->tx.terminates), 0);
    cr_assert_eq(raw_drain(&peer), RAW_RESET);
}

/* ---------------------------------------------------------------- tokens */

static void check_token(bool reader)
{
    cr_assert_eq(atomic_load(&stream.ep->rx.token), reader);
    cr_assert_eq(atomic_load(&stream.ep->tx.token), UIW_TOKEN_FREE);
}

Test(uiw_end, a_reader_stays_one)
{
    uiw_stream_let_send(&stream);
    cr_assert(end_with((struct uiw_end){.step = UAL_EP_CLOSED}));
    check_token(true);
}

Test(uiw_end, any_other_thread_becomes_reader_for_the_call)
{
    static const struct uiw_end end = {.step = UAL_EP_CLOSED, .recv_status = IT_DTO_ERR_FLUSHED};

    uiw_stream_let_send(&stream);
    uiw_reader_drop(stream.ep);
    cr_assert(uiw_ep_end(stream.ual, &end, false));
    check_token(false);
    uiw_reader_take(stream.ep);
}

/* ---------------------------------------------------------------- without a word */

Test(uiw_end, a_stream_that_is_cut_ends_in_order)
{
    uiw_stream_let_send(&stream);
    uiw_reader_drop(stream.ep);
    uiw_ep_cut(stream.ual);
    check_token(false);
    uiw_reader_take(stream.ep);
    cr_assert_eq(stream.ep->fd, -1);
    cr_assert_eq(raw_drain(&peer), RAW_EOF);
    fx_empty(stream.node.conn_evd);
}

Test(uiw_end, a_stream_that_is_cut_with_octets_to_send_is_reset)
{
    post_send();
    uiw_stream_let_send(&stream);
    uiw_reader_drop(stream.ep);
    uiw_ep_cut(stream.ual);
    uiw_reader_take(stream.ep);
    cr_assert_eq(raw_drain(&peer), RAW_RESET);
    fx_empty(stream.node.request_evd);
}

/* ---------------------------------------------------------------- attempts */

static const struct ual_conn_news timed_out = {.number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
                                               .reject_code = IT_CN_REJ_TIMEOUT};

static bool end_attempt(void)
{
    return uiw_ep_end_attempt(stream.ual, UAL_EP_ATTEMPT_FAILED, &timed_out);
}

Test(uiw_end, an_attempt_ends_once)
{
    it_event_t event;

    uiw_stream_post_recv(&stream, 0, 64);
    atomic_store(&stream.ual->state, IT_EP_STATE_ACTIVE1_CONNECTION_PENDING);
    cr_assert(end_attempt());
    check_flushed(stream.node.recv_evd, 1);
    event = fx_conn(stream.node.conn_evd, stream.handle, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    cr_assert_eq(event.conn.reject_reason_code, IT_CN_REJ_TIMEOUT);
    cr_assert_eq(fx_ep_state(stream.handle), IT_EP_STATE_NONOPERATIONAL);
    uiw_stream_post_recv(&stream, 0, 64);
    check_flushed(stream.node.recv_evd, 2);

    cr_assert_not(end_attempt());
    fx_empty(stream.node.conn_evd);
}

Test(uiw_end, a_connection_is_no_attempt)
{
    static const struct ual_conn_news gone = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};

    uiw_stream_post_recv(&stream, 0, 64);
    cr_assert_not(end_attempt());
    cr_assert_not(uiw_ep_end_attempt(stream.ual, UAL_EP_DISCONNECT, &gone));
    uiw_stream_check_alive(&stream);
    fx_empty(stream.node.recv_evd);
}
