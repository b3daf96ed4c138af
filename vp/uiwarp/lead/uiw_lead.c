/* SPDX-License-Identifier: BSD-2-Clause */
/* A consumer's thread that polls or waits, and leads during that time. */

#include "base/base_call.h"
#include "base/base_clock.h"
#include "vp/uiwarp/lead/uiw_leader.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A thread without the lead yields after this many polls in one round of the leader: some 30 us. */
#define LEAD_STAND_BY 1024u
/*
 * A yield that took this long means that another process needs the processor. It is measured
 * together with the poll behind it, which has an additional nanosecond for each octet.
 */
#define LEAD_STOLEN_NS UINT64_C(100000)
/* Then waits do not poll until this many short sleeps have passed. */
#define LEAD_SPIN_PAUSE  1000u
#define LEAD_SPIN_MAX_NS UINT64_C(50000)
#define LEAD_SPIN_MIN_NS UINT64_C(2000)

/* ---------------------------------------------------------------- a consumer polls */

/*
 * Called when another thread leads. It may have lost the processor in the middle of a round,
 * perhaps to this thread, so this thread yields after enough polls in one round. A leader that
 * sleeps needs no yield: an arrival wakes it.
 */
static void lead_stand_by(const struct uiw_progress *progress)
{
    static _Thread_local uint32_t seen;
    static _Thread_local unsigned polls;
    uint32_t now = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    if (now != seen || atomic_load_explicit(&progress->asleep, memory_order_relaxed))
        polls = 0;
    seen = now;
    if (++polls < LEAD_STAND_BY)
        return;
    polls = 0;
    (void)sched_yield();
}

static void lead_poll(void *context)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = uiw_progress_of(ia);
    /* A poll in a callback does not mean that a consumer goes on polling. */
    enum uiw_leader who = evd_loop_is_current(ia->evd.loop) ? UIW_LEADER_LOOP : UIW_LEADER_CONSUMER;

    uiw_sweep_deferred_here(ia);
    if (!uiw_leader_claim(progress, who)) {
        lead_stand_by(progress);
        return;
    }
    (void)uiw_round_run(progress, false);
    uiw_leader_release(ia);
}

/* ---------------------------------------------------------------- a consumer waits */

static int lead_epoll(struct uiw_progress *progress, struct epoll_event *events,
                      uint64_t deadline_ns)
{
    uint64_t now;
    uint64_t left;
    struct timespec timeout;

    if (deadline_ns == BASE_NEVER)
        return base_epoll_wait(progress->epoll_fd, events, UIW_ROUND_EVENTS, -1);
    now = base_now_ns();
    left = deadline_ns > now ? deadline_ns - now : 0;
    timeout.tv_sec = (time_t)(left / BASE_NS_PER_S);
    timeout.tv_nsec = (long)(left % BASE_NS_PER_S);
    return base_epoll_wait_for(progress->epoll_fd, events, UIW_ROUND_EVENTS, &timeout);
}

/*
 * Polls for a short time before the thread sleeps, and yields the processor before each poll. A
 * peer on the same processor can then work at once, which is cheaper than to sleep and be woken.
 * With the processor to itself, the thread just polls. If another process got the processor and
 * kept it, the thread sleeps instead of polling for a while. Returns true if the waiter was woken.
 */
static bool lead_spin(struct uiw_progress *progress, struct evd_waiter *waiter,
                      uint64_t deadline_ns)
{
    uint64_t before = base_now_ns();
    uint64_t end = base_deadline_ns(before, progress->spin_ns);

    while (before < end && before < deadline_ns) {
        uint64_t now;
        size_t octets;

        (void)sched_yield();
        octets = uiw_round_run(progress, false);
        now = base_now_ns();
        if (now - before > LEAD_STOLEN_NS + octets) {
            progress->spin_ns = 0;
            progress->spin_pause = LEAD_SPIN_PAUSE;
        }
        if (evd_waiter_is_woken(waiter))
            return true;
        before = now;
    }
    progress->spin_ns = progress->spin_ns > LEAD_SPIN_MIN_NS ? progress->spin_ns / 2 : 0;
    return false;
}

/* Raises the time to poll after a short sleep: polling would have been cheaper than that sleep. */
static void lead_learn(struct uiw_progress *progress, uint64_t slept_ns)
{
    if (slept_ns > progress->spin_limit_ns)
        return;
    if (progress->spin_pause > 0)
        progress->spin_pause--;
    else
        progress->spin_ns = progress->spin_limit_ns;
}

