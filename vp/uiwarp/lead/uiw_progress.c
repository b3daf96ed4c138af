/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The leader: polls and reads the sockets of an IA. This file has the poll set, the leader's round,
 * and the two ways in which a consumer leads; uiw_handover.c has the loop's side.
 */
#include "vp/uiwarp/lead/uiw_handover.h"

#include "base/base_call.h"
#include "base/base_clock.h"
#include "vp/uiwarp/lead/uiw_detach.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PROGRESS_EVENTS 64
/* A polling leader asks epoll once in so many rounds; more often when a sender waits for room. */
#define PROGRESS_POLLS         32u
#define PROGRESS_POLLS_BLOCKED 4u
/* An active stream without data for so many rounds is left to epoll again. */
#define PROGRESS_IDLE_ROUNDS 1000u
/* More active streams than there is room for: so many rounds go by what epoll tells. */
#define PROGRESS_CROWDED_ROUNDS 64u
/* Polls in vain while another leads, in one and the same round: some 30 us. */
#define PROGRESS_STAND_BY 1024u
/* A yield that took this long: somebody else needs the processor. */
#define PROGRESS_STOLEN_NS UINT64_C(100000)
/* ... and for so many short sleeps we leave it to them. */
#define PROGRESS_SPIN_PAUSE  1000u
#define PROGRESS_SPIN_MAX_NS UINT64_C(50000)
#define PROGRESS_SPIN_MIN_NS UINT64_C(2000)

static struct uiw_progress *progress_of(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

/* ---------------------------------------------------------------- poll set */

bool uiw_progress_add(struct ual_ia *ia, struct ual_ep *ual, int fd)
{
    bool writable = atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed);
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = ual};

    return epoll_ctl(progress_of(ia)->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool uiw_progress_want(struct ual_ia *ia, struct ual_ep *ual, int fd, bool writable)
{
    struct uiw_progress *progress = progress_of(ia);
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = ual};
    struct uiw_tx *tx = &uiw_ep_of(ual)->tx;

    if (writable)
        atomic_fetch_add_explicit(&progress->blocked, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&progress->blocked, 1, memory_order_relaxed);
    if (tx->detached) {
        tx->detached = false;
        return epoll_ctl(progress->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
    }
    /* Fails for a stream that is not in the set yet: uiw_progress_add looks at .blocked then. */
    (void)epoll_ctl(progress->epoll_fd, EPOLL_CTL_MOD, fd, &event);
    return true;
}

void uiw_progress_remove(struct ual_ia *ia, struct ual_ep *ual, int fd)
{
    struct uiw_progress *progress = progress_of(ia);

    if (atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed))
        atomic_fetch_sub_explicit(&progress->blocked, 1, memory_order_relaxed);
    uiw_ep_of(ual)->tx.detached = false;
    (void)epoll_ctl(progress->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* ---------------------------------------------------------------- active streams: leader only */

/* The first FPDU of a stream is often its last for a while: of thousands that are set up in a row. */
static bool progress_is_talkative(struct ual_ep *ual)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    return atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed) - ep->fpdus_before > 1;
}

static void progress_activate(struct uiw_progress *progress, struct ual_ep *ep)
{
    for (unsigned i = 0; i < progress->active_count; i++) {
        if (progress->active[i] == ep) {
            progress->idle[i] = 0;
            return;
        }
    }
    if (progress->active_count == UIW_ACTIVE_MAX) {
        progress->crowded = PROGRESS_CROWDED_ROUNDS;
        return;
    }
    progress->active[progress->active_count] = ep;
    progress->idle[progress->active_count] = 0;
    progress->active_count++;
}

static void progress_deactivate(struct uiw_progress *progress, unsigned slot)
{
    uiw_detach_end(progress, slot);
    progress->active_count--;
    progress->active[slot] = progress->active[progress->active_count];
    progress->idle[slot] = progress->idle[progress->active_count];
    progress->detached[slot] = progress->detached[progress->active_count];
    progress->detached[progress->active_count] = false;
}

