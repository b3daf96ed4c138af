/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads take completions while messages arrive before, during and after the report of their
 * connection, again and again. It is a plain program so that it can run under ThreadSanitizer.
 */
#include "verbs/stub_node.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TAKERS   2u
#define ROUNDS   200u
#define MESSAGES 8u /* of a round */

static const struct stub_shape one_queue = {.events = 1024};
static struct stub_node node;
static _Atomic unsigned reported; /* rounds whose connection has been reported, or is about to be */
static _Atomic unsigned taken;
static _Atomic unsigned seen[ROUNDS * MESSAGES];

/* Each message belongs to a connection that has been reported. */
static void check_message(const it_event_t *event)
{
    CHECK_EQ(IT_DTO_SUCCESS, event->dto_cmpl.dto_status);
    CHECK(event->dto_cmpl.cookie / MESSAGES < atomic_load(&reported));
    CHECK_EQ(0, atomic_fetch_add(&seen[event->dto_cmpl.cookie], 1));
    atomic_fetch_add(&taken, 1);
}

/* Polls and waits in turn. */
static void *take(void *argument)
{
    it_event_t event;

    for (unsigned k = 0; atomic_load(&taken) < ROUNDS * MESSAGES; k++) {
        it_status_t status = k % 2 ? it_evd_dequeue(node.fx.recv_evd, &event)
                                   : it_evd_wait(node.fx.recv_evd, 1000, &event, NULL);

        if (status == IT_SUCCESS)
            check_message(&event);
    }
    return argument;
}

static void attempt(void)
{
    stub_attempt(node.a, node.b);
    stub_established(node.a);
    fx_conn(node.fx.conn_evd, node.a, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

static void one_round(unsigned round)
{
    for (unsigned k = 0; k < MESSAGES; k++)
        fx_recv(node.b, &node.buf, 1024, 64, round * MESSAGES + k);
    for (unsigned k = 0; k < MESSAGES; k++) {
        if (k == round % MESSAGES) {
            atomic_store(&reported, round + 1);
            stub_established(node.b);
            fx_conn(node.fx.conn_evd, node.b, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        }
        fx_send(node.a, &node.buf, 0, 8, k, FX_QUIET);
    }
    FX_WAIT_WHILE(atomic_load(&taken) < (round + 1) * MESSAGES, "the messages");
}

static void end_round(void)
{
    stub_disconnected(node.a);
    stub_disconnected(node.b);
    CHECK_OK(it_ep_reset(node.a));
    CHECK_OK(it_ep_reset(node.b));
}

int main(void)
{
    pthread_t takers[TAKERS];

    stub_start();
    stub_node_open(&node, &one_queue);
    node.a = stub_node_ep(&node, &one_queue);
    node.b = stub_node_ep(&node, &one_queue);
    for (unsigned i = 0; i < TAKERS; i++)
        CHECK_EQ(0, pthread_create(&takers[i], NULL, take, NULL));
    for (unsigned round = 0; round < ROUNDS; round++) {
        attempt();
        one_round(round);
        end_round();
    }
    for (unsigned i = 0; i < TAKERS; i++)
        CHECK_EQ(0, pthread_join(takers[i], NULL));
    stub_node_close(&node);
    check_done();
    return EXIT_SUCCESS;
}
