/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_ep_disconnect races with it_ep_connect and with it_ep_accept of the same endpoint. At any
 * moment an attempt ends with one event, and the endpoint can be used again.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support/it_fixture.h"

#define ROUNDS 3000u

static struct fx_node a;
static struct fx_node b;
static it_ep_handle_t a_ep;
static it_ep_handle_t b_ep;
static pthread_barrier_t start;
static pthread_barrier_t end;
static atomic_bool over;

/*
 * Takes the events of an attempt: perhaps ESTABLISHED, then the end. Returns the number of the last
 * one.
 */
static it_event_type_t outcome(it_evd_handle_t evd, it_ep_handle_t ep)
{
    it_event_t event = fx_next(evd);

    if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        event = fx_next(evd);
    CHECK(event.conn.ep == ep);
    CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
          event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    return event.event_number;
}

static void *cancel_main(void *disconnected)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        it_status_t status;

        (void)pthread_barrier_wait(&start);
        /* The disconnect may come too early, in time, or too late because the peer was faster. */
        do
            status = it_ep_disconnect(a_ep, NULL, 0);
        while (status != IT_SUCCESS && fx_ep_state(a_ep) != IT_EP_STATE_NONOPERATIONAL);
        if (status != IT_SUCCESS)
            CHECK_STATUS(IT_ERR_INVALID_EP_STATE, status);
        *(bool *)disconnected = status == IT_SUCCESS;
        (void)pthread_barrier_wait(&end);
    }
    return NULL;
}

/* Accepts requests and waits for the ends of their connections. */
static void *accept_main(void *count)
{
    while (!atomic_load(&over)) {
        it_event_t event;
        it_status_t status = it_evd_wait(b.listen_evd, 1000, &event, NULL);

        if (status != IT_SUCCESS)
            continue;
        status = it_ep_accept(b_ep, event.conn_req.cn_est_id, NULL, 0);
        if (status != IT_SUCCESS) { /* the peer has gone */
            CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
            continue;
        }
        (void)outcome(b.conn_evd, b_ep);
        fx_empty(b.conn_evd);
        CHECK_OK(it_ep_reset(b_ep));
        ++*(unsigned *)count;
    }
    return NULL;
}

static void *cancel_accepted_main(void *count)
{
    while (!atomic_load(&over)) {
        it_status_t status = it_ep_disconnect(b_ep, NULL, 0);

        if (status == IT_SUCCESS)
            ++*(unsigned *)count;
        else
            CHECK_STATUS(IT_ERR_INVALID_EP_STATE, status);
        (void)sched_yield();
    }
    return NULL;
}

/* Connects both endpoints again. Requests of cancelled attempts are still queued. */
static void works(uint16_t port)
{
    fx_connect(&a, a_ep, port);
    while (it_ep_accept(b_ep, fx_request(&b, NULL), NULL, 0) != IT_SUCCESS)
        continue;
    fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

int main(void)
{
    pthread_t threads[3];
    bool disconnected = false;
    unsigned accepted = 0;
    unsigned cancelled = 0;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, NULL);
    CHECK_OK(it_evd_free(b.listen_evd));
    b.listen_evd = fx_evd(&b, IT_CM_REQ_EVENT_STREAM, ROUNDS + 1, 0);
    (void)fx_listen(&b, &port);
    CHECK(pthread_barrier_init(&start, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&end, NULL, 2) == 0);
    CHECK(pthread_create(&threads[0], NULL, cancel_main, &disconnected) == 0);
    CHECK(pthread_create(&threads[1], NULL, accept_main, &accepted) == 0);
    CHECK(pthread_create(&threads[2], NULL, cancel_accepted_main, &cancelled) == 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        it_event_type_t last;

        (void)pthread_barrier_wait(&start);
        fx_connect(&a, a_ep, port);
        (void)pthread_barrier_wait(&end);
        last = outcome(a.conn_evd, a_ep);
        if (disconnected)
            CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, last);
        fx_empty(a.conn_evd);
        CHECK_OK(it_ep_reset(a_ep));
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    works(port);
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
    return 0;
}
