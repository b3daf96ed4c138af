/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a waiting thread polls before it sleeps, by a clock of the test: turns are counted, and
 * no time is measured.
 */
#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/queue/uiw_ep.h"

#include <criterion/criterion.h>

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/fixture_pair.h"

#define LARGE    60000u
#define SMALL    64u
#define POLLS_NS 50000u
#define YIELD_NS 1000u
#define CALL_NS  100u    /* what asking for the time takes */
#define LONG_NS  150000u /* with LARGE octets no more than is usual; without them, stolen */
#define PAUSE    1000u   /* short sleeps without polling, after a stolen processor */

static struct uiw_ep *ep; /* of side A, whose loop rests */
static struct uiw_progress *progress;
static struct fx_buf from, into;

/* ---- the clock, and what happens meanwhile --------------------------------------------------- */

/* Of the thread that waits. Others have the system's clock. */
static _Thread_local bool armed;
static _Thread_local uint64_t now_ns;
static _Thread_local unsigned yields;
static _Thread_local bool reads; /* a large message is in the socket */
static void (*at_yield)(void);

static int waiting_octets(void)
{
    int count = 0;

    CHECK(ioctl(ep->fd, FIONREAD, &count) == 0);
    return count;
}

/* What side B has sent is in the socket of A. */
static void await_octets(size_t count)
{
    FX_WAIT_WHILE((size_t)waiting_octets() < count, "octets of the peer");
}

/* The message for which side A waits. */
static void send_message(void)
{
    fx_send(pair.b_ep, &from, 0, SMALL, 1, FX_QUIET);
    await_octets(SMALL);
}

/* Polling has read the large message, which took its time. */
static void large_is_read(void)
{
    armed = reads = false;
    now_ns += LONG_NS;
    send_message();
    armed = true;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!armed || clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    if (reads && waiting_octets() == 0)
        large_is_read();
    now_ns += CALL_NS;
    *time = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
                              .tv_nsec = (long)(now_ns % 1000000000u)};
    return 0;
}

int sched_yield(void)
{
    yields++;
    if (!armed)
        return 0;
    armed = false;
    now_ns += YIELD_NS;
    if (at_yield)
        at_yield();
    at_yield = NULL;
    armed = true;
    return 0;
}

/* ---- a thread that waits --------------------------------------------------------------------- */

static void spin_init(void)
{
    pair_init();
    fx_pair_ping(&pair);
    ep = uiw_ep_of((struct ual_ep *)(void *)pair.a_ep);
    progress = &ep->ia->progress;
    from = fx_node_buf(&pair.b, LARGE);
    into = fx_node_buf(&pair.a, LARGE);
    cr_assert(evd_loop_rest(ep->ia->ual->evd.loop));
    progress->spin_ns = POLLS_NS;
    progress->spin_pause = 0;
    now_ns = 1u << 30;
}

static void spin_fini(void)
{
    evd_loop_go_on(ep->ia->ual->evd.loop);
    pair_fini();
}

TestSuite(uiw_spin, .init = spin_init, .fini = spin_fini);

/* Waits for a message. What sends it happens when the thread yields for the first time. */
static void wait_until_sent(void (*what)(void))
{
    it_event_t event;

    fx_recv(pair.a_ep, &into, 0, SMALL, 1);
    at_yield = what;
    armed = true;
    CHECK_OK(it_evd_wait(pair.a.recv_evd, IT_TIMEOUT_INFINITE, &event, NULL));
    armed = false;
    cr_assert_null(at_yield);
}

/* Returns how often a thread that waits in vain for so long yields. */
static unsigned yields_of_wait(uint64_t microseconds)
{
    it_event_t event;

    yields = 0;
    armed = true;
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(pair.a.recv_evd, microseconds, &event, NULL));
    armed = false;
    return yields;
}

static void large_arrives(void)
{
    fx_write(pair.b_ep, &from, 0, LARGE, &into, 0, 1, FX_QUIET);
    await_octets(LARGE);
    reads = true;
}

static void processor_is_stolen(void)
{
    now_ns += LONG_NS;
    send_message();
}

/* ---- tests ----------------------------------------------------------------------------------- */

Test(uiw_spin, a_thread_polls_for_its_time_and_then_sleeps)
{
    unsigned polls = yields_of_wait(POLLS_NS / 1000 + 10);

    cr_assert(polls > POLLS_NS / (YIELD_NS + 8 * CALL_NS) && polls <= POLLS_NS / YIELD_NS, "%u",
              polls);
}

Test(uiw_spin, a_large_message_takes_no_processor_away)
{
    wait_until_sent(large_arrives);
    cr_assert_not(reads);
    cr_assert_eq(progress->spin_pause, 0);
    cr_assert_gt(yields_of_wait(10), 0);
}

Test(uiw_spin, a_thread_without_its_processor_sleeps_for_a_while)
{
    unsigned sleeps;

    wait_until_sent(processor_is_stolen);
    cr_assert_geq(progress->spin_pause, PAUSE - 1); /* the wait may have ended with a sleep */
    while ((sleeps = progress->spin_pause) > 0) {
        cr_assert_eq(yields_of_wait(10), 0);
        cr_assert_lt(progress->spin_pause, sleeps);
    }
    (void)yields_of_wait(10); /* after one more short sleep */
    cr_assert_gt(yields_of_wait(10), 0);
}
