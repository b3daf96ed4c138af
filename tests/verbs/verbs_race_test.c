/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads post on one endpoint and take completions while the connection ends. Each post has
 * exactly one completion. It is a plain program so that it can run under ThreadSanitizer.
 */
#include "verbs/stub_node.h"

#include "vp/verbs/device/verbs_ep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define POSTERS 3u
#define TAKERS  2u
#define POSTS   2000u

static struct stub_node node;
static _Atomic unsigned seen[POSTERS][POSTS];
static _Atomic unsigned taken;
static _Atomic bool over; /* the connection */

static void *post(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    struct fx_patience patience = fx_patience_start("room in the queue");
    it_lmr_triplet_t segment = fx_seg(&node.buf, 64 * self, 8);

    for (unsigned k = 0; k < POSTS;) {
        it_status_t status = it_post_rdma_write(node.a, &segment, 1, self * POSTS + k, FX_SIGNAL,
                                                fx_addr(&node.buf, 4096 + 64 * self), node.buf.key);

        if (status == IT_SUCCESS)
            k++;
        else
            CHECK_EQ(IT_ERR_TOO_MANY_POSTS, status);
        if (status != IT_SUCCESS)
            fx_patience_check(&patience);
    }
    return NULL;
}

static void note(const it_event_t *event)
{
    unsigned cookie = (unsigned)event->dto_cmpl.cookie;

    CHECK_EQ(0, atomic_exchange(&seen[cookie / POSTS][cookie % POSTS], 1));
    atomic_fetch_add(&taken, 1);
}

/* One thread polls, the other sleeps. */
static void *take(void *argument)
{
    bool sleeps = argument != NULL;
    it_event_t event;

    while (atomic_load(&taken) < POSTERS * POSTS) {
        it_status_t status = sleeps ? it_evd_wait(node.fx.request_evd, 1000, &event, NULL)
                                    : it_evd_dequeue(node.fx.request_evd, &event);

        if (status == IT_SUCCESS)
            note(&event);
        if (!atomic_load(&over) && atomic_load(&taken) > POSTERS * POSTS / 2 &&
            !atomic_exchange(&over, true))
            stub_disconnected(node.a);
    }
    return NULL;
}

static void run(bool like_siw)
{
    const struct stub_shape shape = {.requests = 32, .events = 16};
    pthread_t threads[POSTERS + TAKERS];

    stub_start();
    stub.like_siw = like_siw;
    for (unsigned i = 0; i < POSTERS; i++)
        for (unsigned k = 0; k < POSTS; k++)
            atomic_store(&seen[i][k], 0);
    atomic_store(&taken, 0);
    atomic_store(&over, false);
    stub_node_pair(&node, &shape);
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, post, (void *)(uintptr_t)i));
    for (unsigned i = 0; i < TAKERS; i++)
        CHECK_EQ(0, pthread_create(&threads[POSTERS + i], NULL, take, (void *)(uintptr_t)i));
    for (unsigned i = 0; i < POSTERS + TAKERS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    fx_empty(node.fx.request_evd);
    stub_node_close(&node);
}

int main(void)
{
    for (unsigned round = 0; round < 5; round++) {
        run(false);
        run(true);
    }
    return EXIT_SUCCESS;
}