/* Sleeps once in the poll set and handles its events. Returns 0 or EINTR. */
static int lead_sleep(struct uiw_progress *progress, struct evd_waiter *waiter,
                      uint64_t deadline_ns)
{
    struct epoll_event events[UIW_ROUND_EVENTS];
    uint64_t start = base_now_ns();
    int error = 0;
    int count;

    if (!evd_waiter_begin_poll(waiter, progress->kick_fd))
        return 0;
    uiw_detach_end_all(progress);
    atomic_store_explicit(&progress->asleep, true, memory_order_seq_cst);
    count = lead_epoll(progress, events, deadline_ns);
    if (count < 0)
        error = errno;
    atomic_store_explicit(&progress->asleep, false, memory_order_seq_cst);
    if (evd_waiter_end_poll(waiter))
        uiw_round_drain_kick(progress);
    /*
     * Events are dropped when an EP goes away, since one may name it. epoll is level triggered and
     * reports the others again.
     */
    if (uiw_round_purge(progress) && count > 0)
        (void)uiw_round_handle(progress, events, count);
    uiw_round_end(progress);
    lead_learn(progress, base_now_ns() - start);
    return error == EINTR ? EINTR : 0;
}

static int lead_until(struct ual_ia *ia, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    int error = 0;

    progress->spin_limit_ns = evd_ia_spin_ns(&ia->evd, LEAD_SPIN_MAX_NS);
    if (progress->spin_ns > progress->spin_limit_ns)
        progress->spin_ns = progress->spin_limit_ns;
    if (progress->spin_ns > 0 && lead_spin(progress, waiter, deadline_ns))
        return 0;
    do {
        uiw_sweep_deferred_here(ia); /* acknowledgements of messages just read */
        error = lead_sleep(progress, waiter, deadline_ns);
    } while (error == 0 && !evd_waiter_is_woken(waiter) && !base_is_over(deadline_ns));
    return error;
}

static void lead_leave_follower(struct uiw_progress *progress, struct uiw_follower *follower)
{
    uint32_t left;

    base_lock_take(&progress->lock);
    base_list_remove(&progress->followers, &follower->link);
    left = atomic_fetch_sub_explicit(&progress->follower_count, 1, memory_order_seq_cst) - 1;
    base_lock_drop(&progress->lock);
    /*
     * A leader may have woken this thread to take over the lead. It does not take over, so it wakes
     * another thread.
     */
    if (left != 0 &&
        atomic_load_explicit(&progress->leader, memory_order_seq_cst) == UIW_LEADER_NONE)
        uiw_leader_wake_follower(progress);
}

static int lead_follow(struct uiw_progress *progress, struct evd_waiter *waiter,
                       uint64_t deadline_ns)
{
    struct uiw_follower follower = {.waiter = waiter};
    int error = 0;

    base_lock_take(&progress->lock);
    base_list_prepend(&progress->followers, &follower.link);
    atomic_fetch_add_explicit(&progress->follower_count, 1, memory_order_seq_cst);
    base_lock_drop(&progress->lock);
    if (atomic_load_explicit(&progress->leader, memory_order_seq_cst) != UIW_LEADER_NONE)
        error = evd_waiter_sleep(waiter, deadline_ns);
    lead_leave_follower(progress, &follower);
    return error == EINTR ? EINTR : 0;
}

static int lead_wait(void *context, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = uiw_progress_of(ia);
    int error;

    uiw_sweep_deferred(ia);
    if (!uiw_leader_claim(progress, UIW_LEADER_CONSUMER))
        return lead_follow(progress, waiter, deadline_ns);
    error = lead_until(ia, waiter, deadline_ns);
    uiw_leader_release(ia);
    return error;
}

const struct evd_progress_ops uiw_lead_ops = {
    .poll = lead_poll,
    .flush = uiw_sweep_deferred,
    .wait = lead_wait,
    .lead_begin = uiw_lead_abroad_begin,
    .lead_end = uiw_lead_abroad_end,
};

/* ---------------------------------------------------------------- open and close */

bool uiw_lead_open(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

    base_lock_init(&progress->lock);
    progress->spin_ns = LEAD_SPIN_MAX_NS;
    progress->stay = uiw_stay_here;
    progress->gate_fd = -1;
    progress->staging = malloc(UIW_STAGING_SIZE);
    progress->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    progress->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (progress->staging && progress->epoll_fd >= 0 && progress->kick_fd >= 0 &&
        epoll_ctl(progress->epoll_fd, EPOLL_CTL_ADD, progress->kick_fd, &event) == 0 &&
        uiw_handover_open(ia))
        return true;
    uiw_lead_close(ia);
    return false;
}

void uiw_lead_close(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    uiw_handover_close(ia);
    if (progress->epoll_fd >= 0)
        (void)close(progress->epoll_fd);
    if (progress->kick_fd >= 0)
        (void)close(progress->kick_fd);
    free(progress->staging);
    base_lock_destroy(&progress->lock);
}
