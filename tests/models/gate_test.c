/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for a stream apart from the poll set: it is in the set from the
 * time when the loop watches, when a leader sleeps, or when a sender waits for room. The set, the
 * sleep in it, and the sender's work are stand-ins.
 */
#include "models/model.h"
#include "models/model_run.h"

#undef MODEL_FILE
#define MODEL_FILE 1
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_call.h"
#include "base/base_clock.h"
#include "base/base_log.h"
#include "vp/uiwarp/queue/uiw_pollset.h"
#include "vp/uiwarp/stream/uiw_stream.h"
#undef MODEL_FILE
#define MODEL_FILE 2
#include "vp/uiwarp/queue/uiw_token.h"

static void change_set(int set, int operation);
static void drive(void);

#define epoll_ctl(set, operation, fd, event)                                                       \
    ((void)(fd), (void)(event), change_set(set, operation), 0)
#define base_epoll_wait(fd, events, room, timeout) ((void)(fd), (void)(events), 0)
#define base_epoll_wait_for(fd, events, room, timeout)                                             \
    ((void)(fd), (void)(events), (void)(timeout), 0)
#define uiw_drive_send(ual, reader)       ((void)(ual), drive())
#define evd_waiter_begin_poll(waiter, fd) ((void)(waiter), true)
#define evd_waiter_end_poll(waiter)       ((void)(waiter), false)
/* Models of their own. */
#define uiw_round_end(progress)   ((void)(progress))
#define uiw_round_purge(progress) ((void)(progress), true)
#define uiw_leader_release(ia)    release(uiw_progress_of(ia))

static void release(struct uiw_progress *progress)
{
    model_store(&progress->leader, sizeof(int), UIW_LEADER_NONE, memory_order_release, 0);
}

#undef MODEL_FILE
#define MODEL_FILE 3
#include "vp/uiwarp/queue/uiw_pollset.c"
#undef MODEL_FILE
#define MODEL_FILE 4
#include "vp/uiwarp/lead/uiw_detach.c"
#undef MODEL_FILE
#define MODEL_FILE 5
#include "vp/uiwarp/lead/uiw_handover.c"
#undef MODEL_FILE
#define MODEL_FILE 6
#include "vp/uiwarp/lead/uiw_lead.c"

#include "models/model_ia.h"

#define GATE_FD 7

static struct ual_ep *ual_ep; /* with the uiw_ep behind it */
static struct uiw_ep *ep;
static uint64_t in_set; /* the stream is in the poll set */
static _Atomic bool posted;
static uint64_t tried; /* the post; the socket was full */

static void change_set(int set, int operation)
{
    if (set == GATE_FD)
        return;
    MODEL_REQUIRE(model_read(&in_set) == (operation != EPOLL_CTL_ADD));
    (void)model_use(&in_set, operation != EPOLL_CTL_DEL);
}

/* A sender that finds the socket full. */
static void drive(void)
{
    if (!uiw_token_try_or_mark(ep))
        return;
    do {
        if (model_load(&posted, sizeof(bool), memory_order_acquire, 0) == 0 ||
            model_use(&tried, 1) == 1)
            continue;
        atomic_store_explicit(&ep->tx.blocked, true, memory_order_relaxed);
        (void)uiw_pollset_want(ual, ual_ep, ep->fd, true);
    } while (!uiw_token_drop_unless_marked(ep));
}

/* A consumer leads, and has found enough data to take the stream out. */
static void begin(void)
{
    static _Alignas(64) unsigned char octets[sizeof(struct ual_ep) + sizeof(struct uiw_ep)];

    ia_begin(UIW_LEADER_CONSUMER);
    progress->gate_fd = GATE_FD;
    memset(octets, 0, sizeof(octets));
    ual_ep = (struct ual_ep *)(void *)octets;
    ep = uiw_ep_of(ual_ep);
    ep->ual = ual_ep;
    ep->ia = uiw_ia_of(ual);
    progress->active[0] = (struct uiw_active){.ual = ual_ep};
    progress->active_count = 1;
    atomic_init(&posted, false);
    in_set = 1;
    tried = 0;
}

static void find_data(void)
{
    progress->found = DETACH_FOUND;
    uiw_detach_found(progress, &progress->active[0]);
}

/* The loop relies on the poll set from now on. */
static void watch(void)
{
    handover_watch(ual);
    MODEL_REQUIRE(model_read(&in_set) == 1);
}

static void end(void)
{
    MODEL_REQUIRE(in_set == 1);
}

/* ---- The loop watches while consumers poll ---- */

static void poll_run(unsigned thread)
{
    if (thread != 0) {
        watch();
        return;
    }
    find_data();
    uiw_leader_release(ual);
    if (!uiw_leader_claim(progress, UIW_LEADER_CONSUMER))
        return;
    find_data();
    uiw_leader_release(ual);
}

/* ---- The loop watches while the leader sleeps and wakes ---- */

static void sleep_run(unsigned thread)
{
    struct evd_waiter *waiter = NULL;

    if (thread != 0) {
        watch();
        return;
    }
    find_data();
    (void)lead_sleep(progress, waiter, BASE_NEVER);
    find_data();
    uiw_leader_release(ual);
}

/* ---- A sender finds the socket full ---- */

static void send_run(unsigned thread)
{
    if (thread == 0) {
        find_data();
        uiw_detach_end_all(progress);
    } else {
        model_store(&posted, sizeof(bool), true, memory_order_release, 0);
        drive();
    }
}

static void full_run(unsigned thread)
{
    if (thread == 0)
        find_data();
    else
        send_run(thread);
}

static void send_end(void)
{
    MODEL_REQUIRE(in_set == 1 && tried == 1);
}

static const struct model models[] = {
    {"loop that watches, leaders that poll", 2, begin, poll_run, end},
    {"loop that watches, leader that sleeps", 2, begin, sleep_run, end},
    {"sender that waits for room", 2, begin, full_run, send_end},
    {"sender and leader that put the stream back", 2, begin, send_run, send_end},
};

int main(void)
{
    /*
     * The loop stores .gate_open and loads .asleep, a leader stores .asleep and loads .gate_open.
     * uiw_token_wait acquires .tx.detached, a plain member whose reads the model does not see.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 4, 1);
}
