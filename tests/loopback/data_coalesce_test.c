/* SPDX-License-Identifier: BSD-2-Clause */
/* IT_COALESCE_WR_FLAG: requests with it wait for one without it, and then leave in one call. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/it_fixture.h"

#define HELD    ((it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG))
#define QUIET   ((it_dto_flags_t)IT_COALESCE_WR_FLAG)
#define LOOK_US 50000u
#define REGION  (64u * 1024u)

static struct {
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
} bed;

static void bed_open(const it_ep_attributes_t *attr)
{
    fx_pair_open_as(&bed.pair, &(struct fx_pair_setup){.a_attr = attr, .b_attr = attr});
    bed.local = fx_buf_make(&bed.pair.a, REGION);
    bed.remote = fx_buf_make(&bed.pair.b, REGION);
    fx_fill(bed.local.data, REGION, 6);
    fx_pair_ping(&bed.pair); /* completes the start of the connection */
}

static void bed_close(void)
{
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.remote);
    fx_pair_close(&bed.pair);
}

/* Polls both sides for a while. Nothing is sent, and nothing arrives. */
static void nothing_leaves(void)
{
    uint64_t before = fx_counters(&bed.pair.a).send_calls;
    uint64_t end = fx_now_us() + LOOK_US;

    do {
        fx_empty(bed.pair.a.request_evd);
        fx_empty(bed.pair.b.recv_evd);
    } while (fx_now_us() < end);
    CHECK_EQ(before, fx_counters(&bed.pair.a).send_calls);
}

Test(data_coalesce, waits_for_a_post_without_the_flag, .fini = bed_close)
{
    it_event_t event;

    bed_open(NULL);
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 9, FX_SIGNAL));
    for (unsigned i = 0; i < 8; i++)
        fx_write(bed.pair.a_ep, &bed.local, (size_t)i * 100, 100, &bed.remote, (size_t)i * 100, i,
                 HELD);
    /*
     * A thread that sleeps on another EVD may post here at any moment, so its sleep sends nothing.
     */
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(bed.pair.a.listen_evd, LOOK_US, &event, NULL));
    nothing_leaves();
    CHECK(fx_is_byte(bed.remote.data, 800, 0));
    CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, 8, FX_SIGNAL));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 9, 0);
    fx_check_same(bed.local.data, bed.remote.data, 800);
    for (unsigned i = 0; i < 8; i++)
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 100);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 8, 0);
}

/* An earlier request without the flag does not wait. */
static void one_without_then_one_with(void)
{
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, 2, HELD));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    nothing_leaves();
    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, 3, FX_SIGNAL, 0, 0));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, 0);
}

Test(data_coalesce, holds_nothing_in_front_of_it, .fini = bed_close)
{
    bed_open(NULL);
    for (unsigned i = 0; i < 5; i++)
        one_without_then_one_with();
}

/* ---- One call -------------------------------------------------------------------------------- */

static void post_mixed(unsigned i, size_t length, it_dto_flags_t flags)
{
    size_t at = (size_t)i * length;

    switch (i % 3) {
    case 0:
        fx_write(bed.pair.a_ep, &bed.local, at, length, &bed.remote, at, i, flags);
        break;
    case 1:
        fx_send(bed.pair.a_ep, &bed.local, at, length, i, flags);
        break;
    default:
        fx_read(bed.pair.a_ep, &bed.local, at, length, &bed.remote, at, i, flags);
        break;
    }
}

static void in_one_call(unsigned count, size_t length, bool mixed)
{
    uint64_t before;

    for (unsigned i = 1; mixed && i < count; i += 3)
        fx_recv(bed.pair.b_ep, &bed.remote, (size_t)i * length, length, i);
    before = fx_counters(&bed.pair.a).send_calls;
    for (unsigned i = 0; i < count; i++)
        post_mixed(mixed ? i : i / 3 * 3, length, i + 1 < count ? QUIET : FX_SIGNAL);
    (void)fx_next(bed.pair.a.request_evd); /* the last completion, so all others are there */
    CHECK_EQ(before + 1, fx_counters(&bed.pair.a).send_calls);
    for (unsigned i = 1; mixed && i < count; i += 3)
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, length);
}

Test(data_coalesce, all_of_it_in_one_call, .fini = bed_close)
{
    static const unsigned counts[] = {2, 3, 10, 33, 64};
    static const size_t lengths[] = {0, 1, 64, 512, 513, 1000};
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.rdma_read_ird = 32;
    attr.srv.rc.rdma_read_ord = 32;
    bed_open(&attr);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
            in_one_call(counts[i], lengths[k], false);
            in_one_call(counts[i], lengths[k], true);
        }
    }
}

/* ---- Limits of patience --------------------------------------------------------------------- */

