/* SPDX-License-Identifier: BSD-2-Clause */
/* Several threads make, use and end connections between the same two IAs. */
#include <pthread.h>

#include "support/it_fixture.h"

#define THREADS 3u
#define ROUNDS  60u

struct churner {
    pthread_t thread;
    struct fx_node *a; /* the shared IA with its own EVDs */
    struct fx_node *b;
    unsigned number;
};

/* Makes a node with its own EVDs on an IA that others use, too. */
static void share(struct fx_node *node, const struct fx_node *original)
{
    *node = *original;
    node->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 256, 0);
    node->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 256, 0);
    node->conn_evd = fx_evd(node, IT_CM_MSG_EVENT_STREAM, 64, 0);
    node->listen_evd = fx_evd(node, IT_CM_REQ_EVENT_STREAM, 64, 0);
    CHECK_OK(it_pz_create(node->ia, &node->pz));
}

static void stop_sharing(struct fx_node *node)
{
    CHECK_OK(it_pz_free(node->pz));
    CHECK_OK(it_evd_free(node->request_evd));
    CHECK_OK(it_evd_free(node->recv_evd));
    CHECK_OK(it_evd_free(node->conn_evd));
    CHECK_OK(it_evd_free(node->listen_evd));
}

static void one_connection(struct fx_node *a, struct fx_node *b, unsigned round)
{
    it_ep_handle_t a_ep = fx_ep(a, NULL);
    it_ep_handle_t b_ep = fx_ep(b, NULL);
    struct fx_buf local = fx_buf_make(a, 5000);
    struct fx_buf remote = fx_buf_make(b, 5000);
    it_event_t event;

    fx_join(a, a_ep, b, b_ep);
    fx_fill(local.data, local.size, round);
    CHECK_OK(it_post_recv(b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_write(a_ep, &local, 0, local.size, &remote, 0, 2, FX_QUIET);
    CHECK_OK(it_post_send(a_ep, NULL, 0, 3, FX_SIGNAL));
    fx_done_len(b->recv_evd, b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_check_same(local.data, remote.data, local.size);
    fx_done_len(a->request_evd, a_ep, IT_DTO_SEND_CMPL_EVENT, 3, 0);
    if (round % 3 == 0) {
        CHECK_OK(it_ep_disconnect(a_ep, NULL, 0));
        fx_conn(a->conn_evd, a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        fx_conn(b->conn_evd, b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_free(a_ep));
    } else if (round % 3 == 1) {
        /* Both ends disconnect at once. */
        (void)it_ep_disconnect(a_ep, NULL, 0);
        (void)it_ep_disconnect(b_ep, NULL, 0);
        (void)fx_next(a->conn_evd);
        (void)fx_next(b->conn_evd);
        CHECK_OK(it_ep_free(a_ep));
    } else {
        CHECK_OK(it_ep_free(a_ep));
        event = fx_next(b->conn_evd);
        CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
              event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    }
    CHECK_OK(it_ep_free(b_ep));
    fx_empty(a->conn_evd);
    fx_empty(b->conn_evd);
    fx_buf_free(&local);
    fx_buf_free(&remote);
}

static void *churner_main(void *argument)
{
    struct churner *churner = argument;
    struct fx_node a;
    struct fx_node b;

    share(&a, churner->a);
    share(&b, churner->b);
    for (unsigned round = 0; round < ROUNDS; round++)
        one_connection(&a, &b, round + churner->number);
    stop_sharing(&a);
    stop_sharing(&b);
    return NULL;
}

/* Opens and closes IAs, too. */
static void *ia_churner_main(void *argument)
{
    (void)argument;
    for (unsigned round = 0; round < 8; round++) {
        struct fx_pair pair;

        fx_pair_open(&pair);
        fx_pair_ping(&pair);
        if (round % 2 == 0) {
            fx_pair_close(&pair);
        } else {
            fx_node_close(&pair.b);
            fx_node_close(&pair.a);
        }
    }
    return NULL;
}

int main(void)
{
    struct fx_node a;
    struct fx_node b;
    struct churner churners[THREADS];
    pthread_t ia_churner;

    fx_node_open(&a);
    fx_node_open(&b);
    for (unsigned i = 0; i < THREADS; i++) {
        churners[i] = (struct churner){.a = &a, .b = &b, .number = i};
        CHECK(pthread_create(&churners[i].thread, NULL, churner_main, &churners[i]) == 0);
    }
    CHECK(pthread_create(&ia_churner, NULL, ia_churner_main, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(churners[i].thread, NULL) == 0);
    CHECK(pthread_join(ia_churner, NULL) == 0);
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
    return 0;
}
