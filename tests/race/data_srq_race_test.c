/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One shared receive queue and many threads: some post to it, some send to the endpoints that draw
 * from it, some end and free such endpoints while messages arrive, one changes depth and watermark,
 * one keeps trying to free it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/it_fixture.h"

#define SENDERS  3u
#define EPS_EACH 4u
#define POSTERS  2u
#define MESSAGES 1500u /* messages of each sender */
#define DEPTH    64u
#define CHURN    40u

struct scene {
    struct fx_node a;
    struct fx_node b;
    it_srq_handle_t srq;
    atomic_uint posted;
    atomic_uint received;
    atomic_uint lows; /* number of watermark events */
    atomic_bool stop;
};

/* ---- Posting: never more receives than the queue was asked for ------------------------------ */

static void *poster_main(void *argument)
{
    struct scene *scene = argument;

    while (!atomic_load(&scene->stop)) {
        it_status_t status = it_post_recv(scene->srq, NULL, 0, 1, FX_SIGNAL);

        if (status == IT_SUCCESS)
            atomic_fetch_add(&scene->posted, 1);
        else
            CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, status);
        if (status != IT_SUCCESS || atomic_load(&scene->posted) % 8 == 0)
            (void)sched_yield();
    }
    return NULL;
}

/* ---- Sending: waits for a receive that is certainly there ----------------------------------- */

struct sender {
    pthread_t thread;
    struct scene *scene;
    it_ep_handle_t eps[EPS_EACH];
};

/*
 * The number of messages sent or about to be sent. It must not exceed the number of posted
 * receives.
 */
static atomic_uint claimed;

static void claim(struct scene *scene, struct fx_patience *patience)
{
    for (;;) {
        unsigned mine = atomic_load(&claimed);

        if (mine < atomic_load(&scene->posted) &&
            atomic_compare_exchange_strong(&claimed, &mine, mine + 1))
            return;
        fx_patience_check(patience);
    }
}

static void *sender_main(void *argument)
{
    struct sender *sender = argument;
    struct fx_patience patience = fx_patience_start("receives");

    for (unsigned i = 0; i < MESSAGES; i++) {
        it_ep_handle_t ep = sender->eps[i % EPS_EACH];
        it_status_t status;

        patience = fx_patience_start("receives");
        claim(sender->scene, &patience);
        /* Every Send is signalled: its slot comes back when the completion is dequeued. */
        while ((status = it_post_send(ep, NULL, 0, i, FX_SIGNAL)) == IT_ERR_TOO_MANY_POSTS)
            fx_patience_check(&patience);
        CHECK_OK(status);
    }
    return NULL;
}

static void *request_main(void *argument)
{
    struct scene *scene = argument;

    for (unsigned i = 0; i < SENDERS * MESSAGES; i++) {
        it_event_t event = fx_next(scene->a.request_evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    }
    return NULL;
}

static void *recv_main(void *argument)
{
    struct scene *scene = argument;

    for (unsigned i = 0; i < SENDERS * MESSAGES; i++) {
        it_event_t event = fx_next(scene->b.recv_evd);

        CHECK_EQ(IT_DTO_RC_RECV_CMPL_EVENT, event.event_number);
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        atomic_fetch_add(&scene->received, 1);
    }
    return NULL;
}

/* ---- Trouble -------------------------------------------------------------------------------- */

static void *changer_main(void *argument)
{
    struct scene *scene = argument;
    unsigned armed = 0;
    uint32_t random = 3;

    while (!atomic_load(&scene->stop)) {
        it_srq_param_t param = {.max_recv_dtos = 1 + fx_random(&random) % DEPTH};
        it_event_t event;
        it_status_t status = it_srq_modify(scene->srq, IT_SRQ_PARAM_MAX_RECV_DTO, &param);

        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_SRQ_SIZE ||
              status == IT_ERR_SRQ_LOW_WATERMARK);
        if (armed == atomic_load(&scene->lows)) {
            param.low_watermark = 1;
            CHECK_OK(it_srq_modify(scene->srq, IT_SRQ_PARAM_LOW_WATERMARK, &param));
            armed++;
        }
        while (it_evd_dequeue(scene->b.aff_evd, &event) == IT_SUCCESS) {
            CHECK_EQ(IT_ASYNC_AFF_SRQ_LOW_WATERMARK, event.event_number);
            CHECK(event.aff_async.cause.srq == scene->srq);
            atomic_fetch_add(&scene->lows, 1);
            CHECK(atomic_load(&scene->lows) <= armed); /* one event for each arming */
        }
        CHECK_OK(it_srq_query(scene->srq, IT_SRQ_PARAM_ALL, &param));
        CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(scene->srq));
        (void)sched_yield();
    }
    /* The last value lets the others post as much as they like. */
    return NULL;
}