/*
 * Not while its sender waits for room: then it is in the poll set, and a look there, unlike one at
 * the socket, is in nobody's way.
 */
static size_t progress_look(struct uiw_progress *progress, struct ual_ep *ual, bool shared)
{
    if (atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed))
        return 0;
    return uiw_stream_receive(ual, progress->staging, shared);
}

static size_t progress_poll_active(struct uiw_progress *progress)
{
    bool shared = progress->active_count > 1;
    size_t octets = 0;

    for (unsigned i = progress->active_count; i-- > 0;) {
        size_t got;

        if (uiw_gather_waits(&uiw_ep_of(progress->active[i])->gather))
            continue;
        got = progress_look(progress, progress->active[i], shared);
        octets += got;
        progress->idle[i] = got ? 0 : progress->idle[i] + 1;
        if (got)
            uiw_detach_found(progress, i);
        else if (progress->idle[i] > PROGRESS_IDLE_ROUNDS)
            progress_deactivate(progress, i);
    }
    return octets;
}

/*
 * With more of them than there is room for, those with a place would be served before the others,
 * and most polls be in vain: epoll tells which are ready, in turn. Those that are not lose their
 * places as they do when they are polled.
 */
static bool progress_is_crowded(struct uiw_progress *progress)
{
    if (progress->crowded == 0)
        return false;
    progress->crowded--;
    for (unsigned i = progress->active_count; i-- > 0;) {
        if (++progress->idle[i] > PROGRESS_IDLE_ROUNDS)
            progress_deactivate(progress, i);
    }
    return true;
}

/* ---------------------------------------------------------------- events: leader only */

static void progress_drain_kick(struct uiw_progress *progress)
{
    uint64_t count;

    /* Non-blocking; nothing to read is as good. */
    (void)!read(progress->kick_fd, &count, sizeof(count));
}

static size_t progress_handle(struct uiw_progress *progress, const struct epoll_event *events,
                              int count)
{
    bool shared = count > 1;
    size_t octets = 0;

    for (int i = 0; i < count; i++) {
        struct ual_ep *ep = events[i].data.ptr;
        size_t got;

        if (!ep) {
            progress_drain_kick(progress);
            continue;
        }
        if (events[i].events & EPOLLOUT)
            uiw_tx_turn(ep, false, true, shared);
        if (!(events[i].events & ~(uint32_t)EPOLLOUT))
            continue;
        got = uiw_stream_receive(ep, progress->staging, shared);
        if (got && progress_is_talkative(ep))
            progress_activate(progress, ep);
        octets += got;
    }
    return octets;
}

/* EPs that are going away are forgotten. False: events collected earlier may name one. */
static bool progress_purge(struct uiw_progress *progress)
{
    uint32_t purge = atomic_load_explicit(&progress->purge, memory_order_seq_cst);

    if (purge == progress->purged)
        return true;
    progress->purged = purge;
    uiw_detach_end_all(progress); /* whoever waits for this keeps the EPs as long */
    progress->active_count = 0;
    return false;
}

/* Only the leader writes .rounds and .stints: no read-modify-write is needed. */
static void progress_end_round(struct uiw_progress *progress)
{
    uint32_t rounds = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    atomic_store_explicit(&progress->rounds, rounds + 1, memory_order_release);
}

size_t uiw_progress_round(struct uiw_progress *progress, bool ask_epoll)
{
    struct epoll_event events[PROGRESS_EVENTS];
    bool blocked = atomic_load_explicit(&progress->blocked, memory_order_relaxed) != 0;
    uint32_t often = blocked ? PROGRESS_POLLS_BLOCKED : PROGRESS_POLLS;
    size_t octets;

    (void)progress_purge(progress);
    ask_epoll |= progress_is_crowded(progress);
    if (progress->detached_count > 0 &&
        (ask_epoll || atomic_load_explicit(&progress->gate_open, memory_order_seq_cst)))
        uiw_detach_end_all(progress);
    /* Who asks epoll anyway learns from it which streams are worth a system call. */
    octets = ask_epoll ? 0 : progress_poll_active(progress);
    if (atomic_load_explicit(&progress->look, memory_order_relaxed)) {
        atomic_store_explicit(&progress->look, false, memory_order_relaxed);
        ask_epoll = true;
    }
    if (ask_epoll || progress->active_count == 0 || ++progress->polls >= often) {
        int count = base_epoll_wait(progress->epoll_fd, events, PROGRESS_EVENTS, 0);

        progress->polls = 0;
        octets += progress_handle(progress, events, count);
    }
    progress_end_round(progress);
    return octets;
}

