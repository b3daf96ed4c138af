/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * removal_test COMMAND: COMMAND removes the device while data moves, threads sleep, and others
 * listen and connect. The process continues: each call reports it, and everything can be freed.
 * (rdma-core keeps the device open, so the kernel removes it fully when the process ends.)
 */
#include "support/it_fixture.h"
#include "trouble/said.h"
#include "trouble/small.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define DEPTH   8u
#define LENGTH  4096u
#define WARM_UP 100u

struct traffic {
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_buf buf;
    unsigned moved; /* messages */
    const struct fx_buf *peer;
    bool writes; /* otherwise it reads */
    pthread_t thread;
};

static _Atomic unsigned under_way;

/* ---------------------------------------------------------------- threads */

static it_status_t post(const struct traffic *traffic)
{
    it_lmr_triplet_t segment = fx_seg(&traffic->buf, 0, LENGTH);
    it_rdma_addr_t address = fx_addr(traffic->peer, 0);

    if (traffic->writes)
        return it_post_rdma_write(traffic->ep, &segment, 1, 0, FX_SIGNAL, address,
                                  traffic->peer->key);
    return it_post_rdma_read(traffic->ep, &segment, 1, 0, FX_SIGNAL, address, traffic->peer->key);
}

static bool is_over(it_status_t status)
{
    if (status == IT_SUCCESS)
        return false;
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, status);
    return true;
}

/* Posts a request for each completed one until a call reports the removal. */
static void *move(void *argument)
{
    struct traffic *traffic = argument;
    it_event_t event;

    for (;;) {
        if (is_over(it_evd_wait(traffic->node.request_evd, IT_TIMEOUT_INFINITE, &event, NULL)))
            return NULL;
        /*
         * Failed requests are posted again, too: they are flushed until the call reports the
         * removal.
         */
        if (event.dto_cmpl.dto_status == IT_DTO_SUCCESS && ++traffic->moved == WARM_UP)
            under_way++;
        if (is_over(post(traffic)))
            return NULL;
    }
}

/* The device may report its EPs first. */
static void *sleep_for_good(void *argument)
{
    const struct fx_node *node = argument;
    it_event_t event;

    while (!is_over(it_evd_wait(node->aff_evd, IT_TIMEOUT_INFINITE, &event, NULL)))
        ;
    return NULL;
}

/* ---------------------------------------------------------------- before */

static void traffic_open(struct traffic *traffic, const struct traffic *peer, bool writes)
{
    fx_node_open(&traffic->node);
    traffic->writes = writes;
    traffic->peer = &peer->buf;
    traffic->buf = fx_buf_make(&traffic->node, LENGTH);
    traffic->ep = small_ep(&traffic->node);
}

static void traffic_start(struct traffic *traffic)
{
    for (unsigned i = 0; i < DEPTH; i++)
        CHECK_OK(post(traffic));
    fx_recv(traffic->ep, &traffic->buf, 0, LENGTH, 0); /* for nothing */
    CHECK_EQ(0, pthread_create(&traffic->thread, NULL, move, traffic));
}

/* Leaves a request undecided. */
static void leave_undecided(struct fx_node *node, it_listen_handle_t *listener)
{
    uint16_t port = 0;

    *listener = fx_listen(node, &port);
    fx_connect(node, small_ep(node), port);
    (void)fx_request(node, NULL);
}

/* ---------------------------------------------------------------- after */