/* Makes endpoints that draw nothing or are cut off, and frees them, while the others are served. */
static void *churner_main(void *argument)
{
    struct scene *scene = argument;
    struct fx_node a = scene->a;
    struct fx_node b = scene->b;

    a.conn_evd = fx_evd(&a, IT_CM_MSG_EVENT_STREAM, 64, 0);
    b.conn_evd = fx_evd(&b, IT_CM_MSG_EVENT_STREAM, 64, 0);
    b.listen_evd = fx_evd(&b, IT_CM_REQ_EVENT_STREAM, 64, 0);
    for (unsigned i = 0; i < CHURN && !atomic_load(&scene->stop); i++) {
        it_ep_handle_t a_ep = fx_ep(&a, NULL);
        it_ep_handle_t b_ep = fx_srq_ep(&b, scene->srq, NULL);

        fx_join(&a, a_ep, &b, b_ep);
        if (i % 2 == 0) {
            CHECK_OK(it_ep_disconnect(b_ep, NULL, 0));
            (void)fx_next(b.conn_evd);
        }
        CHECK_OK(it_ep_free(b_ep));
        (void)fx_next(a.conn_evd);
        CHECK_OK(it_ep_free(a_ep));
    }
    CHECK_OK(it_evd_free(a.conn_evd));
    CHECK_OK(it_evd_free(b.conn_evd));
    CHECK_OK(it_evd_free(b.listen_evd));
    return NULL;
}

/* ---- All of them at once -------------------------------------------------------------------- */

static void all_at_once(void)
{
    static struct scene scene;
    struct sender senders[SENDERS];
    pthread_t posters[POSTERS];
    pthread_t others[4];

    fx_node_open_sized(&scene.a, 8192);
    fx_node_open_sized(&scene.b, 8192);
    scene.srq = fx_srq(&scene.b, 1, DEPTH);
    for (unsigned i = 0; i < SENDERS * EPS_EACH; i++) {
        struct sender *sender = &senders[i / EPS_EACH];
        it_ep_handle_t user = fx_srq_ep(&scene.b, scene.srq, NULL);

        sender->scene = &scene;
        sender->eps[i % EPS_EACH] = fx_ep(&scene.a, NULL);
        fx_join(&scene.a, sender->eps[i % EPS_EACH], &scene.b, user);
    }
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK(pthread_create(&posters[i], NULL, poster_main, &scene) == 0);
    CHECK(pthread_create(&others[0], NULL, request_main, &scene) == 0);
    CHECK(pthread_create(&others[1], NULL, recv_main, &scene) == 0);
    CHECK(pthread_create(&others[2], NULL, changer_main, &scene) == 0);
    CHECK(pthread_create(&others[3], NULL, churner_main, &scene) == 0);
    for (unsigned i = 0; i < SENDERS; i++)
        CHECK(pthread_create(&senders[i].thread, NULL, sender_main, &senders[i]) == 0);
    for (unsigned i = 0; i < SENDERS; i++)
        CHECK(pthread_join(senders[i].thread, NULL) == 0);
    CHECK(pthread_join(others[0], NULL) == 0);
    CHECK(pthread_join(others[1], NULL) == 0);
    atomic_store(&scene.stop, true);
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK(pthread_join(posters[i], NULL) == 0);
    CHECK(pthread_join(others[2], NULL) == 0);
    CHECK(pthread_join(others[3], NULL) == 0);
    CHECK_EQ(SENDERS * MESSAGES, atomic_load(&scene.received));
    fx_empty(scene.b.recv_evd);
    fx_node_close(&scene.a);
    fx_node_close(&scene.b);
}

/* ---- The last endpoint goes while a message for it arrives ---------------------------------- */

struct blower {
    it_ep_handle_t ep;
    atomic_bool stop;
};

static void *blow(void *argument)
{
    struct blower *blower = argument;

    /* Posts until the connection has ended. Later posts flush themselves. */
    while (!atomic_load(&blower->stop))
        (void)it_post_send(blower->ep, NULL, 0, 1, FX_QUIET);
    return NULL;
}

static void free_under_arrivals(void)
{
    struct fx_node a;
    struct fx_node b;

    fx_node_open_sized(&a, 4096);
    fx_node_open_sized(&b, 4096);
    for (unsigned round = 0; round < 60; round++) {
        struct blower blower = {.ep = fx_ep(&a, NULL)};
        it_srq_handle_t srq = fx_srq(&b, 1, 32);
        it_ep_handle_t user = fx_srq_ep(&b, srq, NULL);
        it_event_t event;
        pthread_t thread;

        fx_join(&a, blower.ep, &b, user);
        CHECK(pthread_create(&thread, NULL, blow, &blower) == 0);
        for (unsigned i = 0; i < round % 40; i++)
            (void)it_post_recv(srq, NULL, 0, i, FX_SIGNAL);
        CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(srq));
        CHECK_OK(it_ep_free(user));
        CHECK_OK(it_srq_free(srq));
        (void)fx_next(a.conn_evd);
        atomic_store(&blower.stop, true);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_OK(it_ep_free(blower.ep));
        while (it_evd_dequeue(b.conn_evd, &event) == IT_SUCCESS)
            continue; /* it may have broken before it was freed */
        while (it_evd_dequeue(b.recv_evd, &event) == IT_SUCCESS)
            continue;
        while (it_evd_dequeue(a.request_evd, &event) == IT_SUCCESS)
            continue;
        while (it_evd_dequeue(b.aff_evd, &event) == IT_SUCCESS)
            continue;
        while (it_evd_dequeue(a.aff_evd, &event) == IT_SUCCESS)
            continue;
    }
    fx_node_close(&a);
    fx_node_close(&b);
}

int main(void)
{
    all_at_once();
    free_under_arrivals();
    check_done();
    return 0;
}
