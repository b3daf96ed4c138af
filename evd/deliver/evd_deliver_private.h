/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events, waking consumers, sleeping on a source: for the calls on EVDs alone. */
#ifndef ITAPI_EVD_DELIVER_EVD_DELIVER_PRIVATE_H
#define ITAPI_EVD_DELIVER_EVD_DELIVER_PRIVATE_H

#include "evd/deliver/evd_deliver.h"
#include "evd/queue/evd_object.h"

/* Takes the oldest event of a SEVD that has one. True when evd_wake() must follow. */
bool evd_pop_locked(struct evd *evd, it_event_t *event);

/* True when a waiter should be woken, the descriptor raised or the AEVD told: evd_wake(). */
bool evd_needs_wake_locked(struct evd *evd);

/* Work for an EVD that is left until its lock is dropped. */
struct evd_wakeup {
    struct evd_waiter *waiter; /* NULL: none */
    int waiter_state;
    struct evd_callback *callback; /* NULL: none */
    bool sync_fd;
};

/*
 * Claims one waiter and the callback if the EVD is ready; compares the descriptor with the state.
 */
struct evd_wakeup evd_wakeup_collect_locked(struct evd *evd);

void evd_wakeup_run(struct evd *evd, const struct evd_wakeup *wakeup);

/* Every waiter looks again. No lock is held. */
void evd_wake_all(struct evd *evd);
/* Ends what evd_member_change_locked() has begun, without the lock; old may be NULL. */
void evd_aggregate_left(struct evd *old);
/* Takes from that member, within reason, and unpins it. 0 when another thread was faster. */
size_t evd_aggregate_take(struct evd *aevd, struct evd *member, it_event_t *events, size_t max);
/* Takes from all members that are ready. */
size_t evd_aggregate_dequeue(struct evd *aevd, it_event_t *events, size_t max);
/* The loop moves them up from now on. False without memory. No lock is held. */
bool evd_source_rely(struct evd *evd);
/* evd_wait's sleep, for an EVD with a source. */
int evd_source_wait(struct evd *evd, struct evd_waiter *waiter, uint64_t deadline_ns);
void evd_source_close(struct evd *evd);
/*
 * To be called afterwards, again if it has failed: the loop watches the source from now on. Waits
 * for the loop. False without memory.
 */
bool evd_source_start(struct evd *evd);

#endif
