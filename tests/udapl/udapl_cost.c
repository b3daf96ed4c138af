/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program whose instructions udapl_cost.sh counts: udapl_cost write|read|send ROUNDS. In each
 * round cost_post makes BATCH posts. When all have completed, cost_take takes all completions
 * except one.
 */
#include "udapl_kit.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 4

void cost_post(DAT_RETURN (*post)(DAT_UINT64 cookie));
void cost_take(DAT_EVD_HANDLE evd);

static struct kit_side near, far;
static DAT_LMR_TRIPLET segment, into;
static DAT_RMR_TRIPLET target;

static DAT_RETURN post_write(DAT_UINT64 cookie)
{
    return dat_ep_post_rdma_write(near.ep, 1, &segment, kit_cookie(cookie), &target,
                                  DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN post_read(DAT_UINT64 cookie)
{
    return dat_ep_post_rdma_read(near.ep, 1, &segment, kit_cookie(cookie), &target,
                                 DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN post_send(DAT_UINT64 cookie)
{
    return dat_ep_post_send(near.ep, 1, &segment, kit_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN post_recv(DAT_UINT64 cookie)
{
    return dat_ep_post_recv(far.ep, 1, &into, kit_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG);
}

__attribute__((noinline)) void cost_post(DAT_RETURN (*post)(DAT_UINT64 cookie))
{
    for (DAT_UINT64 i = 0; i < BATCH; i++)
        CHECK_DAT(post(i));
}

__attribute__((noinline)) void cost_take(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    for (DAT_UINT64 i = 1; i < BATCH; i++) {
        CHECK_DAT(dat_evd_dequeue(evd, &event));
        CHECK_EQ(i, event.event_data.dto_completion_event_data.user_cookie.as_64);
        CHECK_EQ(DAT_DTO_SUCCESS, event.event_data.dto_completion_event_data.status);
    }
}

/* All completions are there before the first is taken, so that no poll finds none. */
static void complete(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_COUNT more = 0;

    while (dat_evd_wait(evd, 0, BATCH, &event, &more) != DAT_SUCCESS)
        sched_yield();
    CHECK_EQ(BATCH - 1, more);
    cost_take(evd);
}

int main(int argc, char **argv)
{
    const char *operation = argc > 1 ? argv[1] : "send";
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;

    kit_side_open(&near);
    kit_side_open(&far);
    kit_join(&near, &far);
    segment = kit_local(&near, 0, 64);
    into = kit_local(&far, 0, 64);
    target = kit_remote(&far, 64, 64);
    for (unsigned long i = 0; i < rounds; i++) {
        bool sends = strcmp(operation, "send") == 0;

        if (sends)
            cost_post(post_recv);
        cost_post(sends ? post_send : strcmp(operation, "read") == 0 ? post_read : post_write);
        complete(near.request);
        if (sends)
            complete(far.recv);
    }
    kit_part(&near, &far);
    kit_side_close(&near);
    kit_side_close(&far);
    check_done();
    return 0;
}
