/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of the queues come back whether their completions were flushed, reported out of order, or
 * lost. A request with a bad segment leaves nothing at the peer.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"
#include "support/test_row.h"

#define DEPTH 4u

/* ---- The failed request is the last ---------------------------------------------------------- */

#define LARGE    ((size_t)32 << 20)
#define ATTEMPTS 10u

/* Uses all slots with only the last request signalled, several times. */
static void use_full_depth(const struct fx_node *node, it_ep_handle_t ep)
{
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t i = 1; i < DEPTH; i++)
            CHECK_OK(it_post_rdma_write(ep, NULL, 0, i, FX_QUIET, 0, 0));
        CHECK_OK(it_post_rdma_write(ep, NULL, 0, DEPTH, FX_SIGNAL, 0, 0));
        fx_done_len(node->request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, DEPTH, 0);
    }
}

/*
 * Returns true if the Send failed while the Read was open. A large Read takes a while, but not for
 * ever.
 */
static bool fail_behind_read(struct fx_pair *pair, const struct fx_buf *local,
                             const struct fx_buf *remote)
{
    it_lmr_triplet_t beyond = fx_seg(local, local->size, 100);
    it_evd_handle_t evd = pair->a.request_evd;
    it_event_t first;
    bool open;

    fx_read(pair->a_ep, local, 0, LARGE, remote, 0, 1, FX_SIGNAL);
    CHECK_OK(it_post_send(pair->a_ep, &beyond, 1, 2, FX_SIGNAL));
    first = fx_next(evd);
    CHECK_EQ(1, first.dto_cmpl.cookie);
    open = first.dto_cmpl.dto_status != IT_DTO_SUCCESS;
    CHECK_EQ(open ? IT_DTO_ERR_FLUSHED : IT_DTO_SUCCESS, first.dto_cmpl.dto_status);
    fx_done(evd, pair->a_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_LOCAL_PROTECTION);
    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_empty(evd);
    return open;
}

Test(data_slots, last_request_fails)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr};
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
    bool behind_read = false;

    attr.max_request_dtos = DEPTH;
    fx_pair_open_as(&pair, &setup);
    local = fx_node_buf(&pair.a, LARGE);
    remote = fx_node_buf(&pair.b, LARGE);
    for (unsigned i = 0; i < ATTEMPTS && !behind_read; i++) {
        use_full_depth(&pair.a, pair.a_ep);
        behind_read = fail_behind_read(&pair, &local, &remote);
        fx_pair_rejoin(&pair);
        use_full_depth(&pair.a, pair.a_ep);
    }
    CHECK(behind_read);
    fx_pair_close(&pair);
}

/* ---- Lost completions ------------------------------------------------------------------------ */

enum queue {
    QUEUE_REQUESTS,
    QUEUE_RECEIVES
};

/* Two endpoints share an EVD: one fills it, the completions of the other are lost. */
struct crowd {
    enum queue queue;
    struct fx_node a;
    struct fx_node b;
    struct fx_buf from; /* the marks that the peer writes after each Send */
    struct fx_buf to;
    it_evd_handle_t small; /* b's EVD, which both endpoints use */
    it_ep_handle_t filler;
    it_ep_handle_t victim;
    it_ep_handle_t peer; /* the victim's peer */
};

static it_ep_handle_t crowd_ep(const struct crowd *crowd)
{
    const struct fx_node *b = &crowd->b;
    bool requests = crowd->queue == QUEUE_REQUESTS;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    attr.max_request_dtos = DEPTH;
    attr.max_recv_dtos = DEPTH;
    CHECK_OK(it_ep_rc_create(b->pz, requests ? crowd->small : b->request_evd,
                             requests ? b->recv_evd : crowd->small, b->conn_evd, IT_EP_REUSEADDR,
                             &attr, &ep));
    return ep;
}

static void crowd_open(struct crowd *crowd, enum queue queue)
{
    memset(crowd, 0, sizeof(*crowd));
    crowd->queue = queue;
    fx_node_open(&crowd->a);
    fx_node_open(&crowd->b);
    crowd->from = fx_node_buf(&crowd->a, 256);
    crowd->to = fx_node_buf(&crowd->b, 1);
    for (unsigned i = 0; i < 256; i++)
        crowd->from.data[i] = (unsigned char)i;
    crowd->small = fx_evd(&crowd->b, IT_DTO_EVENT_STREAM, DEPTH, IT_THRESHOLD_DISABLE);
    crowd->filler = crowd_ep(crowd);
    crowd->victim = crowd_ep(crowd);
    crowd->peer = fx_ep(&crowd->a, NULL);
    fx_join(&crowd->a, fx_ep(&crowd->a, NULL), &crowd->b, crowd->filler);
    fx_join(&crowd->a, crowd->peer, &crowd->b, crowd->victim);
}

static void crowd_close(struct crowd *crowd)
{
    fx_node_close(&crowd->a);
    fx_node_close(&crowd->b);
}

