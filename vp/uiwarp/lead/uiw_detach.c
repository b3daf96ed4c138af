/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detached streams, which are not in the poll set. The kernel reports each arrival to the poll set
 * and to the sets that hold it. While a leader polls the stream anyway, that is wasted: a twelfth
 * of the time of a small message. So a stream on which a polling leader keeps finding data is taken
 * out of the set. It is put back before a thread relies on the set: before a leader sleeps, the
 * loop takes over, a sender waits for room, or the leader forgets the stream.
 */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "vp/uiwarp/queue/uiw_pollset.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <sys/epoll.h>

/* Polls with data since a leader slept or the loop led: from here on two system calls pay off. */
#define DETACH_FOUND 256u

static bool detach_is_allowed(const struct uiw_progress *progress, const struct uiw_active *active)
{
    return progress->found >= DETACH_FOUND && !active->detached &&
           !atomic_load_explicit(&progress->gate_open, memory_order_seq_cst);
}

void uiw_detach_found(struct uiw_progress *progress, struct uiw_active *active)
{
    struct uiw_ep *ep = uiw_ep_of(active->ual);

    if (progress->found < DETACH_FOUND)
        progress->found++;
    if (!detach_is_allowed(progress, active) || !uiw_token_try(ep))
        return;
    if (ep->fd >= 0 && !ep->tx.detached &&
        !atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) &&
        epoll_ctl(progress->epoll_fd, EPOLL_CTL_DEL, ep->fd, NULL) == 0) {
        ep->tx.detached = true;
        active->detached = true;
        progress->detached_count++;
    }
    uiw_token_drop(ep);
    uiw_drive_send(active->ual, false); /* a thread may have found the token taken */
}

void uiw_detach_end(struct uiw_progress *progress, struct uiw_active *active)
{
    struct uiw_ep *ep = uiw_ep_of(active->ual);
    bool over;

    if (!active->detached)
        return;
    active->detached = false;
    progress->detached_count--;
    uiw_token_wait(ep);
    /* Otherwise a sender has put it back, or its stream has ended. */
    if (ep->tx.detached) {
        ep->tx.detached = false;
        if (!uiw_pollset_add(ep->ia->ual, active->ual, ep->fd))
            atomic_store_explicit(&ep->tx.failed_stream, true, memory_order_release);
    }
    over = ep->fd < 0;
    uiw_token_drop(ep);
    if (!over)
        uiw_drive_send(active->ual, false);
}

void uiw_detach_end_all(struct uiw_progress *progress)
{
    progress->found = 0;
    for (unsigned i = 0; i < progress->active_count && progress->detached_count > 0; i++)
        uiw_detach_end(progress, &progress->active[i]);
}
