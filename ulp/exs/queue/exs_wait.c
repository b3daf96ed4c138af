/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/exs_wait.h"

#include "include/exs.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)
/*
 * When no event comes for this long, the caller gives the lead to the library's thread and sleeps
 * where it can be cancelled.
 */
#define LEAD_US UINT64_C(10000)
/* Polls in a row before a look at the deadline. */
#define POLLS 64u
/*
 * A thread that polls without end yields once in YIELD_ROUNDS rounds, about a millisecond, since
 * another thread may need this processor to produce the event. Each yield can last a time slice of
 * another ready thread, so a wait that ends within YIELD_ROUNDS rounds does not yield.
 */
#define YIELD_ROUNDS 32u
/*
 * With EXS_WAIT_ADAPTIVE the leader polls for SPIN_NS before it sleeps. After spins in vain it
 * omits up to SPINS_OMITTED of them: its processor may be the one that the peer needs.
 */
#define SPIN_NS       UINT64_C(50000)
#define SPIN_POLLS    8u /* polls before a look at the clock */
#define SPINS_OMITTED 255u

/* Used by the leader only. */
static unsigned penalty; /* spins to omit after the next one in vain */
static unsigned omitted; /* spins still to omit */

struct waiting {
    struct exs_sleeper *sleeper;
    const struct exs_wait *wait;
    bool (*done)(void *argument, bool sleeps);
    void *argument;
    bool leads;
    bool idle; /* it has led long enough */
};

uint64_t exs_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Returns the microseconds left, at most LEAD_US; 0: none. */
static uint64_t time_left(const struct exs_wait *wait)
{
    uint64_t now;

    if (wait->deadline_ns == EXS_TIME_NEVER)
        return LEAD_US;
    now = exs_clock_ns();
    if (now >= wait->deadline_ns)
        return 0;
    now = (wait->deadline_ns - now + NS_PER_US - 1) / NS_PER_US;
    return now < LEAD_US ? now : LEAD_US;
}

/* Polls until there is work, for a while. Returns false if that was in vain or is omitted. */
static bool spin(const struct exs_wait *wait)
{
    uint64_t until;

    if (wait->kind != EXS_WAIT_ADAPTIVE || wait->deadline_ns == 0)
        return false;
    if (omitted > 0) {
        omitted--;
        return false;
    }
    until = exs_clock_ns() + SPIN_NS;
    do {
        for (unsigned i = 0; i < SPIN_POLLS; i++)
            if (exs_lead_poll()) {
                penalty /= 2;
                return true;
            }
    } while (exs_clock_ns() < until);
    penalty = penalty < SPINS_OMITTED ? 2 * penalty + 1 : SPINS_OMITTED;
    omitted = penalty;
    return false;
}

/* Polls while there is work; with EXS_WAIT_BUSY_POLL always. */
static bool poll(struct waiting *waiting)
{
    bool always = waiting->wait->kind == EXS_WAIT_BUSY_POLL;

    for (unsigned i = 0; i < POLLS; i++) {
        if (!waiting->leads && waiting->wait->kind != EXS_WAIT_NOTIFY)
            waiting->leads = exs_lead_take(waiting->wait->deadline_ns != 0);
        if (waiting->leads && !exs_lead_poll() && !always && !spin(waiting->wait))
            i = POLLS;
        if (waiting->done(waiting->argument, false))
            return true;
        if (!waiting->leads && !always)
            return false;
    }
    return false;
}

static int sleep_once(struct waiting *waiting, uint64_t left_us)
{
    const struct exs_wait *wait = waiting->wait;
    bool would_lead = wait->kind != EXS_WAIT_NOTIFY && !waiting->idle;
    int error;

    if (waiting->leads) {
        error = exs_sleeper_lead(waiting->sleeper, left_us);
        if (error == 0 || error == EINTR)
            return error;
        waiting->leads = false;
        waiting->idle = true;
        exs_lead_leave();
        return 0;
    }
    error = exs_sleeper_sleep(waiting->sleeper, wait->deadline_ns, would_lead, wait->cancel);
    waiting->idle = false;
    return error;
}

static int wait_on(struct waiting *waiting)
{
    const struct exs_wait *wait = waiting->wait;
    uint64_t left_us;

    for (unsigned rounds = 1;; rounds++) {
        if (!waiting->idle && poll(waiting))
            return 0;
        left_us = time_left(wait);
        if (left_us == 0)
            return ETIMEDOUT;
        exs_test_cancel(wait->cancel);
        if (wait->kind == EXS_WAIT_BUSY_POLL) {
            if (rounds % YIELD_ROUNDS == 0)
                (void)sched_yield();
            continue;
        }
        if (waiting->done(waiting->argument, true))
            return 0;
        if (sleep_once(waiting, left_us) == EINTR)
            return waiting->done(waiting->argument, false) ? 0 : EINTR;
    }
}

static void give(void *argument)
{
    const struct waiting *waiting = argument;

    if (waiting->leads)
        exs_lead_give();
}

int exs_wait_until(struct exs_sleeper *sleeper, const struct exs_wait *wait,
                   bool (*done)(void *argument, bool sleeps), void *argument)
{
    struct waiting waiting = {.sleeper = sleeper, .wait = wait, .done = done, .argument = argument};
    int error;

    exs_test_cancel(wait->cancel);
    if (done(argument, false))
        return 0;
    pthread_cleanup_push(give, &waiting);
    error = wait_on(&waiting);
    pthread_cleanup_pop(1);
    return error;
}