/* The last slot is used: a post without the flag could not follow, so nothing waits. */
Test(data_coalesce, a_full_queue_waits_for_nobody, .fini = bed_close)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = 4;
    bed_open(&attr);
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 3; i++)
            CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, i, HELD, 0, 0));
        nothing_leaves();
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, 3, HELD, 0, 0));
        CHECK_STATUS(IT_ERR_TOO_MANY_POSTS,
                     it_post_rdma_write(bed.pair.a_ep, NULL, 0, 4, HELD, 0, 0));
        for (unsigned i = 0; i < 4; i++)
            fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
    }
}

/*
 * If the program never posts the last request, the others are sent after a while, each time. It
 * only polls here: a wait would send them.
 */
Test(data_coalesce, is_forgiven_when_it_forgets, .fini = bed_close)
{
    it_event_t event;

    bed_open(NULL);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, i, HELD, 0, 0));
        FX_WAIT_WHILE(it_evd_dequeue(bed.pair.a.request_evd, &event) == IT_ERR_QUEUE_EMPTY,
                      "a held request");
        CHECK_EQ(i, event.dto_cmpl.cookie);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    }
}

/*
 * ---- Sleepers
 * ------------------------------------------------------------------------------------
 */

enum wait_kind {
    WAIT_ONE,
    WAIT_MANY,
    WAIT_KINDS
};

static it_status_t wait_on(it_evd_handle_t evd, enum wait_kind kind, uint64_t timeout_us)
{
    it_event_t event;
    size_t count;

    if (kind == WAIT_ONE)
        return it_evd_wait(evd, timeout_us, &event, NULL);
    return itx_evd_wait_n(evd, timeout_us, 1, &event, &count, NULL);
}

/*
 * A thread that is about to sleep on this EVD first sends the held requests, even those whose
 * completion it does not report.
 */
static void leaves_by_waiting(it_evd_handle_t evd)
{
    for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
        for (unsigned posts = 1; posts < 4; posts++) {
            uint64_t before = fx_counters(&bed.pair.a).send_calls;

            for (unsigned i = 0; i < posts; i++)
                CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, i, QUIET, 0, 0));
            CHECK_EQ(before, fx_counters(&bed.pair.a).send_calls);
            CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED,
                         wait_on(evd, kind, 0)); /* with a timeout of 0 it does not sleep */
            CHECK_EQ(before, fx_counters(&bed.pair.a).send_calls);
            CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, wait_on(evd, kind, 1));
            CHECK_EQ(before + 1, fx_counters(&bed.pair.a).send_calls);
        }
}

Test(data_coalesce, leaves_when_its_program_sleeps_on_an_evd_of_the_endpoint, .fini = bed_close)
{
    bed_open(NULL);
    leaves_by_waiting(bed.pair.a.request_evd);
    leaves_by_waiting(bed.pair.a.recv_evd);
    leaves_by_waiting(bed.pair.a.conn_evd);
}

/* A wait for the completion of a held request returns it. */
Test(data_coalesce, a_lone_one_can_be_waited_for, .fini = bed_close)
{
    struct fx_patience patience = fx_patience_start("lone requests");
    it_event_t event;

    bed_open(NULL);
    for (unsigned i = 0; i < 60; i++) { /* a minute and a half, if each waited for its time */
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, i, HELD, 0, 0));
        event = fx_wait(bed.pair.a.request_evd);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        fx_patience_check(&patience);
    }
}

static it_ep_handle_t ep_below(const struct fx_node *node, it_evd_handle_t aevd,
                               it_evd_handle_t *request)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_evd_create(node->ia, IT_DTO_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT, 64, 1, aevd,
                           request, NULL));
    CHECK_OK(it_ep_rc_create(node->pz, *request, node->recv_evd, node->conn_evd, IT_EP_NO_FLAG,
                             &attr, &ep));
    return ep;
}

/*
 * Completes the start of the connection. Of an EVD below an aggregate only the notifications are
 * taken.
 */
