/* SPDX-License-Identifier: BSD-2-Clause */
/* Many threads post on one endpoint, and each on its own endpoint. */
#include <pthread.h>
#include <string.h>

#include "support/it_fixture.h"

#define THREADS 4u
#define ROUNDS  1200u
/* Receives for all messages are posted first, since the server's thread may not run for long. */
#define MESSAGES (THREADS * ROUNDS / 3)

struct worker {
    pthread_t thread;
    struct fx_pair *pair;
    it_ep_handle_t ep;
    const struct fx_buf *local;
    const struct fx_buf *remote;
    unsigned number;
};

static it_dto_cookie_t cookie_of(unsigned worker, unsigned round)
{
    return (it_dto_cookie_t)worker << 32 | round;
}

static it_status_t post(const struct worker *worker, unsigned round)
{
    /* Each worker has its own memory, one half for Writes, the other for Reads. */
    size_t at = worker->number * 4096u + (round % 3 == 1 ? 0 : 2048u);
    it_lmr_triplet_t segment = fx_seg(worker->local, at, 1 + round % 2000);
    it_dto_cookie_t cookie = cookie_of(worker->number, round);

    switch (round % 3) {
    case 0:
        return it_post_send(worker->ep, NULL, 0, cookie, FX_SIGNAL);
    case 1:
        return it_post_rdma_write(worker->ep, &segment, 1, cookie, FX_SIGNAL,
                                  fx_addr(worker->remote, at), worker->remote->key);
    default:
        return it_post_rdma_read(worker->ep, &segment, 1, cookie, FX_SIGNAL,
                                 fx_addr(worker->remote, at), worker->remote->key);
    }
}

static void *worker_main(void *argument)
{
    const struct worker *worker = argument;
    struct fx_patience patience = fx_patience_start("room for a post");

    for (unsigned round = 0; round < ROUNDS; round++) {
        it_status_t status = post(worker, round);

        while (status == IT_ERR_TOO_MANY_POSTS) {
            fx_patience_check(&patience);
            status = post(worker, round);
        }
        CHECK_OK(status);
    }
    return NULL;
}

/* Takes completions of requests. Those of each worker come in the order of its posts. */
struct collector {
    pthread_t thread;
    it_evd_handle_t evd;
    unsigned total;
    unsigned next[THREADS];
};

static void *collector_main(void *argument)
{
    struct collector *collector = argument;

    for (unsigned i = 0; i < collector->total; i++) {
        it_event_t event = fx_next(collector->evd);
        unsigned worker = (unsigned)(event.dto_cmpl.cookie >> 32);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK(worker < THREADS);
        CHECK_EQ(collector->next[worker], event.dto_cmpl.cookie & 0xffffffffu);
        collector->next[worker]++;
    }
    return NULL;
}

/* Receives messages and posts receives until all messages have arrived. */
static void serve(struct fx_pair *pair, unsigned messages)
{
    for (unsigned i = 0; i < messages; i++) {
        it_event_t event = fx_next(pair->b.recv_evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_OK(it_post_recv(event.dto_cmpl.ep, NULL, 0, i, FX_SIGNAL));
    }
}

static void run(bool one_endpoint)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr, .events = 8192};
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
    struct worker workers[THREADS];
    struct collector collector;
    it_ep_handle_t a_ep[THREADS];
    it_ep_handle_t b_ep[THREADS];
    unsigned endpoints = one_endpoint ? 1 : THREADS;

    attr.max_recv_dtos = MESSAGES;
    fx_pair_open_as(&pair, &setup);
    a_ep[0] = pair.a_ep;
    b_ep[0] = pair.b_ep;
    for (unsigned i = 1; i < endpoints; i++) {
        a_ep[i] = fx_ep(&pair.a, &attr);
        b_ep[i] = fx_ep(&pair.b, &attr);
        fx_join(&pair.a, a_ep[i], &pair.b, b_ep[i]);
    }
    local = fx_node_buf(&pair.a, THREADS * 4096);
    remote = fx_node_buf(&pair.b, THREADS * 4096);
    for (unsigned i = 0; i < endpoints; i++) {
        for (unsigned k = 0; k < MESSAGES; k++)
            CHECK_OK(it_post_recv(b_ep[i], NULL, 0, k, FX_SIGNAL));
    }
    memset(&collector, 0, sizeof(collector));
    collector.evd = pair.a.request_evd;
    collector.total = THREADS * ROUNDS;
    CHECK(pthread_create(&collector.thread, NULL, collector_main, &collector) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.pair = &pair,
                                     .ep = a_ep[one_endpoint ? 0 : i],
                                     .local = &local,
                                     .remote = &remote,
                                     .number = i};
        CHECK(pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) == 0);
    }
    serve(&pair, MESSAGES);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    CHECK(pthread_join(collector.thread, NULL) == 0);
    fx_empty(pair.a.request_evd);
    fx_empty(pair.b.recv_evd);
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

int main(void)
{
    run(true);
    run(false);
    check_done();
    return 0;
}
