/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts on several endpoints of one IA, a part of which is deferred. Whether their threads poll,
 * wait or do neither, all posts arrive. Endpoints are freed while some of their posts are deferred.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

#define WORKERS 3u
#define ROUNDS  300u
#define CHURNS  40u
#define BURST   24u
#define OCTETS  64u

static struct fx_node a;
static struct fx_node b;
static _Atomic bool stop;

/* An endpoint with its own EVDs on the common IA. */
struct line {
    struct fx_node node;
    struct fx_node peer_node;
    it_ep_handle_t ep;
    it_ep_handle_t peer;
    struct fx_buf from;
    struct fx_buf to;
};

static void node_share(struct fx_node *node, const struct fx_node *original)
{
    *node = *original;
    node->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 256, 0);
    node->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 256, 0);
    node->conn_evd = fx_evd(node, IT_CM_MSG_EVENT_STREAM, 64, 0);
    node->listen_evd = fx_evd(node, IT_CM_REQ_EVENT_STREAM, 64, 0);
}

static void line_open(struct line *line)
{
    node_share(&line->node, &a);
    node_share(&line->peer_node, &b);
    line->from = fx_buf_make(&line->node, OCTETS);
    line->to = fx_buf_make(&line->peer_node, OCTETS);
}

static void line_connect(struct line *line)
{
    line->ep = fx_ep(&line->node, NULL);
    line->peer = fx_ep(&line->peer_node, NULL);
    fx_join(&line->node, line->ep, &line->peer_node, line->peer);
}

static void line_close(struct line *line)
{
    fx_buf_free(&line->from);
    fx_buf_free(&line->to);
}

static void post_burst(struct line *line, uint64_t number, it_dto_flags_t last)
{
    for (unsigned i = 1; i <= BURST; i++)
        fx_write(line->ep, &line->from, 0, OCTETS, &line->to, 0, number,
                 i < BURST ? FX_QUIET : last);
}

static uint64_t arrived(const struct line *line)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(line->peer, &counters));
    return counters.fpdus_received;
}

/* Waits for the arrival of the posts without a call on either EVD. */
static void await_arrival(const struct line *line, uint64_t number)
{
    struct fx_patience patience = fx_patience_start("a burst that nobody polls for");

    while (arrived(line) < number * BURST) {
        fx_patience_check(&patience);
        (void)sched_yield();
    }
}

static void poll_for(it_evd_handle_t evd, it_event_t *event)
{
    it_status_t status;

    FX_WAIT_WHILE((status = it_evd_dequeue(evd, event)) == IT_ERR_QUEUE_EMPTY, "a completion");
    CHECK_OK(status);
}

static void *worker_main(void *argument)
{
    struct line *line = argument;
    it_event_t event;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        post_burst(line, round, FX_SIGNAL);
        if (round % 3 == 0)
            await_arrival(line, round);
        if (round % 3 == 1)
            event = fx_next(line->node.request_evd);
        else
            poll_for(line->node.request_evd, &event);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(round, event.dto_cmpl.cookie);
    }
    return NULL;
}

/* Frees endpoints right after a burst. */
static void *churner_main(void *argument)
{
    struct line *line = argument;

    for (unsigned round = 0; round < CHURNS; round++) {
        it_event_t event;

        line_connect(line);
        post_burst(line, round, FX_QUIET);
        CHECK_OK(it_ep_free(line->ep));
        event = fx_next(line->peer_node.conn_evd);
        CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
              event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
        CHECK_OK(it_ep_free(line->peer));
        fx_empty(line->node.conn_evd);
        fx_empty(line->peer_node.conn_evd);
    }
    return NULL;
}

/* Leads the IA, but uses none of the endpoints. */
static void *stranger_main(void *argument)
{
    it_evd_handle_t evd = *(const it_evd_handle_t *)argument;
    it_event_t event;

    while (!atomic_load(&stop)) {
        CHECK(it_evd_dequeue(evd, &event) == IT_ERR_QUEUE_EMPTY);
        (void)sched_yield();
    }
    return NULL;
}

int main(void)
{
    struct line lines[WORKERS + 1];
    pthread_t workers[WORKERS];
    pthread_t churner;
    pthread_t stranger;

    fx_node_open(&a);
    fx_node_open(&b);
    CHECK(pthread_create(&stranger, NULL, stranger_main, &a.request_evd) == 0);
    for (unsigned i = 0; i <= WORKERS; i++)
        line_open(&lines[i]);
    for (unsigned i = 0; i < WORKERS; i++) {
        line_connect(&lines[i]);
        CHECK(pthread_create(&workers[i], NULL, worker_main, &lines[i]) == 0);
    }
    CHECK(pthread_create(&churner, NULL, churner_main, &lines[WORKERS]) == 0);
    CHECK(pthread_join(churner, NULL) == 0);
    for (unsigned i = 0; i < WORKERS; i++)
        CHECK(pthread_join(workers[i], NULL) == 0);
    atomic_store(&stop, true);
    CHECK(pthread_join(stranger, NULL) == 0);
    for (unsigned i = 0; i <= WORKERS; i++)
        line_close(&lines[i]);
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
    return 0;
}
