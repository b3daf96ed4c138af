/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks which posts are deferred. The clock is a number: ticks since the EP was made. */
#include "vp/uiwarp/queue/uiw_pacing.h"

#include <criterion/criterion.h>

#define CLOSE 100u     /* ticks between two posts of a burst */
#define FAR   1000000u /* a pause */
#define EAGER 4u       /* posts of a burst that are sent at once */

static struct uiw_pacing pacing;
static uint64_t now;

static void setup(void)
{
    pacing = (struct uiw_pacing){0};
    now = 1u << 30;
    uiw_pacing_sent(&pacing, 0);
}

TestSuite(uiw_pacing, .init = setup);

static bool post_after(uint64_t ticks)
{
    now += ticks;
    return uiw_pacing_in_burst(&pacing, now);
}

static void begin_burst(void)
{
    for (unsigned i = 0; i < EAGER; i++)
        cr_assert_not(post_after(i == 0 ? FAR : CLOSE));
    cr_assert(post_after(CLOSE));
}

Test(uiw_pacing, the_first_posts_of_a_burst_leave_at_once)
{
    begin_burst();
    for (unsigned i = 0; i < 1000; i++)
        cr_assert(post_after(CLOSE));
}

Test(uiw_pacing, slow_posts_make_no_burst)
{
    for (unsigned i = 0; i < 1000; i++)
        cr_assert_not(post_after(4000));
    cr_assert_eq(pacing.burst, 0);
}

/*
 * The time of a system call is no pause: a pause lasts from the end of one post to the next post.
 */
Test(uiw_pacing, the_time_of_sending_does_not_count)
{
    for (unsigned i = 0; i < EAGER; i++) {
        cr_assert_not(post_after(i == 0 ? FAR : CLOSE));
        now += FAR;
        uiw_pacing_sent(&pacing, now);
    }
    cr_assert(post_after(CLOSE));
}

Test(uiw_pacing, a_burst_lasts_over_short_gaps)
{
    begin_burst();
    for (unsigned i = 0; i < 1000; i++)
        cr_assert(post_after(99999));
}

/* A thread that fills the queues of many endpoints in turn has pauses of about the same length. */
Test(uiw_pacing, a_pause_as_long_as_the_last_does_not_end_a_burst)
{
    begin_burst();
    cr_assert_not(post_after(200000));
    cr_assert(post_after(CLOSE));
    for (unsigned i = 0; i < 100; i++) {
        cr_assert(post_after(399999));
        cr_assert(post_after(CLOSE));
    }
    cr_assert_not(post_after(400000));
    cr_assert(post_after(CLOSE));
}

Test(uiw_pacing, two_posts_alone_end_a_burst)
{
    begin_burst();
    cr_assert_not(post_after(200000));
    cr_assert_not(post_after(200000));
    cr_assert_eq(pacing.burst, 0);
    begin_burst();
    cr_assert_not(post_after(200000));
    cr_assert(post_after(CLOSE), "one pause does not end the next");
}

Test(uiw_pacing, a_long_pause_ends_a_burst)
{
    begin_burst();
    cr_assert(post_after(CLOSE));
    cr_assert_not(post_after(4000000));
    cr_assert_eq(pacing.burst, 0);
    begin_burst();
}

Test(uiw_pacing, a_post_that_answers_begins_no_burst)
{
    cr_assert(uiw_pacing_answers(&pacing, 1));
    cr_assert_not(uiw_pacing_answers(&pacing, 1), "only the first since the peer has spoken");
    cr_assert(uiw_pacing_answers(&pacing, 2));
}

Test(uiw_pacing, a_post_in_a_burst_answers_nothing)
{
    begin_burst();
    cr_assert_not(uiw_pacing_answers(&pacing, 1));
    cr_assert_eq(pacing.heard, 1);
}

Test(uiw_pacing, enough_requests_have_gathered)
{
    for (unsigned i = 1; i < 64; i++)
        cr_assert(uiw_pacing_gather(&pacing, 0));
    cr_assert_not(uiw_pacing_gather(&pacing, 0));
    uiw_pacing_release(&pacing);
    cr_assert(uiw_pacing_gather(&pacing, 0));
}

Test(uiw_pacing, enough_octets_have_gathered)
{
    cr_assert(uiw_pacing_gather(&pacing, 262143));
    cr_assert_not(uiw_pacing_gather(&pacing, 1));
    uiw_pacing_release(&pacing);
    cr_assert_not(uiw_pacing_gather(&pacing, UINT32_MAX));
    uiw_pacing_release(&pacing);
    cr_assert_eq(pacing.requests, 0);
    cr_assert_eq(pacing.octets, 0);
}
