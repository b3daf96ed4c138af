/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that a program posts in quick succession share system calls, even with pauses between
 * them.
 */
#include <criterion/criterion.h>

#include "support/fixture_pair.h"

#define BURSTS   10u
#define TRIES    100u
#define POSTS    16u
#define PAUSE_US 200u

static void burst(void)
{
    for (unsigned i = 1; i < POSTS; i++)
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i, (it_dto_flags_t)0, 0, 0));
    CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, POSTS, FX_SIGNAL, 0, 0));
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, POSTS, 0);
}

/* Counts the system calls of many bursts. After each burst the program computes for this time. */
static uint64_t calls_with_pause(uint64_t pause_us)
{
    uint64_t before = fx_counters(&pair.a).send_calls;

    for (unsigned i = 0; i < BURSTS; i++) {
        uint64_t end = fx_now_us() + pause_us;

        burst();
        while (pause_us > 0 && fx_now_us() < end) {
        }
    }
    return fx_counters(&pair.a).send_calls - before;
}

/*
 * A thread that fills the queues of many endpoints in turn comes back to each after a pause. Unless
 * other programs take the processor for too long, the pauses add hardly any system calls.
 */
Test(data_burst, pauses_do_not_end_it)
{
    bool together = false; /* this machine is fast enough for bursts */
    bool good = false;

    fx_pair_open(&pair);
    fx_pair_ping(&pair); /* completes the start of the connection */
    for (unsigned i = 0; i < TRIES && !good; i++) {
        uint64_t without = calls_with_pause(0);

        if (without <= 2 * BURSTS) {
            together = true;
            good = calls_with_pause(PAUSE_US) <= 3 * BURSTS;
        }
    }
    fx_pair_close(&pair);
    if (!together)
        cr_skip_test("posts are too slow here to make a burst");
    CHECK(good);
}

/* A post without others near it is not deferred, whatever bursts there were before. */
Test(data_burst, a_post_alone_goes_at_once, .init = pair_init, .fini = pair_fini)
{
    unsigned late = 0;

    fx_pair_ping(&pair);
    (void)calls_with_pause(PAUSE_US);
    for (unsigned i = 0; i < 10; i++) {
        uint64_t end = fx_now_us() + PAUSE_US;
        uint64_t before;

        while (fx_now_us() < end) {
        }
        before = fx_counters(&pair.a).send_calls;
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
        late += fx_counters(&pair.a).send_calls == before;
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, 0);
    }
    /* The first post counted as the beginning of another burst. */
    CHECK(late <= 1);
}
