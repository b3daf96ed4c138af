/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posts single requests with IT_COALESCE_WR_FLAG while another thread sleeps on the EVD or is about
 * to. Either the post or the waiter must send each request. A request that both overlook leaves
 * after a second or two, which is too late for this test.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

#define LINES  3u
#define ROUNDS 1000u

#define HELD ((it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG))

static struct fx_node a;
static struct fx_node b;

/* An endpoint of the common IA with its own request EVD. */
struct line {
    it_evd_handle_t evd;
    it_ep_handle_t ep;
    atomic_uint done;
};

static void line_open(struct line *line)
{
    struct fx_node node = a;

    line->evd = node.request_evd = fx_evd(&node, IT_DTO_EVENT_STREAM, 64, 1);
    line->ep = fx_ep(&node, NULL);
    fx_join(&node, line->ep, &b, fx_ep(&b, NULL));
}

static void *waiter_main(void *argument)
{
    struct line *line = argument;
    it_event_t event;

    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK_OK(it_evd_wait(line->evd, IT_TIMEOUT_INFINITE, &event, NULL));
        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        atomic_store(&line->done, i + 1);
    }
    return NULL;
}

/* Posts the next request while the waiter is about to sleep. */
static void *poster_main(void *argument)
{
    struct fx_patience patience = fx_patience_start("lone requests");
    struct line *line = argument;

    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK_OK(it_post_rdma_write(line->ep, NULL, 0, i, HELD, 0, 0));
        while (atomic_load(&line->done) <= i) {
            fx_patience_check(&patience);
            (void)sched_yield();
        }
    }
    return NULL;
}

int main(void)
{
    static struct line lines[LINES];
    pthread_t threads[2 * LINES];

    fx_node_open(&a);
    fx_node_open(&b);
    for (unsigned i = 0; i < LINES; i++)
        line_open(&lines[i]);
    for (unsigned i = 0; i < 2 * LINES; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, i % 2 == 0 ? waiter_main : poster_main,
                                   &lines[i / 2]));
    for (unsigned i = 0; i < 2 * LINES; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    fx_node_close(&a);
    fx_node_close(&b);
    return 0;
}