static void settle(const struct fx_pair *pair)
{
    CHECK_OK(it_post_recv(pair->b_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_recv(pair->a_ep, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(it_post_send(pair->a_ep, NULL, 0, 3, FX_QUIET));
    fx_done_len(pair->b.recv_evd, pair->b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    CHECK_OK(it_post_send(pair->b_ep, NULL, 0, 4, FX_QUIET));
    fx_done_len(pair->a.recv_evd, pair->a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
}

Test(data_coalesce, leaves_when_its_program_sleeps_on_the_aggregate, .fini = bed_close)
{
    it_evd_handle_t aevd = NULL;
    it_event_t event;
    size_t count = 0;
    struct fx_pair second;
    uint64_t before;

    bed_open(NULL);
    CHECK_OK(it_evd_create(bed.pair.a.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM,
                           IT_EVD_OVERFLOW_DEFAULT, 0, IT_THRESHOLD_DISABLE, NULL, &aevd, NULL));
    second = bed.pair;
    second.a_ep = ep_below(&bed.pair.a, aevd, &second.a.request_evd);
    second.b_ep = fx_ep(&bed.pair.b, NULL);
    fx_join(&second.a, second.a_ep, &second.b, second.b_ep);
    settle(&second);
    for (unsigned way = 0; way < 2; way++) {
        it_status_t status;

        CHECK_OK(it_post_rdma_write(second.a_ep, NULL, 0, way, HELD, 0, 0));
        before = fx_counters(&bed.pair.a).send_calls;
        status = way == 0 ? it_evd_wait(aevd, 1, &event, NULL)
                          : itx_aevd_wait(aevd, 1, 1, &event, &count);
        CHECK_EQ(before + 1, fx_counters(&bed.pair.a).send_calls);
        if (status != IT_SUCCESS) { /* the sleep was short */
            CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, status);
            event = fx_next(aevd);
        }
        CHECK_EQ(way, event.dto_cmpl.cookie);
    }
}

struct sleeper {
    it_evd_handle_t evd;
    atomic_int id;
    atomic_uint woken;
    unsigned rounds;
};

static void *sleeper_main(void *argument)
{
    struct sleeper *sleeper = argument;
    it_event_t event;

    atomic_store(&sleeper->id, fx_thread_id());
    for (unsigned i = 0; i < sleeper->rounds; i++) {
        CHECK_OK(it_evd_wait(sleeper->evd, IT_TIMEOUT_INFINITE, &event, NULL));
        atomic_store(&sleeper->woken, i + 1);
    }
    return NULL;
}

static pthread_t sleeper_start(struct sleeper *sleeper, it_evd_handle_t evd, unsigned rounds)
{
    pthread_t thread;

    memset(sleeper, 0, sizeof(*sleeper));
    sleeper->evd = evd;
    sleeper->rounds = rounds;
    CHECK_EQ(0, pthread_create(&thread, NULL, sleeper_main, sleeper));
    FX_WAIT_WHILE(atomic_load(&sleeper->id) == 0, "a thread");
    return thread;
}

/* The held request is sent soon, since this thread may post more. */
Test(data_coalesce, leaves_when_another_thread_sleeps_already, .fini = bed_close)
{
    const unsigned rounds = 60; /* see above */
    struct fx_patience patience;
    struct sleeper sleeper;
    pthread_t thread;

    bed_open(NULL);
    thread = sleeper_start(&sleeper, bed.pair.a.request_evd, rounds);
    patience = fx_patience_start("lone requests beside a sleeper");
    for (unsigned i = 0; i < rounds; i++) {
        fx_thread_sleeps(atomic_load(&sleeper.id));
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, i, HELD, 0, 0));
        while (atomic_load(&sleeper.woken) <= i)
            fx_patience_check(&patience);
    }
    CHECK_EQ(0, pthread_join(thread, NULL));
}

Test(data_coalesce, goes_on_waiting_when_another_thread_sleeps_elsewhere, .fini = bed_close)
{
    it_evd_handle_t elsewhere;
    struct sleeper sleeper;
    pthread_t thread;

    bed_open(NULL);
    elsewhere = fx_evd(&bed.pair.a, IT_SOFTWARE_EVENT_STREAM, 4, 1);
    thread = sleeper_start(&sleeper, elsewhere, 1);
    fx_thread_sleeps(atomic_load(&sleeper.id));
    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, 1, HELD, 0, 0));
    nothing_leaves();
    CHECK_OK(it_evd_post_se(elsewhere, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_OK(it_evd_free(elsewhere));
}

/* ---- The end of the connection -------------------------------------------------------------- */

Test(data_coalesce, is_flushed_with_the_connection, .fini = bed_close)
{
    bed_open(NULL);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 5; i++)
            fx_write(bed.pair.a_ep, &bed.local, 0, 8, &bed.remote, 0, i, HELD);
        CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
        for (unsigned i = 0; i < 5; i++)
            fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i,
                    IT_DTO_ERR_FLUSHED);
        fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK(fx_is_byte(bed.remote.data, 8, 0));
        /* After the end of the connection such a request is flushed at once, too. */
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, 9, HELD, 0, 0));
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 9,
                IT_DTO_ERR_FLUSHED);
        fx_pair_rejoin(&bed.pair);
        fx_pair_ping(&bed.pair);
    }
}

Test(data_coalesce, can_be_freed_while_held)
{
    bed_open(NULL);
    for (unsigned i = 0; i < 20; i++) {
        it_ep_handle_t a_ep = fx_ep(&bed.pair.a, NULL);
        it_ep_handle_t b_ep = fx_ep(&bed.pair.b, NULL);

        fx_join(&bed.pair.a, a_ep, &bed.pair.b, b_ep);
        CHECK_OK(it_post_rdma_write(a_ep, NULL, 0, 1, HELD, 0, 0));
        CHECK_OK(it_ep_free(a_ep));
        (void)fx_next(bed.pair.b.conn_evd);
        CHECK_OK(it_ep_free(b_ep));
    }
    CHECK_OK(it_post_rdma_write(bed.pair.a_ep, NULL, 0, 1, HELD, 0, 0));
    fx_empty(bed.pair.a.request_evd);
    fx_buf_free(&bed.local);
    fx_buf_free(&bed.remote);
    fx_node_close(&bed.pair.a); /* with held requests */
    fx_node_close(&bed.pair.b);
}
