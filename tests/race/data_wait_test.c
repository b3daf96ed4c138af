/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads wait and poll on the same IA while others post and free. No event is lost or delivered
 * twice, no thread sleeps for ever, and freeing an EVD or IA releases its waiters.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "support/waiter.h"

#define MESSAGES 1500u
#define WAITERS  3u

static atomic_uchar seen[MESSAGES];
static atomic_uint taken;

struct taker {
    pthread_t thread;
    const struct fx_node *node;
    it_ep_handle_t ep;
    unsigned style; /* 0: wait, 1: poll, 2: wait for a short time */
};

static void *taker_main(void *argument)
{
    struct taker *taker = argument;
    struct fx_patience patience = fx_patience_start("messages");

    while (atomic_load(&taken) < MESSAGES) {
        it_event_t event;
        it_status_t status;

        if (taker->style == 1)
            status = it_evd_dequeue(taker->node->recv_evd, &event);
        else
            status =
                it_evd_wait(taker->node->recv_evd, taker->style == 0 ? 5000 : 100, &event, NULL);
        if (status == IT_SUCCESS) {
            CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
            CHECK(event.dto_cmpl.cookie < MESSAGES);
            CHECK_EQ(0, atomic_fetch_add(&seen[event.dto_cmpl.cookie], 1));
            atomic_fetch_add(&taken, 1);
        } else {
            CHECK(status == IT_ERR_TIMEOUT_EXPIRED || status == IT_ERR_QUEUE_EMPTY ||
                  status == IT_ERR_WAITER_LIMIT);
            if (fx_now_us() > patience.end_us)
                CHECK_FAIL("%u of %u messages", atomic_load(&taken), MESSAGES);
            if (status != IT_ERR_TIMEOUT_EXPIRED)
                fx_patience_check(&patience);
        }
    }
    return NULL;
}

static void many_takers(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr, .events = 2 * MESSAGES};
    struct fx_pair pair;
    struct taker takers[WAITERS];

    attr.max_request_dtos = MESSAGES + 1;
    attr.max_recv_dtos = MESSAGES + 1;
    fx_pair_open_as(&pair, &setup);
    for (uint64_t i = 0; i < MESSAGES; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    for (unsigned i = 0; i < WAITERS; i++) {
        takers[i] = (struct taker){.node = &pair.b, .ep = pair.b_ep, .style = i};
        CHECK(pthread_create(&takers[i].thread, NULL, taker_main, &takers[i]) == 0);
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, i % 100 == 99 ? FX_SIGNAL : FX_QUIET));
        if (i % 100 == 99)
            fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
    }
    for (unsigned i = 0; i < WAITERS; i++)
        CHECK(pthread_join(takers[i].thread, NULL) == 0);
    for (unsigned i = 0; i < MESSAGES; i++)
        CHECK_EQ(1, atomic_load(&seen[i]));
    fx_pair_close(&pair);
}

/* Frees the EVD, or the whole IA, while threads sleep on it. */
static void freed_under_waiters(bool whole_ia)
{
    struct fx_node node;
    struct waiter waiters[2];

    fx_node_open(&node);
    waiter_begin(&waiters[0], node.recv_evd);
    waiter_begin(&waiters[1], node.conn_evd);
    waiter_sleeps(&waiters[0]);
    waiter_sleeps(&waiters[1]);
    if (!whole_ia) {
        CHECK_OK(it_evd_free(node.recv_evd));
        CHECK_OK(it_evd_free(node.conn_evd));
    } else {
        CHECK_OK(it_ia_free(node.ia));
    }
    waiter_ends(&waiters[0], IT_ERR_ABORT);
    waiter_ends(&waiters[1], IT_ERR_ABORT);
    if (!whole_ia)
        fx_node_close(&node);
}

/* A waiter, and events that arrive as it is about to sleep. It misses none. */
struct echo {
    pthread_t thread;
    const struct fx_node *node;
    it_ep_handle_t ep;
};

static void *echo_main(void *argument)
{
    struct echo *echo = argument;

    for (uint64_t i = 0; i < 500; i++) {
        it_event_t event = fx_wait(echo->node->recv_evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_OK(it_post_recv(echo->ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_send(echo->ep, NULL, 0, i, i % 32 == 31 ? FX_SIGNAL : FX_QUIET));
        if (i % 32 == 31)
            fx_done(echo->node->request_evd, echo->ep, IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
    }
    return NULL;
}

static void ping_pong(void)
{
    struct fx_pair pair;
    struct echo echo;

    fx_pair_open(&pair);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    }
    echo = (struct echo){.node = &pair.b, .ep = pair.b_ep};
    CHECK(pthread_create(&echo.thread, NULL, echo_main, &echo) == 0);
    for (uint64_t i = 0; i < 500; i++) {
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_EQ(IT_DTO_SUCCESS, fx_wait(pair.a.recv_evd).dto_cmpl.dto_status);
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
    }
    CHECK(pthread_join(echo.thread, NULL) == 0);
    fx_pair_close(&pair);
}

int main(void)
{
    many_takers();
    ping_pong();
    for (unsigned round = 0; round < 6; round++) {
        freed_under_waiters(false);
        freed_under_waiters(true);
    }
    check_done();
    return 0;
}