static void calls_tell(const struct traffic *traffic)
{
    it_pz_handle_t pz = NULL;
    it_evd_handle_t evd = NULL;
    it_ep_attributes_t attr = small_attr();
    it_ep_handle_t ep = NULL;
    it_ia_info_t *info = NULL;
    it_event_t event;
    const struct fx_node *node = &traffic->node;

    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_evd_dequeue(node->conn_evd, &event));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_pz_create(node->ia, &pz));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_evd_create(node->ia, IT_CM_MSG_EVENT_STREAM,
                                                      (it_evd_flags_t)0, 8, 1, NULL, &evd, NULL));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE,
                 it_ep_rc_create(node->pz, node->request_evd, node->recv_evd, node->conn_evd,
                                 IT_EP_REUSEADDR, &attr, &ep));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_ia_query(node->ia, &info));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_ep_disconnect(traffic->ep, NULL, 0));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, it_ep_reset(traffic->ep));
    CHECK_STATUS(IT_ERR_IA_CATASTROPHE, post(traffic));
}

static void cannot_be_opened(void)
{
    it_ia_handle_t ia = NULL;

    CHECK_STATUS(IT_ERR_INVALID_NAME, it_ia_create(fx_interface(), 2, 1, &ia));
    said_once(fx_interface());
}

/*
 * One IA is freed object by object, each of which can still be freed. The other is freed at once.
 */
static void free_one_by_one(struct traffic *traffic, it_listen_handle_t listener)
{
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_ep_free(traffic->ep));
    fx_buf_free(&traffic->buf);
}

static void start(struct traffic *near, struct traffic *far)
{
    fx_join(&near->node, near->ep, &far->node, far->ep);
    traffic_start(far);
    traffic_start(near);
    FX_WAIT_WHILE(under_way < 2, "data");
}

static void remove_under_traffic(const char *command)
{
    struct traffic near = {0};
    struct traffic far = {0};
    struct traffic *const both[] = {&near, &far};
    it_listen_handle_t listeners[2];
    pthread_t sleepers[2];
    struct fx_node idle;
    pthread_t idle_sleeper;

    fx_node_open(&idle);
    CHECK_EQ(0, pthread_create(&idle_sleeper, NULL, sleep_for_good, &idle));
    traffic_open(&near, &far, true);
    traffic_open(&far, &near, false);
    for (int i = 0; i < 2; i++) {
        leave_undecided(&both[i]->node, &listeners[i]);
        CHECK_EQ(0, pthread_create(&sleepers[i], NULL, sleep_for_good, &both[i]->node));
    }
    start(&near, &far);
    CHECK_EQ(0, system(command));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(0, pthread_join(both[i]->thread, NULL));
        CHECK_EQ(0, pthread_join(sleepers[i], NULL));
        calls_tell(both[i]);
    }
    CHECK_EQ(0, pthread_join(idle_sleeper, NULL));
    fx_node_close(&idle);
    free_one_by_one(&near, listeners[0]);
    fx_node_close(&near.node);
    fx_node_close(&far.node);
    free(far.buf.data);
}

/* ---------------------------------------------------------------- SIGPIPE */

static void handle(int number)
{
    (void)number;
}

static void open_and_check(void (*action_before)(int))
{
    struct sigaction action = {.sa_handler = action_before};
    struct fx_node node;

    CHECK_EQ(0, sigaction(SIGPIPE, &action, NULL));
    fx_node_open(&node);
    CHECK_EQ(0, sigaction(SIGPIPE, NULL, &action));
    CHECK(action.sa_handler == action_before);
    fx_node_close(&node);
}

/*
 * siw raises SIGPIPE in a thread that posts while a connection breaks. The library keeps it away
 * and changes nothing in the process.
 */
static void broken_pipes_change_nothing(void)
{
    open_and_check(handle);
    open_and_check(SIG_DFL);
}

int main(int argc, char **argv)
{
    struct fx_node node;
    size_t descriptors;

    CHECK(argc == 2);
    said_begin();
    broken_pipes_change_nothing();
    fx_node_open(&node);
    fx_join(&node, small_ep(&node), &node, small_ep(&node));
    fx_node_close(&node);
    descriptors = fx_fd_count(); /* rdma-core keeps some open after the first use */
    remove_under_traffic(argv[1]);
    said_among("removed");
    cannot_be_opened();
    fx_fd_settle(descriptors);
    check_done();
    return 0;
}
