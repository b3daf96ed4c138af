/* SPDX-License-Identifier: BSD-2-Clause */
/* Accept, reject and handoff race for one request: exactly one of them decides. */
#include <pthread.h>

#include "support/it_fixture.h"

#define ROUNDS 2000u

enum decision {
    ACCEPT,
    REJECT,
    HANDOFF,
    DECISIONS
};

struct scene {
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_evd_handle_t other_evd;
    it_conn_qual_t other; /* where the request is handed off to */
    it_cn_est_identifier_t id;
    pthread_barrier_t start;
    pthread_barrier_t end;
    it_status_t outcome[DECISIONS];
};

struct decider {
    pthread_t thread;
    struct scene *scene;
    enum decision decision;
};

static it_status_t decide(struct scene *scene, enum decision decision)
{
    switch (decision) {
    case ACCEPT:
        return it_ep_accept(scene->b_ep, scene->id, NULL, 0);
    case REJECT:
        return it_reject(scene->id, NULL, 0);
    case HANDOFF:
    case DECISIONS:
        break;
    }
    return it_handoff(&scene->other, scene->b.spigot, scene->id);
}

static void *decider_main(void *argument)
{
    const struct decider *decider = argument;
    struct scene *scene = decider->scene;

    for (unsigned i = 0; i < ROUNDS; i++) {
        (void)pthread_barrier_wait(&scene->start);
        scene->outcome[decider->decision] = decide(scene, decider->decision);
        (void)pthread_barrier_wait(&scene->end);
    }
    return NULL;
}

/* Checks that exactly one call has succeeded and that its decision takes effect. */
static void judge(struct scene *scene)
{
    unsigned winner = DECISIONS;

    for (unsigned i = 0; i < DECISIONS; i++) {
        if (scene->outcome[i] == IT_SUCCESS) {
            CHECK_EQ(DECISIONS, winner);
            winner = i;
        } else {
            CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, scene->outcome[i]);
        }
    }
    CHECK(winner != DECISIONS);
    if (winner == HANDOFF)
        CHECK_OK(it_ep_accept(scene->b_ep, fx_next(scene->other_evd).conn_req.cn_est_id, NULL, 0));
    if (winner == REJECT) {
        fx_conn(scene->a.conn_evd, scene->a_ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(scene->b_ep));
    } else {
        fx_conn(scene->a.conn_evd, scene->a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        fx_conn(scene->b.conn_evd, scene->b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_OK(it_ep_disconnect(scene->a_ep, NULL, 0));
        fx_conn(scene->a.conn_evd, scene->a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(scene->b.conn_evd, scene->b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(scene->b_ep));
    }
    CHECK_OK(it_ep_reset(scene->a_ep));
    fx_empty(scene->other_evd);
    fx_empty(scene->b.listen_evd);
}

int main(void)
{
    static struct scene scene = {.other.type = IT_IANA_PORT};
    struct decider deciders[DECISIONS];
    it_listen_handle_t second = NULL;
    uint16_t port = 0;

    fx_node_open(&scene.a);
    fx_node_open(&scene.b);
    scene.a_ep = fx_ep(&scene.a, NULL);
    scene.b_ep = fx_ep(&scene.b, NULL);
    (void)fx_listen(&scene.b, &port);
    scene.other_evd = fx_evd(&scene.b, IT_CM_REQ_EVENT_STREAM, 4, 0);
    CHECK_OK(it_listen_create(scene.b.ia, scene.b.spigot, scene.other_evd, IT_LISTEN_NO_FLAG,
                              &scene.other, &second));
    CHECK(pthread_barrier_init(&scene.start, NULL, DECISIONS + 1) == 0);
    CHECK(pthread_barrier_init(&scene.end, NULL, DECISIONS + 1) == 0);
    for (unsigned i = 0; i < DECISIONS; i++) {
        deciders[i] = (struct decider){.scene = &scene, .decision = (enum decision)i};
        CHECK(pthread_create(&deciders[i].thread, NULL, decider_main, &deciders[i]) == 0);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        fx_connect(&scene.a, scene.a_ep, port);
        scene.id = fx_request(&scene.b, NULL);
        (void)pthread_barrier_wait(&scene.start);
        (void)pthread_barrier_wait(&scene.end);
        judge(&scene);
    }
    for (unsigned i = 0; i < DECISIONS; i++)
        CHECK(pthread_join(deciders[i].thread, NULL) == 0);
    fx_node_close(&scene.a);
    fx_node_close(&scene.b);
    check_done();
    return 0;
}
