/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA on the program's own event base. The library has no thread. Running the base, calls that
 * block and calls that poll do all the work.
 */
#include <criterion/criterion.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "support/it_fixture.h"
#include "support/threads.h"
#include "support/test_row.h"

static struct event_base *base;

static void setup(void)
{
    base = event_base_new();
    CHECK(base != NULL);
}

static void teardown(void)
{
    event_base_free(base);
}

TestSuite(data_event_base, .init = setup, .fini = teardown);

static void node_open(struct fx_node *node)
{
    fx_node_open(node);
    CHECK_OK(itx_ia_set_event_base(node->ia, base));
}

static int watched(void)
{
    return event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
}

/* Opens two nodes that are on the base from the start. */
static void pair_open(struct fx_pair *pair)
{
    memset(pair, 0, sizeof(*pair));
    node_open(&pair->a);
    node_open(&pair->b);
    pair->a_ep = fx_ep(&pair->a, NULL);
    pair->b_ep = fx_ep(&pair->b, NULL);
    fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
}

/* ---- The call itself ------------------------------------------------------------------------- */

Test(data_event_base, arguments)
{
    struct fx_node node;

    fx_node_open(&node);
    EXPECT_STATUS(IT_ERR_INVALID_IA, itx_ia_set_event_base(NULL, base));
    EXPECT_STATUS(IT_ERR_INVALID_IA, itx_ia_set_event_base((it_ia_handle_t)(void *)node.pz, base));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ia_set_event_base(node.ia, NULL));
    EXPECT_OK(itx_ia_set_event_base(node.ia, base));
    EXPECT_OK(itx_ia_set_event_base(node.ia, base)); /* no change */
    CHECK(watched() > 0);
    fx_node_close(&node);
    EXPECT_EQ(0, watched());
    check_done();
}

Test(data_event_base, no_thread_and_no_descriptor_is_left)
{
    size_t descriptors = fx_fd_count();
    size_t before = threads_now().count;
    struct fx_pair pair;

    for (unsigned round = 0; round < 10; round++) {
        fx_node_open(&pair.a);
        threads_await(before + 1);
        fx_node_close(&pair.a);
        pair_open(&pair);
        threads_await(before);
        fx_pair_close(&pair);
        CHECK_EQ(0, watched());
        CHECK_EQ(descriptors, fx_fd_count());
    }
}

/* ---- Calls that block ------------------------------------------------------------------------ */

/* The base never runs: it_evd_wait and it_evd_dequeue do all the work. */
Test(data_event_base, blocking_calls_do_the_work)
{
    struct fx_pair pair;

    pair_open(&pair);
    for (unsigned i = 0; i < 50; i++)
        fx_pair_ping(&pair);
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_pair_close(&pair);
}

static void ping_inside(evutil_socket_t fd, short what, void *argument)
{
    struct fx_pair *pair = argument;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < 20; i++)
        fx_pair_ping(pair);
    pair_open(pair + 1);
    fx_pair_ping(pair + 1);
    fx_pair_close(pair);
    fx_pair_close(pair + 1);
    (void)event_base_loopbreak(base);
}

/* The same calls in a handler of the base do all the work. The handler may even close the IAs. */
Test(data_event_base, blocking_calls_in_a_handler)
{
    struct fx_pair pairs[2];

    pair_open(&pairs[0]);
    CHECK(event_base_once(base, -1, EV_TIMEOUT, ping_inside, pairs, NULL) == 0);
    CHECK(event_base_dispatch(base) == 0);
    CHECK_EQ(0, watched());
}

static void interrupt(int number)
{
    (void)number;
}

Test(data_event_base, wait_ends_in_time_and_by_a_signal)
{
    /* The timer repeats, since one signal may come before the call sleeps. */
    struct itimerval alarm = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}};
    struct itimerval none = {0};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    struct fx_node node;
    it_event_t event;
    uint64_t before;

    node_open(&node);
    before = fx_now_us();
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(node.conn_evd, 0, &event, NULL));
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(node.conn_evd, 3000, &event, NULL));
    CHECK(fx_now_us() - before >= 3000);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &alarm, NULL) == 0);
    CHECK_STATUS(IT_ERR_INTERRUPT, it_evd_wait(node.conn_evd, IT_TIMEOUT_INFINITE, &event, NULL));
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
    fx_node_close(&node);
}

/* ---- Calls that poll ------------------------------------------------------------------------- */

static void never(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    (void)argument;
    CHECK_FAIL("a callback was called by a call that polls");
}

static it_event_t poll_for(it_evd_handle_t evd, it_evd_handle_t other)
{
    struct fx_patience patience = fx_patience_start("an event");
    it_event_t event;
    it_event_t none;

    while (it_evd_dequeue(evd, &event) != IT_SUCCESS) {
        CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(other, &none));
        fx_patience_check(&patience);
    }
    return event;
}

