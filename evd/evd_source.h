/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source is a device's queue of completions below a DTO EVD. A consumer that polls takes
 * completions straight from the source. They move to the EVD's own queue when a consumer sleeps, or
 * relies on a descriptor, a callback or an AEVD. An installed header.
 */
#ifndef ITAPI_EVD_EVD_SOURCE_H
#define ITAPI_EVD_EVD_SOURCE_H

#include "evd/evd_dto.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct base_lock;

/* The EVD's lock is held in all but close and dequeue. None of them blocks or calls back. */
struct evd_source_ops {
    /* Takes at most max completions, oldest first, as events, and frees their slots. */
    size_t (*take)(void *context, it_event_t *events, size_t max);
    /* The same, as records: the EVD frees their slots when they are dequeued. */
    size_t (*drain)(void *context, struct evd_dto *dtos, size_t max);
    /*
     * Makes the descriptor readable with the next completion, or with the next failed one. A
     * completion that is there already may count or not.
     */
    void (*arm)(void *context, bool failures_only);
    /* Makes the descriptor unreadable until the source is armed again. */
    void (*disarm)(void *context);
    /* Ends the source, when the EVD is being freed and no thread uses either. No lock is held. */
    void (*close)(void *context);
    /*
     * it_evd_dequeue in fewer instructions, or NULL. The library calls it while the IA works, and
     * has checked the handle only. It hands unusual cases to vp_host.evd_dequeue. The context
     * begins with a struct evd_source_view; vp_layout says where its address lies.
     */
    it_status_t (*dequeue)(it_evd_handle_t evd, it_event_t *event);
};

/* What .dequeue sees of its EVD. Attaching the source fills it in. */
struct evd_source_view {
    struct base_lock *lock;
    const _Atomic size_t *queued; /* by lock: events in the EVD's own queue; they go first */
    _Atomic bool *notified;       /* by lock: cleared by a look that finds nothing */
};

#endif
