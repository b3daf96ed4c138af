/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks when a message that holds a receive of an S-RQ has taken too long. */
#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_srq.h"

#include <criterion/criterion.h>

#define LIMIT (30 * BASE_NS_PER_S)
#define LOOK  BASE_NS_PER_S

TestSuite(uiw_srq_watch);

/*
 * Checks once a second while `arrived` grows in every `every`-th check. Returns the check that ends
 * the message, or 0.
 */
static unsigned looks(uint32_t grows_by, unsigned every, unsigned most)
{
    struct uiw_drawn drawn = {.message = 7};
    uint32_t arrived = 0;

    for (unsigned i = 1; i <= most; i++) {
        arrived += i % every == 0 ? grows_by : 0;
        if (uiw_srq_watch_is_over(&drawn, 7, arrived, LOOK, LIMIT))
            return i;
    }
    return 0;
}

Test(uiw_srq_watch, nothing_comes)
{
    cr_assert_eq(looks(0, 1, 100), 30);
}

/* 29 s of silence after each octet use up the time for the whole message. */
Test(uiw_srq_watch, an_octet_now_and_then)
{
    cr_assert_eq(looks(1, 29, 100), 31);
    cr_assert_eq(looks(1, 1, 100), 31);
}

/* The slowest accepted rate may go on for ever. Half of that rate may for twice the time limit. */
Test(uiw_srq_watch, a_slow_message)
{
    cr_assert_eq(looks(4000, 1, 100000), 0);
    cr_assert_eq(looks(29 * 4000, 29, 100000), 0);
    cr_assert_eq(looks(2000, 1, 1000), 60);
}

/* The peer sends much, then nothing. */
Test(uiw_srq_watch, silence_behind_a_lot)
{
    struct uiw_drawn drawn = {.message = 1};

    cr_assert_not(uiw_srq_watch_is_over(&drawn, 1, UINT32_MAX, LOOK, LIMIT));
    for (unsigned i = 1; i < 30; i++)
        cr_assert_not(uiw_srq_watch_is_over(&drawn, 1, UINT32_MAX, LOOK, LIMIT));
    cr_assert(uiw_srq_watch_is_over(&drawn, 1, UINT32_MAX, LOOK, LIMIT));
}

Test(uiw_srq_watch, another_message_begins_anew)
{
    struct uiw_drawn drawn = {.message = 1};

    for (uint32_t message = 1; message < 1000; message++)
        cr_assert_not(uiw_srq_watch_is_over(&drawn, message, 0, LIMIT - 1, LIMIT));
}

Test(uiw_srq_watch, without_a_limit)
{
    struct uiw_drawn drawn = {.message = 1};

    for (unsigned i = 0; i < 100; i++)
        cr_assert_not(uiw_srq_watch_is_over(&drawn, 1, 0, BASE_NEVER / 1000, BASE_NEVER));
    cr_assert_not(uiw_srq_watch_is_over(&drawn, 1, UINT32_MAX, LOOK, BASE_NEVER));
}
