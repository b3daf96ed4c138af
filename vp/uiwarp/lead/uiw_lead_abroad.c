/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer leads while it sleeps in its own poll, select or epoll, to which it adds the poll
 * set's descriptor. It reads the sockets when that call has returned.
 */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_call.h"

#define ACTIVE_FEW 2u

bool uiw_lead_abroad_begin(void *context, int *fd)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = uiw_progress_of(ia);

    uiw_sweep_deferred_here(ia); /* acknowledgements of messages just read */
    if (!uiw_leader_claim(progress, UIW_LEADER_CONSUMER)) {
        if (atomic_load_explicit(&progress->leader, memory_order_relaxed) == UIW_LEADER_CONSUMER)
            atomic_store_explicit(&progress->rivals, true, memory_order_relaxed);
        return false;
    }
    uiw_detach_end_all(progress);
    atomic_store_explicit(&progress->abroad, true, memory_order_seq_cst);
    atomic_store_explicit(&progress->asleep, true, memory_order_seq_cst);
    *fd = progress->epoll_fd;
    return true;
}

void uiw_lead_abroad_end(void *context, bool work)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = uiw_progress_of(ia);

    atomic_store_explicit(&progress->asleep, false, memory_order_seq_cst);
    atomic_store_explicit(&progress->abroad, false, memory_order_seq_cst);
    /* With few streams, the arrival is mostly on an active one: these are polled first. */
    if (work && (progress->active_count == 0 || progress->active_count > ACTIVE_FEW ||
                 uiw_round_run(progress, false) == 0))
        (void)uiw_round_run(progress, true);
    uiw_leader_release(ia);
}

void uiw_lead_abroad_call_home(struct uiw_progress *progress)
{
    if (atomic_load_explicit(&progress->abroad, memory_order_seq_cst))
        base_event_raise(progress->kick_fd); /* the next poll drains it */
}