/* ---------------------------------------------------------------- the leader word */

bool uiw_progress_claim(struct uiw_progress *progress, enum uiw_leader who)
{
    int none = UIW_LEADER_NONE;

    if (atomic_load_explicit(&progress->leader, memory_order_relaxed) != UIW_LEADER_NONE ||
        !atomic_compare_exchange_strong_explicit(&progress->leader, &none, (int)who,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return false;
    if (who == UIW_LEADER_CONSUMER) {
        uint32_t stints = atomic_load_explicit(&progress->stints, memory_order_relaxed);

        atomic_store_explicit(&progress->stints, stints + 1, memory_order_relaxed);
    }
    return true;
}

/* One of those who wait is woken without having an event: it finds the leader word free. */
static void progress_wake_follower(struct uiw_progress *progress)
{
    struct evd_waiter *waiter;

    base_lock_take(&progress->lock);
    waiter = progress->followers ? progress->followers->waiter : NULL;
    base_lock_drop(&progress->lock);
    /* The waiter lives in an EVD, whose memory stays valid: at worst it looks once in vain. */
    if (waiter) {
        atomic_fetch_add_explicit(&progress->leader_changes, 1, memory_order_relaxed);
        evd_waiter_wake(waiter);
    }
}

void uiw_progress_release(struct ual_ia *ia)
{
    struct uiw_progress *progress = progress_of(ia);

    progress_end_round(progress);
    /* Pairs with the follower, who enters the list and then looks at the word. */
    atomic_store_explicit(&progress->leader, UIW_LEADER_NONE, memory_order_seq_cst);
    if (atomic_load_explicit(&progress->follower_count, memory_order_seq_cst) != 0)
        progress_wake_follower(progress);
    uiw_handover_leave(ia);
}

void uiw_progress_quiesce(struct ual_ia *ia)
{
    struct uiw_progress *progress = progress_of(ia);
    uint32_t rounds;

    atomic_fetch_add_explicit(&progress->purge, 1, memory_order_seq_cst);
    /* The round that runs may not have seen .purge, nor may the next have: the one after has. */
    rounds = atomic_load_explicit(&progress->rounds, memory_order_acquire);
    while (!uiw_progress_claim(progress, UIW_LEADER_CONSUMER)) {
        /* Who sleeps has nothing in hand but what epoll will report, and looks at .purge first. */
        if (atomic_load_explicit(&progress->asleep, memory_order_seq_cst) ||
            atomic_load_explicit(&progress->rounds, memory_order_acquire) - rounds >= 2)
            return;
        sched_yield();
    }
    (void)progress_purge(progress);
    uiw_progress_release(ia);
}

/* ---------------------------------------------------------------- a consumer polls */

static void progress_flush(void *context)
{
    uiw_defer_flush(context);
}

void uiw_progress_flush_evd(void *ia, const struct evd *evd)
{
    uiw_defer_flush_evd(ia, evd);
}

/*
 * Another leads. One that has lost the processor in the middle of a round keeps us from everything
 * until it has it back, which may be this one. Who sleeps is woken by what arrives.
 */
static void progress_stand_by(const struct uiw_progress *progress)
{
    static _Thread_local uint32_t seen;
    static _Thread_local unsigned polls;
    uint32_t now = atomic_load_explicit(&progress->rounds, memory_order_relaxed);

    if (now != seen || atomic_load_explicit(&progress->asleep, memory_order_relaxed))
        polls = 0;
    seen = now;
    if (++polls < PROGRESS_STAND_BY)
        return;
    polls = 0;
    (void)sched_yield();
}

static void progress_poll(void *context)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = progress_of(ia);
    /* A callback that polls is no sign of a consumer that goes on polling. */
    enum uiw_leader who = evd_loop_is_current(ia->evd.loop) ? UIW_LEADER_LOOP : UIW_LEADER_CONSUMER;

    uiw_defer_flush_own(ia);
    if (!uiw_progress_claim(progress, who)) {
        progress_stand_by(progress);
        return;
    }
    (void)uiw_progress_round(progress, false);
    uiw_progress_release(ia);
}

/* ---------------------------------------------------------------- a consumer waits */

static int progress_epoll(struct uiw_progress *progress, struct epoll_event *events,
                          uint64_t deadline_ns)
{
    uint64_t now;
    uint64_t left;
    struct timespec timeout;

    if (deadline_ns == BASE_NEVER)
        return base_epoll_wait(progress->epoll_fd, events, PROGRESS_EVENTS, -1);
    now = base_now_ns();
    left = deadline_ns > now ? deadline_ns - now : 0;
    timeout.tv_sec = (time_t)(left / BASE_NS_PER_S);
    timeout.tv_nsec = (long)(left % BASE_NS_PER_S);
    return base_epoll_wait_for(progress->epoll_fd, events, PROGRESS_EVENTS, &timeout);
}

/*
 * Polls for a short time before the thread sleeps, and yields the processor each time: a peer on
 * the same processor then gets on with its work at once, which is cheaper than sleeping and being
 * woken; with the processor to ourselves it is plain polling. When the processor went to somebody
 * who kept it, sleepers are served better: no more of this for a while. True: the waiter was woken.
 */
static bool progress_spin(struct uiw_progress *progress, struct evd_waiter *waiter,
                          uint64_t deadline_ns)
{
    uint64_t before = base_now_ns();
    uint64_t end = base_deadline_ns(before, progress->spin_ns);

    while (before < end && before < deadline_ns) {
        uint64_t now;

        (void)sched_yield();
        (void)uiw_progress_round(progress, false);
        now = base_now_ns();
        if (now - before > PROGRESS_STOLEN_NS) {
            progress->spin_ns = 0;
            progress->spin_pause = PROGRESS_SPIN_PAUSE;
        }
        if (evd_waiter_is_woken(waiter))
            return true;
        before = now;
    }
    progress->spin_ns = progress->spin_ns > PROGRESS_SPIN_MIN_NS ? progress->spin_ns / 2 : 0;
    return false;
}

/* A sleep that was short would have been worth polling for, and for longer than it took. */
static void progress_learn(struct uiw_progress *progress, uint64_t slept_ns)
{
    if (slept_ns > progress->spin_limit_ns)
        return;
    if (progress->spin_pause > 0)
        progress->spin_pause--;
    else
        progress->spin_ns = progress->spin_limit_ns;
}

/* One sleep in the poll set. 0 or EINTR. */
static int progress_sleep(struct uiw_progress *progress, struct evd_waiter *waiter,
                          uint64_t deadline_ns)
{
    struct epoll_event events[PROGRESS_EVENTS];
    uint64_t start = base_now_ns();
    int error = 0;
    int count;

    if (!evd_waiter_begin_poll(waiter, progress->kick_fd))
        return 0;
    uiw_detach_end_all(progress);
    atomic_store_explicit(&progress->asleep, true, memory_order_seq_cst);
    count = progress_epoll(progress, events, deadline_ns);
    if (count < 0)
        error = errno;
    atomic_store_explicit(&progress->asleep, false, memory_order_seq_cst);
    if (evd_waiter_end_poll(waiter))
        progress_drain_kick(progress);
    /* Level triggered: what is dropped here because an EP went away is reported again. */
    if (progress_purge(progress) && count > 0)
        (void)progress_handle(progress, events, count);
    progress_end_round(progress);
    progress_learn(progress, base_now_ns() - start);
    return error == EINTR ? EINTR : 0;
}

static int progress_lead(struct ual_ia *ia, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct uiw_progress *progress = progress_of(ia);
    int error = 0;

    progress->spin_limit_ns = evd_ia_spin_ns(&ia->evd, PROGRESS_SPIN_MAX_NS);
    if (progress->spin_ns > progress->spin_limit_ns)
        progress->spin_ns = progress->spin_limit_ns;
    if (progress->spin_ns > 0 && progress_spin(progress, waiter, deadline_ns))
        return 0;
    do {
        error = progress_sleep(progress, waiter, deadline_ns);
    } while (error == 0 && !evd_waiter_is_woken(waiter) && !base_is_over(deadline_ns));
    return error;
}

static void progress_enter_follower(struct uiw_progress *progress, struct uiw_follower *follower)
{
    base_lock_take(&progress->lock);
    follower->next = progress->followers;
    progress->followers = follower;
    atomic_fetch_add_explicit(&progress->follower_count, 1, memory_order_seq_cst);
    base_lock_drop(&progress->lock);
}

static void progress_leave_follower(struct uiw_progress *progress, struct uiw_follower *follower)
{
    struct uiw_follower **link = &progress->followers;
    uint32_t left;

    base_lock_take(&progress->lock);
    while (*link != follower)
        link = &(*link)->next;
    *link = follower->next;
    left = atomic_fetch_sub_explicit(&progress->follower_count, 1, memory_order_seq_cst) - 1;
    base_lock_drop(&progress->lock);
    /* The lead may have been offered to us, who have what we wanted already. */
    if (left != 0 &&
        atomic_load_explicit(&progress->leader, memory_order_seq_cst) == UIW_LEADER_NONE)
        progress_wake_follower(progress);
}

static int progress_follow(struct uiw_progress *progress, struct evd_waiter *waiter,
                           uint64_t deadline_ns)
{
    struct uiw_follower follower = {.waiter = waiter};
    int error = 0;

    progress_enter_follower(progress, &follower);
    if (atomic_load_explicit(&progress->leader, memory_order_seq_cst) != UIW_LEADER_NONE)
        error = evd_waiter_sleep(waiter, deadline_ns);
    progress_leave_follower(progress, &follower);
    return error == EINTR ? EINTR : 0;
}

static int progress_wait(void *context, struct evd_waiter *waiter, uint64_t deadline_ns)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = progress_of(ia);
    int error;

    uiw_defer_flush(ia);
    if (!uiw_progress_claim(progress, UIW_LEADER_CONSUMER))
        return progress_follow(progress, waiter, deadline_ns);
    error = progress_lead(ia, waiter, deadline_ns);
    uiw_progress_release(ia);
    return error;
}

