/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of completions below a DTO EVD, kept by a device and not by us: events stay there until
 * somebody wants them. A consumer that polls takes them straight from it; they are moved up into the
 * EVD's own queue when somebody sleeps, or relies on a descriptor, a callback or an AEVD. Installed.
 */
#ifndef ITAPI_EVD_EVD_SOURCE_H
#define ITAPI_EVD_EVD_SOURCE_H

#include "evd/evd_dto.h"

#include "it_api.h"

#include <stdbool.h>
#include <stddef.h>

/* All with the EVD's lock held, but close. None blocks, or calls back. */
struct evd_source_ops {
    /* Oldest first: fills in whole events, at most max, and returns how many. Frees their slots. */
    size_t (*take)(void *context, it_event_t *events, size_t max);
    /* One, or none (false), in fewer instructions. NULL: take is asked. */
    bool (*take_one)(void *context, it_event_t *event);
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
};

#endif
