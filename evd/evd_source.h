/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of completions below a DTO EVD, kept by a device and not by us: events stay there until
 * somebody wants them. A consumer that polls takes them straight from it; they are moved up into
 * the EVD's own queue when somebody sleeps, or relies on a descriptor, a callback or an AEVD.
 * Installed.
 */
#ifndef ITAPI_EVD_EVD_SOURCE_H
#define ITAPI_EVD_EVD_SOURCE_H

#include "evd/evd_dto.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct base_lock;

/* All with the EVD's lock held, but close and dequeue. None blocks, or calls back. */
struct evd_source_ops {
    /* Oldest first: fills in whole events, at most max, and returns how many. Frees their slots. */
    size_t (*take)(void *context, it_event_t *events, size_t max);
    /* The same as records; the EVD frees their slots later. */
    size_t (*drain)(void *context, struct evd_dto *dtos, size_t max);
    /*
     * From now on the descriptor becomes readable with the next completion that comes, or with the
     * next that is a failure; one that is there already may or may not count.
     */
    void (*arm)(void *context, bool failures_only);
    /* The descriptor was readable: makes it unreadable until it is armed again. */
    void (*disarm)(void *context);
    /* The EVD is freed, and nobody uses it or the source. No lock is held. */
    void (*close)(void *context);
    /*
     * it_evd_dequeue in fewer instructions: what that comes to at once, with nothing checked but
     * the handle, as long as the IA works. What is not usual is handed on to vp_host.evd_dequeue.
     * The context begins with a struct evd_source_view; vp_layout says where its address lies.
     * NULL: there is none.
     */
    it_status_t (*dequeue)(it_evd_handle_t evd, it_event_t *event);
};

/* The part of its EVD that .dequeue sees; filled in when the source is attached. */
struct evd_source_view {
    struct base_lock *lock;
    const _Atomic size_t *queued; /* by the lock: events in the EVD's own queue, which come first */
    _Atomic bool *notified;       /* by the lock: to be cleared by a look that finds nothing */
};

#endif