Test(data_event_base, polling_does_the_work_but_calls_nobody)
{
    it_evd_handle_t called;
    struct fx_pair pair;
    it_event_t event;
    uint16_t port;

    memset(&pair, 0, sizeof(pair));
    node_open(&pair.a);
    node_open(&pair.b);
    called = fx_evd(&pair.a, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    CHECK_OK(it_evd_callback_attach(called, never, NULL));
    CHECK_OK(it_evd_post_se(called, NULL));
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, NULL);
    (void)fx_listen(&pair.b, &port);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_connect(&pair.a, pair.a_ep, port);
    event = poll_for(pair.b.listen_evd, pair.a.conn_evd);
    CHECK_OK(it_ep_accept(pair.b_ep, event.conn_req.cn_est_id, NULL, 0));
    event = poll_for(pair.a.conn_evd, pair.a.recv_evd);
    CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, event.event_number);
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 2, FX_SIGNAL));
    event = poll_for(pair.b.recv_evd, pair.a.recv_evd);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_OK(it_evd_callback_detach(called));
    fx_pair_close(&pair);
}

/* ---- Running the base ------------------------------------------------------------------------ */

#define ROUNDS 500u

struct player {
    it_ep_handle_t ep;
    it_evd_handle_t request_evd;
    unsigned received;
    unsigned sent;
    unsigned *over; /* number of players that have finished */
};

static void play(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_OK(it_post_recv(player->ep, NULL, 0, 0, FX_SIGNAL));
        player->received++;
        if (player->sent < ROUNDS) {
            CHECK_OK(it_post_send(player->ep, NULL, 0, 0, FX_SIGNAL));
            player->sent++;
        }
        while (it_evd_dequeue(player->request_evd, &event) == IT_SUCCESS)
            CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        if (player->received == ROUNDS && ++*player->over == 2)
            (void)event_base_loopbreak(base);
    }
}

/* Accepts the request with the player's endpoint. */
static void accept_request(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_OK(it_ep_accept(player->ep, event.conn_req.cn_est_id, NULL, 0));
}

static void serve(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, event.event_number);
    player->sent++;
    CHECK_OK(it_post_send(player->ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_evd_free(evd));
}

/* Server and client run in one thread with callbacks only. */
Test(data_event_base, callbacks_on_the_base)
{
    struct fx_node nodes[2];
    struct player players[2];
    unsigned over = 0;
    uint16_t port;

    memset(players, 0, sizeof(players));
    for (unsigned i = 0; i < 2; i++) {
        node_open(&nodes[i]);
        players[i].ep = fx_ep(&nodes[i], NULL);
        players[i].request_evd = nodes[i].request_evd;
        players[i].over = &over;
        CHECK_OK(it_post_recv(players[i].ep, NULL, 0, 0, FX_SIGNAL));
        CHECK_OK(it_evd_callback_attach(nodes[i].recv_evd, play, &players[i]));
    }
    (void)fx_listen(&nodes[1], &port);
    CHECK_OK(it_evd_callback_attach(nodes[1].listen_evd, accept_request, &players[1]));
    CHECK_OK(it_evd_callback_attach(nodes[0].conn_evd, serve, &players[0]));
    fx_connect(&nodes[0], players[0].ep, port);
    CHECK(event_base_dispatch(base) == 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(ROUNDS, players[i].received);
    fx_node_close(&nodes[0]);
    fx_node_close(&nodes[1]);
    CHECK_EQ(0, watched());
}

static void refuse_inside(it_evd_handle_t evd, void *argument)
{
    struct fx_node *node = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_ia_free(node->ia));
    CHECK_STATUS(IT_ERR_EVD_BUSY, itx_ia_set_event_base(node->ia, base));
    (void)event_base_loopbreak(base);
}

Test(data_event_base, callback_cannot_close_or_move_its_ia)
{
    struct fx_node node;
    it_evd_handle_t evd;

    node_open(&node);
    evd = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    CHECK_OK(it_evd_callback_attach(evd, refuse_inside, &node));
    CHECK_OK(it_evd_post_se(evd, NULL));
    CHECK(event_base_dispatch(base) == 0);
    fx_node_close(&node);
}

/* ---- Descriptors of EVDs on the same base ---------------------------------------------------- */

struct watcher {
    it_evd_handle_t evd;
    it_ep_handle_t from;
    unsigned wakes;
    unsigned taken;
    unsigned wanted;
};

static void descriptor_ready(evutil_socket_t fd, short what, void *argument)
{
    struct watcher *watcher = argument;
    it_event_t event;

    (void)fd;
    (void)what;
    watcher->wakes++;
    while (it_evd_dequeue(watcher->evd, &event) == IT_SUCCESS)
        watcher->taken++;
    if (watcher->taken < watcher->wanted)
        CHECK_OK(it_post_send(watcher->from, NULL, 0, 0, FX_QUIET));
    else
        (void)event_base_loopbreak(base);
}

