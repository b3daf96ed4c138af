/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop leads when no consumer does. It then watches the poll set as one descriptor. While
 * consumers lead it does not watch, since each arrival would wake both threads. Instead it checks
 * once a millisecond whether a consumer still leads. While the leader sleeps it does not even
 * check: the leader notifies the loop when it leaves. On an idle IA no thread wakes up.
 *
 * Adding a poll set to another one makes the kernel walk through all its members. So the IA's poll
 * set is added once, while it is empty, to a third set, the gate, which the loop watches. The loop
 * starts and stops watching by changing the events of that one member.
 */

#include "base/base_clock.h"
#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HANDOVER_TICK_NS BASE_NS_PER_MS
/* Ticks that a leader sleeps through before the loop relies on its notification. */
#define HANDOVER_ASLEEP_TICKS 8u
/* Ticks without a consumer before the loop leads, if consumers are expected to come back. */
#define HANDOVER_PATIENT_TICKS 8u
/* Rounds with data, and octets, after which the loop returns to its other work. */
#define HANDOVER_ROUNDS 64u
#define HANDOVER_OCTETS ((size_t)1 << 20)
/* Up to this number of active streams, the loop polls them before it asks epoll. */
#define HANDOVER_ACTIVE 2u
/*
 * If a poll of the active streams reads fewer octets than this and callbacks are due, the callbacks
 * run first. The loop does not ask epoll then, except as often as ROUND_POLLS says: epoll reports
 * other arrivals again.
 */
#define HANDOVER_FEW ((size_t)16 << 10)

static void handover_set_gate(struct uiw_progress *progress, bool open)
{
    struct epoll_event event = {.events = open ? EPOLLIN : 0};

    if (atomic_load_explicit(&progress->gate_open, memory_order_relaxed) == open)
        return;
    atomic_store_explicit(&progress->gate_open, open, memory_order_seq_cst);
    atomic_fetch_add_explicit(&progress->leader_changes, 1, memory_order_relaxed);
    (void)epoll_ctl(progress->gate_fd, EPOLL_CTL_MOD, progress->epoll_fd, &event); /* a member */
}

/*
 * Opens the gate: from now on arrivals on all streams wake the loop. A leader that found the gate
 * closed may have detached streams, so they are put back here; a later leader finds it open. A
 * leader that sleeps has put them back itself.
 */
static void handover_watch(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    handover_set_gate(progress, true);
    while (!uiw_leader_claim(progress, UIW_LEADER_LOOP)) {
        if (atomic_load_explicit(&progress->asleep, memory_order_seq_cst))
            return;
        sched_yield();
    }
    uiw_detach_end_all(progress);
    uiw_leader_release(ia);
}

static void handover_tick(void *argument);

/*
 * If there is no memory for the timer, the loop watches the sockets, which costs a wake-up for each
 * arrival.
 */
static void handover_next_tick(struct ual_ia *ia)
{
    if (!evd_timer_start(&uiw_progress_of(ia)->hand_over, ia->evd.loop, HANDOVER_TICK_NS,
                         handover_tick, ia))
        handover_watch(ia);
}

static void handover_start_ticking(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    progress->stints_seen = atomic_load_explicit(&progress->stints, memory_order_relaxed);
    progress->asleep_ticks = 0;
    progress->idle_ticks = 0;
    handover_next_tick(ia);
}

/* Stops the ticks: the leader submits .unpark when it leaves. Returns false if it has left. */
static bool handover_park(struct uiw_progress *progress)
{
    /* Pairs with uiw_leader_release, which clears the word before it reads this flag. */
    atomic_store_explicit(&progress->loop_parked, true, memory_order_seq_cst);
    if (atomic_load_explicit(&progress->leader, memory_order_seq_cst) == UIW_LEADER_CONSUMER)
        return true;
    return !atomic_exchange_explicit(&progress->loop_parked, false, memory_order_seq_cst);
}

/* Callbacks and descriptors must not depend on a consumer that polls only now and then. */
static unsigned handover_patience(struct ual_ia *ia)
{
    if (!atomic_load_explicit(&ia->evd.patient, memory_order_relaxed))
        return atomic_load_explicit(&ia->evd.reliant, memory_order_relaxed) != 0 ? 0 : 1;
    /* Others that sleep depend on the one that leads. */
    return atomic_load_explicit(&uiw_progress_of(ia)->rivals, memory_order_relaxed)
               ? 1
               : HANDOVER_PATIENT_TICKS;
}

/*
 * One look at the consumers, a millisecond after the last one; .stints has changed if one has led
 * since then. Without a leader for long enough, the loop watches, and there are no more ticks. If
 * the same leader has slept through enough ticks, the loop parks. Otherwise another tick follows.
 */
