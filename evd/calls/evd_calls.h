/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls on EVDs, and what the access layer does with all EVDs of an IA. */
#ifndef ITAPI_EVD_CALLS_EVD_CALLS_H
#define ITAPI_EVD_CALLS_EVD_CALLS_H

#include "evd/deliver/evd_deliver_private.h"

/* evd_dequeue.c: the data path's entries of an EVD whose source has no faster ones. */
extern const struct base_entries evd_entries;

/*
 * evd_dequeue.c: does the transport's work for a consumer that found no event. Never blocks. No
 * lock is held.
 */
void evd_make_progress(struct evd *evd);

/* evd_wait.c. Returns true in a callback that runs inside a wait of this thread on the EVD. */
bool evd_wait_is_caller(const struct evd *evd);
/* The same for any EVD of this IA. */
bool evd_wait_is_inside(const struct evd_ia *ia);

/* evd_create.c: it_evd_free() without its checks. */
void evd_destroy(struct evd *evd);

/* evd_create.c: in the child of fork(2), where no thread of the parent holds the pool's lock. */
void evd_pool_renew(void);

/*
 * Marks the IA as failed: calls on its EVDs, and threads that wait in one, return
 * IT_ERR_IA_CATASTROPHE. No lock is held.
 */
void evd_ia_fail(struct evd_ia *ia);

/*
 * First step of it_ia_free, while all objects still exist: waiters return IT_ERR_ABORT, callbacks
 * are detached, and no callback runs any more. Not to be called from inside the loop.
 */
void evd_ia_stop(struct evd_ia *ia);

/* Frees all EVDs of the IA. Blocked waiters have returned before this function does. */
void evd_ia_free_all(struct evd_ia *ia);

/*
 * Lends the DTO EVD a source until the EVD is freed; an EVD has at most one. Changes nothing when
 * it returns IT_ERR_RESOURCES. Never blocks.
 */
it_status_t evd_source_attach(struct evd *evd, const struct evd_source_ops *ops, void *context,
                              int fd);
/* it_evd_dequeue with all checks. A source's own dequeue hands unusual calls to it. */
it_status_t evd_dequeue_one(it_evd_handle_t handle, it_event_t *event);
/*
 * Ends a source's own dequeue that found nothing: drops the EVD's lock, which the caller holds, and
 * does the transport's work. Returns IT_ERR_QUEUE_EMPTY.
 */
it_status_t evd_source_found_nothing(it_evd_handle_t handle);

/*
 * In a child of fork(2): replaces the descriptors of the IA's EVDs by the child's own. Returns
 * false when no descriptor is left.
 */
bool evd_ia_renew_fds(struct evd_ia *ia);

#endif
