/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posts race with disconnects. Every accepted post completes exactly once and in order, and the
 * connection ends with one event on either side.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

#define ROUNDS  2000u
#define MOST    400u /* posts of a thread in every 16th round, which fill the queues */
#define FEW     12u  /* posts in the other rounds */
#define POSTERS 2u

struct poster {
    pthread_t thread;
    it_ep_handle_t ep;
    const struct fx_buf *local;
    const struct fx_buf *remote;
    it_dto_cookie_t first;
    atomic_uint *started;
    unsigned most;
    unsigned accepted;
    bool receives;
};

static void *poster_main(void *argument)
{
    struct poster *poster = argument;
    /* One half of the memory is for Writes, the other for received data. */
    it_lmr_triplet_t out = fx_seg(poster->local, 0, 512);
    it_lmr_triplet_t in = fx_seg(poster->local, 512, 512);

    atomic_fetch_add(poster->started, 1);
    for (unsigned i = 0; i < poster->most; i++) {
        it_dto_cookie_t cookie = poster->first + poster->accepted;
        it_status_t status;

        if (poster->receives)
            status = it_post_recv(poster->ep, &in, 1, cookie, FX_SIGNAL);
        else if (i % 2 == 0)
            status = it_post_rdma_write(poster->ep, &out, 1, cookie, FX_SIGNAL,
                                        fx_addr(poster->remote, 0), poster->remote->key);
        else
            status = it_post_rdma_read(poster->ep, &in, 1, cookie, FX_SIGNAL,
                                       fx_addr(poster->remote, 512), poster->remote->key);
        if (status == IT_SUCCESS)
            poster->accepted++;
        else
            CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, status);
    }
    return NULL;
}

/*
 * Checks that every accepted post completes once and in order, and that all after the first flushed
 * one are flushed.
 */
static void collect(it_evd_handle_t evd, const struct poster *poster)
{
    bool flushed = false;

    for (unsigned i = 0; i < poster->accepted; i++) {
        it_event_t event = fx_next(evd);

        CHECK_EQ(poster->first + i, event.dto_cmpl.cookie);
        CHECK(event.dto_cmpl.ep == poster->ep);
        CHECK(event.dto_cmpl.dto_status == IT_DTO_SUCCESS ||
              event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
              event.dto_cmpl.dto_status == IT_DTO_ERR_TRANSPORT);
        CHECK(!flushed || event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
        flushed = event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED;
    }
    fx_empty(evd);
}

static void one_round(struct fx_pair *pair, const struct fx_buf *local, const struct fx_buf *remote,
                      unsigned round)
{
    atomic_uint started = 0;
    struct poster posters[POSTERS] = {
        {.ep = pair->a_ep, .local = local, .remote = remote, .first = 1000, .started = &started},
        {.ep = pair->a_ep, .local = local, .first = 5000, .started = &started, .receives = true},
    };
    struct fx_patience patience = fx_patience_start("start of the posters");
    it_event_t event;
    it_status_t status;

    for (unsigned i = 0; i < POSTERS; i++)
        posters[i].most = round % 16 == 0 ? MOST : FEW;
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK(pthread_create(&posters[i].thread, NULL, poster_main, &posters[i]) == 0);
    while (atomic_load(&started) < POSTERS)
        fx_patience_check(&patience);
    for (unsigned i = 0; i < round % 7; i++)
        fx_patience_check(&patience);
    status = it_ep_disconnect(round % 2 == 0 ? pair->a_ep : pair->b_ep, NULL, 0);
    CHECK_OK(status);
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK(pthread_join(posters[i].thread, NULL) == 0);
    /* The stream may have ended in the middle of a frame. */
    event = fx_next(pair->a.conn_evd);
    CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    event = fx_next(pair->b.conn_evd);
    CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
          event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
    collect(pair->a.request_evd, &posters[0]);
    collect(pair->a.recv_evd, &posters[1]);
    fx_empty(pair->a.conn_evd);
    fx_empty(pair->b.conn_evd);
    fx_pair_rejoin(pair);
}

int main(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr, .events = 2048};
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;

    attr.max_request_dtos = 256;
    attr.max_recv_dtos = 256;
    fx_pair_open_as(&pair, &setup);
    local = fx_node_buf(&pair.a, 1024);
    remote = fx_node_buf(&pair.b, 1024);
    for (unsigned round = 0; round < ROUNDS; round++)
        one_round(&pair, &local, &remote, round);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    check_done();
    return 0;
}
