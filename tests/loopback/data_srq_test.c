/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints that share a receive queue: which endpoint gets which receive, and what happens to the
 * others.
 */
#include <criterion/criterion.h>

#include "support/fixture_node.h"

#define USERS 4u
#define SLOT  512u
#define DEPTH 64u

/* Several endpoints of node b draw from one queue. Each has its own peer on node a. */
static struct {
    struct fx_node a;
    struct fx_node b;
    it_srq_handle_t srq;
    it_ep_handle_t senders[USERS];
    it_ep_handle_t users[USERS];
    struct fx_buf out;
    struct fx_buf in; /* DEPTH slots */
} shared;

static void shared_open(size_t segments, size_t depth)
{
    fx_node_open(&shared.a);
    fx_node_open(&shared.b);
    shared.srq = fx_srq(&shared.b, segments, depth);
    for (unsigned i = 0; i < USERS; i++) {
        shared.senders[i] = fx_ep(&shared.a, NULL);
        shared.users[i] = fx_srq_ep(&shared.b, shared.srq, NULL);
        fx_join(&shared.a, shared.senders[i], &shared.b, shared.users[i]);
    }
    shared.out = fx_node_buf(&shared.a, (size_t)DEPTH * SLOT);
    shared.in = fx_node_buf(&shared.b, (size_t)DEPTH * SLOT);
    fx_fill(shared.out.data, shared.out.size, 1);
}

static void shared_close(void)
{
    fx_node_close(&shared.a);
    fx_node_close(&shared.b);
}

/* Receive number i goes to slot i. */
static void post(unsigned i)
{
    fx_srq_recv(shared.srq, &shared.in, (size_t)i * SLOT, SLOT, i);
}

/* Message number i is the content of slot i of the sender's buffer, up to `length`. */
static void send_from(unsigned user, unsigned i, size_t length)
{
    fx_send(shared.senders[user], &shared.out, (size_t)i * SLOT, length, i, FX_SIGNAL);
    fx_done_len(shared.a.request_evd, shared.senders[user], IT_DTO_SEND_CMPL_EVENT, i, length);
}

static void arrived(unsigned user, unsigned i, size_t length)
{
    fx_done_len(shared.b.recv_evd, shared.users[user], IT_DTO_RC_RECV_CMPL_EVENT, i, length);
    fx_check_same(shared.out.data + (size_t)i * SLOT, shared.in.data + (size_t)i * SLOT, length);
}

/* ---- Who gets which ------------------------------------------------------------------------- */

Test(data_srq, messages_take_receives_in_the_order_they_arrive, .fini = shared_close)
{
    uint32_t random = 5;

    shared_open(1, DEPTH);
    for (unsigned i = 0; i < DEPTH; i++)
        post(i);
    for (unsigned i = 0; i < DEPTH; i++) {
        unsigned user = fx_random(&random) % USERS;
        size_t length = fx_random(&random) % (SLOT + 1);

        send_from(user, i, length);
        arrived(user, i, length);
    }
    fx_empty(shared.b.aff_evd);
}

/*
 * A value takes a receive of its own, as with an endpoint's own queue, and leaves its buffer
 * unchanged.
 */
Test(data_srq, immediate_values, .fini = shared_close)
{
    it_lmr_triplet_t segment;

    shared_open(1, DEPTH);
    for (unsigned i = 0; i < 2 * USERS; i++)
        post(i);
    for (unsigned user = 0; user < USERS; user++) {
        unsigned data = 2 * user;
        it_event_t event;
        uint64_t value = 0;

        CHECK_OK(itx_ep_enable_immediate(shared.senders[user], IT_TRUE));
        CHECK_OK(itx_ep_enable_immediate(shared.users[user], IT_TRUE));
        segment = fx_seg(&shared.out, (size_t)data * SLOT, SLOT);
        CHECK_OK(itx_post_send_imm(shared.senders[user], &segment, 1, 1, FX_QUIET, 100 + user));
        arrived(user, data, SLOT);
        event = fx_next(shared.b.recv_evd);
        CHECK(event.dto_cmpl.ep == shared.users[user]);
        CHECK_EQ(data + 1, event.dto_cmpl.cookie);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(IT_TRUE, itx_event_immediate(&event, &value));
        CHECK_EQ(100 + user, value);
        CHECK(fx_is_byte(shared.in.data + (size_t)(data + 1) * SLOT, SLOT, 0));
    }
    fx_empty(shared.b.aff_evd);
}

Test(data_srq, completions_come_on_the_evd_of_the_endpoint, .fini = shared_close)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_evd_handle_t own;
    it_ep_handle_t user = NULL;
    it_ep_handle_t sender;

    shared_open(1, DEPTH);
    own = fx_evd(&shared.b, IT_DTO_EVENT_STREAM, 16, 0);
    attr.srv.rc.srq = shared.srq;
    CHECK_OK(it_ep_rc_create(shared.b.pz, shared.b.request_evd, own, shared.b.conn_evd, IT_EP_SRQ,
                             &attr, &user));
    sender = fx_ep(&shared.a, NULL);
    fx_join(&shared.a, sender, &shared.b, user);
    post(0);
    post(1);
    fx_send(sender, &shared.out, 0, 10, 0, FX_QUIET);
    fx_done_len(own, user, IT_DTO_RC_RECV_CMPL_EVENT, 0, 10);
    send_from(2, 1, 20);
    arrived(2, 1, 20);
    fx_empty(own);
}

