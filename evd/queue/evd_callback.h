/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The callback of an EVD. Its record is allocated apart: a run that is still queued when the
 * callback is detached looks at the record only, because the EVD may be gone.
 */
#ifndef ITAPI_EVD_QUEUE_EVD_CALLBACK_H
#define ITAPI_EVD_QUEUE_EVD_CALLBACK_H

#include "evd/loop/evd_loop.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>

struct evd;
struct evd_ia;

enum evd_callback_state {
    EVD_CALLBACK_IDLE,
    EVD_CALLBACK_QUEUED,  /* a run is submitted, or about to be */
    EVD_CALLBACK_RUNNING, /* the EVD stays until the run ends */
    EVD_CALLBACK_DETACHED /* after QUEUED: the run only frees the record */
};

struct evd_callback {
    struct evd_task task; /* first member */
    struct evd *evd;
    it_evd_callback_rtn_t function;
    void *argument;
    /*
     * While the callback is attached, .state changes under the EVD's lock. The step from QUEUED to
     * RUNNING is made without it: this step decides whether the run may touch the EVD.
     */
    _Atomic int state;
};

/* Claims a run if one is due, to be submitted without locks; else returns NULL. */
struct evd_callback *evd_callback_claim_locked(struct evd *evd);
bool evd_callback_is_due_locked(const struct evd *evd);
void evd_callback_submit(struct evd *evd, struct evd_callback *callback);

/* Returns true when the calling thread is inside the callback of this EVD. */
bool evd_callback_is_caller(const struct evd *evd);
/* The same for the callback of any EVD of this IA. */
bool evd_callback_is_inside(const struct evd_ia *ia);

/*
 * Detaches the callback, if there is one, and waits until no run is under way, unless the caller is
 * inside that run. Returns false when there was no callback. No lock is held.
 */
bool evd_callback_stop(struct evd *evd);

/*
 * From now on runs on this loop that the calling thread submits are its own; then it runs them,
 * with no lock held.
 */
struct evd_callback_runs {
    struct base_list list;
    const struct evd_loop *loop;
};
void evd_callback_gather(struct evd_callback_runs *runs, const struct evd_loop *loop);
void evd_callback_run_gathered(struct evd_callback_runs *runs);

/* The task of a callback: one run. evd_callback_submit submits it. */
void evd_callback_run(struct evd_task *task);

#endif
