/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agenda: EPs with deferred work. Any thread pushes entries and runs those that match a key; the
 * IA's loop sweeps the agenda periodically while it has entries.
 *
 * The entries are on a stack. A thread always takes the whole stack and pushes back at once the
 * entries that do not match. So threads need no lock, and each may push without waiting.
 *
 * The state of an entry says whether it is listed (on the stack, or just taken from it by a thread)
 * and how many threads use it. While the state is 0, no other thread can reach the entry.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H

#include "base/base_list.h"
#include "evd/loop/evd_loop.h"

#define UIW_AGENDA_LISTED UINT32_C(1)
#define UIW_AGENDA_USER   UINT32_C(2) /* counts threads */

struct uiw_agenda;

struct uiw_agenda_entry {
    struct base_stack_link link;
    _Atomic uint32_t state;
};

struct uiw_agenda_ops {
    uint64_t period_ns; /* between two looks; initial value of the agenda's .period_ns */
    /* Called after each push of an entry, which stays valid during the call. May be NULL. */
    void (*entered)(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);
    /* Loop: called one period before the first look. May be NULL. */
    void (*begin)(struct uiw_agenda *agenda);
    /* Loop: the periodic look; calls uiw_agenda_run. */
    void (*look)(struct uiw_agenda *agenda);
};

struct uiw_agenda {
    struct base_stack stack;
    _Atomic bool sweeping; /* the loop's timer runs, or is about to be started */
    _Atomic uint64_t period_ns;
    const struct uiw_agenda_ops *ops; /* immutable, like the next two */
    struct evd_loop *loop;
    _Atomic uint64_t *wakeups; /* counter of the loop's looks */
    struct evd_timer timer;    /* loop */
    struct evd_task start;
};

typedef bool uiw_agenda_match(const struct uiw_agenda_entry *entry, const void *key);

void uiw_agenda_open(struct uiw_agenda *agenda, const struct uiw_agenda_ops *ops,
                     struct evd_loop *loop, _Atomic uint64_t *wakeups);
void uiw_agenda_stop(struct uiw_agenda *agenda); /* loop */

/*
 * Sequentially consistent: a thread that announces what it waits for and then finds the agenda
 * empty is seen by the thread that pushes later (uiw_agenda_ops.entered).
 */
static inline bool uiw_agenda_is_empty(const struct uiw_agenda *agenda)
{
    return !atomic_load(&agenda->stack.newest);
}

/*
 * Called after the work was published. Returns true when the caller must push the entry; false when
 * it is listed already.
 */
static inline bool uiw_agenda_claim(struct uiw_agenda_entry *entry)
{
    /* Pairs with the addition in uiw_agenda_run: that thread sees the work, or this one pushes. */
    return !(atomic_fetch_or(&entry->state, UIW_AGENDA_LISTED) & UIW_AGENDA_LISTED);
}

void uiw_agenda_push(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

/*
 * Takes the entries that match (without `match`: all) and calls act for each, the oldest first. An
 * entry that is pushed during the call waits for the next call.
 */
void uiw_agenda_run(struct uiw_agenda *agenda, uiw_agenda_match *match, const void *key,
                    void (*act)(struct uiw_agenda_entry *entry));

/*
 * Removes the entry. Returns true if it was on the stack; false if it is not listed, or another
 * thread has taken it.
 */
bool uiw_agenda_remove(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

/*
 * Removes the entry and waits until its state is 0. From now on only threads that use the entry may
 * push it.
 */
void uiw_agenda_leave(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry);

#endif
