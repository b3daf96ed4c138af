/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the target polls for the next command before it sleeps, by a clock of the test: turns
 * are counted, and no time is measured.
 */
#include "support/check.h"
#include "transfer/iser_stay.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#define ASK_NS    200000u  /* for one command */
#define LEAST_NS  2000u    /* less is not worth it */
#define MOST_NS   5000000u /* in all */
#define STOLEN_NS 100001u  /* a yield that takes so long has given the processor away */
#define PAUSE     1000u    /* short sleeps without polling, after that */

static uint64_t now_ns, yield_ns, turn_ns;
static unsigned yields, turns;
static size_t each_turn; /* what it takes */
static struct iser_stay stay;
static struct iser_link the_link;
static bool alone;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
                              .tv_nsec = (long)(now_ns % 1000000000u)};
    return 0;
}

int sched_yield(void)
{
    yields++;
    now_ns += yield_ns;
    return 0;
}

static size_t take(struct iser_link *of)
{
    CHECK(of == &the_link);
    turns++;
    now_ns += turn_ns;
    return each_turn;
}

static bool is_alone(const void *portal)
{
    CHECK(portal == &alone);
    return alone;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void begin(void)
{
    memset(&stay, 0, sizeof(stay));
    memset(&the_link, 0, sizeof(the_link));
    stay.is_alone = is_alone;
    stay.portal = &alone;
    alone = true;
    now_ns = stay.left_ns = 1u << 30;
    yield_ns = 1000;
    turn_ns = 0;
    each_turn = 0;
}

static void sleep_for(uint64_t ns)
{
    now_ns += ns;
    iser_stay_learn(&stay);
}

/* Returns the number of turns of one stay. */
static unsigned stays(void)
{
    yields = turns = 0;
    iser_stay(&stay, &the_link, take);
    CHECK_EQ(yields, turns);
    return turns;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Nothing comes: each stay is half as long as the one before, until they are not worth it. */
static void in_vain(void)
{
    begin();
    CHECK_EQ(0, stays());
    sleep_for(ASK_NS + 1);
    CHECK_EQ(0, stays());
    sleep_for(ASK_NS);
    for (uint64_t ask_ns = ASK_NS; ask_ns > 0; ask_ns = ask_ns > LEAST_NS ? ask_ns / 2 : 0)
        CHECK_EQ((ask_ns + yield_ns - 1) / yield_ns, stays());
    CHECK_EQ(0, stays());
}

/* A turn that moves much takes long, which is no reason to stop; but not for ever. */
static void long_turns(void)
{
    begin();
    sleep_for(1);
    each_turn = 1;
    turn_ns = 4 * STOLEN_NS;
    CHECK_EQ((MOST_NS + turn_ns + yield_ns - 1) / (turn_ns + yield_ns), stays());
    CHECK_EQ(ASK_NS, stay.ask_ns);
    CHECK_EQ(0, stay.pause);
}

/* Another thread needs the processor: no polling for a while. */
static void stolen(void)
{
    begin();
    sleep_for(1);
    yield_ns = STOLEN_NS;
    CHECK_EQ(1, stays());
    yield_ns = 1000;
    for (unsigned i = 0; i < PAUSE; i++) {
        CHECK_EQ(0, stays());
        sleep_for(ASK_NS);
    }
    CHECK_EQ(0, stays());
    sleep_for(ASK_NS + 1); /* a long sleep says nothing */
    CHECK_EQ(0, stays());
    sleep_for(ASK_NS);
    CHECK(stays() > 0);
}

/* Others have work, the the_link has ended, or the configuration forbids it. */
static void must_not(void)
{
    static bool *const ends[] = {&the_link.closed, &the_link.lost, &the_link.draining};

    begin();
    sleep_for(1);
    alone = false;
    CHECK_EQ(0, stays());
    alone = true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        *ends[i] = true;
        CHECK_EQ(0, stays());
        *ends[i] = false;
    }
    CHECK(stays() > 0);
    begin();
    stay.off = true;
    sleep_for(1);
    CHECK_EQ(0, stays());
}

int main(void)
{
    in_vain();
    long_turns();
    stolen();
    must_not();
    return 0;
}
