/* SPDX-License-Identifier: BSD-2-Clause */
/* One poll of the sockets by the leader, and the active streams, which had data recently. */

#include "base/base_call.h"
#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <unistd.h>

/* A polling leader asks epoll in one of this many rounds; more often if a sender waits for room. */
#define ROUND_POLLS         32u
#define ROUND_POLLS_BLOCKED 4u
/* Rounds without data after which an active stream is left to epoll. */
#define ROUND_IDLE_ROUNDS 1000u
/* Rounds that always ask epoll, after more streams were active than there is room for. */
#define ROUND_CROWDED_ROUNDS 64u

/*
 * Returns true if the stream had more than one FPDU. A program may set up thousands of connections
 * in a row, and the first FPDU on each is then the last one for a while.
 */
static bool round_is_talkative(struct ual_ep *ual)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    return atomic_load_explicit(&ep->rx.fpdus_in, memory_order_relaxed) - ep->rx.fpdus_before > 1;
}

static void round_activate(struct uiw_progress *progress, struct ual_ep *ep)
{
    for (unsigned i = 0; i < progress->active_count; i++) {
        if (progress->active[i].ual == ep) {
            progress->active[i].idle = 0;
            return;
        }
    }
    if (progress->active_count == UIW_ACTIVE_MAX) {
        progress->crowded = ROUND_CROWDED_ROUNDS;
        return;
    }
    progress->active[progress->active_count++] = (struct uiw_active){.ual = ep};
}

static void round_deactivate(struct uiw_progress *progress, unsigned slot)
{
    uiw_detach_end(progress, &progress->active[slot]);
    progress->active[slot] = progress->active[--progress->active_count];
}

/*
 * Reads the stream, except while its sender waits for room. Then the stream is in the poll set, and
 * asking epoll, unlike a read, does not take the lock of the socket.
 */
static size_t round_look(struct uiw_progress *progress, struct ual_ep *ual, bool shared)
{
    if (atomic_load_explicit(&uiw_ep_of(ual)->tx.blocked, memory_order_relaxed))
        return 0;
    return uiw_drive_receive(ual, progress->staging, shared);
}

static size_t round_poll_active(struct uiw_progress *progress)
{
    bool shared = progress->active_count > 1;
    size_t octets = 0;

    for (unsigned i = progress->active_count; i-- > 0;) {
        struct uiw_active *active = &progress->active[i];
        size_t got;

        if (uiw_pause_waits(&uiw_ep_of(active->ual)->rx.pause))
            continue;
        got = round_look(progress, active->ual, shared);
        octets += got;
        active->idle = got ? 0 : active->idle + 1;
        if (got)
            uiw_detach_found(progress, active);
        else if (active->idle > ROUND_IDLE_ROUNDS)
            round_deactivate(progress, i);
    }
    return octets;
}

/*
 * Returns true while more streams are active than there is room for. The streams in .active would
 * then be served before the others, and most polls would find nothing, so epoll tells which streams
 * are ready. Streams in .active still lose their places after enough rounds without data.
 */
static bool round_is_crowded(struct uiw_progress *progress)
{
    if (progress->crowded == 0)
        return false;
    progress->crowded--;
    for (unsigned i = progress->active_count; i-- > 0;) {
        if (++progress->active[i].idle > ROUND_IDLE_ROUNDS)
            round_deactivate(progress, i);
    }
    return true;
}

void uiw_round_drain_kick(struct uiw_progress *progress)
{
    uint64_t count;

    /* Non-blocking; it may find nothing to read. */
    (void)base_read(progress->kick_fd, &count, sizeof(count));
}

size_t uiw_round_handle(struct uiw_progress *progress, const struct epoll_event *events, int count)
{
    bool shared = count > 1;
    size_t octets = 0;

    for (int i = 0; i < count; i++) {
        struct ual_ep *ep = events[i].data.ptr;
        size_t got;

        if (!ep) {
            uiw_round_drain_kick(progress);
            continue;
        }
        if (events[i].events & EPOLLOUT)
            uiw_drive_turn(ep, false, true, shared);
        if (!(events[i].events & ~(uint32_t)EPOLLOUT))
            continue;
        got = uiw_drive_receive(ep, progress->staging, shared);
        if (got && round_is_talkative(ep))
            round_activate(progress, ep);
        octets += got;
        if (events[i].events & EPOLLERR)
            uiw_drive_clear_notes(ep);
    }
    return octets;
}

bool uiw_round_purge(struct uiw_progress *progress)
{
    uint32_t purge = atomic_load_explicit(&progress->purge, memory_order_seq_cst);

    if (purge == progress->purged)
        return true;
    progress->purged = purge;
    uiw_detach_end_all(progress); /* the EPs are valid: uiw_leader_quiesce waits for this */
    progress->active_count = 0;
    return false;
}

size_t uiw_round_run(struct uiw_progress *progress, bool ask_epoll)
{
    struct epoll_event events[UIW_ROUND_EVENTS];
    bool blocked = atomic_load_explicit(&progress->blocked, memory_order_relaxed) != 0;
    uint32_t often = blocked ? ROUND_POLLS_BLOCKED : ROUND_POLLS;
    size_t octets;

    (void)uiw_round_purge(progress);
    ask_epoll |= round_is_crowded(progress);
    if (progress->detached_count > 0 &&
        (ask_epoll || atomic_load_explicit(&progress->gate_open, memory_order_seq_cst)))
        uiw_detach_end_all(progress);
    /* If epoll is asked, it tells which streams are worth a system call. */
    octets = ask_epoll ? 0 : round_poll_active(progress);
    if (atomic_load_explicit(&progress->look, memory_order_relaxed)) {
        atomic_store_explicit(&progress->look, false, memory_order_relaxed);
        ask_epoll = true;
    }
    if (ask_epoll || progress->active_count == 0 || ++progress->polls >= often) {
        int count = base_epoll_wait(progress->epoll_fd, events, UIW_ROUND_EVENTS, 0);

        progress->polls = 0;
        octets += uiw_round_handle(progress, events, count);
    }
    uiw_round_end(progress);
    return octets;
}
