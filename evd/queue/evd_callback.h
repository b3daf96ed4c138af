/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The callback of an EVD. Its record is memory of its own: a run that is still queued when the
 * callback is detached finds the record, not the EVD, which may be gone by then.
 */
#ifndef ITAPI_EVD_QUEUE_EVD_CALLBACK_H
#define ITAPI_EVD_QUEUE_EVD_CALLBACK_H

#include "evd/loop/evd_loop.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>

struct evd;

enum evd_callback_state {
    EVD_CALLBACK_IDLE,
    EVD_CALLBACK_QUEUED,  /* a run is, or is about to be, submitted */
    EVD_CALLBACK_RUNNING, /* the EVD stays until the run ends */
    EVD_CALLBACK_DETACHED /* was QUEUED: the run frees the record and does nothing else */
};

struct evd_callback {
    struct evd_task task; /* first member */
    struct evd *evd;
    it_evd_callback_rtn_t function;
    void *argument;
    /*
     * Changes under the EVD's lock while the callback is attached, but for the step from QUEUED to
     * RUNNING, which is made without: it decides whether the EVD may be touched.
     */
    _Atomic int state;
};

/* Takes a run that is due: to be submitted when no lock is held. NULL: none is. */
struct evd_callback *evd_callback_claim_locked(struct evd *evd);
bool evd_callback_is_due_locked(const struct evd *evd);
void evd_callback_submit(struct evd *evd, struct evd_callback *callback);

/* The calling thread is in the callback of this EVD. */
bool evd_callback_is_caller(struct evd *evd);

/*
 * Takes the callback off, if there is one, and returns when no run is under way, unless the caller
 * is inside one. False: there was none. No lock is held.
 */
bool evd_callback_stop(struct evd *evd);

/* A run: the task of a callback. Submitted by evd_callback_submit. */
void evd_callback_run(struct evd_task *task);

#endif