static void handover_tick(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);
    uint32_t stints = atomic_load_explicit(&progress->stints, memory_order_relaxed);
    bool leads =
        atomic_load_explicit(&progress->leader, memory_order_relaxed) == UIW_LEADER_CONSUMER;
    bool same = stints == progress->stints_seen;
    bool sleeps = leads && same && atomic_load_explicit(&progress->asleep, memory_order_relaxed);

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    progress->stints_seen = stints;
    progress->idle_ticks = same ? progress->idle_ticks + 1 : 0;
    progress->asleep_ticks = sleeps ? progress->asleep_ticks + 1 : 0;
    if (!leads && progress->idle_ticks >= handover_patience(ia)) {
        handover_watch(ia);
        return;
    }
    /* Otherwise a consumer that polls only now and then would rarely ask epoll. */
    atomic_store_explicit(&progress->look, true, memory_order_relaxed);
    if (progress->asleep_ticks >= HANDOVER_ASLEEP_TICKS && handover_park(progress))
        return;
    handover_next_tick(ia);
}

static void handover_unpark(struct evd_task *task)
{
    struct uiw_progress *progress = BASE_ITEM(task, struct uiw_progress, unpark);
    struct uiw_ia *ia = BASE_ITEM(progress, struct uiw_ia, progress);

    handover_start_ticking(ia->ual);
}

static void handover_relieve(struct evd_task *task)
{
    struct uiw_progress *progress = BASE_ITEM(task, struct uiw_progress, relieve);
    struct uiw_ia *ia = BASE_ITEM(progress, struct uiw_ia, progress);

    evd_timer_stop(&progress->hand_over);
    handover_watch(ia->ual);
}

void uiw_handover_at_once(struct ual_ia *ia)
{
    (void)evd_loop_submit(ia->evd.loop, &uiw_progress_of(ia)->relieve);
}

/* Polls the few active streams. Returns true if the loop should not ask epoll now. */
static bool handover_look_at_active(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    size_t octets = 0;

    if (progress->active_count > 0 && progress->active_count <= HANDOVER_ACTIVE)
        octets = uiw_round_run(progress, false);
    return octets > 0 && octets < HANDOVER_FEW && evd_loop_has_tasks(ia->evd.loop);
}

static void handover_look_at_all(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    unsigned rounds = 0;
    size_t octets = 0;
    size_t got;

    do {
        got = uiw_round_run(progress, true);
        octets += got;
    } while (got > 0 && octets < HANDOVER_OCTETS && ++rounds < HANDOVER_ROUNDS &&
             !evd_loop_has_tasks(ia->evd.loop));
}

/* The gate reports an arrival. */
static void handover_ready(void *argument, unsigned events)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);

    (void)events;
    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    if (!uiw_leader_claim(progress, UIW_LEADER_LOOP)) {
        handover_set_gate(progress, false);
        handover_start_ticking(ia);
        return;
    }
    atomic_store_explicit(&progress->taken, base_rough_ticks(), memory_order_relaxed);
    if (!handover_look_at_active(ia))
        handover_look_at_all(ia);
    uiw_leader_release(ia);
}

static it_status_t handover_open_on_loop(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);
    bool watched = evd_io_watch(&progress->watch, ia->evd.loop, progress->gate_fd, EVD_IO_READ,
                                handover_ready, ia);

    return watched ? IT_SUCCESS : IT_ERR_RESOURCES;
}

bool uiw_handover_open(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct epoll_event event = {.events = EPOLLIN};

    progress->unpark.run = handover_unpark;
    progress->relieve.run = handover_relieve;
    uiw_sweep_open(ia);
    progress->gate_fd = epoll_create1(EPOLL_CLOEXEC);
    if (progress->gate_fd < 0 ||
        epoll_ctl(progress->gate_fd, EPOLL_CTL_ADD, progress->epoll_fd, &event) != 0)
        return false;
    atomic_store_explicit(&progress->gate_open, true, memory_order_relaxed);
    return evd_loop_run(ia->evd.loop, handover_open_on_loop, ia) == IT_SUCCESS;
}

static void handover_close_on_loop(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);

    evd_io_unwatch(&progress->watch);
    evd_timer_stop(&progress->hand_over);
    uiw_sweep_stop(ia);
    uiw_silence_stop(ia);
}

void uiw_handover_close(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    evd_loop_call(ia->evd.loop, handover_close_on_loop, ia);
    if (progress->gate_fd >= 0)
        (void)close(progress->gate_fd);
}
