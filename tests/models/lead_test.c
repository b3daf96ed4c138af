/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for the lead: the leader word, followers, parking of the IA's
 * thread. Locks, waiters and the loop are stand-ins.
 */
#include "models/model.h"
#include "models/model_run.h"

#undef MODEL_FILE
#define MODEL_FILE 1
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_call.h"
#include "base/base_clock.h"
#include "base/base_log.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#define base_lock_take   lock_take
#define base_lock_drop   lock_drop
#define evd_waiter_sleep waiter_sleep
#define evd_waiter_wake  waiter_wake
#define evd_loop_submit  loop_submit
/* Ends rounds for uiw_leader_quiesce, which is not modelled. */
#define uiw_round_end(progress) ((void)(progress))

static _Atomic uint32_t lock_word;
static _Atomic uint32_t woken;
static struct evd_waiter own_waiter;
static unsigned submitted;
/* The leader has woken the follower, and both have no more to say to each other. */
static bool leaves;

static void lock_take(struct base_lock *lock)
{
    (void)lock;
    if (!leaves)
        model_lock(&lock_word);
}

static void lock_drop(struct base_lock *lock)
{
    (void)lock;
    if (!leaves)
        model_unlock(&lock_word);
}

static int waiter_sleep(struct evd_waiter *sleeper, uint64_t deadline_ns)
{
    (void)sleeper;
    (void)deadline_ns;
    model_sleep(&woken, sizeof(woken), 0);
    leaves = true;
    return 0;
}

static void waiter_wake(struct evd_waiter *sleeper)
{
    (void)sleeper;
    model_store(&woken, 4, 1, memory_order_release, 0);
}

static bool loop_submit(struct evd_loop *loop, struct evd_task *task)
{
    (void)loop;
    (void)task;
    submitted++;
    return true;
}

#undef MODEL_FILE
#define MODEL_FILE 2
#include "vp/uiwarp/lead/uiw_leader.c"
#undef MODEL_FILE
#define MODEL_FILE 3
#include "vp/uiwarp/lead/uiw_handover.c"
#undef MODEL_FILE
#define MODEL_FILE 4
#include "vp/uiwarp/lead/uiw_lead.c"

#include "models/model_ia.h"

static void begin(enum uiw_leader leader)
{
    ia_begin(leader);
    atomic_init(&woken, 0);
    leaves = false;
    atomic_init(&lock_word, 0);
    submitted = 0;
}

/* ---- The leader word: one thread at a time reads the sockets ---- */

static uint64_t staging;

static void word_begin(void)
{
    begin(UIW_LEADER_NONE);
    staging = 0;
}

static void word_run(unsigned thread)
{
    if (!uiw_leader_claim(progress, thread ? UIW_LEADER_LOOP : UIW_LEADER_CONSUMER))
        return;
    (void)model_use(&staging, thread);
    uiw_leader_release(ual);
}

static void end(void)
{
    MODEL_REQUIRE(*(volatile int *)(void *)&progress->leader == UIW_LEADER_NONE);
    MODEL_REQUIRE(*(volatile uint32_t *)(void *)&progress->follower_count == 0);
}

/* ---- Parking: the loop learns that the leader has left ---- */

static bool parked;

static void park_begin(void)
{
    begin(UIW_LEADER_CONSUMER);
    parked = false;
}

static void park_run(unsigned thread)
{
    if (thread == 0)
        uiw_leader_release(ual);
    else
        parked = handover_park(progress);
}

static void park_end(void)
{
    MODEL_REQUIRE(submitted == parked);
    MODEL_REQUIRE(!*(volatile bool *)(void *)&progress->loop_parked);
}

/* ---- Followers: one of them is woken to take over ---- */

static void follow_begin(void)
{
    begin(UIW_LEADER_CONSUMER);
}

static void follow_run(unsigned thread)
{
    if (thread == 0)
        uiw_leader_release(ual);
    else
        (void)lead_follow(progress, &own_waiter, 0);
}

static const struct model models[] = {
    {"leader word", 2, word_begin, word_run, end},
    {"parking", 2, park_begin, park_run, park_end},
    {"follower", 2, follow_begin, follow_run, end},
};

int main(void)
{
    /*
     * Each of the two handshakes pairs two stores with two loads, and they share the store of the
     * leader word. Two exchanges need no order since they are atomic. The subtraction from the
     * number of followers matters only with more than one.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 7, 3);
}
