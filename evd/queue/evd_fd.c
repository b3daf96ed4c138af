/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_object.h"

#include "base/base_call.h"

#include <sys/eventfd.h>
#include <unistd.h>

bool evd_fd_create(struct evd *evd)
{
    evd->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (evd->fd < 0)
        return false;
    evd_rely(evd);
    return true;
}

void evd_fd_close(struct evd *evd)
{
    if (evd->fd < 0)
        return;
    (void)close(evd->fd); /* closing an eventfd cannot fail */
    evd->fd = -1;
    evd_rely_no_more(evd);
}

/*
 * A thread that makes the EVD ready, or not ready, calls this function afterwards, so the last call
 * sees the final state. fd_lock keeps the system calls in the order of the decisions; without it a
 * late write would leave the descriptor readable for ever.
 */
void evd_fd_sync(struct evd *evd)
{
    bool ready;
    bool changed;

    base_lock_take(&evd->fd_lock);
    base_lock_take(&evd->lock);
    ready = evd_is_fd_due_locked(evd);
    changed = ready != evd->fd_raised;
    evd->fd_raised = ready;
    base_lock_drop(&evd->lock);
    /* The count is 0 or 1, so neither call blocks or fails. */
    if (changed && ready)
        base_event_raise(evd->fd);
    else if (changed)
        base_event_clear(evd->fd);
    base_lock_drop(&evd->fd_lock);
}
