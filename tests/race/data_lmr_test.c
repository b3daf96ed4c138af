/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads make and free regions under traffic. Keys are unique while they live. A region
 * that is freed while the peer writes into it does not change afterwards.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "race/region_writer.h"

#define THREADS 3u
#define ROUNDS  300u

struct maker {
    pthread_t thread;
    const struct fx_node *node;
    atomic_bool *stop;
    unsigned made;
};

/* Makes and frees regions until told to stop, but at least ROUNDS times. */
static void *maker_main(void *argument)
{
    struct maker *maker = argument;
    static unsigned char memory[THREADS][64];
    unsigned char *mine = memory[maker->made % THREADS];
    it_lmr_handle_t held[16] = {NULL};
    it_rmr_context_t keys[16] = {0};

    maker->made = 0;
    while (maker->made < ROUNDS || !atomic_load(maker->stop)) {
        size_t slot = maker->made % 16;

        if (held[slot] != NULL)
            CHECK_OK(it_lmr_free(held[slot]));
        CHECK_OK(it_lmr_create21(maker->node->pz, mine, NULL, 64, IT_ADDR_MODE_ABSOLUTE,
                                 FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &held[slot], &keys[slot]));
        for (size_t i = 0; i < 16; i++)
            CHECK(i == slot || held[i] == NULL || keys[i] != keys[slot]);
        maker->made++;
    }
    for (size_t i = 0; i < 16; i++) {
        if (held[i] != NULL)
            CHECK_OK(it_lmr_free(held[i]));
    }
    return NULL;
}

static void traffic(struct fx_pair *pair)
{
    struct fx_buf local = fx_buf_make(&pair->a, 3000);
    struct fx_buf back = fx_buf_make(&pair->a, 3000);

    for (unsigned i = 0; i < 200; i++) {
        struct fx_buf remote = fx_buf_make(&pair->b, 3000);

        fx_fill(local.data, local.size, i);
        fx_write(pair->a_ep, &local, 0, local.size, &remote, 0, i, FX_QUIET);
        fx_read(pair->a_ep, &back, 0, back.size, &remote, 0, i, FX_SIGNAL);
        fx_done_len(pair->a.request_evd, pair->a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, back.size);
        fx_check_same(local.data, back.data, local.size);
        fx_buf_free(&remote);
    }
    fx_buf_free(&local);
    fx_buf_free(&back);
}

static void churn(void)
{
    struct fx_pair pair;
    struct maker makers[THREADS];
    atomic_bool stop = false;

    fx_pair_open(&pair);
    for (unsigned i = 0; i < THREADS; i++) {
        makers[i] =
            (struct maker){.node = i % 2 == 0 ? &pair.b : &pair.a, .stop = &stop, .made = i};
        CHECK(pthread_create(&makers[i].thread, NULL, maker_main, &makers[i]) == 0);
    }
    traffic(&pair);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(makers[i].thread, NULL) == 0);
    fx_pair_close(&pair);
}

static void freed_while_written(unsigned round)
{
    static unsigned char now[WRITER_SIZE];
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
    struct writer writer;
    uint64_t end;

    fx_pair_open(&pair);
    local = fx_node_buf(&pair.a, WRITER_SIZE);
    remote = fx_buf_make(&pair.b, WRITER_SIZE);
    writer_start(&writer, &pair, &local, fx_addr(&remote, 0), remote.key);
    writer_await(&writer, 3 + round);
    CHECK_OK(it_lmr_free(remote.lmr));
    memcpy(now, remote.data, WRITER_SIZE);
    end = fx_now_us() + 10000;
    do
        CHECK(memcmp(now, remote.data, WRITER_SIZE) == 0);
    while (fx_now_us() < end);
    CHECK(pthread_join(writer.thread, NULL) == 0);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK(memcmp(now, remote.data, WRITER_SIZE) == 0);
    remote.lmr = NULL;
    fx_buf_free(&remote);
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

int main(void)
{
    churn();
    for (unsigned round = 0; round < 5; round++)
        freed_while_written(round);
    check_done();
    return 0;
}
