/* SPDX-License-Identifier: BSD-2-Clause */
/* An EP's entries in the agendas of its IA. lead/uiw_sweep.c does what there is to do. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H

#include "vp/uiwarp/queue/uiw_agenda.h"

struct ual_ep;
struct uiw_progress;

struct uiw_silence_entry {
    struct base_link link; /* these by progress.lock */
    uint64_t due_ns;
    bool listed;
    uint64_t look_ns;         /* loop: until the next look whether the Reply is acknowledged */
    uint64_t acknowledged_ns; /* loop: when it was seen to be; 0: not yet */
};

struct uiw_later {
    struct uiw_silence_entry silence;
    struct uiw_agenda_entry deferred; /* posts that wait for company */
    const void *deferred_by;          /* thread; this and the next by whoever has it in hand */
    bool deferred_met;                /* by a sweep */
    struct uiw_agenda_entry held;     /* posts that wait for another post */
    struct uiw_agenda_entry drawn; /* a message that holds a receive of an S-RQ: uiw_srq_watch.c */
    struct uiw_agenda_entry holding; /* Sends that wait for a receive: receive/uiw_hold.c */
};

/*
 * The IA in which this thread deferred last; NULL: it has sent that. Its address names the thread.
 */
extern _Thread_local const struct uiw_progress *uiw_later_here
    __attribute__((tls_model("initial-exec")));

/*
 * Posted work may wait until this thread polls, or any thread an EVD of the EP, or some thread
 * waits, or half a millisecond is over; one while a consumer polls other EVDs.
 */
void uiw_later_defer(struct ual_ep *ual);

/*
 * Posted work waits for another post, a second or two at the most, and for no longer than deferred
 * work while a thread sleeps on an EVD of the EP.
 */
void uiw_later_hold(struct ual_ep *ual);

/* The stream is over and no leader holds the EP. Returns when no thread uses it for an entry. */
void uiw_later_leave(struct ual_ep *ual);

/* uiw_agenda_ops.entered of deferred and held work. */
void uiw_later_deferred(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);
void uiw_later_held(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

#endif
