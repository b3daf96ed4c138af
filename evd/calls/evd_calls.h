/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls on EVDs, and what the layer above does with all EVDs of an IA. */
#ifndef ITAPI_EVD_CALLS_EVD_CALLS_H
#define ITAPI_EVD_CALLS_EVD_CALLS_H

#include "evd/deliver/evd_deliver_private.h"

/* evd_dequeue.c: what calls of the data path do with an EVD whose source has nothing faster. */
extern const struct base_entries evd_entries;

/* evd_dequeue.c: for a consumer that has found nothing; no lock is held, nothing blocks. */
void evd_make_progress(struct evd *evd);

/* evd_create.c: it_evd_free() without its checks. */
void evd_destroy(struct evd *evd);

/* The IA has failed: calls return IT_ERR_IA_CATASTROPHE, those that wait too. No lock is held. */
void evd_ia_fail(struct evd_ia *ia);

/*
 * First step of it_ia_free, while all objects are still there: waiters return IT_ERR_ABORT,
 * callbacks are taken off, and those that run have come to their end. Not from inside the loop.
 */
void evd_ia_stop(struct evd_ia *ia);

/* Frees all EVDs that it_ia_free finds left; blocked waiters have returned before it ends. */
void evd_ia_free_all(struct evd_ia *ia);

/*
 * Lends the DTO EVD a source for the rest of its life; at most one. IT_ERR_RESOURCES: nothing has
 * changed. Waits for nothing.
 */
it_status_t evd_source_attach(struct evd *evd, const struct evd_source_ops *ops, void *context,
                              int fd);
/* it_evd_dequeue with all checks, for a source's own. */
it_status_t evd_dequeue_one(it_evd_handle_t handle, it_event_t *event);
/*
 * A source's own has found nothing, with the lock, which is dropped here: whoever polls does the
 * transport's work. Returns IT_ERR_QUEUE_EMPTY.
 */
it_status_t evd_source_found_nothing(it_evd_handle_t handle);

/* In a copy of the process: descriptors of EVDs become its own. False without descriptors. */
bool evd_ia_renew_fds(struct evd_ia *ia);

#endif
