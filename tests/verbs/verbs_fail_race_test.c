/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device fails while threads post and poll, each on its own objects. The provider replaces the
 * call tables of endpoints and EVDs one after the other. Each call either works as before or says
 * that the IA has failed, and later calls on the same object say that, too. It is a plain program
 * so that it can run under ThreadSanitizer.
 */
#include "verbs/stub_node.h"

#include "ual/providers/ual_providers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 3u
#define ROUNDS  8u
#define WARM_UP 500u

static struct stub_node node;
static _Atomic unsigned posted[THREADS];

struct thread {
    unsigned number;
    it_ep_handle_t ep, peer;
    it_evd_handle_t evd;
    pthread_t thread;
};

/* Returns true if the call worked. */
static bool goes_on(it_status_t status, bool *failed)
{
    if (status == IT_ERR_IA_CATASTROPHE) {
        *failed = true;
        return false;
    }
    CHECK(!*failed); /* a failure is final */
    CHECK(status == IT_SUCCESS || status == IT_ERR_TOO_MANY_POSTS || status == IT_ERR_QUEUE_EMPTY);
    return status == IT_SUCCESS;
}

static it_status_t post(const struct thread *self, unsigned turn)
{
    it_lmr_triplet_t segment = fx_seg(&node.buf, (size_t)64 * self->number, 8);
    it_rdma_addr_t remote = fx_addr(&node.buf, 4096 + (size_t)64 * self->number);

    switch (turn % 4) {
    case 0:
        return it_post_recv((it_handle_t)self->peer, &segment, 1, turn, FX_QUIET);
    case 1:
        return it_post_rdma_read(self->ep, &segment, 1, turn, FX_SIGNAL, remote, node.buf.key);
    default:
        return it_post_rdma_write(self->ep, &segment, 1, turn, FX_SIGNAL, remote, node.buf.key);
    }
}

static void *work(void *argument)
{
    const struct thread *self = argument;
    struct fx_patience patience = fx_patience_start("the failure");
    bool failed[2] = {false, false}; /* of the endpoint for requests and the one for receives */
    bool polls_failed = false;
    it_event_t event;

    for (unsigned turn = 0; !failed[0] || !failed[1] || !polls_failed; turn++) {
        if (goes_on(post(self, turn), &failed[turn % 4 == 0]))
            atomic_fetch_add(&posted[self->number], 1);
        while (goes_on(it_evd_dequeue(self->evd, &event), &polls_failed))
            ;
        if (turn % 1000 == 0)
            fx_patience_check(&patience);
    }
    return NULL;
}

static it_ep_handle_t make_ep(it_evd_handle_t evd)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep;

    attr.max_request_dtos = attr.max_recv_dtos = 8;
    CHECK_OK(it_ep_rc_create(node.fx.pz, evd, evd, node.fx.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    return ep;
}

static void thread_open(struct thread *self, unsigned number)
{
    self->number = number;
    self->evd = fx_evd(&node.fx, IT_DTO_EVENT_STREAM, 64, IT_THRESHOLD_DISABLE);
    self->ep = make_ep(self->evd);
    self->peer = make_ep(self->evd);
    stub_connect(self->ep, self->peer);
}

static void nothing(void *argument)
{
    (void)argument;
}

/*
 * These endpoints have been used and their queues have room: only their call tables keep them from
 * posting.
 */
static void expect_failed(const struct thread *self)
{
    it_event_t event;

    ual_host.ia_call(ual_host.ia_of((struct ual_ep *)(void *)self->ep), nothing, NULL);
    for (unsigned turn = 0; turn < 4; turn++) {
        CHECK_STATUS(IT_ERR_IA_CATASTROPHE, post(self, turn));
        CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_evd_dequeue(self->evd, &event));
    }
}

static void run(void)
{
    struct thread threads[THREADS];
    struct thread idle;
    const struct stub_shape shape = {.events = 0};
    struct fx_patience patience;

    stub_start();
    stub_node_open(&node, &shape);
    for (unsigned i = 0; i < THREADS; i++) {
        thread_open(&threads[i], i);
        atomic_store(&posted[i], 0);
    }
    thread_open(&idle, THREADS);
    for (unsigned turn = 0; turn < 4; turn++)
        CHECK_OK(post(&idle, turn));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i].thread, NULL, work, &threads[i]));
    patience = fx_patience_start("posts");
    for (unsigned i = 0; i < THREADS; i++)
        while (atomic_load(&posted[i]) < WARM_UP)
            fx_patience_check(&patience);
    stub_raise(IBV_EVENT_DEVICE_FATAL, NULL, 1);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i].thread, NULL));
    expect_failed(&idle);
    stub_node_close(&node);
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        run();
    return EXIT_SUCCESS;
}