static it_status_t crowd_post(const struct crowd *crowd, it_ep_handle_t ep, uint64_t cookie)
{
    return crowd->queue == QUEUE_REQUESTS ? it_post_rdma_write(ep, NULL, 0, cookie, FX_SIGNAL, 0, 0)
                                          : it_post_recv(ep, NULL, 0, cookie, FX_SIGNAL);
}

static it_evd_param_t crowd_query(const struct crowd *crowd)
{
    it_evd_param_t param;

    CHECK_OK(it_evd_query(crowd->small, IT_EVD_PARAM_OVERFLOWED | IT_EVD_PARAM_QUEUE_SIZE, &param));
    return param;
}

static bool crowd_overflowed(const struct crowd *crowd)
{
    return crowd_query(crowd).evd_overflowed == IT_TRUE;
}

/* Checks that both ends have been told of the end of one connection. */
static void crowd_ended(const struct crowd *crowd, it_ep_handle_t ep, it_event_type_t number)
{
    it_event_t event = fx_next(crowd->a.conn_evd);

    CHECK(event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
          event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(crowd->b.conn_evd, ep, number);
}

/* Fills the EVD: an endpoint without a connection flushes its posts at once. */
static void crowd_fill(const struct crowd *crowd)
{
    size_t size = crowd_query(crowd).sevd_queue_size;

    CHECK_EQ(DEPTH, size); /* the endpoint's depth */
    CHECK_OK(it_ep_disconnect(crowd->filler, NULL, 0));
    crowd_ended(crowd, crowd->filler, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    for (size_t i = 0; i < size; i++)
        CHECK_OK(crowd_post(crowd, crowd->filler, 100 + i));
    CHECK(!crowd_overflowed(crowd));
}

static void crowd_recover(struct crowd *crowd)
{
    it_event_type_t number =
        crowd->queue == QUEUE_REQUESTS ? IT_DTO_RDMA_WRITE_CMPL_EVENT : IT_DTO_RC_RECV_CMPL_EVENT;
    it_evd_param_t param;

    CHECK(crowd_overflowed(crowd));
    for (uint64_t i = 0; i < DEPTH; i++)
        fx_done(crowd->small, crowd->filler, number, 100 + i, IT_DTO_ERR_FLUSHED);
    fx_empty(crowd->small);
    memset(&param, 0, sizeof(param));
    param.evd_overflowed = IT_FALSE;
    CHECK_OK(it_evd_modify(crowd->small, IT_EVD_PARAM_OVERFLOWED, &param));
    CHECK(!crowd_overflowed(crowd));
    CHECK_OK(it_ep_reset(crowd->victim));
    crowd->peer = fx_ep(&crowd->a, NULL);
    fx_join(&crowd->a, crowd->peer, &crowd->b, crowd->victim);
}

/*
 * Completes the last post. Requests complete by themselves. For a receive the peer sends a message,
 * and this waits until it was processed.
 */
static void crowd_complete(const struct crowd *crowd, unsigned char mark)
{
    volatile const unsigned char *place = crowd->to.data;

    if (crowd->queue == QUEUE_REQUESTS)
        return;
    CHECK_OK(it_post_send(crowd->peer, NULL, 0, mark, FX_QUIET));
    fx_write(crowd->peer, &crowd->from, mark, 1, &crowd->to, 0, mark, FX_QUIET);
    FX_WAIT_WHILE(*place != mark, "a mark in memory");
}

/* Checks that the victim works again: it has all its slots, no more, and loses nothing. */
static void crowd_use(struct crowd *crowd)
{
    it_event_type_t number =
        crowd->queue == QUEUE_REQUESTS ? IT_DTO_RDMA_WRITE_CMPL_EVENT : IT_DTO_RC_RECV_CMPL_EVENT;
    unsigned char mark = 0;

    for (unsigned round = 0; round < 3; round++) {
        /* Complete one post after the other, and take no completion before all slots are used. */
        for (uint64_t i = 0; i < DEPTH; i++) {
            CHECK_OK(crowd_post(crowd, crowd->victim, i));
            crowd_complete(crowd, ++mark);
        }
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, crowd_post(crowd, crowd->victim, DEPTH));
        for (uint64_t i = 0; i < DEPTH; i++)
            fx_done_len(crowd->small, crowd->victim, number, i, 0);
    }
    CHECK(!crowd_overflowed(crowd));
}

/* Flushed completions are lost. */
static void lose_flushes(enum queue queue)
{
    struct crowd crowd;

    crowd_open(&crowd, queue);
    crowd_fill(&crowd);
    for (uint64_t i = 0; queue == QUEUE_RECEIVES && i < DEPTH; i++)
        CHECK_OK(crowd_post(&crowd, crowd.victim, i));
    CHECK_OK(it_ep_disconnect(crowd.victim, NULL, 0));
    crowd_ended(&crowd, crowd.victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    for (uint64_t i = 0; queue == QUEUE_REQUESTS && i < DEPTH; i++)
        CHECK_OK(crowd_post(&crowd, crowd.victim, i));
    crowd_recover(&crowd);
    crowd_use(&crowd);
    crowd_close(&crowd);
}

/* Completions of successful work are lost, which breaks the connection. */
static void lose_successes(enum queue queue)
{
    struct crowd crowd;

    crowd_open(&crowd, queue);
    crowd_fill(&crowd);
    for (uint64_t i = 0; i < DEPTH; i++)
        CHECK_OK(crowd_post(&crowd, crowd.victim, i));
    if (queue == QUEUE_RECEIVES)
        CHECK_OK(it_post_send(crowd.peer, NULL, 0, 1, FX_QUIET));
    crowd_ended(&crowd, crowd.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    crowd_recover(&crowd);
    crowd_use(&crowd);
    crowd_close(&crowd);
}

TEST_ROW(data_slots, lost_flushes_of_receives, lose_flushes, QUEUE_RECEIVES);
TEST_ROW(data_slots, lost_flushes_of_requests, lose_flushes, QUEUE_REQUESTS);
TEST_ROW(data_slots, lost_completions_of_receives, lose_successes, QUEUE_RECEIVES);
TEST_ROW(data_slots, lost_completions_of_requests, lose_successes, QUEUE_REQUESTS);

/* ---- A bad second segment -------------------------------------------------------------------- */

#define PLACE 300000u

static struct {
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf small; /* 64 octets, and none behind them are registered */
    struct fx_buf remote;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_node_buf(&bed.pair.a, PLACE);
    bed.small = fx_node_buf(&bed.pair.a, 64);
    bed.remote = fx_node_buf(&bed.pair.b, PLACE);
    memset(bed.local.data, 0x44, PLACE);
    memset(bed.small.data, 0x44, 64);
    memset(bed.remote.data, 0x33, PLACE);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
}

static void bed_break_and_rejoin(void)
{
    struct fx_pair *pair = &bed.pair;

    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_done(pair->b.recv_evd, pair->b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 9, IT_DTO_ERR_FLUSHED);
    fx_empty(pair->a.request_evd);
    fx_pair_rejoin(pair);
}

/* Posts `good` octets that may be sent, then 65 of which the last may not. */
static it_event_type_t bed_post_bad(bool send, size_t good)
{
    it_lmr_triplet_t segments[2] = {fx_seg(&bed.local, 0, good), fx_seg(&bed.small, 0, 65)};
    it_ep_handle_t ep = bed.pair.a_ep;

    if (send) {
        CHECK_OK(it_post_send(ep, segments, 2, 2, FX_QUIET));
        return IT_DTO_SEND_CMPL_EVENT;
    }
    CHECK_OK(
        it_post_rdma_write(ep, segments, 2, 2, FX_QUIET, fx_addr(&bed.remote, 0), bed.remote.key));
    return IT_DTO_RDMA_WRITE_CMPL_EVENT;
}

/* A few octets, which are copied, some more, which are not, and more than one FPDU. */
static const size_t good_lengths[] = {1, 100, 1000, 10000, 200000};

#define GOOD_LENGTHS (sizeof(good_lengths) / sizeof(good_lengths[0]))

static void bad_segment_alone(bool send, size_t good)
{
    it_evd_handle_t evd = bed.pair.a.request_evd;
    it_event_type_t number;

    fx_recv(bed.pair.b_ep, &bed.remote, 0, PLACE, 9);
    number = bed_post_bad(send, good);
    fx_done(evd, bed.pair.a_ep, number, 2, IT_DTO_ERR_LOCAL_PROTECTION);
    bed_break_and_rejoin();
    CHECK(fx_is_byte(bed.remote.data, PLACE, 0x33));
}

Test(data_slots, bad_second_segment, .init = bed_open, .fini = bed_close)
{
    for (size_t i = 0; i < GOOD_LENGTHS; i++) {
        bad_segment_alone(false, good_lengths[i]);
        bad_segment_alone(true, good_lengths[i]);
    }
    fx_pair_ping(&bed.pair);
}

/* Requests posted before the bad one arrive, even if they share its system call. */
static void bad_segment_behind(bool send, size_t good)
{
    it_dto_flags_t flags = (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG);
    it_evd_handle_t evd = bed.pair.a.request_evd;
    it_ep_handle_t ep = bed.pair.a_ep;
    it_event_type_t number;

    fx_recv(bed.pair.b_ep, &bed.remote, 0, PLACE, 9);
    fx_write(ep, &bed.local, 0, 16, &bed.remote, PLACE - 16, 1, flags);
    number = bed_post_bad(send, good);
    fx_done_len(evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 16);
    fx_done(evd, ep, number, 2, IT_DTO_ERR_LOCAL_PROTECTION);
    bed_break_and_rejoin();
    CHECK(fx_is_byte(bed.remote.data, PLACE - 16, 0x33));
    CHECK(fx_is_byte(bed.remote.data + PLACE - 16, 16, 0x44));
    memset(bed.remote.data, 0x33, PLACE);
}

Test(data_slots, bad_second_segment_behind_a_good_write, .init = bed_open, .fini = bed_close)
{
    for (size_t i = 0; i < GOOD_LENGTHS; i++) {
        bad_segment_behind(false, good_lengths[i]);
        bad_segment_behind(true, good_lengths[i]);
    }
}