/* With one message at a time there are as many wakes as messages, with level and edge trigger. */
static void watch_descriptor(short trigger)
{
    struct watcher watcher = {.wanted = 40};
    struct fx_pair pair;
    struct event *event;
    it_ep_attributes_t attr = fx_ep_attr();
    int fd;

    memset(&pair, 0, sizeof(pair));
    node_open(&pair.a);
    node_open(&pair.b);
    CHECK_OK(it_evd_create(pair.b.ia, IT_DTO_EVENT_STREAM, IT_EVD_CREATE_FD, 64, 0, NULL,
                           &pair.b.recv_evd, &fd));
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, &attr);
    watcher.evd = pair.b.recv_evd;
    watcher.from = pair.a_ep;
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    for (uint64_t i = 0; i < watcher.wanted; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    event =
        event_new(base, fd, (short)(EV_READ | EV_PERSIST | trigger), descriptor_ready, &watcher);
    CHECK(event != NULL && event_add(event, NULL) == 0);
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 0, FX_QUIET));
    CHECK(event_base_dispatch(base) == 0);
    CHECK_EQ(watcher.wanted, watcher.taken);
    CHECK_EQ(watcher.wanted, watcher.wakes);
    event_free(event);
    fx_pair_close(&pair);
}

TEST_ROW(data_event_base, descriptor_level_triggered, watch_descriptor, 0);
TEST_ROW(data_event_base, descriptor_edge_triggered, watch_descriptor, EV_ET);

/* ---- Idleness -------------------------------------------------------------------------------- */

static void stop_base(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    (void)event_base_loopbreak(base);
}

static long run_for(long ms)
{
    struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    struct rusage before;
    struct rusage after;

    CHECK(getrusage(RUSAGE_THREAD, &before) == 0);
    CHECK(event_base_once(base, -1, EV_TIMEOUT, stop_base, NULL, &time) == 0);
    CHECK(event_base_dispatch(base) == 0);
    CHECK(getrusage(RUSAGE_THREAD, &after) == 0);
    return after.ru_nvcsw - before.ru_nvcsw;
}

/* The base sleeps. This test measures a span of time. */
Test(data_event_base, idle_base_sleeps)
{
    struct fx_pair pair;
    unsigned quiet = 0;

    pair_open(&pair);
    fx_pair_ping(&pair);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 0, FX_SIGNAL));
    for (unsigned i = 0; i < 10 && quiet < 2; i++)
        quiet = run_for(100) <= 2 ? quiet + 1 : 0;
    CHECK(quiet >= 2);
    fx_pair_close(&pair);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* The loop moves with connections, a listener, an attempt in progress and timers. */
Test(data_event_base, moves_with_all_it_has)
{
    struct event_base *other = event_base_new();
    struct fx_pair pair;
    it_ep_handle_t more[2];
    uint16_t port;

    CHECK(other != NULL);
    fx_pair_open(&pair);
    fx_pair_ping(&pair);
    (void)fx_listen(&pair.b, &port);
    for (unsigned i = 0; i < 2; i++) {
        more[i] = fx_ep(i == 0 ? &pair.a : &pair.b, NULL);
        CHECK_OK(it_post_recv(more[i], NULL, 0, i, FX_SIGNAL));
    }
    fx_connect(&pair.a, more[0], port);
    CHECK_OK(itx_ia_set_event_base(pair.a.ia, base));
    CHECK_OK(itx_ia_set_event_base(pair.b.ia, other));
    fx_pair_ping(&pair);
    CHECK_OK(it_ep_accept(more[1], fx_request(&pair.b, NULL), NULL, 0));
    CHECK_OK(itx_ia_set_event_base(pair.a.ia, other));
    CHECK_EQ(0, watched());
    CHECK_OK(itx_ia_set_event_base(pair.b.ia, base));
    fx_conn(pair.a.conn_evd, more[0], IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(pair.b.conn_evd, more[1], IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_post_send(more[0], NULL, 0, 7, FX_SIGNAL));
    fx_done(pair.b.recv_evd, more[1], IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done(pair.a.request_evd, more[0], IT_DTO_SEND_CMPL_EVENT, 7, IT_DTO_SUCCESS);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    CHECK_EQ(0, event_base_get_num_events(other, EVENT_BASE_COUNT_ADDED));
    event_base_free(other);
}

/*
 * One IA is on the base, the other has its own thread. Both make progress, whichever one this
 * thread waits on.
 */
Test(data_event_base, beside_an_ia_with_a_thread)
{
    struct fx_pair pair;

    for (unsigned i = 0; i < 2; i++) {
        memset(&pair, 0, sizeof(pair));
        fx_node_open(&pair.a);
        fx_node_open(&pair.b);
        CHECK_OK(itx_ia_set_event_base(i == 0 ? pair.a.ia : pair.b.ia, base));
        pair.a_ep = fx_ep(&pair.a, NULL);
        pair.b_ep = fx_ep(&pair.b, NULL);
        fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
        for (unsigned n = 0; n < 20; n++)
            fx_pair_ping(&pair);
        CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
        CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, fx_wait(pair.b.conn_evd).event_number);
        CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, fx_wait(pair.a.conn_evd).event_number);
        fx_pair_close(&pair);
    }
}

