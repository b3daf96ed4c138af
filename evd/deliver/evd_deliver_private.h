/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events, waking consumers, sleeping on a source: for evd/calls only. */
#ifndef ITAPI_EVD_DELIVER_EVD_DELIVER_PRIVATE_H
#define ITAPI_EVD_DELIVER_EVD_DELIVER_PRIVATE_H

#include "evd/deliver/evd_deliver.h"
#include "evd/queue/evd_object.h"

/* Takes the oldest event of a SEVD that has one. Returns true when evd_wake() must follow. */
bool evd_pop_locked(struct evd *evd, it_event_t *event);

/* Returns true when evd_wake() has work: a waiter, the descriptor, the AEVD, an overflow. */
bool evd_needs_wake_locked(struct evd *evd);

/* Wake-ups of an EVD, collected under its lock and carried out without it. */
struct evd_wakeup {
    struct evd_waiter *waiter; /* NULL: none */
    int waiter_state;
    struct evd_callback *callback; /* NULL: none */
    bool sync_fd;
};

/*
 * Claims one waiter and the callback if the EVD is ready, and finds out whether the descriptor must
 * change.
 */
struct evd_wakeup evd_wakeup_collect_locked(struct evd *evd);

void evd_wakeup_run(struct evd *evd, const struct evd_wakeup *wakeup);

/* Wakes every waiter, to look again. No lock is held. */
void evd_wake_all(struct evd *evd);
/* Completes evd_member_change_locked() without the lock; old may be NULL. */
void evd_aggregate_left(struct evd *old);
/* Takes one turn's events from the member and unpins it. 0: another thread took them. */
size_t evd_aggregate_take(struct evd *aevd, struct evd *member, it_event_t *events, size_t max);
/* Takes events from all members that are ready, up to max. */
size_t evd_aggregate_dequeue(struct evd *aevd, it_event_t *events, size_t max);
/*
 * Makes the loop move completions to the queue from now on. Returns false if memory runs out.
 * Called without a lock.
 */
bool evd_source_rely(struct evd *evd);
/* Sleeps for evd_wait, on an EVD with a source. */
int evd_source_wait(struct evd *evd, struct evd_waiter *waiter, uint64_t deadline_ns);
void evd_source_close(struct evd *evd);
/*
 * Makes the loop watch the source. To be called after evd_source_attach, and again if it failed.
 * Waits for the loop. Returns false if memory runs out.
 */
bool evd_source_start(struct evd *evd);

#endif
