/* SPDX-License-Identifier: BSD-2-Clause */
/* What an EP is noted down for: queue/uiw_agenda.c. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_LATER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ual_ep;

struct uiw_silence_entry {
    struct ual_ep *next, *previous; /* these by progress.lock */
    uint64_t due_ns;
    bool listed;
    uint64_t look_ns;         /* loop: until the next look whether the Reply is acknowledged */
    uint64_t acknowledged_ns; /* loop: when it was seen to be; 0: not yet */
};

/* Guarded as each line says. */
struct uiw_later {
    struct uiw_silence_entry silence;
    _Atomic uint32_t deferral;    /* on the list, in use on that account: see uiw_defer.c */
    struct ual_ep *next_deferred; /* these by whoever has listed it or taken the list */
    const void *deferred_by;      /* thread */
    bool deferred_met;            /* by a sweep */
    struct ual_ep *next_held;     /* by progress.lock */
    bool held;                    /* by progress.lock */
    _Atomic bool held_hint;       /* true: in the list, or about to be */
};

#endif