/*
 * A receive of several segments, a message of many FPDUs that is read straight into place, and an
 * empty message.
 */
Test(data_srq, messages_of_any_shape, .fini = shared_close)
{
    const size_t large = 3u << 20;
    it_lmr_triplet_t segments[3];
    struct fx_buf out;
    struct fx_buf in;

    shared_open(3, DEPTH);
    out = fx_node_buf(&shared.a, large);
    in = fx_node_buf(&shared.b, large + 16);
    fx_fill(out.data, out.size, 9);
    segments[0] = fx_seg(&in, 0, 1000);
    segments[1] = fx_seg(&in, 1000, 0);
    segments[2] = fx_seg(&in, 1000, large + 16 - 1000);
    CHECK_OK(it_post_recv(shared.srq, segments, 3, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(shared.srq, NULL, 0, 2, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_NUM_SEGMENTS, it_post_recv(shared.srq, segments, 4, 3, FX_SIGNAL));
    fx_send(shared.senders[0], &out, 0, large, 1, FX_QUIET);
    fx_done_len(shared.b.recv_evd, shared.users[0], IT_DTO_RC_RECV_CMPL_EVENT, 1, large);
    fx_check_same(out.data, in.data, large);
    CHECK_OK(it_post_send(shared.senders[1], NULL, 0, 2, FX_QUIET));
    fx_done_len(shared.b.recv_evd, shared.users[1], IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
}

/* A receive without IT_NOTIFY_FLAG wakes nobody unless the message is solicited. */
Test(data_srq, notification, .fini = shared_close)
{
    it_event_t event;

    shared_open(1, DEPTH);
    CHECK_OK(it_post_recv(shared.srq, NULL, 0, 1, FX_QUIET));
    CHECK_OK(it_post_recv(shared.srq, NULL, 0, 2, FX_QUIET));
    CHECK_OK(it_post_send(shared.senders[0], NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(shared.senders[1], NULL, 0, 2,
                          (it_dto_flags_t)(FX_SIGNAL | IT_SOLICITED_WAIT_FLAG)));
    event = fx_wait(shared.b.recv_evd);
    CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
    (void)fx_next(shared.b.recv_evd);
}

/* ---- Depth ---------------------------------------------------------------------------------- */

Test(data_srq, holds_its_depth_and_not_one_more, .fini = shared_close)
{
    it_srq_param_t param;

    shared_open(1, 5);
    CHECK_OK(it_srq_query(shared.srq, IT_SRQ_PARAM_ALL, &param));
    CHECK_EQ(5, param.max_recv_dtos);
    CHECK_EQ(1, param.max_recv_segs);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 5; i++)
            post(i);
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(shared.srq, NULL, 0, 9, FX_SIGNAL));
        for (unsigned i = 0; i < 5; i++) {
            send_from(i % USERS, i, SLOT);
            arrived(i % USERS, i, SLOT);
        }
    }
}

static it_status_t resize(it_srq_handle_t srq, size_t depth)
{
    it_srq_param_t param = {.max_recv_dtos = depth};

    return it_srq_modify(srq, IT_SRQ_PARAM_MAX_RECV_DTO, &param);
}

/* Waiting receives stay in their order at any size of the queue. */
Test(data_srq, can_be_resized_while_in_use, .fini = shared_close)
{
    unsigned posted = 0;
    unsigned sent = 0;
    uint32_t random = 11;

    shared_open(1, 1);
    while (sent < 600) {
        size_t depth = 1 + fx_random(&random) % 40;

        CHECK_STATUS(depth < posted - sent ? IT_ERR_INVALID_SRQ_SIZE : IT_SUCCESS,
                     resize(shared.srq, depth));
        if (depth < posted - sent)
            depth = posted - sent;
        else
            CHECK_STATUS(IT_ERR_INVALID_SRQ_SIZE, resize(shared.srq, 0));
        while (posted - sent < depth && fx_random(&random) % 8 != 0)
            post(posted++ % DEPTH);
        while (posted != sent && fx_random(&random) % 8 != 0) {
            unsigned user = fx_random(&random) % USERS;

            send_from(user, sent % DEPTH, 100);
            arrived(user, sent++ % DEPTH, 100);
        }
    }
    CHECK_STATUS(IT_ERR_RESOURCE_RECV_DTO, resize(shared.srq, SIZE_MAX));
}

/* ---- The end of an endpoint, of a queue ------------------------------------------------------ */

Test(data_srq, receives_nobody_has_taken_stay_for_the_others, .fini = shared_close)
{
    shared_open(1, DEPTH);
    for (unsigned i = 0; i < 6; i++)
        post(i);
    send_from(0, 0, 10);
    arrived(0, 0, 10);
    CHECK_OK(it_ep_disconnect(shared.users[0], NULL, 0));
    fx_conn(shared.b.conn_evd, shared.users[0], IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(shared.a.conn_evd, shared.senders[0], IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(shared.users[1]));
    (void)fx_next(shared.a.conn_evd);
    fx_empty(shared.b.recv_evd); /* nothing was flushed */
    send_from(2, 1, 20);
    arrived(2, 1, 20);

    /* After a reset the endpoint draws again. */
    CHECK_OK(it_ep_reset(shared.users[0]));
    CHECK_OK(it_ep_reset(shared.senders[0]));
    fx_join(&shared.a, shared.senders[0], &shared.b, shared.users[0]);
    send_from(0, 2, 30);
    arrived(0, 2, 30);
    send_from(3, 3, 40);
    arrived(3, 3, 40);
}

/* The receive that the message has drawn is reported. The other endpoints notice nothing. */
Test(data_srq, a_message_that_is_too_long, .fini = shared_close)
{
    it_event_t event;

    shared_open(1, DEPTH);
    for (unsigned i = 0; i < 3; i++)
        post(i);
    fx_send(shared.senders[1], &shared.out, 0, SLOT + 1, 7, FX_QUIET);
    fx_done(shared.b.recv_evd, shared.users[1], IT_DTO_RC_RECV_CMPL_EVENT, 0,
            IT_DTO_ERR_LOCAL_LENGTH);
    fx_conn(shared.b.conn_evd, shared.users[1], IT_CM_MSG_CONN_BROKEN_EVENT);
    event = fx_next(shared.b.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION, event.event_number);
    CHECK(event.aff_async.cause.ep == shared.users[1]);
    send_from(0, 1, 20);
    arrived(0, 1, 20);
    fx_empty(shared.b.recv_evd);
}

/* The same happens if the memory of the receive was freed. */
Test(data_srq, a_receive_without_memory, .fini = shared_close)
{
    struct fx_buf gone;

    shared_open(1, DEPTH);
    gone = fx_buf_make(&shared.b, SLOT);
    fx_srq_recv(shared.srq, &gone, 0, SLOT, 77);
    post(0);
    fx_buf_free(&gone);
    fx_send(shared.senders[1], &shared.out, 0, 10, 7, FX_QUIET);
    fx_done(shared.b.recv_evd, shared.users[1], IT_DTO_RC_RECV_CMPL_EVENT, 77,
            IT_DTO_ERR_LOCAL_PROTECTION);
    send_from(0, 0, 20);
    arrived(0, 0, 20);
}

Test(data_srq, no_receive_breaks_the_connection, .fini = shared_close)
{
    it_event_t event;

    shared_open(1, DEPTH);
    fx_send(shared.senders[1], &shared.out, 0, 10, 7, FX_QUIET);
    fx_conn(shared.b.conn_evd, shared.users[1], IT_CM_MSG_CONN_BROKEN_EVENT);
    event = fx_next(shared.b.aff_evd);
    CHECK_EQ(IT_ASYNC_AFF_EP_SRQ_ERROR, event.event_number);
    CHECK(event.aff_async.cause.ep == shared.users[1]);
    fx_conn(shared.a.conn_evd, shared.senders[1], IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_empty(shared.b.recv_evd);
    post(0);
    send_from(0, 0, 20);
    arrived(0, 0, 20);
}

Test(data_srq, a_queue_in_use_is_busy, .fini = shared_close)
{
    shared_open(1, DEPTH);
    post(0);
    CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(shared.srq));
    send_from(0, 0, 20);
    arrived(0, 0, 20);
    for (unsigned i = 0; i < USERS; i++) {
        CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(shared.srq));
        CHECK_OK(it_ep_free(shared.users[i]));
    }
    post(1); /* vanishes */
    CHECK_OK(it_srq_free(shared.srq));
    CHECK_STATUS(IT_ERR_INVALID_SRQ, it_srq_free(shared.srq));
    fx_empty(shared.b.recv_evd);
}

Test(data_srq, endpoints_refuse_receives_of_their_own, .fini = shared_close)
{
    it_ep_handle_t idle;

    shared_open(1, DEPTH);
    idle = fx_srq_ep(&shared.b, shared.srq, NULL);
    CHECK_STATUS(IT_ERR_INVALID_RECV_DTO, it_post_recv(idle, NULL, 0, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_INVALID_RECV_DTO, it_post_recv(shared.users[0], NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_ep_disconnect(shared.users[0], NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_RECV_DTO, it_post_recv(shared.users[0], NULL, 0, 1, FX_SIGNAL));
    fx_empty(shared.b.recv_evd);
}

Test(data_srq, is_announced, .init = node_init, .fini = node_fini)
{
    it_ia_info_t *info = NULL;

    CHECK_OK(it_ia_query(node.ia, &info));
    CHECK(info->srq_support == IT_TRUE);
    CHECK(info->srq_resizable == IT_TRUE);
    CHECK(info->soft_hi_watermark_support == IT_TRUE);
    CHECK(info->hard_hi_watermark_support == IT_TRUE);
    it_ia_info_free(info);
}