/* A select base cannot do all that epoll can, but it can do what the library needs. */
Test(data_event_base, any_kind_of_base)
{
    static const char *const methods[] = {"epoll", "poll", "select"};

    for (unsigned i = 0; i < 3; i++) {
        struct event_config *config = event_config_new();
        struct fx_pair pair;

        CHECK(config != NULL);
        for (unsigned avoid = 0; avoid < 3; avoid++) {
            if (avoid != i)
                CHECK(event_config_avoid_method(config, methods[avoid]) == 0);
        }
        event_base_free(base);
        base = event_base_new_with_config(config);
        event_config_free(config);
        CHECK(base != NULL);
        pair_open(&pair);
        fx_pair_ping(&pair);
        (void)run_for(1);
        fx_pair_ping(&pair);
        fx_pair_close(&pair);
    }
}

struct awaited {
    it_ia_handle_t ia;
    it_evd_handle_t evd;
};

/* Tries to free the EVD on which its thread waits, and the IA of that, then ends the wait. */
static void free_the_awaited(it_evd_handle_t evd, void *argument)
{
    const struct awaited *awaited = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_evd_free(awaited->evd));
    CHECK_STATUS(IT_ERR_EVD_BUSY, it_ia_free(awaited->ia));
    CHECK_OK(it_evd_post_se(awaited->evd, NULL));
}

Test(data_event_base, a_callback_inside_a_wait_cannot_free_what_is_awaited)
{
    struct awaited awaited;
    it_evd_handle_t called;
    struct fx_node waiting;
    struct fx_node calling;
    it_event_t event;

    node_open(&waiting);
    node_open(&calling);
    awaited.ia = waiting.ia;
    awaited.evd = fx_evd(&waiting, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    called = fx_evd(&calling, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    CHECK_OK(it_evd_callback_attach(called, free_the_awaited, &awaited));
    CHECK_OK(it_evd_post_se(called, NULL));
    CHECK_OK(it_evd_wait(awaited.evd, IT_TIMEOUT_INFINITE, &event, NULL));
    CHECK_OK(it_evd_free(awaited.evd));
    fx_node_close(&waiting);
    fx_node_close(&calling);
}

struct cancelled_wait {
    uint64_t timeout;
    it_status_t status;
};

/* A wait on the base's own thread is no cancellation point, whatever it handles meanwhile. */
static void *wait_cancelled(void *argument)
{
    struct cancelled_wait *wait = argument;
    struct fx_node node;
    it_event_t event;

    node_open(&node);
    CHECK(pthread_cancel(pthread_self()) == 0);
    wait->status = it_evd_wait(node.recv_evd, wait->timeout, &event, NULL);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    fx_node_close(&node);
    return NULL;
}

static void waits_on(uint64_t timeout)
{
    struct cancelled_wait wait = {.timeout = timeout};
    pthread_t thread;
    void *result;

    CHECK(pthread_create(&thread, NULL, wait_cancelled, &wait) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == NULL);
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, wait.status);
}

Test(data_event_base, a_cancelled_thread_waits_on)
{
    waits_on(1000);
}

/* With sanitizers the calls of a look are cancellation points: base_call.h. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
Test(data_event_base, a_cancelled_thread_looks_once)
{
    waits_on(0);
}
#endif

/* ---- Other threads --------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    struct fx_pair pair;
};

/* Does everything up to freeing the IAs, while another thread runs the base. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct fx_pair *pair = &worker->pair;

    pair->a_ep = fx_ep(&pair->a, NULL);
    pair->b_ep = fx_ep(&pair->b, NULL);
    fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
    for (unsigned i = 0; i < 20; i++)
        fx_pair_ping(pair);
    fx_pair_close(pair);
    return NULL;
}

Test(data_event_base, other_threads_while_the_base_runs)
{
    struct worker worker;

    memset(&worker, 0, sizeof(worker));
    node_open(&worker.pair.a);
    node_open(&worker.pair.b);
    CHECK(pthread_create(&worker.thread, NULL, work, &worker) == 0);
    /* The base returns when the last IA has left it. */
    CHECK(event_base_dispatch(base) == 1);
    CHECK(pthread_join(worker.thread, NULL) == 0);
    CHECK_EQ(0, watched());
}