const struct evd_progress_ops uiw_progress_ops = {
    .poll = progress_poll,
    .flush = progress_flush,
    .wait = progress_wait,
};

/* ---------------------------------------------------------------- open and close */

bool uiw_progress_open(struct ual_ia *ia)
{
    struct uiw_progress *progress = progress_of(ia);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

    base_lock_init(&progress->lock);
    progress->spin_ns = PROGRESS_SPIN_MAX_NS;
    progress->gate_fd = -1;
    progress->staging = malloc(UIW_STAGING_SIZE);
    progress->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    progress->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (progress->staging && progress->epoll_fd >= 0 && progress->kick_fd >= 0 &&
        epoll_ctl(progress->epoll_fd, EPOLL_CTL_ADD, progress->kick_fd, &event) == 0 &&
        uiw_handover_open(ia))
        return true;
    uiw_progress_close(ia);
    return false;
}

void uiw_progress_close(struct ual_ia *ia)
{
    struct uiw_progress *progress = progress_of(ia);

    uiw_handover_close(ia);
    if (progress->epoll_fd >= 0)
        (void)close(progress->epoll_fd);
    if (progress->kick_fd >= 0)
        (void)close(progress->kick_fd);
    free(progress->staging);
    base_lock_destroy(&progress->lock);
}
