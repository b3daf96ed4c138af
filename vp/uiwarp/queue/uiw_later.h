/* SPDX-License-Identifier: BSD-2-Clause */
/* An EP's entries in the agendas of its IA. lead/uiw_sweep.c runs the agendas. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H

#include "vp/uiwarp/queue/uiw_agenda.h"

struct ual_ep;
struct uiw_progress;

struct uiw_silence_entry {
    struct base_link link; /* guarded by progress.lock, like the next two */
    uint64_t due_ns;
    bool listed;
    uint64_t look_ns;         /* loop: the interval of checking for the Reply's TCP ACK */
    uint64_t acknowledged_ns; /* loop: when a check first found the ACK; 0: not yet */
};

struct uiw_later {
    struct uiw_silence_entry silence;
    struct uiw_agenda_entry deferred; /* posts that wait to share a system call */
    const void *deferred_by;          /* the posting thread */
    bool deferred_met; /* a sweep has met it once; used by the thread that has the entry */
    struct uiw_agenda_entry held;  /* posts that wait for one without IT_COALESCE_WR_FLAG */
    struct uiw_agenda_entry drawn; /* a message that holds a receive of an S-RQ: uiw_srq_watch.c */
    struct uiw_agenda_entry holding; /* Sends that wait for a receive: receive/uiw_hold.c */
};

/*
 * The progress of the IA in which this thread deferred a post last; NULL: none is deferred. The
 * address of the variable identifies the thread.
 */
extern _Thread_local const struct uiw_progress *uiw_later_here
    __attribute__((tls_model("initial-exec")));

/*
 * Defers posted work until this thread polls, a thread polls an EVD of the EP or waits, or half a
 * millisecond has passed (a whole one while a consumer leads).
 */
void uiw_later_defer(struct ual_ep *ual);

/*
 * Holds posted work until another post releases it, for two seconds at most. While a thread sleeps
 * on an EVD of the EP, the work is deferred instead.
 */
void uiw_later_hold(struct ual_ep *ual);

/*
 * Takes the EP out of all agendas and waits until no thread uses its entries. The stream is over
 * and no leader holds the EP.
 */
void uiw_later_leave(struct ual_ep *ual);

/* uiw_agenda_ops.entered of deferred and held work. */
void uiw_later_deferred(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);
void uiw_later_held(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

#endif
