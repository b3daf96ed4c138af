/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for removing an EP: its memory is given back while the leader polls
 * in rounds, and while the leader wakes. The EP has left the poll set. The sockets are stand-ins.
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

enum {
    USED = 1,
    FREED
};

static uint64_t memory; /* of the EP */

static void use_memory(void)
{
    MODEL_REQUIRE(model_use(&memory, USED) != FREED);
}

/* What epoll has returned before the EP left the poll set. */
static int collect(struct epoll_event *events)
{
    events[0] = (struct epoll_event){.events = EPOLLIN, .data.ptr = &memory};
    return 1;
}

/* The leader stays: nobody else can claim the word. */
#define uiw_leader_claim(ia_progress, who) ((void)(ia_progress), (void)(who), false)
#define uiw_detach_end_all(ia_progress)    ((void)(ia_progress))
#define uiw_drive_receive(ep, room, shared)                                                        \
    ((void)(ep), (void)(room), (void)(shared), use_memory(), (size_t)0)
#define base_epoll_wait(fd, events, room, timeout)     ((void)(fd), collect(events))
#define base_epoll_wait_for(fd, events, room, timeout) ((void)(timeout), collect(events))
#define evd_waiter_begin_poll(waiter, fd)              ((void)(waiter), true)
#define evd_waiter_end_poll(waiter)                    ((void)(waiter), false)

#undef MODEL_FILE
#define MODEL_FILE 2
#include "vp/uiwarp/lead/uiw_leader.c"
#undef MODEL_FILE
#define MODEL_FILE 3
#include "vp/uiwarp/lead/uiw_round.c"
#undef MODEL_FILE
#define MODEL_FILE 4
#include "vp/uiwarp/lead/uiw_lead.c"

#include "models/model_ia.h"

#define ROUNDS 3u

static void begin(void)
{
    ia_begin(UIW_LEADER_CONSUMER);
    memory = USED;
}

static void free_ep(void)
{
    uiw_leader_quiesce(ual);
    (void)model_use(&memory, FREED);
}

/* ---- The leader polls: the EP is among the active ones until a round has forgotten them ---- */

static void rounds_run(unsigned thread)
{
    if (thread != 0) {
        free_ep();
        return;
    }
    progress->active_count = 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        (void)uiw_round_purge(progress);
        if (progress->active_count > 0)
            use_memory();
        if (i + 1 < ROUNDS)
            uiw_round_end(progress);
    }
    atomic_store_explicit(&progress->asleep, true, memory_order_seq_cst);
}

/* ---- The leader wakes: epoll has returned the EP ---- */

static void sleep_run(unsigned thread)
{
    struct evd_waiter *waiter = NULL;

    if (thread != 0) {
        free_ep();
        return;
    }
    use_memory();
    (void)lead_sleep(progress, waiter, BASE_NEVER);
    atomic_store_explicit(&progress->asleep, true, memory_order_seq_cst);
}

static void end(void)
{
    MODEL_REQUIRE(memory == FREED);
}

static const struct model models[] = {
    {"rounds", 2, begin, rounds_run, end},
    {"sleep", 2, begin, sleep_run, end},
};

int main(void)
{
    /* A store and a load each of .purge, .asleep and .rounds are sequentially consistent. */
    return model_run(models, sizeof(models) / sizeof(models[0]), 6, 0);
}
