/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_modify of both ends of a busy connection, while threads post, send, receive and dequeue. */
#include <pthread.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

#define POSTERS 2u
#define ROUNDS  2000u

struct scene {
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
    atomic_uint posted;  /* receives */
    atomic_uint claimed; /* receives that messages have claimed */
    atomic_bool stop;
};

struct poster {
    pthread_t thread;
    struct scene *scene;
    unsigned number;
};

static it_status_t post(const struct poster *poster, unsigned round)
{
    struct scene *scene = poster->scene;
    it_ep_handle_t ep = scene->pair.a_ep;
    size_t at = poster->number * 4096u;
    it_lmr_triplet_t segment = fx_seg(&scene->local, at, 1 + round % 3000);

    if (round % 2 == 0)
        return it_post_rdma_read(ep, &segment, 1, round, FX_SIGNAL, fx_addr(&scene->remote, at),
                                 scene->remote.key);
    return it_post_send(ep, NULL, 0, round, FX_SIGNAL);
}

/* Claims a receive of the other side before a message is sent, however slow that side is. */
static void claim_receive(struct scene *scene)
{
    struct fx_patience patience = fx_patience_start("receives");
    unsigned mine = atomic_load(&scene->claimed);

    while (mine >= atomic_load(&scene->posted) ||
           !atomic_compare_exchange_strong(&scene->claimed, &mine, mine + 1)) {
        fx_patience_check(&patience);
        mine = atomic_load(&scene->claimed);
    }
}

static void *poster_main(void *argument)
{
    const struct poster *poster = argument;

    for (unsigned round = 0; round < ROUNDS; round++) {
        it_status_t status;

        if (round % 2 == 1)
            claim_receive(poster->scene);
        FX_WAIT_WHILE((status = post(poster, round)) == IT_ERR_TOO_MANY_POSTS, "room for a post");
        CHECK_OK(status);
    }
    return NULL;
}

static void *request_main(void *argument)
{
    struct scene *scene = argument;

    for (unsigned i = 0; i < POSTERS * ROUNDS; i++) {
        it_event_t event = fx_next(scene->pair.a.request_evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    }
    return NULL;
}

/* Posts a receive whenever one has been used. */
static void *recv_main(void *argument)
{
    struct scene *scene = argument;

    for (unsigned i = 0; i < POSTERS * ROUNDS / 2; i++) {
        it_event_t event = fx_next(scene->pair.b.recv_evd);
        it_status_t status;

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        FX_WAIT_WHILE((status = it_post_recv(scene->pair.b_ep, NULL, 0, i + 512, FX_SIGNAL)) ==
                          IT_ERR_TOO_MANY_POSTS,
                      "room for a receive");
        CHECK_OK(status);
        atomic_fetch_add(&scene->posted, 1);
    }
    return NULL;
}

static void *changer_main(void *argument)
{
    struct scene *scene = argument;
    uint32_t random = 77;

    while (!atomic_load(&scene->stop)) {
        it_ep_attributes_t attr = fx_ep_attr();
        it_ep_param_t param;
        it_status_t status;

        attr.max_request_dtos = 1 + fx_random(&random) % 64;
        attr.max_recv_dtos = 500 + fx_random(&random) % 600;
        attr.srv.rc.rdma_read_ord = 1 + fx_random(&random) % 10;
        status = it_ep_modify(scene->pair.a_ep, IT_EP_PARAM_MAX_REQ_DTO, &attr);
        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_ATTR);
        status = it_ep_modify(scene->pair.b_ep, IT_EP_PARAM_MAX_RECV_DTO, &attr);
        CHECK(status == IT_SUCCESS || status == IT_ERR_INVALID_EP_ATTR);
        CHECK_STATUS(attr.srv.rc.rdma_read_ord <= 8 ? IT_SUCCESS : IT_ERR_RESOURCE_ORD,
                     it_ep_modify(scene->pair.a_ep, IT_EP_PARAM_MAX_ORD, &attr));
        CHECK_OK(it_ep_modify(scene->pair.b_ep, IT_EP_PARAM_RDMA_WR_ENABLE, &attr));
        CHECK_OK(it_ep_query(scene->pair.a_ep, IT_EP_PARAM_ALL, &param));
        CHECK(param.attr.srv.rc.rdma_read_ord <= 8);
    }
    return NULL;
}

int main(void)
{
    static struct scene scene;
    it_ep_attributes_t attr = fx_ep_attr();
    struct poster posters[POSTERS];
    pthread_t others[3];

    attr.max_recv_dtos = 1100;
    fx_pair_open_as(&scene.pair, &(struct fx_pair_setup){.b_attr = &attr, .events = 8192});
    scene.local = fx_node_buf(&scene.pair.a, POSTERS * 4096);
    scene.remote = fx_node_buf(&scene.pair.b, POSTERS * 4096);
    for (unsigned i = 0; i < 512; i++)
        CHECK_OK(it_post_recv(scene.pair.b_ep, NULL, 0, i, FX_SIGNAL));
    atomic_store(&scene.posted, 512);
    CHECK(pthread_create(&others[0], NULL, request_main, &scene) == 0);
    CHECK(pthread_create(&others[1], NULL, recv_main, &scene) == 0);
    CHECK(pthread_create(&others[2], NULL, changer_main, &scene) == 0);
    for (unsigned i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.scene = &scene, .number = i};
        CHECK(pthread_create(&posters[i].thread, NULL, poster_main, &posters[i]) == 0);
    }
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK(pthread_join(posters[i].thread, NULL) == 0);
    CHECK(pthread_join(others[0], NULL) == 0);
    CHECK(pthread_join(others[1], NULL) == 0);
    atomic_store(&scene.stop, true);
    CHECK(pthread_join(others[2], NULL) == 0);
    fx_pair_close(&scene.pair);
    check_done();
    return 0;
}
